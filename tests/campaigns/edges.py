"""Hostile tests at the edges of a command: its streams, its start and end, its words.

Each function runs a command in a process of its own and returns the faults as sentences.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import COMMAND, ROOT, Ran
from tests.support.test_interrupts import POINTS

SMALL = ("--actors", "2", "--messages", "2", "--engine", "plain")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check", "mfss", *SMALL, "--quiet"),
    ("check", "unordered", "--actors", "2", "--engine", "plain", "--quiet"),
    ("list", "mfss"),
    ("--help",),
    ("table", "--bounds", "2x1", "--engine", "plain", "--quiet"),
    ("sweep", "mfss", *SMALL, "--workers", "1", "--quiet"),
    ("simulate", "mfss", "--seeds", "1", "--workers", "1", "--quiet"),
    ("audit", "log.jsonl"),
    ("prove", "fifo", "--quiet"),
    ("claims", "--quick", "--source", "tree", "--engine", "plain"),
)
LOG = """\
{"actor": "a", "event": "causal-send", "message": "m", "to": ["b"]}
{"actor": "b", "event": "deliver", "message": "m"}
"""
NO_OUTPUT = (">&-", ">/dev/full", "<&- >&-", "<&- >&- 2>&-")
NO_MESSAGES = ("2>&-", "2>/dev/full", "<&- 2>&-")
FILES = {
    "check": ("--json", "--junit", "--sarif"),
    "table": ("--output",),
    "sweep": ("--output", "--parquet"),
    "simulate": ("--output", "--parquet"),
    "audit": ("--json",),
    "prove": ("--json", "--junit", "--smt2"),
    "claims": ("--json",),
}


def _ran(command: tuple[str, ...], folder: Path, redirection: str = "", **environment: str) -> Ran:
    """Run a command by a shell, which may close its streams or delete its folder before."""
    first, _, second = redirection.rpartition(";")
    done = subprocess.run(
        ["sh", "-c", f'{first or ":"}; "$@" {second}', "sh", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@lru_cache
def _undisturbed(line: tuple[str, ...]) -> Ran:
    with TemporaryDirectory() as folder:
        (Path(folder) / "log.jsonl").write_text(LOG)
        return _ran((*COMMAND, *line), Path(folder))


def _faults(line: tuple[str, ...], how: str, ran: Ran, expected: set[int]) -> list[str]:
    """Return the faults of a command's end: tracebacks and the like, and a wrong exit code."""
    text = ran.out + ran.err
    if ran.code in expected and not re.search(
        "^Traceback|Internal error|Exception ignored", text, re.MULTILINE
    ):
        return []
    return [f"{' '.join(line)} {how}: exit {ran.code}, not {sorted(expected)}: {text[-300:]}"]


def unusable(chance: random.Random, folder: Path) -> list[str]:
    """Close or fill a standard stream or a file, or delete the folder that the command is in."""
    line = chance.choice(COMMANDS)
    (folder / "log.jsonl").write_text(LOG)
    (folder / "loop").symlink_to("loop")
    gone = 'mkdir gone; cd gone; rmdir "$PWD"; '
    redirection = chance.choice((*NO_OUTPUT, *NO_MESSAGES, gone, ""))
    expected = {_undisturbed(line).code if redirection in NO_MESSAGES else 2}
    if not redirection:
        line = next(each for each in (line, *chance.sample(COMMANDS, 10)) if each[0] in FILES)
        file = chance.choice(("/dev/full", "loop", "loop/x"))
        line = (*line, chance.choice(FILES[line[0]]), file)
    ran = _ran((*COMMAND, *line), folder, redirection)
    faults = _faults(line, redirection, ran, expected)
    if expected == {2} and not ran.err and not redirection.endswith("2>&-"):
        faults.append(f"{' '.join(line)} {redirection}: it does not say why")
    return faults


BUG = ""
"""Code that a test injects into the command before it starts."""

