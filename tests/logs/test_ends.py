"""An audit ends: no expression of a log takes forever, and --max-seconds ends every stage."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.readers.sources import Source
from antecede.checker.logs.report import picture
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.supervisor import WAKE
from tests.conftest import COMMAND, Command, on_unix
from tests.logs.test_audit import ALICE_BOB_CAROL, audit, log

HOST_LAST = r"(?<event>.*)\n(?<host>\S*) (?<clock>\{.*\})"

SLOW = {
    "alternatives": (r"(?<event>(a|a)*)\n(?<host>(\S+)+) (?<clock>\{.*\})", "a" * 60),
    "repetitions": (r"(?<event>((a*)*)*)\n(?<host>\S*) (?<clock>\{.*\})", "a" * 5000),
    "braces": (HOST_LAST, "{" * 100_000),
    "spaces": (r"(?<event>.*)\n(?<host>\S*)\s*\s*\s*\s*(?<clock>\{.*\})", " " * 20_000 + "a"),
}


@pytest.mark.parametrize("name", list(SLOW))
def test_no_expression_of_a_log_takes_forever(name: str, tmp_path: Path) -> None:
    header, line = SLOW[name]
    (tmp_path / "log").write_text(f"{header}\n\n{line}\n{line}!\n")
    with pytest.raises(InputError, match="line 3: no event here"):
        audit(tmp_path / "log")


def test_no_given_expression_takes_forever(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('alice {"alice": 1}\n' + "a" * 5_000 + "!\n")
    with pytest.raises(InputError, match="no event says that a message is sent"):
        audit(
            tmp_path / "log",
            given=r"^(?<send>(a|a)*)(?<deliver>b)? (?<message>\w+)$",
        )


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("(?=x)", "has the lookaround (?=…), which RE2 does not support"),
        ("(?<!x)", "has the lookaround (?<!…), which RE2 does not support"),
        (r"(x)\1", r"has the backreference \1, which RE2 does not support"),
        ("(?>x)", "is no regular expression of RE2 (invalid perl operator: (?>); correct"),
    ],
)
def test_an_expression_without_a_bound_is_refused(part: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(f"{HOST_LAST}{part}\n\ncausal-sends m\na {{}}\n")
    with pytest.raises(InputError, match=re.escape(f"line 1: the log's expression {said}")):
        audit(tmp_path / "log")


def forever(*_: Any, **_more: Any) -> Iterator[Any]:
    """Do not end, while a supervisor asks for the end."""
    while True:
        asked()


def asked() -> None:
    assert WAKE is not None
    signal.raise_signal(WAKE)
    time.sleep(0.01)


def never(*_: Any, **_more: Any) -> None:
    next(forever())


STAGES = {
    "reading": (Source, "read"),
    "judging": (Judge, "take"),
    "judging in kernels": (Judge, "_judge"),
    "looking for chains": (Judge, "_with_chain"),
}


@pytest.mark.parametrize("stage", list(STAGES))
def test_max_seconds_ends_every_stage(
    stage: str, antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, found = log(tmp_path, ALICE_BOB_CAROL), tmp_path / "found.json"
    if stage == "judging in kernels":
        monkeypatch.setattr(audits, "LARGE_UNCOMPILED", 1)
        monkeypatch.setattr(audits, "LARGE", 1)
        monkeypatch.setattr(Judge, "_judge", until_stopped)
    else:
        monkeypatch.setattr(*STAGES[stage], never)
    ran = antecede("audit", file, "--max-seconds", "0.3", "--json", found)
    assert 3 == ran.code
    assert "log.jsonl: INCOMPLETE --max-seconds 0.3 reached" in " ".join(ran.out.split())
    assert {"verdict": "INCOMPLETE", "stopped_by": "--max-seconds 0.3 reached"}.items() <= (
        json.loads(found.read_text()).items()
    )


def until_stopped(self: Judge, *_: Any) -> None:
    while not self.stopped:
        asked()


def test_max_seconds_ends_a_picture(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def when_time_is_over(*_: Any) -> None:
        raise interrupts.Ended("--max-seconds 3600 reached")

    monkeypatch.setattr(picture, "picture", when_time_is_over)
    file, drawn = log(tmp_path, ALICE_BOB_CAROL), tmp_path / "bug.svg"
    ran = antecede("audit", file, "--max-seconds", "3600", "--trace", drawn)
    assert (3, False) == (ran.code, drawn.exists())
    assert "VIOLATED" in ran.out
    assert "--max-seconds 3600 reached before all files were written" in ran.err


@pytest.mark.integration
@on_unix
def test_max_seconds_ends_an_audit_that_waits_for_a_pipe() -> None:
    reading, writing = os.pipe()
    done = subprocess.run(
        [*COMMAND, "audit", "-", "--max-seconds", "0.3"], stdin=reading, capture_output=True
    )
    os.close(writing)
    os.close(reading)
    assert (3, b"standard input: INCOMPLETE") == (done.returncode, done.stdout[:26])


DEAF = """
import sys, time
from antecede import cli
from antecede.__main__ import main
from antecede.checker.support import interrupts

def deaf():
    with interrupts.handled(), interrupts.within(0.1, "--max-seconds 0.1 reached"):
        while True:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                pass

cli.main = deaf
sys.argv.append("audit")
sys.exit(main())
"""


@pytest.mark.integration
def test_code_that_does_not_end_in_time_is_ended_with_its_process() -> None:
    done = subprocess.run([sys.executable, "-c", DEAF], capture_output=True, text=True)
    assert 3 == done.returncode
    assert done.stderr.startswith("Error: --max-seconds 0.1 reached; the audit had not ended after")
    assert done.stderr.endswith("; there is no result\n")


def test_a_block_that_ends_in_time_is_left_alone() -> None:
    with interrupts.within(3600, "late"):
        pass
    with interrupts.within(None, "never"):
        pass
    assert interrupts.wanted() is None
