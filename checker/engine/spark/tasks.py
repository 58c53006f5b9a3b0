"""The two tasks of a job, which workers run on a partition.

The first task expands the rows of its partition and sends the successors to their owners. The
second task merges the rows that were sent to its partition with those that it has. The driver's
side is `checker.engine.spark.transport`.

The functions that return a task take the job's instructions and `growths`, all updates of the
tables so far as broadcasts; a process skips those that it has. A task is for
`mapPartitionsWithIndex`: it takes the partition's number and an iterator of pairs of this number
and a piece.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark.cluster import Reports
from antecede.checker.engine.spark.distinct import NOTHING, Part, distinct, known, unseen
from antecede.checker.engine.spark.messages import ExpandReport, Job, MergeReport, Shipment
from antecede.checker.engine.spark.numbering import Form
from antecede.checker.engine.spark.partition import Partition, Sender
from antecede.checker.engine.spark.row_accounting import RowCounts, Sent
from antecede.checker.engine.spark.rows import PLACE_BITS, BlockExpansion, base_of, place_bits_of
from antecede.checker.engine.spark.transfer import LINKS, Outgoing, received
from antecede.checker.engine.spark.weighted_levels import (
    brought_nearer,
    counted,
    current,
    depths_of,
)
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.tabulated.global_properties import first_combinations

SAMPLE = 1 << 19
"""Tasks report this many postponed rows, for the driver to expand or to find out what they miss."""

UNPACKED = 1 << 18
"""Rows that are unpacked in one go: some tens of megabytes."""

PREVIEW, PREVIEWED = 1 << 13, 128
"""The driver expands states of a level ahead, so that most tasks miss nothing: the first number, or
one of each second number where that is more."""


NONE = np.zeros(1, np.int64)
"""The link of all rows where none are kept."""

Task = Callable[[int, Iterator[Any]], Iterator[Any]]

MakeTask = Callable[[Job, list[Any], Any], Task]
"""Makes a task from a job, additions to the tables, and the accumulator of reports."""

Join = Callable[[Words, Words], Words]
"""Returns two arrays one after the other."""


def lasting(first: Words, more: Words) -> Words:
    """Return two arrays one after the other, in memory that the next job does not overwrite."""
    return np.concatenate([first, more])


_OWN: dict[str, WorkerComposites] = {}
"""This process's composites; a worker that starts anew makes them again."""


def keep_only(run: str, own: WorkerComposites) -> None:
    """Note this process's composites for a search, and forget those for searches before."""
    _OWN.clear()
    _OWN[run] = own


def own_composites(run: str, growths: Iterable[Any]) -> WorkerComposites:
    """Return this process's composites, with tables of the latest version."""
    if run not in _OWN:
        keep_only(run, WorkerComposites())
        gc.freeze()  # the objects so far are no garbage, and to search them takes long
    own = _OWN[run]
    for some in list(growths)[own.broadcasts :]:
        for growth in some.value:
            if growth.version > own.version:  # the driver's own composites have all of them
                own.learn(growth)
        own.broadcasts += 1
    return own


@define(eq=False)
class DriverPartitions:
    """All partitions in the driver, which runs the tasks itself if there is little work.

    Attributes:
        partitions: per partition, its pieces.
        value: the reports of the tasks, as the accumulator of a cluster has them.
    """

    partitions: list[list[Partition]]
    value: dict[Any, Any] = field(factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, Partition]], owners: int) -> DriverPartitions:
        """Return the partitions that a cluster had, from pieces with their numbers."""
        partitions: list[list[Partition]] = [[] for _ in range(owners)]
        for number, piece in pairs:
            partitions[number].append(piece)
        return cls(partitions)

    @property
    def pairs(self) -> list[tuple[int, Partition]]:
        """All pieces, each with the number of its partition, as a cluster has them."""
        return [(p, piece) for p, pieces in enumerate(self.partitions) for piece in pieces]

    def add(self, reports: dict[Any, Any]) -> None:
        """Take in the reports of a task, as an accumulator does."""
        self.value = Reports().addInPlace(self.value, reports)

    def run(self, job: Job, own: WorkerComposites, first: MakeTask, second: MakeTask) -> None:
        """Run both tasks of a job for one partition after the other."""
        keep_only(job.run, own)
        parts: list[list[Any]] = [[] for _ in range(job.owners)]
        for number in range(len(self.partitions)):
            for owner, part in self._on(number, first(job, [], self)):
                parts[owner].append((owner, part))
        if not job.starts_anew:
            for pair in self.pairs:
                parts[pair[0]].append(pair)
        self.partitions = [
            [piece for _, piece in self._run(number, second(job, [], self), given)]
            for number, given in enumerate(parts)
        ]

    def each(self, task: Task) -> list[Any]:
        """Return everything that a task yields for all partitions, in a list."""
        return [found for p in range(len(self.partitions)) for found in self._on(p, task)]

    def _on(self, number: int, task: Task) -> Iterator[Any]:
        return self._run(number, task, [(number, piece) for piece in self.partitions[number]])

    def _run(self, number: int, task: Task, given: list[Any]) -> Iterator[Any]:
        return task(number, iter(given))


