"""Stepping through a run in the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from antecede.checker.explore.stepper import Stepper, interact, view
from antecede.checker.paths.path import Path as Run
from tests.conftest import Command, search


def counterexample(protocol: str = "unordered", actors: int = 2) -> Run:
    path = search(protocol, actors, 2).counterexample
    assert path is not None
    return path


def stepped(*lines: str) -> tuple[Stepper, list[str]]:
    stepper, said, rest = Stepper(counterexample()), list[str](), iter(lines)
    interact(stepper, lambda: next(rest, None), said.append)
    return stepper, said


def test_steps_forward_and_back_and_to_a_step() -> None:
    stepper, said = stepped("", "n", "p", "g 3", "g 4")
    assert 4 == stepper.at
    assert said[0].startswith("At the start of 4 steps.")
    heads = [text.split(".")[0] for text in said[1:]]
    assert ["1 of 4", "2 of 4", "1 of 4", "3 of 4", "4 of 4"] == heads


def test_a_view_shows_states_clocks_and_what_is_in_flight() -> None:
    stepper = Stepper(counterexample(), 2)
    text = view(stepper)
    assert "* Alice" in text
    assert "clock 2 0" in text
    assert "In flight:\n  Alice → Bob: Data(m1)\n  Alice → Bob: Data(m2)" in text
    changed = view(Stepper(counterexample(), 3), changed_only=True)
    assert "Alice" not in changed.split("\n\n")[1]


def test_no_line_is_longer_than_the_terminal_and_no_word_is_broken() -> None:
    path = counterexample("cykas-as-printed")
    for at in range(path.length + 1):
        whole, narrow = (view(Stepper(path, at), width) for width in (1000, 40))
        assert whole.split() == narrow.split()
        assert all(len(line) <= 40 or " " not in line.strip() for line in narrow.splitlines())
    assert len(narrow.splitlines()) > len(whole.splitlines())


def test_the_violation_is_said_where_it_shows() -> None:
    assert "violated" not in view(Stepper(counterexample(), 3))
    assert "causal-delivery is violated here." in view(Stepper(counterexample(), 4))


def test_what_cannot_be_done_is_said_with_the_steps_that_there_are() -> None:
    stepper, said = stepped("x", "p", "g nowhere", "g 99", "g", "g 4", "n")
    assert "unknown command 'x'; h lists the commands" == said[1]
    assert "this is the start" == said[2]
    assert "there is no step nowhere; this run has 4 steps: g 0, the start, to g 4" == said[3]
    assert "there is no step 99; this run has 4 steps: g 0, the start, to g 4" == said[4]
    assert said[5].startswith("g asks for a number; this run has 4 steps")
    assert "this is the last of 4 steps; p goes back, q quits" == said[7]
    assert 4 == stepper.at


def test_the_command_steps_until_the_input_ends(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "t.json"
    antecede("check", "unordered", "--actors", "2", "--engine", "plain", "--trace", trace)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    ran = antecede("replay", trace, "--interactive")
    assert 1 == ran.code
    assert "1 of 4. Alice sends m1 to Bob" in ran.out
