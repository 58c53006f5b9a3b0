"""What runs on workers: the two tasks of a round, on a partition.

`checker.spark.transport` is the driver's side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.search.global_properties import first_combinations
from antecede.checker.spark.distinct import NOTHING, Part, distinct, known, unseen
from antecede.checker.spark.messages import ExpandReport, Job, MergeReport
from antecede.checker.spark.partition import Partition, Sender
from antecede.checker.spark.row_accounting import RowCounts
from antecede.checker.spark.rows import (
    Expansion,
    WorkerComposites,
    widened,
)
from antecede.checker.spark.transfer import from_file, to_file
from antecede.checker.spark.weighted_levels import brought_nearer, counted, current, depths_of
from antecede.checker.tables import kernels
from antecede.checker.tables.table_filler import wrapping
from antecede.checker.tables.tabulate import Words

SAMPLE = 1 << 19
"""Tasks report this many postponed rows, for the driver to expand or to find out what they miss."""

UNPACKED = 1 << 18
"""Rows that are unpacked in one go: some tens of megabytes."""

PREVIEW, PREVIEWED = 1 << 15, 128
"""The driver expands states of a level ahead, so that most tasks miss nothing: the first number, or
one of each second number where that is more."""


NONE = np.zeros(1, np.int64)
"""The link of all rows where none are kept."""

_OWN: dict[str, WorkerComposites] = {}
"""This process's composites; a worker that starts anew makes them again."""


def own_composites(run: str, growths: Iterable[Any]) -> WorkerComposites:
    """Return this process's composites, with tables of the latest version."""
    if run not in _OWN:
        _OWN.clear()
        _OWN[run] = WorkerComposites()
    own = _OWN[run]
    for place, growth in enumerate(growths):
        if place > own.version:
            own.learn(growth.value)
    return own


@define(eq=False)
class DriverPartitions:
    """All partitions in the driver, and what its tasks report; a little work needs no cluster.

    Attributes:
        partitions: the pieces of each.
        value: the reports by their keys, as an accumulator of a cluster has them.
    """

    partitions: list[list[Partition]]
    value: dict[Any, Any] = field(factory=dict)

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, Partition]], owners: int) -> DriverPartitions:
        """Return the partitions that a cluster held as pairs (number, piece)."""
        partitions: list[list[Partition]] = [[] for _ in range(owners)]
        for number, piece in pairs:
            partitions[number].append(piece)
        return cls(partitions)

    @property
    def pairs(self) -> list[tuple[int, Partition]]:
        """The partitions as a cluster holds them."""
        return [(p, piece) for p, pieces in enumerate(self.partitions) for piece in pieces]

    def add(self, reports: dict[Any, Any]) -> None:
        """Take in reports, as an accumulator does."""
        self.value |= reports

    def run(self, job: Job, own: WorkerComposites) -> None:
        """Run both tasks of a job for one partition after the other."""
        _OWN[job.run] = own
        parts: list[list[Any]] = [[] for _ in self.partitions]
        for number in range(len(self.partitions)):
            for owner, part in self._on(number, expand_task(job, [], self)):
                parts[owner].append((owner, part))
        if not job.starts_anew:
            for pair in self.pairs:
                parts[pair[0]].append(pair)
        merge = merge_task(job, [], self)
        self.partitions = [
            [piece for _, piece in merge(number, iter(given))] for number, given in enumerate(parts)
        ]

    def each(self, task: Callable[[int, Iterator[Any]], Iterator[Any]]) -> list[Any]:
        """Return what a task yields for all partitions."""
        return [found for p in range(len(self.partitions)) for found in self._on(p, task)]

    def _on(self, number: int, task: Callable[[int, Iterator[Any]], Iterator[Any]]) -> Any:
        return task(number, iter([(number, piece) for piece in self.partitions[number]]))


