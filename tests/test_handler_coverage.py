"""Coverage of handlers: the lines and conditions that a check ran, and never ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.semantics import tracing
from antecede.checker.support import registry
from tests.conftest import Command

PROTOCOL = """
import functools
from attrs import frozen
from antecede import Message, Protocol, Step

@frozen
class State:
    me: int
    count: int = 0

@frozen
class Data:
    message: Message

@functools.cache
def cached(count):
    if count > 100:
        return 100
    return count

def initial(actor, actors):
    if actor > 100:
        return None
    return State(actor)

def causal_send(state, message):
    after = State(state.me, cached(state.count + 1))
    for to in message.destinations:
        if to == 2:
            unused = "only actor 2"
    return Step(after, ((message.receiver, Data(message)),))

def late(state, packet):
    return Step(state)

def receive(state, src, packet):
    if state is None:
        return late(state, packet)
    if (
        packet.message
        and True
    ):
        return Step(state, (), (packet.message,))
    return Step(state)

PROTOCOL = Protocol(
    name="mine", summary="has code that never runs", source="a test",
    initial=initial, causal_send=causal_send, receive=receive,
)
"""

ASKED = ("check", "mine.py", "--actors", 3, "--messages", 1, "--coverage")


def number_of(line: str) -> int:
    return next(n for n, text in enumerate(PROTOCOL.splitlines(), 1) if text.strip() == line)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PROTOCOL)
    return tmp_path


def handlers(antecede: Command, folder: Path, *arguments: object) -> dict[str, Any]:
    """Return the coverage that a check reports, by function."""
    antecede(*arguments, "--json", "result.json", "--quiet", cwd=folder)
    found = json.loads((folder / "result.json").read_text())["handlers"]
    return {each["function"]: each for each in found}


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_lines_that_no_state_reaches_never_ran(antecede: Command, mine: Path, engine: str) -> None:
    found = handlers(antecede, mine, *ASKED, "--engine", engine)
    assert {"cached", "causal_send", "late", "receive"} == set(found)
    assert [number_of("return 100")] == found["cached"]["never_ran"]
    assert [] == found["causal_send"]["never_ran"]
    assert found["late"]["lines"] == found["late"]["never_ran"]
    dead = [number_of("return late(state, packet)"), max(found["receive"]["lines"])]
    assert dead == found["receive"]["never_ran"]
    assert [number_of("if state is None:")] == found["receive"]["always_false"]
    assert [number_of("if (")] == found["receive"]["always_true"]
    assert 2 == found["causal_send"]["conditions"]
    assert [] == found["causal_send"]["always_true"] + found["causal_send"]["always_false"]


@pytest.mark.parametrize("protocol", ["cykas-secret-mode", "ses", "tree-star"])
def test_all_engines_and_self_checks_run_the_same_lines(
    antecede: Command, tmp_path: Path, protocol: str
) -> None:
    asked = ("check", protocol, "--actors", 3, "--messages", 1, "--coverage")
    plain = handlers(antecede, tmp_path, *asked, "--engine", "plain", "--selfcheck", "off")
    assert plain
    assert plain == handlers(antecede, tmp_path, *asked, "--engine", "local", "--selfcheck", "on")


def test_calls_that_the_self_check_makes_in_other_worlds_do_not_count(
    antecede: Command, mine: Path
) -> None:
    """There, sets iterate in another order."""
    text = PROTOCOL.replace(
        "    if state is None:",
        "    for number in {1, 2}:\n        if number == 2:\n"
        "            break\n        break\n    if state is None:",
    )
    (mine / "mine.py").write_text(text)
    found = handlers(antecede, mine, *ASKED, "--engine", "plain", "--selfcheck", "all")
    line = 1 + text.splitlines().index("            break")
    assert line in found["receive"]["never_ran"]


def test_the_report_says_what_ran_and_what_is_not_counted(antecede: Command, mine: Path) -> None:
    out = " ".join(antecede(*ASKED, "--engine", "plain", cwd=mine).out.split())
    assert "12 of 16 lines ran, and 2 of 5 conditions went both ways" in out
    never = number_of("return 100")
    assert f"never ran: line {never} of cached (mine.py)" in out
    assert f"always true: line {number_of('if (')} of receive (mine.py)" in out
    assert "Not counted: initial states" in out
    assert "did not visit all states" not in out


def test_code_scanning_gets_a_note_per_part_that_never_ran(antecede: Command, mine: Path) -> None:
    antecede(*ASKED, "--engine", "plain", "--sarif", "r.sarif", cwd=mine)
    (run,) = json.loads((mine / "r.sarif").read_text())["runs"]
    notes = [found for found in run["results"] if found["ruleId"] == "coverage"]
    assert {"note"} == {found["level"] for found in notes}
    regions = [found["locations"][0]["physicalLocation"]["region"] for found in notes]
    assert number_of("return 100") in {region["startLine"] for region in regions}
    assert len(notes) == len(
        {found["partialFingerprints"]["antecedeQuestion/v1"] for found in notes}
    )
    assert "coverage" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_the_page_of_a_counterexample_marks_lines_that_never_ran(
    antecede: Command, mine: Path
) -> None:
    more = ("--engine", "plain", "--messages", 2, "--trace", "bug.html")
    assert 1 == antecede(*ASKED, *more, cwd=mine).code
    page = (mine / "bug.html").read_text(encoding="utf-8")
    assert "Which lines of the handlers ran" in page
    assert "return 100   ← never ran" in page


def test_a_page_shows_the_lines_that_ran_if_there_is_no_run_to_show(
    antecede: Command, mine: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The file is outside the current folder, so the page names the whole path."""
    elsewhere, file = tmp_path_factory.mktemp("elsewhere"), mine / "mine.py"
    more = ("--engine", "plain", "--trace", "ran.html", "--trace", "ran.svg")
    can_fail = ("--property", "integrity,all-delivered")
    ran = antecede("check", file, *ASKED[2:], *can_fail, *more, cwd=elsewhere)
    assert 0 == ran.code
    page = (elsewhere / "ran.html").read_text(encoding="utf-8")
    assert "HOLDS: which lines of the handlers ran" in page
    assert f"cached, {file.as_posix()}" in page
    assert "return 100   ← never ran" in page
    assert f"of cached ({file.as_posix()})" in " ".join(ran.out.split())
    assert not (elsewhere / "ran.svg").exists()