def advanced(partition: Partition, job: Job, own: WorkerComposites, number: int) -> Partition:
    """Return a partition as a job finds it: packed as the tables are now, with its next level."""
    now = repacked(partition, own)
    if not job.advances:
        return now
    level, _ = _next_level(now, job, own, number)
    words = own.row_size
    return Partition(
        form=now.form,
        level=level,
        todo=np.arange(len(level) // words),
        visited=np.concatenate([now.visited, now.level]),
        following=NOTHING,
    )


def at_hand(partition: Partition, job: Job, own: WorkerComposites) -> Partition:
    """Return a partition by weight as a job finds it."""
    now = repacked(partition, own)
    return evolve(now, marks=brought_nearer(now.marks, job.least)) if job.advances else now


def to_expand(
    partition: Partition, job: Job, own: WorkerComposites, number: int, join: Join
) -> tuple[Words, Words | None, Words]:
    """Return the states to be expanded, their numbers, and the links of the new stragglers."""
    links = NOTHING
    if job.by_weight:
        which = np.flatnonzero(current(partition.marks))
        rows = partition.following.reshape(-1, own.row_size)[which]
        return rows.ravel(), which, links
    rows = partition.level
    if job.advances:
        rows, links = _next_level(partition, job, own, number, join)
        return rows, None, links
    if job.graded:
        return rows, partition.todo, links
    return rows.reshape(-1, own.row_size)[partition.todo].ravel(), partition.todo, links


def may_be_met(partition: Partition, job: Job) -> tuple[Words, ...]:
    """Return the rows of a partition that what follows may be equal to."""
    if job.graded:  # there is nothing else, and the level is old
        return (partition.following,)
    return partition.visited, partition.level, partition.following


def repacked(partition: Partition, own: WorkerComposites, join: Join = lasting) -> Partition:
    """Return a partition packed as the tables are now."""
    before = partition.form
    level, visited, following = (
        own.converted(rows, before)
        for rows in (partition.level, partition.visited, partition.following)
    )
    if len(partition.rest):
        rest = own.converted(partition.rest, Form(before.columns))
        following = join(following, rest)
    return evolve(
        partition, form=own.form, level=level, visited=visited, following=following, rest=NOTHING
    )


def _next_level(
    partition: Partition, job: Job, own: WorkerComposites, number: int, join: Join = lasting
) -> tuple[Words, Words]:
    """Return the level that follows, with the stragglers, and the links of those."""
    if number not in job.stragglers:
        return partition.following, NOTHING
    some, links = new_stragglers(partition, job, own, number)
    return join(partition.following, some), links


def new_stragglers(
    partition: Partition, job: Job, own: WorkerComposites, number: int
) -> tuple[Words, Words]:
    """Return the stragglers of a partition that it does not have, and their links."""
    some, links = job.stragglers.get(number, (NOTHING, NOTHING))
    with wrapping():
        some = own.formed(some)
        if job.settled:
            return some, links
        held, size = may_be_met(partition, job), own.row_size
        return unseen([Part(some, links)], size, held, own.scratch, own.first_shift)


def expand_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the first task of a job, which expands the states of one partition's level.

    It adds its `ExpandReport` to the accumulator `reports`, under (job, 0) and its partition, and
    yields pairs of an owner and a `Shipment`. If rows are postponed because table entries are
    missing, it yields one more pair: its own number, and a tuple of their indices and, if
    `job.graded`, the rows.
    """

    def task(number: int, partitions: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        own.trim()
        partition = Partition.joined([piece for _, piece in partitions])
        began = time.perf_counter()
        held = partition.held(own)
        join = partial(own.scratch.joined, "level")
        if job.by_weight:
            partition = at_hand(partition, job, own)
        else:
            partition = repacked(partition, own, join)
        rows, numbers, straggler_links = to_expand(partition, job, own, number, join)
        depths = depths_of(partition.marks[numbers]) if job.by_weight else NOTHING
        del partition
        weights = evolve(job.weights, depths=depths)
        expansion = BlockExpansion(
            own, rows, not own.numbered, numbers, job.owners, job.known, weights
        )
        sender, words, seconds = Sender(job, number), own.row_size, 0.0
        for owner, sent, notes, flat in expansion.parcels():
            parcel = sender.parcel(
                owner, sent, notes_sent(job, notes), expansion.base, len(notes), flat=flat
            )
            seconds += time.perf_counter() - began
            yield parcel
            began = time.perf_counter()
        sender.outgoing.close()
        done = expansion.done()
        some = max(SAMPLE // job.owners, 1 << 10) * words
        report = ExpandReport(
            expanded=evolve(done, waiting=own.flat(done.waiting[:some])),
            held=held,
            sent=Sent.between(number, np.arange(job.owners), sender.sent),
            sent_bytes=sender.bytes,
            straggler_links=straggler_links,
            composites=own.wanted(),
            seconds=seconds + time.perf_counter() - began,
        )
        reports.add({(job.number, 0): {number: report}})
        if len(done.postponed):
            yield number, (done.postponed, done.waiting if job.graded else NOTHING)

    return task


def notes_sent(job: Job, notes: Words) -> Any:
    """Return what is sent of the notes: links if they are wanted, or marks, which are short."""
    if job.by_weight:
        return notes.astype(np.int32)
    return notes if job.links else NOTHING


def merge_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the second task of a job, which adds the rows sent to one partition to it, each once.

    It gets the pieces (none if `job.starts_anew`), shipments, and the postponed rows of the first
    task. It adds its `MergeReport` to `reports`, under (job, 1) and its partition, and yields the
    partition after the job: one piece with arrays in a file if `job.folder` is set, otherwise
    pieces of some megabytes.
    """

    def task(number: int, parts: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        partitions, postponed, waiting, sent = [], NOTHING, NOTHING, []
        kept = Outgoing(job.folder, job.number, LINKS)
        for _, part in parts:
            if isinstance(part, Partition):
                partitions.append(part)
            elif isinstance(part, bytearray | Shipment):
                sent.append(part)
            else:
                postponed, waiting = part
        began, words = time.perf_counter(), own.row_size
        partition = None if job.starts_anew else Partition.joined(partitions)
        counts = RowCounts() if partition is None else partition.held(own)
        now = _present(partition, job, own, number)
        del partition
        if job.by_weight:
            now = without_expanded(now, postponed, words)
        else:
            now = evolve(now, todo=postponed, level=waiting if job.graded else now.level)
        before = len(now.following) // words
        with wrapping():
            now, links, received_rows = _merged(now, shipments(sent), job, own)
        held, flat = now.held(own), _Following(now, own)
        report = MergeReport(
            before=counts,
            held=held,
            received=Sent.between(list(received_rows), number, np.array([*received_rows.values()])),
            postponed=len(postponed),
            new=held.following - before,
            waiting=counted(now.marks),
            links=[kept.give(some) for some in links] if job.links else [],
            visited=0 if job.graded else (len(now.visited) + len(now.level)) // words,
            preview=flat.preview(job.owners),
            combinations=flat.combinations(before * (not job.by_weight), job),
            seconds=time.perf_counter() - began,
        )
        kept.close()
        reports.add({(job.number, 1): {number: report}})
        yield from handed_over(now, job, own, number)

    return task


def shipments(sent: Iterable[Shipment | bytearray]) -> list[Shipment]:
    """Return what was sent to one partition, in the same order whenever the task is run."""
    opened = [each if isinstance(each, Shipment) else Shipment.unpacked(each) for each in sent]
    return sorted(opened, key=lambda parcel: (parcel.sender, parcel.place))


def handed_over(
    partition: Partition, job: Job, own: WorkerComposites, number: int
) -> Iterator[tuple[int, Partition]]:
    """Yield a partition for the next job: in a file if `job.folder` is set, else in pieces."""
    if job.folder is not None:
        yield number, partition.stored(Outgoing(job.folder, job.number, "partition"))
        return
    for piece in partition.pieces(own.row_size, own.codec.words):
        yield number, piece


def _present(
    partition: Partition | None, job: Job, own: WorkerComposites, number: int
) -> Partition:
    """Return a partition as the second task of a job needs it."""
    if partition is not None and job.by_weight:
        return at_hand(partition, job, own)
    if partition is not None and not job.graded:
        return advanced(partition, job, own, number)
    following = NOTHING if partition is None else repacked(partition, own).following
    return Partition(own.form, NOTHING, NOTHING, NOTHING, following)


def orbits_task(job: Job, growths: list[Any]) -> Callable[[int, Iterator[Any]], Iterator[int]]:
    """Return a task that counts the states for which one partition's next level stands."""

    def task(_partition: int, partitions: Iterator[Any]) -> Iterator[int]:
        own = own_composites(job.run, growths)
        partition = Partition.joined([piece for _, piece in partitions])
        with wrapping():
            yield own.orbit_sizes(repacked(partition, own).following)

    return task


def settle_task(job: Job, growths: list[Any]) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return a task that finds the new states among the stragglers of one partition.

    A straggler is a successor that was found late, because a table entry was missing for its
    parent. If some are new, the task yields one triple: the partition's number, these as flat rows,
    and their links.
    """

    def task(number: int, partitions: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        partition = repacked(Partition.joined([piece for _, piece in partitions]), own)
        rows, links = new_stragglers(partition, job, own, number)
        if len(links):
            yield number, own.flat(rows), links

    return task


def without_expanded(partition: Partition, postponed: Words, words: int) -> Partition:
    """Return a partition by weight without the states of the current level except these."""
    kept = ~current(partition.marks)
    kept[postponed] = True
    rows = partition.following.reshape(-1, words)[kept].ravel()
    return evolve(partition, following=rows, marks=partition.marks[kept])


@frozen(eq=False)
class _Following:
    """The next level of a partition, as flat rows where these are needed."""

    partition: Partition
    own: WorkerComposites

    def _parts(self, first: int = 0) -> Iterator[Words]:
        """Yield flat rows from row `first` on, some at a time."""
        own, rest, size = self.own, self.partition.rest, self.own.row_size
        rows, step = self.partition.following[first * size :], UNPACKED * size
        yield from (own.flat(rows[at : at + step]) for at in range(0, len(rows), step))
        if len(rest):
            yield rest

    def preview(self, owners: int) -> Words:
        """Return some rows from everywhere."""
        own, rest = self.own, self.partition.rest
        shown = (_sample(self.partition.following, own.row_size, owners), rest)
        return np.concatenate([own.flat(shown[0]), _sample(rest, own.codec.words, 8 * owners)])

    def combinations(self, first: int, job: Job) -> Words:
        """Return the combinations of actors' states from row `first` on, if they are asked for."""
        codec = self.own.codec

        def states() -> Iterator[list[Words]]:
            """Yield columns for each actor, some rows at a time."""
            for flat in self._parts(first) if job.combinations else ():
                rows = codec.unpacked(flat)
                yield [row for at in job.combinations for row in codec.column(rows, at).T]

        return first_combinations(states(), codec.actors * len(job.combinations), first)


def _sample(rows: Words, words: int, owners: int) -> Words:
    """Return some of one partition's rows from everywhere."""
    shaped = rows.reshape(-1, words)
    wanted = max(PREVIEW // owners, len(shaped) // PREVIEWED, 1)
    return shaped[:: max(len(shaped) // wanted, 1)].ravel()


def _merged(
    partition: Partition, sent: list[Shipment], job: Job, own: WorkerComposites
) -> tuple[Partition, list[Words], dict[int, int]]:
    """Return a partition with the new ones of the states sent, and arrays of their links.

    Where no links were sent, there are as many zeros; by weight there are none. The last thing
    returned is how many rows each partition sent.
    """
    parts, rest, counts = list[Part](), list[Part](), dict[int, int]()
    words, scratch, shift = own.row_size, own.scratch, own.first_shift
    for parcel in sent:
        rows, notes = received(parcel.rows), received(parcel.notes)
        count = len(rows) // (own.codec.words if parcel.flat else words)
        counts[parcel.sender] = counts.get(parcel.sender, 0) + count
        base = base_of(parcel.sender) + (parcel.base << PLACE_BITS) if job.links else 0
        some = Part(rows, notes if len(notes) else NONE, place_bits_of(notes), base)
        (rest if parcel.flat else parts).append(some)
    held, kept = may_be_met(partition, job), job.folder is None
    # What else is held has numbers, so it is no flat row.
    left, left_notes = copied(distinct(rest, own.codec.words, scratch))
    if job.by_weight:
        marked = Part(partition.following, partition.marks)
        rows, notes = distinct([marked, *parts], words, scratch, shift)
    elif sum(len(part.rows) for part in parts) < sum(map(len, held)):
        rows, notes = unseen(parts, words, held, scratch, shift)
    else:
        rows, notes = distinct([*map(known, held), *parts], words, scratch, shift)
    if kept:
        rows, notes = copied((rows, notes))
    if job.by_weight:
        marks = np.concatenate([notes, left_notes]).astype(np.int32)
        return evolve(partition, following=rows, rest=left, marks=marks), [], counts
    following = np.concatenate([partition.following, rows]) if len(partition.following) else rows
    return evolve(partition, following=following, rest=left), [notes, left_notes], counts


def copied(part: tuple[Words, Words]) -> tuple[Words, Words]:
    """Return copies of rows and notes, because the next `distinct` overwrites its results."""
    rows, notes = part
    return rows.copy(), notes.copy()
