"""The functions of `antecede`: their arguments, their small results, and objects as protocols."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import urllib.request
from base64 import b64decode
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from attrs import evolve

import antecede
from antecede import audit, check, claims, explore, prove, replay, simulate, sweep, table
from antecede.checker.api.sweep import rows_file
from antecede.checker.model import Protocol
from antecede.checker.search.result import Verdict
from antecede.checker.support import extras
from antecede.checker.support.errors import InputError
from antecede.checker.sweep.sweep import kept_in
from antecede.protocols.fifo import FIFO
from antecede.protocols.mfss import MFSS
from antecede.protocols.unordered import UNORDERED
from tests.conftest import Command

pytest_plugins = ["pytester"]

FUNCTIONS = (
    "check",
    "sweep",
    "prove",
    "classes",
    "simulate",
    "audit",
    "test",
    "replay",
    "claims",
    "table",
    "explore",
    "export",
)

FOR_THE_TERMINAL = {
    *("json_file", "junit_file", "sarif_file", "verbose", "quiet", "output"),
    *("trace_file", "trace_files", "graph_file", "parquet_file", "smt2_folder"),
    *("folder", "form", "interactive", "no_browser", "wanted", "rows", "help_all"),
    "summary_file",
    "settings",
}
"""Options that say what a command writes, for which results of functions have methods, and the
settings of a simulation, which are arguments of their own."""

IN_PYTHON = {
    "workloads": "workload",
    "place": "on",
    "mutated": "mutants",
    "suggests": "suggest",
    "links": "link",
    "figures": "figure",
    "size": "bounds",
    "prop": "property",
}
"""Option of a command -> the argument of the function, if it has another name."""

POSITIONAL = {"names", "targets", "protocols", "target", "adapter", "trace"}
"""Arguments of commands that have no option; the first arguments of functions."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_options_of_its_command(name: str) -> None:
    command = import_module(f"antecede.checker.commands.{name}").command
    asserted = {"expect"} if name in ("check", "test", "classes") else set()  # `result.expect`
    options = {each.name for each in command.params} - FOR_THE_TERMINAL - POSITIONAL - asserted
    shown = inspect.signature(getattr(antecede, name)).parameters
    assert set() == {IN_PYTHON.get(option, option) for option in options} - {*shown}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_describes_the_arguments_and_their_types(name: str) -> None:
    function = getattr(antecede, name)
    documented = inspect.getdoc(function) or ""
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
        if name != "simulate" and parameter.name != "names":
            assert f"    {parameter.name}: " in documented, parameter
    assert "repeat this option" not in documented
    arguments = documented.partition("Keyword arguments:")[2]
    assert not re.search(r"(?<![\w-])--[a-z]", arguments), "an option of the command"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_argument_is_refused(name: str) -> None:
    wrong: dict[str, Any] = {"no_such_argument": 3}
    with pytest.raises(InputError, match="unknown argument 'no_such_argument'"):
        getattr(antecede, name)("mfss", **wrong)


@pytest.mark.integration
def test_pytest_does_not_take_the_function_test_for_a_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("from antecede import test\ndef test_mine(): assert test")
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error")
    ran.assert_outcomes(passed=1)


# Results


