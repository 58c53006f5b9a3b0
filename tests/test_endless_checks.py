"""Checks of applications that never stop, from the command line to the files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

CYKAS = ("check", "cykas", "--workload", "endless:1:[[1,2],[2],[0]]")


def test_what_holds_holds_for_every_number_of_messages(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--actors", 2, "--workload", "endless:2:[[1],[]]")
    assert 0 == ran.code
    assert "The verdict is for every number of messages, with at most 2 messages" in ran.out
    assert "An application may fall silent unless nothing else can happen." in ran.out


@pytest.mark.integration
def test_a_lasso_is_told_with_what_repeats(antecede: Command) -> None:
    ran = antecede(*CYKAS)
    assert 1 == ran.code
    assert "no-starvation, after 5 transitions, then 7 forever" in ran.out
    assert "└12    │            ╰─────────│────────Yct▶●\n" in ran.out
    told = " ".join(ran.out.split())
    assert "as soon as the application stops, it is delivered" in told
    assert "m3 waits in Carol's OB." in told
    assert "in 6 and 10 the application goes on; 7 receives the Ack that 11 sends in the" in told
    assert "12 receives the Yct of 8." in told


@pytest.mark.integration
def test_a_saved_lasso_is_run_round_again(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "lasso.json"
    antecede(*CYKAS, "--trace", file)
    assert "still VIOLATED" in antecede("replay", file).out
    trace = json.loads(file.read_text())
    trace["transitions"].pop()
    file.write_text(json.dumps(trace))
    ran = antecede("replay", file)
    assert 0 == ran.code
    assert "no longer violate no-starvation" in ran.out


@pytest.mark.integration
def test_a_saved_lasso_whose_cycle_is_moved_is_no_longer_violated(
    antecede: Command, tmp_path: Path
) -> None:
    """Wherever the cycle begins, the replay ends with a verdict."""
    file = tmp_path / "lasso.json"
    antecede(*CYKAS, "--trace", file)
    trace = json.loads(file.read_text())
    for after in (4, 6, 8, 11, 12):
        trace["loop"]["after"] = after
        file.write_text(json.dumps(trace))
        ran = antecede("replay", file)
        assert 0 == ran.code, (after, ran.err)
        assert "the 12 transitions can still be taken and no longer violate no-sta" in ran.out


PICTURES = {
    "mmd": "loop forever",
    "puml": "loop forever",
    "itf.json": '"loop": 5',
    "svg": "Steps 6 to 12 repeat forever",
    "html": "Steps 6 to 12 repeat forever",
    "txt": "│10",
}


@pytest.mark.integration
def test_every_picture_shows_what_repeats(antecede: Command, tmp_path: Path) -> None:
    files = {ending: tmp_path / f"lasso.{ending}" for ending in PICTURES}
    antecede(*CYKAS, *(part for file in files.values() for part in ("--trace", file)))
    for ending, shown in PICTURES.items():
        assert shown in files[ending].read_text(), ending


def test_a_violation_of_safety_is_told_with_numbered_messages(antecede: Command) -> None:
    ran = antecede("check", "unordered", "--workload", "endless:2")
    assert 1 == ran.code
    assert "causal-delivery, after 4 transitions" in ran.out
    assert "m2" in ran.out


def test_a_bound_leaves_an_infinite_graph_undecided(antecede: Command) -> None:
    ran = antecede("check", "cykas", "--workload", "endless:1", "--max-states", "500")
    assert 3 == ran.code
    assert "--max-states 500 reached" in ran.out


@pytest.mark.integration
def test_a_search_goes_on_from_its_checkpoint(antecede: Command, tmp_path: Path) -> None:
    """Some invariants of MFSS are left out, because they depend on the numbers of messages."""
    asked = ("check", "mfss", "--workload", "endless:2:[[1,2],[2],[0]]")
    ran = antecede(*asked, "--checkpoint", tmp_path / "saved", "--max-states", "500")
    assert 3 == ran.code
    ran = antecede(*asked, "--resume", tmp_path / "saved")
    assert 0 == ran.code
    assert "Not judged: invariant:" in ran.out
    assert "4,068" in ran.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mfss", "--property", "no-starvation"), "give --workload endless:1"),
        (("mfss", "--workload", "endless:1", "--property", "all-delivered"), "runs that end"),
        (("mfss", "--workload", "endless:1", "--search", "depth"), "breadth-first, not depth"),
        (("mfss", "--workload", "endless:1", "--engine", "spark"), "leave out --engine"),
    ],
)
def test_what_makes_no_sense_without_an_end_is_refused(
    antecede: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    ran = antecede("check", *arguments)
    assert 2 == ran.code
    assert sentence in ran.err


def test_an_invariant_about_numbers_of_messages_is_left_out_and_named(antecede: Command) -> None:
    asked = ("check", "mfss", "--workload", "endless:3:[[1,2],[],[]]")
    ran = antecede(*asked)
    assert 0 == ran.code
    assert "Not judged: invariant:" in ran.out
    assert "reads the numbers of messages" in " ".join(ran.out.split())
    name = ran.out.partition("Not judged: ")[2].partition(",")[0]
    ran = antecede(*asked, "--property", name, "--engine", "plain")
    assert 2 == ran.code
    assert "all messages but one have none" in ran.err
