"""Tables grow each for itself, clocks share what is equal, and too little memory is said."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.logs import audit as audits
from antecede.checker.logs import executions
from antecede.checker.logs.events import batches, capacity, space
from antecede.checker.logs.events.space import Store
from antecede.checker.logs.executions import Execution
from antecede.checker.logs.judge import judging_kernels
from antecede.checker.logs.judge import layout_kernels as k
from antecede.checker.logs.judge.code import MACHINE
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.judge.tables import fresh, grown
from antecede.checker.logs.readers.parser import Parser
from antecede.checker.logs.readers.records import Fields
from antecede.checker.logs.readers.sources import Source
from antecede.checker.support import memory
from antecede.checker.support.errors import CapacityError, InputError
from tests.conftest import Command, on_linux
from tests.logs.interleavings import found_in, interleaved, whole, wild, write
from tests.logs.test_audit import ALICE_BOB_CAROL, log
from tests.naive_audit import audit as naive


def send(actor: str, message: str, to: Iterable[str]) -> str:
    return json.dumps(
        {"actor": actor, "event": "causal-send", "message": message, "to": [*to]},
    )


def deliver(actor: str, message: str) -> str:
    return json.dumps({"actor": actor, "event": "deliver", "message": message})


def judged(lines: Iterable[str]) -> tuple[Audit, Execution]:
    """Return what compiled kernels say of a log, and their tables."""
    stream = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    with contextlib.closing(Execution(How(unfinished=True), True, True)) as execution:
        assert isinstance(execution.reader, Parser)
        execution.reader.read(Source("log", stream), Fields(), lambda _bytes, _events: None)
        return execution.result(["log"]), execution


def megabytes(execution: Execution) -> float:
    assert isinstance(execution.reader, Parser)
    tables = (*execution.judge.tables, *execution.reader.tables)
    return float(sum(array.nbytes for array in tables) / 1e6)


def test_a_long_name_takes_memory_for_nothing_but_itself() -> None:
    _, judge = judged([send("a", "m", "b")])
    little = megabytes(judge)
    for long_one in ("actor", "message", "destination"):
        name = dict.fromkeys(("actor", "message", "destination"), "b") | {long_one: "n" * 4_000_000}
        actor, message, destination = name.values()
        audit, judge = judged([send(actor, message, [destination]), deliver(destination, message)])
        assert (1, 1) == (audit.causal_sends, audit.deliveries)
        assert megabytes(judge) < little + 20


def test_a_causal_send_to_many_destinations_takes_memory_in_proportion() -> None:
    names = [f"d{number}" for number in range(100_000)]
    sent = [send("a", "m1", names)]
    audit, judge = judged([*sent, deliver("d5", "m1"), deliver("d6", "m1"), deliver("d5", "m1")])
    assert (99_998, 1) == (audit.open, len(audit.findings))
    assert megabytes(judge) < 60
    audit, judge = judged([*sent, *(deliver(name, "m1") for name in names)])
    assert (0, ()) == (audit.open, audit.findings)
    assert megabytes(judge) < 150


@pytest.mark.integration
def test_actors_that_know_of_all_others_share_what_they_know() -> None:
    """Each actor hears of all before it; a clock of its own for each would take 40 GB."""
    rows = [
        line
        for number in range(100_000)
        for line in (deliver(f"x{number}", f"m{number - 1}"), send(f"x{number}", f"m{number}", ()))
    ]
    audit, judge = judged(rows[1:])
    assert 99_999 == audit.deliveries
    assert megabytes(judge) < 200


@pytest.mark.integration
@pytest.mark.parametrize("batch", [pytest.param(3, marks=pytest.mark.slow), 64])
def test_clocks_grow_taller_while_messages_are_in_transit(
    batch: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(batches, "SIZE", batch)
    draw = random.Random(batch)
    own = wild(draw, 1_200, 3_000)
    there = write(tmp_path / "log", own, interleaved(draw, own))
    found = audits.audit([str(tmp_path / "log")], compiled=True)
    plain = audits.audit([str(tmp_path / "log")], compiled=False)
    assert whole(plain, there) == whole(found, there)
    assert naive(own) == {*found_in(found, there)}


def test_actors_that_can_go_on_are_not_forgotten_when_there_are_more_actors() -> None:
    tables = fresh()
    tables.counter[k.READY], tables.counter[k.READY_END] = 30, 35
    tables.ready[np.arange(30, 35) % 32] = [7, 3, 9, 1, 5]
    tables.counter[k.ACTORS] = 31
    tables = grown(tables, MACHINE)
    waiting = range(tables.counter[k.READY], tables.counter[k.READY_END])
    assert len(tables.ready) > 32
    assert [7, 3, 9, 1, 5] == [tables.ready[at % len(tables.ready)] for at in waiting]


@settings(max_examples=100)
@given(lists=st.lists(st.lists(st.integers(0, 50), max_size=9), min_size=1, max_size=9))
def test_destinations_are_sorted_and_searched(lists: list[list[int]]) -> None:
    rows = [send("a", f"m{at}", map(str, names)) for at, names in enumerate(lists)]
    _, execution = judged(rows)
    t = execution.judge.tables
    for at in range(t.counter[k.SETS]):
        there = t.members[t.set_starts[at] : t.set_starts[at + 1]].tolist()
        assert sorted(set(there)) == there
        for actor in range(52):
            where = (t.set_starts[at], t.set_starts[at + 1])
            assert judging_kernels.is_member(t.members, *where, actor) == (actor in there)


def test_a_kernel_returns_after_much_work_so_that_signals_are_seen() -> None:
    tables, batch = fresh(), np.zeros((1, k.COLUMNS), np.int64)
    tables.counter[k.ACTORS] = tables.counter[k.MESSAGES] = 1
    tables.counter[k.WORK] = k.MOST_WORK
    assert 0 == judging_kernels.judge(tables, batch, 0, 1)
    assert 2 == judging_kernels.judge(grown(tables, MACHINE), batch, 0, 1)


def test_large_tables_are_moved_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "STEP", 7)
    rows = [
        line for n in range(3_000) for line in (send("a", f"m{n}", "bc"), deliver("b", f"m{n}"))
    ]
    audit, _ = judged([*rows, *(deliver("c", f"m{n}") for n in range(3_000))])
    assert (6_000, 0, ()) == (audit.deliveries, audit.open, audit.findings)


@on_linux
def test_what_no_disk_has_room_for_is_given_up_without_a_fault() -> None:
    store = Store(np.int64, file=io.BufferedRandom(io.FileIO("/dev/full", "r+")))
    store.add(np.ones(9))
    with pytest.raises(InputError, match="No space left on device"):
        store.get(0, 9)
    store.close()


@on_linux
def test_a_full_folder_for_temporary_files_is_an_error_and_not_a_missing_answer(
    monkeypatch: pytest.MonkeyPatch, antecede: Command, tmp_path: Path
) -> None:
    def full() -> io.FileIO:
        return io.FileIO("/dev/full", "r+")

    monkeypatch.setattr(space, "_temporary", full)
    ran = antecede("audit", log(tmp_path, ALICE_BOB_CAROL))
    assert 2 == ran.code
    assert "No space left on device; name another folder in TMPDIR" in ran.err


# Blank lines


class Blanks(io.RawIOBase):
    """So many chunks of blank lines, then some text."""

    def __init__(self, chunks: int, text: bytes) -> None:
        self.left, self.text = chunks, text

    def read1(self, _size: int = -1) -> bytes:
        self.left -= 1
        return b"\n" * (1 << 16) if self.left >= 0 else self.text if self.left == -1 else b""


def test_blank_lines_at_the_beginning_are_counted_and_not_kept() -> None:
    source = Source("log", Blanks(300, b'\n{"actor": 1}\nlast'))  # type: ignore[arg-type]
    assert '{"actor": 1}' == source.first_line()
    assert len(source.ahead) < 100
    before = 300 << 16
    assert [
        (before + 1, ""),
        (before + 2, '{"actor": 1}'),
        (before + 3, "last"),
    ] == [*source.lines()]


@pytest.mark.parametrize("compiled", [False, True])
def test_lines_behind_blank_ones_keep_their_numbers(compiled: bool, tmp_path: Path) -> None:
    text = log(tmp_path, ALICE_BOB_CAROL).read_text()
    (tmp_path / "log").write_text("\n \n" * 700_000 + text)
    (finding,) = audits.audit([str(tmp_path / "log")], compiled=compiled).findings
    assert ("causal-delivery", 1_400_006) == (finding.kind, finding.line)


# Bounds


@pytest.mark.parametrize("compiled", [False, True])
def test_too_little_memory_is_said(
    compiled: bool, monkeypatch: pytest.MonkeyPatch, antecede: Command, tmp_path: Path
) -> None:
    path = log(tmp_path, ALICE_BOB_CAROL)

    def refuses(*_arguments: Any, **_more: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Judge, "take", refuses)
        with pytest.raises(CapacityError, match="needs more memory than there is; give it more"):
            audits.audit([str(path)], compiled=compiled)
    monkeypatch.setattr(executions, "TICK", 1)
    monkeypatch.setattr(memory, "shortage", lambda: "too little memory: only 1 MB are left")
    with pytest.raises(CapacityError, match="only 1 MB are left"):
        audits.audit([str(path)], compiled=compiled)
    ran = antecede("audit", path)
    assert (3, "") == (ran.code, ran.out)
    assert "Internal" not in ran.err


def test_a_large_table_is_not_made_without_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "LARGE", 1 << 16)
    little = SimpleNamespace(available_memory_bytes=lambda: 1 << 20, shortage=lambda: None)
    monkeypatch.setattr(capacity, "memory", little)  # kernels may still be loaded
    with pytest.raises(CapacityError, match=r"asks for \d MB more, where 1 MB are left"):
        judged(send("a", f"m{number}", "b") for number in range(100_000))