@pytest.mark.integration
def test_the_results_are_small(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    found = check("unordered", actors=2, engine="plain")
    assert found.counterexample is not None
    found.counterexample.save(file)
    results: list[tuple[Any, str]] = [
        (sweep("fifo", actors=2, messages=[2, 3], engine="plain", workers=1), "2 HOLDS"),
        (prove("rst"), "PROVED"),
        (simulate("fifo", actors=3, messages=1, seeds=2, workers=1), "2 runs"),
        (replay(file), "VIOLATED after 4 transitions"),
        (claims(claim="mf-footnote-4", engine="plain"), "1 CONFIRMED"),
        (table("2x1", engine="plain"), "3 HOLDS"),
        (antecede.test(Node, actors=2, messages=2, engine="plain"), "VIOLATED"),
    ]
    for result, said in results:
        assert 3 >= len(repr(result).splitlines())
        assert 300 > len(repr(result))
        assert said in repr(result)
        assert result._repr_html_()


@pytest.mark.integration
def test_a_sweep_prints_the_matrix_of_the_command(antecede: Command, tmp_path: Path) -> None:
    found = sweep("fifo", actors=[2, 3], messages=[1, 2], engine="plain", workers=1)
    asked = ("fifo", "--actors", "2,3", "--messages", "1,2", "--engine", "plain", "--workers", 1)
    assert f"{found}\n" == antecede("sweep", *asked, cwd=tmp_path).out
    assert {"VACUOUS": 2, "HOLDS": 1, "VIOLATED": 1} == found.verdicts


def test_a_matrix_of_verdicts_is_a_picture(tmp_path: Path) -> None:
    found = sweep("fifo", actors=[2, 3], engine="plain", workers=1)
    found.save(tmp_path / "matrix.svg")
    picture = (tmp_path / "matrix.svg").read_text("utf-8")
    for text in (
        "2x2",
        "3x2",
        "HOLDS 49",
        "VIOLATED (6)",
        "fifo, network unordered, workload any",
    ):
        assert f">{text}<" in picture
    shown = found._repr_html_().partition("base64,")[2].partition('"')[0]
    assert picture == b64decode(shown).decode()
    with pytest.raises(InputError, match=r"give a name\.svg, \.png or \.pdf"):
        found.save(tmp_path / "matrix.gif")


def test_a_sweep_keeps_its_rows_if_a_file_is_given(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    first = sweep("fifo", actors=2, engine="plain", workers=1, output=file)
    again = sweep("fifo", actors=2, engine="plain", workers=1, output=file)
    assert first.rows == again.rows
    assert 1 == len(file.read_text("utf-8").splitlines())


def test_an_interrupted_sweep_names_only_a_file_that_remains(tmp_path: Path) -> None:
    for output, told in ((None, 0), (tmp_path / "rows.jsonl", 1)):
        with (
            pytest.raises(KeyboardInterrupt) as caught,
            rows_file(output) as file,
            kept_in(file).noted(),
        ):
            raise KeyboardInterrupt
        assert told == len(getattr(caught.value, "__notes__", []))


def test_a_sweep_finds_the_smallest_bound() -> None:
    found = sweep(FIFO, smallest=True, actors=3, max_messages=3, engine="plain", workers=1)
    assert "fifo on unordered: VIOLATED at 3 messages among 3 actors" in str(found)
    assert "antecede check" not in str(found)  # it would not check this object


def test_rows_are_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    found = sweep("fifo", actors=[2, 3], messages=1, engine="plain", workers=1)
    assert [9, 125] == list(found.to_frame()["unique_states"])
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=re.escape(extras.install_command("pandas"))):
        found.to_frame()


LOG = [
    {"actor": "a", "event": "causal-send", "message": "photo", "to": ["b", "c"]},
    {"actor": "b", "event": "deliver", "message": "photo"},
    {"actor": "b", "event": "causal-send", "message": "reply", "to": ["c"]},
    {"actor": "c", "event": "deliver", "message": "reply"},
    {"actor": "c", "event": "deliver", "message": "photo"},
]


def test_an_audit_has_findings_and_a_picture(antecede: Command, tmp_path: Path) -> None:
    log = tmp_path / "chat.jsonl"
    log.write_text("\n".join(map(json.dumps, LOG)))
    found = audit(log)
    assert ("VIOLATED", 3) == (found.verdict, found.counts["deliveries"])
    assert f"{found}\n" == antecede("audit", log).out
    assert "photo" in b64decode(found._repr_html_().partition("base64,")[2][:-2]).decode()
    found.save(tmp_path / "chat.svg")
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_text(log.read_text().replace('"actor"', '"host"'))
    assert "VIOLATED" == audit(renamed, fields={"actor": "host"}).verdict
    right = tmp_path / "right.jsonl"
    right.write_text("\n".join(map(json.dumps, [*LOG[:3], LOG[4], LOG[3]])))
    assert "HOLDS" == audit(right).verdict


def test_a_saved_run_is_replayed_with_the_object_that_is_given(tmp_path: Path) -> None:
    mine = evolve(UNORDERED, name="mine")
    run = check(mine, actors=2, engine="plain").counterexample
    assert run is not None
    run.save(tmp_path / "run.json")
    found = replay(tmp_path / "run.json", protocol=mine)
    assert found.violated
    assert "m1" in found._repr_html_() or found.run.length == 4
    with pytest.raises(InputError, match=r"unknown protocol 'mine'.*give protocol=PROTOCOL, with"):
        replay(tmp_path / "run.json")


def test_a_saved_run_of_an_unknown_protocol_says_how_to_name_it(
    antecede: Command, tmp_path: Path
) -> None:
    run = check(evolve(UNORDERED, name="mine"), actors=2, engine="plain").counterexample
    assert run is not None
    run.save(tmp_path / "run.json")
    for command in ("replay", "explore"):
        ran = antecede(command, tmp_path / "run.json")
        assert 2 == ran.code
        assert "run.json: unknown protocol 'mine'" in ran.err
        assert "if it is your own, add --protocol FILE.py:OBJECT" in " ".join(ran.err.split())
    with pytest.raises(InputError, match="give protocol=PROTOCOL"):
        explore(str(tmp_path / "run.json"))


class Node:
    """Real code that delivers everything at once."""

    def __init__(self, actor: int, actors: int) -> None:
        self.actor = actor

    def causal_send(self, out: Any, message: Any) -> None:
        out.send(message.receiver, message)

    def receive(self, out: Any, src: int, packet: Any) -> None:
        out.deliver(packet)


def test_real_code_is_tested_as_the_class_that_is_given() -> None:
    found = antecede.test(Node, actors=2, messages=2, engine="plain")
    assert Verdict.VIOLATED is found.verdict
    found.expect("violated", length=4)
    assert "Breadth-first" not in str(found)


# Protocols that are objects


@pytest.mark.parametrize("call", [sweep, simulate])
def test_two_protocols_of_one_name_are_refused(call: Any) -> None:
    other: Protocol = evolve(UNORDERED, name="mfss")
    with pytest.raises(InputError, match="two protocols have the name 'mfss'"):
        call(MFSS, other)


def test_an_object_replaces_the_registered_protocol_of_its_name_only_in_its_call() -> None:
    broken = evolve(UNORDERED, name="mfss")
    asked: dict[str, Any] = {"actors": 2, "engine": "plain", "workers": 1}
    assert {"VIOLATED": 1} == sweep(broken, **asked).verdicts
    assert {"HOLDS": 1} == sweep("mfss", **asked).verdicts
    other = evolve(UNORDERED, name="cykas")  # a twin of the registered protocol would be wrong
    rows = [simulate(each, actors=3, seeds=1, workers=1).rows[0] for each in (other, "unordered")]
    assert rows[0]["execution_ns"] == rows[1]["execution_ns"]


PROGRAM = """
from antecede import Protocol, Step, sweep
from attrs import frozen

@frozen
class Node:
    waiting: int = 0

def causal_send(state, message):
    return Step(state, sends=((message.receiver, message),))

def receive(state, src, packet):
    return Step(state, deliveries=(packet,))

MINE = Protocol(name="mine", summary="", source="", initial=lambda actor, actors: Node(),
                causal_send=causal_send, receive=receive)
print(dict(sweep(MINE, actors=2, workers=2, engine="plain",
                 network=["fifo", "unordered"]).verdicts))

def receive(state, src, packet):
    return Step(state)

MINE = Protocol(name="mine", summary="", source="", initial=lambda actor, actors: Node(),
                causal_send=causal_send, receive=receive)
print(dict(sweep(MINE, actors=2, messages=1, workers=2, engine="plain",
                 properties=["all-delivered"]).verdicts))
"""


@pytest.mark.integration
def test_a_program_sweeps_the_protocols_that_it_defines(tmp_path: Path) -> None:
    """Its workers import no protocol, and do not run the program again."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "{'HOLDS': 1, 'VIOLATED': 1}\n{'VIOLATED': 1}\n" == ran.stdout, ran.stderr
    assert "" == ran.stderr


def test_the_explorer_shows_the_object_that_is_given() -> None:
    page = explore(evolve(UNORDERED, name="mine"), actors=2)
    try:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(page.address) as answer:
            (path,) = re.findall(r'content="0;url=([^"]*)"', answer.read().decode())
        with browser.open(urljoin(page.address, path)) as answer:
            shown, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        assert "mine" in shown
        assert "frame-ancestors http://localhost:*" in policy
        assert f'<iframe src="{page.address}"' in page._repr_html_()
    finally:
        page.close()


def test_an_audit_on_spark_refuses_the_expressions_of_shiviz(tmp_path: Path) -> None:
    """They were ignored."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"actor": "a", "event": "causal-send", "message": "m"}\n')
    with pytest.raises(InputError, match="is for ShiViz logs"):
        audit(log, on="spark", parser="(?<host>x)")


def test_the_steps_of_a_run_are_those_of_its_trace() -> None:
    run = check("unordered", actors=2).counterexample
    assert run is not None
    written = json.loads(run.text("json"))["transitions"]
    assert written == list(run) == [run[number] for number in range(len(run))] == run[:]
    assert written[-1] == run[-1]
    assert run.length == len(run) == 4
    with pytest.raises(IndexError):
        run[4]


def test_a_run_without_steps_is_a_run() -> None:
    """So that `if result.counterexample` does not hide a state that violates at once."""
    never = antecede.Property(
        name="never",
        summary="no state is reached",
        what=antecede.What.LOCAL_STATE,
        when=antecede.When.ALWAYS,
        predicate=lambda _state: False,
    )
    run = check(MFSS, actors=2, messages=2, properties=[never]).counterexample
    assert run
    assert 0 == len(run)


@pytest.mark.parametrize(
    "result",
    [
        lambda: check("fifo", actors=2, messages=2),
        lambda: antecede.classes("fifo", actors=2, messages=2),
        lambda: sweep("mfss", actors=2, messages=2),
    ],
)
def test_a_result_is_neither_true_nor_false(result: Any) -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        assert result()
