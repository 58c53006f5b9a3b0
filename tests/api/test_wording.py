"""Errors of functions name arguments of Python, and what a user would expect to work works."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede import audit, check, classes, prove, replay, simulate, sweep
from antecede import test as test_code
from antecede.checker.api.results import Report
from antecede.checker.support.errors import InputError
from antecede.protocols.fifo import FIFO
from antecede.protocols.rst import RST
from tests.api.test_functions import LOG, Node

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("call", "arguments", "sentence"),
    [
        (check, {"max_states": -1}, "max_states is -1; give at least 1"),
        (check, {"max_seconds": "x"}, "max_seconds is 'x'; it must be a number"),
        (check, {"clock_at": "x"}, "unknown clock_at 'x'; available: causal-send, network-send"),
        (check, {"selfcheck": True}, "unknown selfcheck 'True'; available: all, off, on"),
        (check, {"messages": [1, 2]}, "messages is [1, 2]; give one value, or give several to"),
        (check, {"workload": 5}, "workload is 5; it must be a string"),
        (check, {"workload": [[1, 7], [0]]}, "destination 7 of actor 0"),
        (check, {"master": "local[2]"}, "master is for engine='spark'"),
        (check, {"bound": "spread=1"}, "unknown measure of fifo 'spread'"),
        (sweep, {"workers": 0}, "workers is 0; give a whole number, at least 1"),
        (sweep, {"actors": []}, "actors is []; give at least one value"),
        (sweep, {"engine": "spark"}, "unknown engine 'spark'"),
        (sweep, {"master": "x"}, "master is for on='spark'"),
        (sweep, {"on": "spark", "workers": 2}, "workers is for on='here'; on Spark"),
        (simulate, {"seeds": "x"}, "seeds is 'x'; give a whole number, at least 1"),
        (simulate, {"hot_share": 3}, "hot_share is '3'"),
        (simulate, {"on": "x"}, "unknown on 'x'; available: here, spark"),
        (prove, {"timeout": "x"}, "timeout is 'x'; give seconds"),
        (prove, {"max_states": -1}, "max_states is -1; give at least 1"),
        (prove, {"expect": "x"}, "unknown expect 'x'"),
        (audit, {"fields": {"zz": "a"}}, "fields: 'zz=a' names no field"),
        (test_code, {"walks": None}, "walks is None; give a whole number, at least 0"),
        (test_code, {"walks": "x"}, "walks is 'x'; give a whole number, at least 0"),
        (test_code, {"walks": -1}, "walks is -1; give a whole number, at least 0"),
        (audit, {"fields": ["a"]}, "fields is ['a']; give a dictionary"),
        (audit, {"parser": re.compile("a")}, "give a regular expression as a text"),
        (check, {"search": ["depth"]}, "unknown search \"['depth']\""),
        (check, {"selfcheck": ["on"]}, "unknown selfcheck \"['on']\""),
        (check, {"bound": 3}, "bound is 3; give a text such as 'mode=3', or a list of texts"),
        (check, {"bound": [3]}, "bound is [3]; give a text such as 'mode=3', or a list of texts"),
        (simulate, {"figure": 3}, "figure is 3; give a text such as 'cykas-4'"),
        (simulate, {"output": 3}, "output is 3; give the name of a file"),
        (sweep, {"output": 3}, "output is 3; give the name of a file"),
        (classes, {"workload": 3}, "workload is 3; give a text such as 'any'"),
    ],
)
def test_an_error_names_the_argument(call: Call, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call("fifo", **({"actors": 2} if call in (check, sweep) else {}) | arguments)
    assert sentence in str(caught.value)
    assert not re.search(r"--[a-z]", str(caught.value))


@pytest.mark.parametrize(
    ("call", "value", "sentence"),
    [
        (check, Node, r"check real code with antecede\.test\(Node\)"),
        (check, 5, "the protocol is 5; give a name"),
        (replay, None, r"give a run, such as result\.counterexample, or the name of a \.json file"),
        (prove, evolve(FIFO, name="mine"), "the protocol 'mine', for which there is no abstract"),
        (
            prove,
            evolve(FIFO, network="fifo"),
            "the protocol 'fifo', for which there is no abstract",
        ),
        (prove, 5, "target is 5; give a name"),
        (audit, 5, "the log is 5; give a file, a folder, or a list of events"),
        (audit, [], r"the log is \[\]; give a file"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(call: Call, value: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call(value)


def test_an_unfinished_result_names_the_argument_that_ended_it() -> None:
    found = check("mfss", messages=2, max_states=100, engine="plain")
    for text in (repr(found), str(found), found.reason, found._repr_html_()):
        assert "max_states" in text
        assert "--max" not in text
    with pytest.raises(AssertionError, match="max_states=100 reached"):
        found.expect("holds")


def test_a_script_of_destinations_is_a_workload() -> None:
    given: dict[str, Any] = {"actors": 2, "engine": "plain"}
    written = check("fifo", workload="script:[[1,1],[0]]", **given)
    assert written.counts == check("fifo", workload=[[1, 1], [0]], **given).counts
    several: Any = ["any", [[1, 1], [0]]]
    found = sweep("fifo", workload=several, workers=1, **given)
    assert ["any", "script:[[1,1],[0]]"] == [row["workload"] for row in found.rows]


def test_one_name_stands_for_a_list_of_one() -> None:
    given: dict[str, Any] = {"actors": 2, "engine": "plain"}
    found = check("fifo", properties="integrity", bound="greatest=1", **given)
    assert ["integrity"] == [*found.properties]
    rows = sweep("fifo", properties="integrity", workers=1, **given).rows
    assert ["integrity"] == [row["properties"] for row in rows]


def test_a_run_is_replayed_without_a_file() -> None:
    run = check(evolve(FIFO, name="mine"), messages=2, engine="plain").counterexample
    assert run is not None
    found = replay(run)
    assert found.violated
    assert "<Replay of the run: <Run: causal-delivery VIOLATED after 6 transitions>>" == repr(found)


def test_events_are_audited_without_a_file() -> None:
    log: list[Any] = LOG
    assert "VIOLATED" == audit(log).verdict
    assert "HOLDS" == audit(log[:3], [log[4], log[3]]).verdict


def test_a_protocol_with_a_model_is_proved() -> None:
    assert "PROVED" == prove(RST).verdict


def test_a_result_saves_its_run(tmp_path: Path) -> None:
    check("unordered", actors=2, engine="plain").save(tmp_path / "run.json")
    assert replay(tmp_path / "run.json").violated
    with pytest.raises(InputError, match="the result HOLDS has none"):
        check("fifo", actors=2, messages=2, engine="plain").save(tmp_path / "run.svg")


# What a cell shows


def seen(result: Report | Any) -> str:
    """Return the text that a reader of the cell sees, without pictures."""
    return unescape(re.sub(r"<[^>]*>", " ", result._repr_html_()))


def test_a_cell_says_what_a_verdict_is_about_and_what_it_means() -> None:
    shown = seen(check("fifo", actors=2, messages=2, engine="plain"))
    for text in ("fifo: HOLDS", "2 actors", "2 messages each", "network unordered", "49 unique"):
        assert text in shown
    assert re.search(r"causal-delivery\s+HOLDS\s+integrity\s+HOLDS\s+all-delivered\s+HOLDS", shown)
    assert "What this means: every run within these bounds satisfies causal-delivery, int" in shown
    assert "nothing about more actors or messages" in shown
    assert "What this means: INCOMPLETE: some reachable states were not explored" in seen(
        check("mfss", messages=2, max_states=100, engine="plain")
    )


def test_a_cell_says_the_reason_of_a_violation_once() -> None:
    found = check("fifo", actors=3, messages=2, engine="plain")
    assert found.reason not in seen(found)  # the picture has it
    assert f'alt="{found.reason}"' in found._repr_html_()
    assert "fifo: VIOLATED" in seen(found)


# Progress

PROGRAM = """
from antecede import claims, table
from antecede.checker.api import progress
progress.DELAY = progress.CellTicker.LIVE = 0
if __name__ == "__main__":
    {call}
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("call", "line"),
    [
        ('claims(claim="mf-footnote-4", engine="plain")', "1 of 1 claim: mf-footnote-4 CONFIRMED"),
        ('table("2x1", engine="plain")', "mfss: level"),
    ],
)
def test_a_script_on_a_terminal_shows_one_live_line(call: str, line: str) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-c", PROGRAM.format(call=call)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += (read := os.read(ours, 65536))
        except OSError:
            break
        if not read:
            break
    os.close(ours)
    assert (0, b"") == (ran.returncode, ran.stdout), shown
    assert line in shown.decode()
    assert "\n" not in shown.decode().strip()


