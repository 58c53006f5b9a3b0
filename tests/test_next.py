"""The commands that a report names after `Next:` work."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.api.test_functions import LOG
from tests.conftest import ROOT, Command, begun

RAISING = """
from antecede import Property, What, When

def at_once(states):
    return states[0].nothing

def late(state):
    return sum(state.delivered) == 0 or state.nothing

AT_ONCE = Property("at-once", "", What.GLOBAL_STATE, When.ALWAYS, at_once)
LATE = Property("late", "", What.LOCAL_STATE, When.ALWAYS, late)
"""

UNUSABLE = (2, 4)
"""The exit codes of unusable input and of an error within antecede."""

MINE = """
class Node:
    def __init__(self, actor, actors):
        pass
    def causal_send(self, out, message):
        out.send(message.receiver, {"text": message})
    def receive(self, out, src, packet):
        out.deliver(packet["text"])
"""

FILE = """
from attrs import evolve
from antecede.protocols.fifo import FIFO
MINE = evolve(FIFO, name="mine")
"""


def advised(report: str, asked: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield what each line after `Next:` tells a reader to run, one command after another."""
    _, found, lines = report.partition("Next:\n")
    steps = re.match(r"(?: .*\n)*", lines if found else "")
    assert steps is not None
    for step in re.sub(r"\n {4}", "    ", steps[0]).splitlines():
        added = re.search(r"add (--.*?)(?:, then: |$)", step)
        run = re.search(r"antecede (\w.*?)(?: {3,}|$)", step)
        commands = [[*asked, *shlex.split(added[1])]] if added else []
        commands += [shlex.split(run[1])] if run else []
        assert commands, step
        yield commands


def code_of(command: Sequence[str], folder: Path) -> int:
    """Return the exit code of a command. The explorer gets a signal when its page is there."""
    page = command[0] == "explore"
    whole = [sys.executable, "-m", "antecede", *command, *(["--no-browser"] if page else [])]
    process = begun(whole, cwd=folder)
    assert process.stdout is not None
    if page and process.stdout.readline():
        process.send_signal(signal.SIGINT)
    process.communicate()
    return process.returncode


SMALL = ("--actors", "2", "--messages", "1")

ASKED = [
    ("check", "fifo", "--actors", "2", "--messages", "2"),
    ("check", "fifo", "--actors", "3", "--messages", "2"),
    ("check", "unordered", "--actors", "2", "--network", "lossy"),
    ("check", "cbcast", "--actors", "2", "--messages", "2", "--workload", "broadcast"),
    ("check", "cbcast", "--actors", "3", "--workload", "endless:1:[[[1,2]],[[0,2]],[]]"),
    ("check", "unordered", "--actors", "2", "--workload", "script:[[1,1],[]]"),
    ("check", "unordered", "--actors", "2", "--trace", "a run.json"),
    ("check", "unordered", "--actors", "2", "--trace", "run.itf.json"),
    ("check", "unordered", "--actors", "2", "--trace", "run.svg", "--trace", "run.html"),
    ("check", "mine.py:MINE", "--actors", "3", "--messages", "2"),
    ("check", "mine.py:MINE", "--actors", "2", "--messages", "2", "--trace", "run.json"),
    ("check", str(ROOT / "specs" / "museum" / "partisan-unordered.toml")),
    ("test", "node.py:Node", "--actors", "2", "--messages", "2"),
    ("test", "node.py:Node", "--actors", "2", "--messages", "2", "--trace", "run.json"),
    ("audit", "chat.jsonl"),
    ("prove", "fifo"),
    ("simulate", "fifo", "--actors", "3", "--messages", "1", "--seeds", "1", "--workers", "1"),
    ("sweep", "fifo", "--actors", "2", "--messages", "1,2", "--workers", "1"),
    ("replay", "saved.json"),
]


@pytest.mark.integration
@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_the_next_commands_of_a_report_work(
    asked: tuple[str, ...], antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "node.py").write_text(MINE)
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, LOG)))
    if "saved.json" in asked:
        antecede("check", "unordered", "--actors", 2, "--trace", "saved.json", cwd=tmp_path)
    first = antecede(*asked, cwd=tmp_path)
    assert first.code not in UNUSABLE, first.err
    steps = [*advised(f"{first.out}\n{first.err}", asked)]
    assert steps or asked[0] != "check"
    for commands in steps:
        for command in commands:
            assert code_of(command, tmp_path) not in UNUSABLE, command


def test_nothing_is_next_after_an_error(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISING)
    for name in ("AT_ONCE", "LATE"):
        ran = antecede("check", "fifo", "--property", f"raises.py:{name}", *SMALL, cwd=tmp_path)
        assert 2 == ran.code
        assert "Next:" not in ran.out, "first repair the property"


def test_a_command_that_fails_would_be_noticed(tmp_path: Path) -> None:
    report = "fifo: HOLDS\n\nNext:\n  step through it  antecede explore run.itf.json\n"
    (((command),),) = advised(report, ())
    (tmp_path / "run.itf.json").write_text("{}")
    assert code_of(command, tmp_path) in UNUSABLE
