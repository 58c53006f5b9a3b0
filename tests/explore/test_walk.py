"""Walking through a path by hand, and into what else could happen."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from antecede.checker.explore.walk import Walk, interact, view
from antecede.checker.paths.path import Path as Run
from tests.conftest import Command, search


def counterexample() -> Run:
    path = search("unordered", 2, 2).counterexample
    assert path is not None
    return path


def walked(*lines: str, saved: list[tuple[Run, str]] | None = None) -> tuple[Walk, list[str]]:
    walk, said, rest = Walk(counterexample()), list[str](), iter(lines)

    def save(path: Run, file: str) -> None:
        (saved if saved is not None else []).append((path, file))

    interact(walk, lambda: next(rest, None), said.append, save)
    return walk, said


def test_steps_forward_and_back_and_to_a_step() -> None:
    walk, said = walked("", "n", "p", "g 3", "g 99")
    assert 4 == walk.at
    assert said[0].startswith("At the start.")
    heads = [text.split(".")[0] for text in said[1:]]
    assert ["1 of 4", "2 of 4", "1 of 4", "3 of 4", "4 of 4"] == heads


def test_a_view_shows_states_clocks_and_what_is_in_flight() -> None:
    walk = Walk(counterexample(), 2)
    text = view(walk)
    assert "* Alice" in text
    assert "clock 2 0" in text
    assert "In flight:\n  Alice → Bob: Data(m1)\n  Alice → Bob: Data(m2)" in text
    assert "Alice" not in view(Walk(counterexample(), 3), changed_only=True).split("\n\n")[1]


def test_the_violation_is_said_where_it_shows() -> None:
    assert "violated" not in view(Walk(counterexample(), 3))
    assert "causal-delivery is violated here." in view(Walk(counterexample(), 4))


def test_another_transition_makes_another_path() -> None:
    saved: list[tuple[Run, str]] = []
    walk, said = walked("g 2", "b", "b 1", "s other.svg", saved=saved)
    assert said[2].startswith("   1. Bob causal-sends m3 to Alice")
    assert 3 == walk.path.length == walk.at
    ((path, file),) = saved
    assert "other.svg" == file
    assert 3 == path.length
    assert path.violates is None


def test_what_cannot_be_done_is_said_and_the_walk_goes_on() -> None:
    walk, said = walked("x", "b 99", "g nowhere", "n")
    assert "unknown command 'x'; h lists the commands" == said[1]
    assert said[2].startswith("there is no choice 99")
    assert said[3].startswith("unknown command 'g'")
    assert 1 == walk.at


def test_a_run_that_is_over_offers_nothing() -> None:
    path = search("cykas-as-printed", 2, 2).counterexample
    assert path is not None
    assert () == Walk(path, path.length).choices()


def test_the_command_walks_until_the_input_ends(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, picture = tmp_path / "t.json", tmp_path / "p.svg"
    antecede("check", "unordered", "--actors", "2", "--engine", "plain", "--trace", trace)
    run = tmp_path / "run.json"
    typed = f"n\ns {picture}\ns {run}\ns {tmp_path}/x.png\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    ran = antecede("replay", trace, "--interactive")
    assert 1 == ran.code
    assert "1 of 4. Alice causal-sends m1 to Bob" in ran.out
    assert f"saved {picture}" in ran.out
    assert "tells no trace format" in ran.out
    assert picture.read_text().startswith("<svg")
    again = antecede("replay", run)
    assert 0 == again.code
    assert "the transition of this run can still be taken" in again.out