@pytest.mark.integration
def test_a_script_whose_errors_go_to_a_file_shows_no_progress() -> None:
    call = 'claims(claim="mf-footnote-4", engine="plain")'
    command = [sys.executable, "-c", PROGRAM.format(call=call)]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert (b"", b"") == (ran.stdout, ran.stderr)


@pytest.mark.parametrize("call", [simulate, sweep])
@pytest.mark.parametrize("several", ["mfss,cykas", "mfss, cykas", ["mfss", "cykas"]])
def test_several_protocols_in_one_argument_are_refused(call: Call, several: Any) -> None:
    with pytest.raises(
        InputError, match="several protocols as several arguments, such as 'mfss', "
    ):
        call(several)


@pytest.mark.parametrize("call", [simulate, sweep])
@pytest.mark.parametrize(
    ("given", "says"),
    [("pipe:false x,mfss", "exit code 1"), ("a," * 300, "unknown protocol")],
)
def test_a_text_with_commas_may_be_a_program_or_long(call: Call, given: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call(given, actors=2)


@pytest.mark.parametrize(
    ("call", "wrong", "right"),
    [(check, "property", "properties"), (replay, "properties", "property")],
)
def test_the_wrong_one_of_two_similar_arguments_names_the_right_one(
    call: Call, wrong: str, right: str
) -> None:
    with pytest.raises(InputError, match=f"unknown argument '{wrong}'; did you mean '{right}'?"):
        call("fifo", **{wrong: "integrity"})
