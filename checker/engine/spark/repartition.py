"""Divides the states into more or fewer partitions between two levels, as the levels change size.

It is a job of its own. The first task sends every row of its partition to the row's new owner, and
the second task makes a partition of what it gets. The rows of a new partition are in the order of
the old partitions and of the rows in them, so the driver knows the new place of each link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark.cluster_state import ClusterState
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.lean import Lean
from antecede.checker.engine.spark.messages import Job
from antecede.checker.engine.spark.partition import Partition, Sender
from antecede.checker.engine.spark.row_accounting import RowCounts, Sent
from antecede.checker.engine.spark.rows import NO_MARKS, PARCEL
from antecede.checker.engine.spark.tasks import handed_over, own_composites, repacked, shipments
from antecede.checker.engine.spark.transfer import received
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.storage.arrays import Words

FOLLOWING, VISITED = 0, 1
"""What the rows of a shipment are; in place of its `base`, because no notes count from it."""


def partitions_for(states: int, most: int, each: int, now: int = 0) -> int:
    """Return the number of partitions for so many states, if there are `now` partitions.

    It changes only if partitions would be at most half as many or twice as many by the number of
    states, and if a quarter more are to be had.

    Args:
        states: the states that partitions hold, new and visited.
        most: how many tasks can run at a time.
        each: the states of a partition that make its task worth its fixed cost.
        now: 0 if there are no partitions yet.

    Examples:
        >>> partitions_for(1_000_000, most=16, each=50_000)
        16
        >>> partitions_for(300_000, most=4_000, each=50_000, now=100)
        6
        >>> partitions_for(1_000_000, most=16, each=50_000, now=14)
        14
    """
    fitting = max(states // each, 1)
    if not now or (fitting >= 2 * now and 4 * most >= 5 * now):
        return min(fitting, most)
    return fitting if 2 * fitting <= now else now


@frozen(eq=False)
class MoveReport(Lean):
    """The report of one of the two tasks for a partition.

    Attributes:
        held: row counts of the partition before the first task, or after the second one.
        sent: the rows that it sent or received.
        owners: the new owner of each state of the next level, if links are kept; of the first task.
    """

    held: RowCounts
    sent: Sent
    owners: Any = NOTHING


def split_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the first task: it yields pairs of a new owner and a `Shipment`, and reports."""

    def task(number: int, partitions: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        partition = Partition.joined([piece for _, piece in partitions])
        held = partition.held(own)
        now = repacked(partition, own)
        old = NOTHING if job.graded else np.concatenate([now.visited, now.level])
        sender, owners = Sender(job, number), [NOTHING]
        for kind, rows, marks in (
            (FOLLOWING, now.following, now.marks),
            (VISITED, old, NO_MARKS),
        ):
            for at in range(0, len(rows), PARCEL * own.row_size):
                some = rows[at : at + PARCEL * own.row_size]
                with wrapping():
                    its_owners = own.owners_of(own.flat(some), job.owners)
                if job.links and kind == FOLLOWING:
                    owners.append(its_owners)
                for owner, which in grouped(its_owners, job.owners):
                    sent = some.reshape(-1, own.row_size)[which].ravel()
                    notes = marks[at // own.row_size :][which] if len(marks) else NOTHING
                    yield sender.parcel(owner, sent, notes, kind, len(which), flat=False)
        sender.outgoing.close()
        report = MoveReport(
            held=held,
            sent=Sent.between(number, np.arange(job.owners), sender.sent),
            owners=np.concatenate(owners).astype(np.min_scalar_type(job.owners)),
        )
        reports.add({(job.number, 0): {number: report}})

    return task


def gather_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the second task: it yields the pieces of one new partition, and reports."""

    def task(number: int, parts: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        rows: tuple[list[Words], list[Words]] = [NOTHING], [NOTHING]
        marks, senders, counts = [NO_MARKS], [0], [0]
        for parcel in shipments(part for _, part in parts):
            rows[parcel.base].append(received(parcel.rows))
            marks.append(received(parcel.notes).astype(np.int32))
            senders.append(parcel.sender)
            counts.append(len(rows[parcel.base][-1]) // own.row_size)
        now = Partition(
            form=own.form,
            level=NOTHING,
            todo=NOTHING,
            visited=np.concatenate(rows[VISITED]),
            following=np.concatenate(rows[FOLLOWING]),
            marks=np.concatenate(marks),
        )
        report = MoveReport(now.held(own), Sent.between(senders, number, np.array(counts)))
        reports.add({(job.number, 1): {number: report}})
        yield from handed_over(now, job, own, number)

    return task


def grouped(owners: Words, count: int) -> Iterator[tuple[int, Words]]:
    """Yield each owner that occurs, and the indices where it does, in order."""
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=count))
    for owner in np.unique(owners).tolist():
        yield owner, order[ends[owner - 1] if owner else 0 : ends[owner]]


def note_move(
    state: ClusterState,
    first: dict[int, MoveReport],
    second: dict[int, MoveReport],
    own: WorkerComposites,
) -> None:
    """Bring up to date what the driver knows of partitions: counts, links and stragglers."""
    count = len(second)
    late = [state.stragglers[p] for p in sorted(state.stragglers)]
    rows = np.concatenate([NOTHING, *(rows for rows, _ in late)])
    late_links = np.concatenate([NOTHING, *(links for _, links in late)])
    with wrapping():
        late_owners = own.owners_of(rows, count)
    shaped = rows.reshape(-1, own.codec.words)
    state.stragglers = {
        owner: (shaped[which].ravel(), late_links[which])
        for owner, which in grouped(late_owners, count)
    }
    if state.links:
        owners = [first[p].owners for p in range(len(first))]
        links = [np.concatenate([NOTHING, *pieces]) for pieces in state.links[-1]]
        # The links of stragglers that were counted come last.
        ends = [some[len(its) :] for some, its in zip(links, owners, strict=True)]
        links = [some[: len(its)] for some, its in zip(links, owners, strict=True)]
        moved = np.concatenate([NOTHING, *links, *ends])
        new_owners = np.concatenate([NOTHING, *owners, late_owners]).astype(np.int64)[: len(moved)]
        state.links[-1] = [[] for _ in range(count)]
        for owner, which in grouped(new_owners, count):
            state.links[-1][owner].append(moved[which])
    state.owners, state.held = count, {p: report.held for p, report in second.items()}
