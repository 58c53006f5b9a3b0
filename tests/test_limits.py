"""Limits of time and signals hold in every stage of every command, whatever a handler does."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.check import pipeline
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Bounds, Options
from antecede.checker.sweep.processes import Workers
from tests.conftest import ROOT, begun, in_a_process
from tests.stubborn import HALF_AN_HOUR, PASSING
from tests.support.test_interrupts import WITHIN, started, until

pytestmark = pytest.mark.integration

STAGES = f"""{PASSING}
import attrs
from antecede.protocols.unordered import UNORDERED as base

def is_called_by(name):
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != name:
        frame = frame.f_back
    return frame is not None

def hanging_in(stage, fails=False):
    def receive(state, src, packet):
        if is_called_by(stage):
            never()
        if fails:
            raise ValueError(packet)
        return base.receive(state, src, packet)
    return attrs.evolve(base, name="hangs", receive=receive)

SEARCH = hanging_in("_explore")
SELFCHECK = hanging_in("look_back")
FAILURE = hanging_in("run_to_failure", fails=True)
"""
"""A protocol for each stage of a check; its handler does not return in that stage."""

ASKED = ("--actors", 2, "--messages", 1, "--property", "integrity", "--engine", "plain")

CODE_OF = {"SEARCH": 3, "SELFCHECK": 3, "FAILURE": 2}
"""Stage -> the exit code if the check ends in it; from FAILURE on, the verdict is known."""


@pytest.fixture(autouse=True)
def stages(tmp_path: Path) -> None:
    (tmp_path / "stages.py").write_text(STAGES)


@pytest.mark.parametrize("stage", CODE_OF)
def test_max_seconds_ends_every_stage_of_a_check(tmp_path: Path, stage: str) -> None:
    asked = (f"stages.py:{stage}", *ASKED, "--max-seconds", HALF_AN_HOUR)
    ran = in_a_process("check", *asked, cwd=tmp_path)
    assert (tmp_path / "begun").exists()
    assert CODE_OF[stage] == ran.code
    assert f"--max-seconds {HALF_AN_HOUR} reached" in ran.out or stage == "FAILURE"


@pytest.mark.parametrize("stage", CODE_OF)
def test_a_signal_ends_every_stage_of_a_check(tmp_path: Path, stage: str) -> None:
    process = started("check", f"stages.py:{stage}", *ASKED, cwd=tmp_path)
    until((tmp_path / "begun").exists)
    process.terminate()
    out, _ = process.communicate(timeout=WITHIN)
    assert CODE_OF[stage] == process.returncode
    assert "ended by SIGTERM" in out or stage == "FAILURE"


def test_a_violation_is_not_lost_to_a_self_check_that_does_not_end(tmp_path: Path) -> None:
    asked = ("stages.py:SELFCHECK", "--engine", "plain", "--max-seconds", HALF_AN_HOUR)
    ran = in_a_process("check", *asked, "--actors", 3, "--json", "found.json", cwd=tmp_path)
    assert 1 == ran.code
    assert "VIOLATED" == json.loads((tmp_path / "found.json").read_text())["verdict"]


ADVERSARY = f"""{STAGES}
from antecede import Property, What, When

def right(delivery):
    if is_called_by("by_search"):
        never()
    return True

OWN = Property("own", "of a test", What.DELIVERY, When.ALWAYS, right)
"""


def test_what_holds_is_not_lost_to_the_search_whether_it_could_fail(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(ADVERSARY)
    asked = ("--actors", 2, "--messages", 1, "--engine", "plain", "--property", "own.py:OWN")
    ran = in_a_process("check", "mfss", *asked, "--max-seconds", HALF_AN_HOUR, cwd=tmp_path)
    assert (tmp_path / "begun").exists()
    assert 0 == ran.code
    assert ran.out.startswith("mfss: HOLDS")


def test_the_seconds_before_the_check_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search itself would have an hour."""
    monkeypatch.chdir(tmp_path)
    report = check(
        Spec(protocol="stages.py:SEARCH"),
        Options(engine="plain"),
        Bounds(max_seconds=3600.0),
        began=time.monotonic() - 4000,
    )
    assert report.result.stopped_by is not None
    assert report.result.stopped_by.startswith("--max-seconds 3600 reached")


# Handlers that no exception ends

STUBBORN = f"""{PASSING}
import attrs
from antecede.protocols.unordered import UNORDERED as base

DEEP = attrs.evolve(base, name="deep", initial=deep)
CATCHES = attrs.evolve(base, name="catches", receive=catches)
LOOPS = attrs.evolve(base, name="loops", receive=loops)
"""