def advanced(partition: Partition, job: Job, own: WorkerComposites, number: int) -> Partition:
    """Return a partition as a job finds it: packed as the tables are now, with its next level."""
    now = _repacked(partition, own)
    if not job.advances:
        return now
    level, _ = _next_level(now, job, own, number)
    words = own.codec.words
    left = own.progress(now.level)
    kept, stays = now.progress >= job.least, left >= job.least
    visited = [now.visited.reshape(-1, words)[kept], now.level.reshape(-1, words)[stays]]
    return Partition(
        columns=now.columns,
        level=level,
        todo=np.arange(len(level) // words),
        visited=np.concatenate(visited).ravel(),
        progress=np.concatenate([now.progress[kept], left[stays].astype(np.int32)]),
        following=NOTHING,
    )


def at_hand(partition: Partition, job: Job, own: WorkerComposites) -> Partition:
    """Return a partition by weight as a job finds it."""
    now = _repacked(partition, own)
    return evolve(now, marks=brought_nearer(now.marks, job.least)) if job.advances else now


def to_expand(
    partition: Partition, job: Job, own: WorkerComposites, number: int
) -> tuple[Words, Words, Words]:
    """Return the states to be expanded, their numbers, and the links of the new stragglers."""
    links = NOTHING
    if job.by_weight:
        which = np.flatnonzero(current(partition.marks))
        rows = partition.following.reshape(-1, own.codec.words)[which]
        return rows.ravel(), which, links
    if job.advances and number in job.stragglers:
        rows, links = _next_level(_repacked(partition, own), job, own, number)
    else:
        rows = partition.following if job.advances else partition.level
        rows = widened(rows, own.codec.with_widths(partition.columns), own.codec)
    words = own.codec.words
    if job.advances:
        return rows, np.arange(len(rows) // words), links
    if job.graded:
        return rows, partition.todo, links
    return rows.reshape(-1, words)[partition.todo].ravel(), partition.todo, links


def may_be_met(partition: Partition, job: Job) -> tuple[Words, ...]:
    """Return the rows of a partition that what follows may be equal to."""
    if job.graded:  # there is nothing else, and the level is old
        return (partition.following,)
    return partition.visited, partition.level, partition.following


def _repacked(partition: Partition, own: WorkerComposites) -> Partition:
    """Return a partition packed as the tables are now."""
    before, after = own.codec.with_widths(partition.columns), own.codec
    level, visited, following = (
        widened(rows, before, after)
        for rows in (partition.level, partition.visited, partition.following)
    )
    return Partition(
        after.col_widths,
        level,
        partition.todo,
        visited,
        partition.progress,
        following,
        partition.marks,
    )


def _next_level(
    partition: Partition, job: Job, own: WorkerComposites, number: int
) -> tuple[Words, Words]:
    """Return the level that follows, with the stragglers, and the links of those."""
    if number not in job.stragglers:
        return partition.following, NOTHING
    some, links = job.stragglers[number]
    with wrapping():
        held = may_be_met(partition, job)
        some, links = unseen([(some, links)], own.codec.words, held, own.scratch)
    return np.concatenate([partition.following, some]), links


def expand_task(
    job: Job, growths: list[Any], reports: Any
) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    """Return the first task of a job: a partition -> successors by owner.

    Each is sent as tuples (partition, place, rows, notes). A pair goes to the partition itself:
    the numbers of the rows that were postponed and, if the next task has them from nowhere else,
    the rows.
    """

    def task(number: int, partitions: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        own.trim()
        partition = Partition.joined([piece for _, piece in partitions])
        began = time.perf_counter()
        held = partition.held(own)
        if job.by_weight:
            partition = at_hand(partition, job, own)
        rows, numbers, straggler_links = to_expand(partition, job, own, number)
        depths = depths_of(partition.marks[numbers]) if job.by_weight else NOTHING
        del partition
        weights = evolve(job.weights, depths=depths)
        expansion = Expansion(own, rows, numbers, number, job.owners, job.known, weights)
        sender, words, seconds = Sender(job, number), own.codec.words, 0.0
        for owner, flat, notes in expansion.parcels():
            parcel = sender.parcel(owner, flat, notes_sent(job, notes), words)
            seconds += time.perf_counter() - began
            yield parcel
            began = time.perf_counter()
        done = expansion.done()
        some = max(SAMPLE // job.owners, 1 << 10) * words
        report = ExpandReport(
            expanded=evolve(done, waiting=done.waiting[:some]),
            held=held,
            sent=sender.sent,
            sent_bytes=sender.bytes,
            straggler_links=straggler_links,
            seconds=seconds + time.perf_counter() - began,
        )
        reports.add({(job.number, 0, number): report})
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
    """Return the second task of a job: a partition and rows sent to it -> the next partition."""

    def task(number: int, parts: Iterator[Any]) -> Iterator[Any]:
        own = own_composites(job.run, growths)
        partitions, postponed, waiting, sent = [], NOTHING, NOTHING, []
        for _, part in parts:
            if isinstance(part, Partition):
                partitions.append(part)
            elif len(part) == 4:
                sent.append(part)
            else:
                postponed, waiting = part
        began, words = time.perf_counter(), own.codec.words
        # The shuffle delivers in any order; the same order each time gives the same indices.
        sent.sort(key=lambda part: part[:2])
        partition = None if job.starts_anew else Partition.joined(partitions)
        counts = RowCounts() if partition is None else partition.held(own)
        now = _present(partition, job, own, number)
        del partition
        if job.by_weight:
            now = without_expanded(now, postponed, words)
        else:
            now = evolve(now, todo=postponed, level=waiting if job.graded else now.level)
        before = len(now.following)
        with wrapping():
            now, links, received = _merged(now, sent, job, own)
        following = now.following
        name = f"{job.number}-links-{number}"
        report = MergeReport(
            before=counts,
            held=now.held(own),
            received=received,
            postponed=len(postponed),
            new=(len(following) - before) // words,
            waiting=counted(now.marks),
            links=to_file(links, job.folder, name) if job.links else NOTHING,
            visited=0 if job.graded else (len(now.visited) + len(now.level)) // words,
            least=0 if job.graded or job.by_weight else _least(following, own),
            preview=_preview(following.reshape(-1, words), job.owners),
            combinations=_combinations(following, before // words * (not job.by_weight), job, own),
            seconds=time.perf_counter() - began,
        )
        reports.add({(job.number, 1, number): report})
        name = f"{job.number}-partition-{number}"
        for piece in now.pieces(words, job.folder, name):
            yield number, piece

    return task


def _present(
    partition: Partition | None, job: Job, own: WorkerComposites, number: int
) -> Partition:
    """Return a partition as the second task of a job needs it."""
    if partition is not None and job.by_weight:
        return at_hand(partition, job, own)
    if partition is not None and not job.graded:
        return advanced(partition, job, own, number)
    following = NOTHING if partition is None else _repacked(partition, own).following
    columns, progress = own.codec.col_widths, np.zeros(0, np.int32)
    return Partition(columns, NOTHING, NOTHING, NOTHING, progress, following)


def orbits_task(job: Job, growths: list[Any]) -> Callable[[int, Iterator[Any]], Iterator[int]]:
    """Return a task that counts the states for which a partition's next level stands."""

    def task(_partition: int, partitions: Iterator[Any]) -> Iterator[int]:
        own = own_composites(job.run, growths)
        partition = Partition.joined([piece for _, piece in partitions])
        with wrapping():
            yield own.orbit_sizes(_repacked(partition, own).following)

    return task


def without_expanded(partition: Partition, postponed: Words, words: int) -> Partition:
    """Return a partition by weight without the states of the current level except these."""
    kept = ~current(partition.marks)
    kept[postponed] = True
    rows = partition.following.reshape(-1, words)[kept].ravel()
    return evolve(partition, following=rows, marks=partition.marks[kept])


def _combinations(following: Words, first: int, job: Job, own: WorkerComposites) -> Words:
    """Return the combinations of actors' states from row `first` on, if a property needs them."""
    codec = own.codec

    def states() -> Iterator[list[Words]]:
        """Yield a column for each actor, some rows at a time."""
        step = UNPACKED * codec.words
        for at in range(first * codec.words, len(following), step) if job.combinations else ():
            local = codec.unpacked(following[at : at + step])
            yield list(codec.column(local, kernels.STATE).T)

    return first_combinations(states(), codec.actors, first)


def _least(rows: Words, own: WorkerComposites) -> int:
    return int(own.progress(rows).min()) if len(rows) else 1 << 62


def _preview(rows: Any, owners: int) -> Words:
    """Return some of one partition's rows from everywhere."""
    wanted = max(PREVIEW // owners, len(rows) // PREVIEWED, 1)
    return np.asarray(rows[:: max(len(rows) // wanted, 1)].ravel(), np.int64)


def _merged(
    partition: Partition, sent: list[Any], job: Job, own: WorkerComposites
) -> tuple[Partition, Words, dict[int, int]]:
    """Return a partition with the new ones of the states sent, and their links.

    Where no links were sent, there are as many zeros; by weight there are none. The last thing
    returned is how many rows each partition sent.
    """
    parts, received = list[Part](), dict[int, int]()
    words, scratch = own.codec.words, own.scratch
    for sender, _, rows, notes in sent:
        rows, notes = from_file(rows), from_file(notes)
        received[sender] = received.get(sender, 0) + len(rows) // words
        parts.append((rows, notes if len(notes) else NONE))
    held = may_be_met(partition, job)
    if job.by_weight:
        rows, notes = distinct([(partition.following, partition.marks), *parts], words, scratch)
    elif sum(len(rows) for rows, _ in parts) < sum(map(len, held)):
        rows, notes = unseen(parts, words, held, scratch)
    else:
        rows, notes = distinct([*map(known, held), *parts], words, scratch)
    if job.folder is None:
        rows, notes = rows.copy(), notes.copy()
    if job.by_weight:
        return evolve(partition, following=rows, marks=notes.astype(np.int32)), NOTHING, received
    following = np.concatenate([partition.following, rows]) if len(partition.following) else rows
    return evolve(partition, following=following), notes, received
