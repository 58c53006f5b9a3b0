"""Rows that are lost, repeated or sent elsewhere are noticed, with reports of a fixed size."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from antecede.checker.engine.spark import jobs, tasks
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.messages import Shipment
from antecede.checker.engine.spark.row_accounting import Sent
from antecede.checker.engine.spark.tasks import DriverPartitions
from antecede.checker.search.result import Verdict
from tests.engine.spark.common import found, here, locally
from tests.engine.threads.test_local import small


def changed(sent: list[Any], bug: str) -> list[Any]:
    """Return what a task sends, with a seeded bug; its report is as before."""
    shipments = [pair for pair in sent if isinstance(pair[1], bytearray)]
    others = [pair for pair in sent if not isinstance(pair[1], bytearray)]
    if bug == "none" or len(shipments) < 2:
        return sent
    (owner, first), *rest = shipments
    return {
        "lost": rest,
        "repeated": [*shipments, (owner, first)],
        "at another owner": [(1 - owner, first), *rest],
        "lost, another repeated": [*rest, rest[-1]],
    }[bug] + others


@pytest.mark.parametrize(
    ("bug", "said"),
    [
        ("none", ""),
        ("lost", "successors were lost between two tasks"),
        ("repeated", "successors were lost between two tasks"),
        ("at another owner", "and as many others were repeated"),
        ("lost, another repeated", "lost between two tasks"),
    ],
)
def test_a_row_that_does_not_arrive_once_is_noticed(
    monkeypatch: pytest.MonkeyPatch, bug: str, said: str
) -> None:
    real = tasks.expand_task

    def expand_task(*given: Any) -> Any:
        task = real(*given)

        def changing(partition: int, parts: Iterator[Any]) -> Iterator[Any]:
            return iter(changed(list(task(partition, parts)), bug if partition else "none"))

        return changing

    monkeypatch.setattr(jobs, "expand_task", expand_task)
    system = small("mfss", 2, 2, history="clocks")
    result, _ = here(system)
    if said:
        assert Verdict.INCOMPLETE is result.verdict
        assert said in str(result.stopped_by)
    else:
        assert found(locally(system)) == found(result)


def test_the_sums_of_senders_and_owners_are_equal_only_if_all_counts_are() -> None:
    counts = np.random.default_rng(1).integers(1 << 40, size=(7, 7))
    numbers = np.arange(7)

    def of_senders(counts: Any) -> Sent:
        return Sent.in_all(Sent.between(p, numbers, counts[p]) for p in range(7))

    owners = Sent.in_all(Sent.between(numbers, p, counts[:, p]) for p in range(7))
    assert Sent(int(counts.sum()), owners.weighted) == owners == of_senders(counts)
    for p in range(7):
        for owner in range(7):
            moved = counts.copy()
            moved[p, owner] -= 1
            moved[owner, p] += 1
            assert (p == owner) == (owners == of_senders(moved))


def test_no_report_grows_with_the_number_of_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: dict[int, list[int]] = {}

    def add(partitions: DriverPartitions, reports: dict[Any, Any]) -> None:
        size = len(pickle.dumps(reports))
        sizes.setdefault(len(partitions.partitions), []).append(size)
        real(partitions, reports)

    real = DriverPartitions.add
    monkeypatch.setattr(DriverPartitions, "add", add)
    for partitions in (2, 20):
        here(small("mfss", 2, 2, history="clocks"), partitions=partitions)
    assert 10 * len(sizes[2]) == len(sizes[20])
    assert max(sizes[20]) <= max(sizes[2])


def test_a_task_reports_only_composites_of_rows_that_it_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported: list[tuple[int, int]] = []

    def add(partitions: DriverPartitions, reports: dict[Any, Any]) -> None:
        for (_job, task), each in reports.items():
            if task == 0:
                reported.extend((r.sent.rows, len(r.composites)) for r in each.values())
        real(partitions, reports)

    real = DriverPartitions.add
    monkeypatch.setattr(DriverPartitions, "add", add)
    system = small("mfss", 2, 2, history="clocks")
    here(system, partitions=20)  # the tasks of all partitions run in one process
    assert any(composites for _, composites in reported)
    assert all(composites <= 2 * system.actors * rows for rows, composites in reported)


@pytest.mark.parametrize("dtype", [None, np.uint32, np.int32, np.int64])
def test_a_packed_shipment_is_short_and_unpacked_as_it_was(dtype: Any) -> None:
    for rows in (0, 1, 5):
        notes = NOTHING if dtype is None else np.arange(7, 7 + rows).astype(dtype)
        given = Shipment(3, 1, np.arange(2 * rows), notes, 1 << 40, rows, flat=True)
        piece = given.packed()
        size = 24 + rows * (16 + (0 if dtype is None else notes.itemsize))
        assert size == len(piece) > len(pickle.dumps(piece, 5)) - 40
        found = Shipment.unpacked(piece)
        assert [3, 1, 1 << 40, rows, True] == [
            found.sender,
            found.place,
            found.base,
            found.count,
            found.flat,
        ]
        assert given.rows.tolist() == found.rows.tolist()
        assert (found.rows.flags.aligned, found.rows.flags.writeable) == (True, True)
        assert (notes.tolist(), notes.dtype if rows else found.notes.dtype) == (
            found.notes.tolist(),
            found.notes.dtype,
        )
