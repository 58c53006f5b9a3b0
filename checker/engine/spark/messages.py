"""The messages between the driver and the tasks: a job's instructions, rows, and reports."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any, Self

import numpy as np
from attrs import define, frozen

from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.lean import Lean
from antecede.checker.engine.spark.row_accounting import RowCounts, Sent
from antecede.checker.engine.spark.rows import BlockWeights, Expanded
from antecede.checker.engine.storage.arrays import Words

HEADER = struct.Struct("<IIQIHH")
"""The numbers before the rows of a packed shipment; 24 bytes, so that the rows are aligned."""

NOTES = (np.uint32, np.int32, np.int64)
"""The types of notes, by their number in a packed shipment; a greater number: there are none."""


@frozen
class Job:
    """The instructions for every task of one job.

    Attributes:
        run: the name of the search, because workers keep composites between tasks.
        number: the number of the job, which tells the reports of jobs apart.
        depth: the depth of the level that is expanded.
        owners: the number of partitions.
        known: the bit set of the properties not to report any more.
        links: whether the links of states to their parents are wanted.
        advances: the level before is done; the next one is to be expanded.
        graded: every state has one depth only, so only the next level can be met again.
        weights: the weights of transitions, if levels are sums of weights; without depths of
            states.
        least: if levels are sums of weights, the least lead of the states that wait.
        folder: where tasks put what they send, if all of them are on this machine.
        stragglers: per partition, states that belong to the next level if they are new, with
            their links: the driver expanded their parents, which had missed table entries.
        settled: all stragglers are known to be new.
        combinations: the columns of actors whose combinations are to be reported.
        moves: the job expands nothing; it divides the states into `owners` partitions, see
            `repartition`.
    """

    run: str
    number: int
    depth: int
    owners: int
    known: int
    links: bool
    advances: bool
    graded: bool
    weights: BlockWeights
    least: int
    folder: str | None
    stragglers: dict[int, tuple[Words, Words]]
    settled: bool = False
    combinations: tuple[int, ...] = ()
    moves: bool = False

    @property
    def by_weight(self) -> bool:
        """Levels are sums of weights."""
        return self.weights.on

    @property
    def starts_anew(self) -> bool:
        """The next level depends only on rows that are sent in this job."""
        return self.moves or (self.graded and self.advances)


@frozen(eq=False)
class Shipment:
    """Rows that one partition sends to another, which owns them.

    Attributes:
        sender: the number of the partition that sends them.
        place: the number of shipments that it sent before in this job.
        rows: the rows, flat; they may be in a file.
        notes: a note for each row, or empty if they are not wanted. They may be in a file.
        base: the number of a row of the sender, from which notes count parents.
        count: the number of rows.
        flat: they are flat rows although other rows are not, because of composites without numbers.
    """

    sender: int
    place: int
    rows: Words
    notes: Any
    base: int
    count: int
    flat: bool

    def packed(self) -> bytearray:
        """Return a copy in one piece: many shipments have few rows, and objects take 300 bytes."""
        sort = NOTES.index(self.notes.dtype.type) if len(self.notes) else len(NOTES)
        header = HEADER.pack(self.sender, self.place, self.base, self.count, sort, self.flat)
        return bytearray().join((header, self.rows.data, self.notes.data))

    @classmethod
    def unpacked(cls, piece: bytearray) -> Self:
        """Return the shipment that `packed` copied; its arrays are in the piece."""
        sender, place, base, count, sort, flat = HEADER.unpack_from(piece)
        notes, end = NOTHING, len(piece)
        if sort < len(NOTES):
            end -= count * np.dtype(NOTES[sort]).itemsize
            notes = np.frombuffer(piece, NOTES[sort], count, end)
        rows = np.frombuffer(piece, np.int64, (end - HEADER.size) // 8, HEADER.size)
        return cls(sender, place, rows, notes, base, count, bool(flat))


@define(eq=False)
class ExpandReport(Lean):
    """The report of the first task of a partition, which expands rows.

    Attributes:
        expanded: the result of the expansion, with some of the postponed rows, as flat rows.
        held: row counts of the partition before the job.
        sent: the rows that it sent.
        sent_bytes: the bytes of these rows.
        straggler_links: the links of the stragglers that were new.
        composites: records of composites that have no number yet and are in rows that were sent.
        seconds: the time that the task took.
    """

    expanded: Expanded
    held: RowCounts
    sent: Sent
    sent_bytes: int
    straggler_links: Words
    composites: Words
    seconds: float


@frozen(eq=False)
class MergeReport(Lean):
    """The report of the second task of a partition, which merges the rows that were sent to it.

    Attributes:
        before: row counts before the job; zero if the task did not read them.
        held: row counts after the job.
        received: the rows that were sent to the partition.
        postponed: the number of its rows that wait for table entries, as the first task said.
        new: the number of states that were new.
        waiting: if levels are sums of weights, the number of states with each mark.
        links: the links of the new states, if they are wanted, as arrays that may be in files.
        visited: the number of states of earlier depths in the partition.
        preview: some states of the next level, as flat rows; the driver finds out what they miss.
        combinations: as `first_combinations` returns them for the new states; none if no global
            property is asked.
        seconds: the time that the task took.
    """

    before: RowCounts
    held: RowCounts
    received: Sent
    postponed: int
    new: int
    waiting: Counter[int]
    links: list[Any]
    visited: int
    preview: Words
    combinations: Words
    seconds: float

    @property
    def following(self) -> int:
        """The number of states of the next depth that the partition has now."""
        return self.held.following
