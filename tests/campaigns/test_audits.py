"""Short campaigns of audits, and that they would notice what was once wrong."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.judge.stamps import Clocks
from antecede.checker.logs.readers import records
from antecede.checker.logs.recorder import Recorder
from tests.campaigns import audits, hostile_logs
from tests.logs.interleavings import give_up_by_lines, wild
from tests.naive_audit import audit as naive

Patch = pytest.MonkeyPatch


@pytest.mark.parametrize("number", range(8))
def test_all_judges_agree_on_random_logs_in_every_interleaving(number: int, tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == audits.compare_audits(f"ci/{number}", tmp_path, tally)
    assert 18 == tally.total()


def knows_no_pairs(patch: Patch) -> None:
    """Report every pair of events that know of each other, where the second of them is read."""
    take = Clocks.take

    def forgetful(self: Clocks, stamp: object) -> None:
        self.mutual.clear()
        take(self, stamp)  # type: ignore[arg-type]

    patch.setattr(Clocks, "take", forgetful)


SEEDED: dict[str, Callable[[Patch], None]] = {
    "the judge gives up by lines": lambda patch: patch.setattr(Judge, "_finish", give_up_by_lines),
    "the first line with an ambiguous name counts": lambda patch: patch.setattr(
        Judge, "_judge_again", lambda _self, _names: None
    ),
    "findings stand by lines": lambda patch: patch.setattr(
        Judge, "_ranks", lambda _self, actors: np.zeros(len(actors), np.int64)
    ),
    "all faults of clocks where they are read": knows_no_pairs,
    "torn lines are refused": lambda patch: patch.setattr(records, "records", lambda *_: None),
    "chains have a message only": lambda patch: patch.setattr(
        Judge, "_with_chain", lambda _self, found, *_: evolve(found, chain=(found.first,))
    ),
}


@pytest.mark.parametrize("name", list(SEEDED))
def test_a_seeded_bug_is_found_and_written_down(
    name: str, monkeypatch: Patch, tmp_path: Path
) -> None:
    SEEDED[name](monkeypatch)
    monkeypatch.setattr(audits, "SHRINK_SECONDS", 0.5)
    seeds = (f"seeded/{number}" for number in range(40))
    said = next(filter(None, (audits.compare_audits(s, tmp_path, Counter()) for s in seeds)))
    (file,) = tmp_path.glob("audit-seeded-*.json")
    assert str(file) in said[0]
    assert isinstance(json.loads(file.read_text()), dict)


def test_a_log_is_shrunk_to_what_is_needed() -> None:
    own = wild(random.Random(1), 4, 40)
    sizes = [sum(map(len, less.values())) for less in audits.smaller(own)]
    assert max(sizes) < sum(map(len, own.values()))
    assert naive(own) != naive(next(audits.smaller(own)))


# Hostile days


@pytest.mark.integration
@pytest.mark.parametrize("number", range(2))
def test_torn_logs_are_audited(number: int, tmp_path: Path) -> None:
    assert [] == hostile_logs.torn(random.Random(f"torn {number}"), tmp_path)


@pytest.mark.integration
def test_a_log_with_a_huge_name_is_audited_with_little_memory(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hostile_logs, "MAKERS", (hostile_logs.huge_name,))
    for day in (hostile_logs.large, hostile_logs.cramped):
        assert [] == day(random.Random(3), tmp_path)


@pytest.mark.integration
def test_an_interrupted_audit_ends(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setattr(hostile_logs, "MAKERS", (hostile_logs.many_actors,))
    monkeypatch.setattr(hostile_logs, "SIGNAL_CPU_SECONDS", float("inf"))
    assert [] == hostile_logs.interrupted(random.Random(1), tmp_path)


def broken(patch: Patch, folder: Path, line: str) -> None:
    """Let commands run with a seeded bug: a line of Python that each of them begins with."""
    (folder / "bugs").mkdir()
    (folder / "bugs" / "sitecustomize.py").write_text(line)
    path = os.pathsep.join([str(folder / "bugs"), os.environ.get("PYTHONPATH", "")])
    patch.setenv("PYTHONPATH", path)


TORN_BUG = """
from antecede.checker.logs.readers import records
records.records = lambda text, is_record: None
"""

MEMORY_BUG = """
import numpy
from antecede.checker.logs.readers import parser
lengthen = parser.lengthen
def too_long(these, name, least):
    lengthen(these, name, least)
    if least > 1 << 20:  # a line of this length might have so many destinations
        these["waste"] = numpy.ones(least << 7, numpy.int64)
        del these["waste"]
parser.lengthen = too_long
"""


@pytest.mark.integration
def test_a_reader_that_skips_torn_lines_would_be_seen(monkeypatch: Patch, tmp_path: Path) -> None:
    broken(monkeypatch, tmp_path, TORN_BUG)
    assert any("whole" in each for each in hostile_logs.torn(random.Random("torn 0"), tmp_path))


@pytest.mark.integration
def test_tables_that_grow_together_would_be_seen(monkeypatch: Patch, tmp_path: Path) -> None:
    broken(monkeypatch, tmp_path, MEMORY_BUG)
    monkeypatch.setattr(hostile_logs, "MAKERS", (hostile_logs.huge_name,))
    assert [] != hostile_logs.large(random.Random(3), tmp_path)


def deaf() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def test_an_audit_that_is_deaf_to_signals_would_be_seen(monkeypatch: Patch, tmp_path: Path) -> None:
    """The signal comes at once, and all that follows takes longer than it may."""
    monkeypatch.setattr(hostile_logs, "MAKERS", (hostile_logs.huge_name,))
    monkeypatch.setattr(hostile_logs, "default_interrupts", deaf)
    monkeypatch.setattr(hostile_logs, "SIGNAL_AFTER", (0, 0))
    monkeypatch.setattr(hostile_logs, "SIGNAL_CPU_SECONDS", 0.01)
    assert any(
        "after Ctrl-C" in each for each in hostile_logs.interrupted(random.Random(1), tmp_path)
    )


def test_a_recorder_that_goes_on_within_a_torn_line_would_be_seen(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text('{"actor": "p0", "ev')
    monkeypatch.setattr("antecede.checker.logs.recorder._ends_within_a_line", lambda _path: False)
    with Recorder(tmp_path / "log.jsonl") as log:
        log.actor("p1").causal_send("m")
    (line,) = (tmp_path / "log.jsonl").read_bytes().splitlines()
    assert 1 == len(hostile_logs.WHOLE.findall(line))