LATE = ("after the report", "before the end", "at exit", "in the last moment")


def signalled(chance: random.Random, folder: Path) -> list[str]:
    """Send a signal at an import, or after the report; it is no result, or the usual one."""
    line, number = chance.choice(COMMANDS), chance.choice((1, 2, 15))
    point = chance.choice((*LATE, *["import"] * len(LATE)))
    if point == "after the report" and line[0] in ("claims", "--help"):  # it prints before, too
        point = "at exit"
    if point == "import":
        point = f"import {chance.randrange(400)}"
    (folder / "log.jsonl").write_text(LOG)
    (folder / "points.py").write_text(f"{BUG}\n{POINTS}")
    ran = _ran((sys.executable, "points.py", str(number), point, *line), folder)
    usual = _undisturbed(line).code
    expected = {usual}
    if point.startswith("import"):  # a command without a result ends as if it knew no signals
        expected |= {128 + number} if line == ("--help",) else {3}
    faults = _faults(line, f"signal {number}, {point}", ran, expected)
    said = "Interrupted" in ran.err or "INCOMPLETE: " in ran.out
    if ran.code == 3 and usual != 3 and not said:
        faults.append(f"{' '.join(line)}: signal {number}, {point}: {ran.err[-300:]}")
    return faults


ORDERS = ("::error::x", " \t::warning file=a,line=1::x", "##[group]x", "x ##[add-mask]y", "::")
"""Workflow commands, which GitHub's runner obeys at the start of a line or anywhere in it."""

PROTOCOL = """
import sys
from attrs import evolve
from antecede.protocols.unordered import UNORDERED
T = {text!r}

def receive(state, src, packet):
    print(T, end="")
    sys.stderr.write(T)
    raise ValueError(T)

PROTOCOL = evolve(UNORDERED, name=T, receive=receive)

class Node:
    def __init__(self, actor, actors):
        print(T, file=sys.stderr)

    causal_send = receive = lambda self, *_: exec("raise ValueError(T)")
"""


def ordered(chance: random.Random, folder: Path) -> list[str]:
    """Insert workflow commands into all texts that come from outside."""
    text = "".join(chance.choice((*ORDERS, "\n", "\r", "x")) for _ in range(4))
    (folder / "bad.py").write_text(PROTOCOL.format(text=text))
    (folder / "bad.toml").write_text(f'protocol = "bad.py:PROTOCOL"\ntitle = {_quoted(text)}\n')
    log = LOG.replace('"a"', _quoted(text)).replace('"m"', _quoted(f"{text}{text}"))
    (folder / "log.jsonl").write_text(log.replace('"b"', _quoted(f"b{text}")))
    says = f"import sys; sys.stderr.write({text!r})"
    program = ["test", f"pipe:{sys.executable} -c {shlex.quote(says)}", "--actors", "2"]
    line = chance.choice(
        (
            ("check", "bad.toml", "--actors", "2", "--engine", "plain"),
            ("check", f"{text}.toml", text, "bad.py:PROTOCOL", "--actors", "2"),
            ("sweep", "bad.toml", "--actors", "2", "--engine", "plain", "--workers", "1"),
            ("audit", "log.jsonl", *chance.choice(((), ("--json", "-")))),
            ("test", "bad.py:Node", "--actors", "2"),
            tuple(program),
        )
    )
    ran = _ran((*COMMAND, *line), folder, GITHUB_ACTIONS="true")
    faults = _faults(line, "in a job", ran, {0, 1, 2, 3})
    for each in re.split("\r\n|\r|\n", f"{ran.out}\n{ran.err}"):
        obeyed = each.lstrip().startswith("::") or "##[" in each
        if obeyed and not re.match(r"::(error|warning) .*title=antecede%3A ", each):
            faults.append(f"{line}: GitHub's runner would obey {each!r}")
    return faults


def _quoted(text: str) -> str:
    """Return a text as JSON and TOML write it."""
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'