NAMES = ["DEEP", "CATCHES", "LOOPS"]
COMMANDS = {
    "sweep": ("--actors", 2, "--messages", 1, "--engine", "plain"),
    "smallest": ("--smallest", "--actors", 2, "--max-messages", 1, "--engine", "plain"),
    "simulate": ("--actors", 3, "--messages", 2, "--seeds", 2, "--workers", 1),
    "simulate in processes": ("--actors", 3, "--messages", 2, "--seeds", 2, "--workers", 2),
}


@pytest.fixture
def stubborn(tmp_path: Path) -> Path:
    """Return a folder with the file `stubborn.py`."""
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    return tmp_path


def line(command: str, name: str) -> tuple[object, ...]:
    """Return the arguments of a command for a protocol of `STUBBORN`."""
    first = {"smallest": "sweep"}.get(command, command.split()[0])
    return (first, f"stubborn.py:{name}", *COMMANDS[command], "--quiet")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("command", COMMANDS)
def test_one_signal_ends_a_command(
    stubborn: Path, command: str, number: signal.Signals, name: str
) -> None:
    process = started(*line(command, name), cwd=stubborn)
    until((stubborn / "begun").exists)
    process.send_signal(number)
    _, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "Traceback" not in err


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["sweep", "smallest"])
def test_max_seconds_ends_a_sweep(stubborn: Path, command: str, name: str) -> None:
    # The worker of a sweep lets the limit pass. Of --smallest, the first process judges the time.
    seconds = HALF_AN_HOUR if command == "sweep" else 3
    asked = (*line(command, name), "--max-seconds", seconds, "--workers", 2)
    ran = in_a_process(*asked, cwd=stubborn)
    assert 3 == ran.code
    assert "Traceback" not in ran.err
    rows = [*map(json.loads, (stubborn / "sweep.jsonl").read_text().splitlines())]
    assert len(rows) == (command == "sweep")
    for row in rows:
        assert "INCOMPLETE" == row["verdict"]
        assert row["stopped_by"].startswith(f"--max-seconds {HALF_AN_HOUR} reached")
        assert "had not returned after" in row["stopped_by"]


def test_max_seconds_ends_the_import_of_a_swept_file(stubborn: Path) -> None:
    (stubborn / "stubborn.py").write_text(STUBBORN + "\ncatches()\n")
    ran = in_a_process(*line("sweep", "LOOPS"), "--max-seconds", HALF_AN_HOUR, cwd=stubborn)
    assert 3 == ran.code
    assert "reached; the import of stubborn.py had not ended after" in ran.err


def test_a_worker_is_used_again_after_a_call_that_did_not_end() -> None:
    with Workers(1) as workers:
        found = dict(workers.spread(endless_at_two, [1, 2, 3]))
    assert (1, 3) == (found[1], found[3])
    assert str(found[2]).startswith("the time is over; the call had not ended after")


def endless_at_two(number: int) -> int:
    from antecede.checker.support import interrupts

    over = "the time is over"
    limit = interrupts.Limit(lambda: over, 1.0, 0, (over, ""))
    with interrupts.at_work("the call"), interrupts.limited(limit):
        while number == 2:
            with contextlib.suppress(KeyboardInterrupt):
                time.sleep(0.1)
    return number


# Replays, and the functions of a link


def test_one_signal_ends_a_replay(stubborn: Path) -> None:
    trace = ("--trace", "trace.json", "--quiet")
    assert 1 == in_a_process("check", "unordered", "--actors", 3, *trace, cwd=stubborn).code
    for name in NAMES:
        (stubborn / "begun").unlink(missing_ok=True)
        process = started("replay", "trace.json", "--protocol", f"stubborn.py:{name}", cwd=stubborn)
        until((stubborn / "begun").exists)
        process.terminate()
        process.communicate(timeout=WITHIN)
        assert 3 == process.returncode


LINKED = """
import sys
from attrs import evolve
from antecede.checker.support.registry import load
from antecede.checker.prove import front
from stubborn import catches
from antecede import __main__

def loaded(reference):
    return evolve(load(reference), events=catches)

front._loaded = loaded
sys.exit(__main__.main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_a_function_of_a_link(stubborn: Path, number: signal.Signals) -> None:
    (stubborn / "linked.py").write_text(LINKED)
    process = begun(
        [sys.executable, "linked.py", "prove", "fifo", "--link", "--quiet"],
        cwd=stubborn,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until((stubborn / "begun").exists)
    process.send_signal(number)
    _, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "the function 'events' of the link had not ended after" in err


def test_a_search_whose_time_is_over_repeats_no_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of 1,000 actors took a minute after a limit of a second."""
    repeated = list[object]()
    monkeypatch.setattr(pipeline, "_call_again", lambda *asked: repeated.append(asked))
    spec = Spec("rst", actors=100, messages=1)
    assert check(spec, Options(engine="plain"), Bounds(max_seconds=1e-6)).result.stopped_by
    assert [] == repeated
    assert check(evolve(spec, actors=2), Options(engine="plain")).result.stopped_by is None
    assert 1 == len(repeated)