def test_without_the_option_nothing_is_traced(antecede: Command, mine: Path) -> None:
    assert "Handlers:" not in antecede(*ASKED[:-1], "--engine", "plain", cwd=mine).out


def test_other_processes_cannot_be_traced(antecede: Command, mine: Path) -> None:
    ran = antecede(*ASKED, "--engine", "spark", cwd=mine)
    assert 2 == ran.code
    assert "--coverage is for the engines local and plain" in ran.err


@pytest.mark.parametrize("error", ["", "raise ValueError"])
def test_the_report_says_if_not_all_states_were_visited(
    antecede: Command, mine: Path, error: str
) -> None:
    """An error of a handler ends a search, too."""
    if error:
        (mine / "mine.py").write_text(
            PROTOCOL.replace("    if state is None:", f"    {error}\n    if state is None:")
        )
    ran = antecede(*ASKED, "--engine", "plain", "--max-states", 3, cwd=mine)
    assert "did not visit all states" in " ".join(ran.out.split())


@pytest.mark.parametrize(("file", "users"), [("mine.py", True), ("checker/mine.py", False)])
def test_files_of_a_user_beside_the_packages_of_a_clone_are_traced(
    file: str, users: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "PACKAGE", tmp_path)
    (tmp_path / "checker").mkdir()
    (tmp_path / file).write_text("", encoding="utf-8")
    assert users is tracing.is_users(str(tmp_path / file))
