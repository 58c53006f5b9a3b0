"""One partition of a search, and how its rows travel between tasks.

A partition has the rows of the current level and of the visited set whose hash selects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.messages import Job, Shipment
from antecede.checker.engine.spark.numbering import Form
from antecede.checker.engine.spark.row_accounting import RowCounts
from antecede.checker.engine.spark.rows import NO_MARKS, Marks
from antecede.checker.engine.spark.transfer import Outgoing, received
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.support.errors import ClusterError

PIECE = 1 << 18
"""Rows that are handed over at a time: some megabytes. PySpark puts twenty such things or more
together, and Java's heap holds several such heaps at once."""


@frozen(eq=False)
class Partition:
    """The content of one partition, or a piece of it. Its arrays may be in files.

    Attributes:
        form: the packing of its rows.
        level: the states of the current depth; if every state has one depth only, just those that
            are still to be expanded.
        todo: the numbers of the states to be expanded, in their level.
        visited: states of earlier depths that may be met again.
        following: the states of the next depth found so far; if levels are sums of weights, the
            states of all open levels, and the arrays above are empty.
        rest: flat rows after those in `following`, whose composites had no number when they were
            found; the next job can number them.
        marks: if levels are sums of weights, the mark of each state.
        piece: the number of the piece.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = (
        "level",
        "todo",
        "visited",
        "following",
        "rest",
        "marks",
    )

    form: Form
    level: Words
    todo: Words
    visited: Words
    following: Words
    rest: Words = NOTHING
    marks: Marks = NO_MARKS
    piece: int = 0

    def stored(self, outgoing: Outgoing) -> Partition:
        """Return this partition with its arrays in a file."""
        whole = evolve(self, **{k: outgoing.give(getattr(self, k)) for k in self.ARRAYS})
        outgoing.close()
        return whole

    def pieces(self, words: int, flat_words: int) -> Iterator[Partition]:
        """Yield this partition in pieces of some megabytes, as it travels."""
        rows = max(map(len, (self.level, self.visited, self.following))) // words
        rows = max(rows, len(self.rest) // flat_words, len(self.marks))
        for piece, at in enumerate(range(0, max(rows, 1), PIECE)):
            here, there = slice(at, at + PIECE), slice(at * words, (at + PIECE) * words)
            yield Partition(
                form=self.form,
                level=self.level[there],
                todo=self.todo[here],
                visited=self.visited[there],
                following=self.following[there],
                rest=self.rest[at * flat_words : (at + PIECE) * flat_words],
                marks=self.marks[here],
                piece=piece,
            )

    def held(self, own: WorkerComposites) -> RowCounts:
        """Return how many rows there are of each sort."""
        words, flat_words = own.words_in(self.form), own.words_in(Form(self.form.columns))
        level, visited, following = (
            len(rows) // words for rows in (self.level, self.visited, self.following)
        )
        return RowCounts(level, len(self.todo), visited, following + len(self.rest) // flat_words)

    @classmethod
    def joined(cls, pieces: list[Partition]) -> Partition:
        """Return the partition that consists of some pieces; ClusterError if there is no piece."""
        if not pieces:
            raise ClusterError(
                "the states of a partition were lost between two tasks; the disk or the network of "
                "the cluster is at fault"
            )
        pieces.sort(key=lambda piece: piece.piece)
        found = {k: [received(getattr(piece, k)) for piece in pieces] for k in cls.ARRAYS}
        whole: dict[str, Any] = {
            k: p[0] if len(p) == 1 else np.concatenate(p) for k, p in found.items()
        }
        return cls(form=pieces[0].form, **whole)


@define(eq=False)
class Sender:
    """Sends rows of one partition to other partitions, in files or in copies.

    Attributes:
        job: the instructions of the job.
        number: the number of the partition.
        sent: the number of rows sent to each owner.
        bytes: the bytes of these rows and their notes.
        parcels: the number of shipments.
    """

    job: Job
    number: int
    outgoing: Outgoing = field(init=False)
    sent: Words = field(init=False)
    bytes: int = 0
    parcels: int = 0

    def __attrs_post_init__(self) -> None:
        """Begin with nothing sent."""
        self.sent = np.zeros(self.job.owners, np.int64)
        self.outgoing = Outgoing(self.job.folder, self.job.number, "sent")

    def parcel(
        self, owner: int, rows: Words, notes: Any, base: int, count: int, *, flat: bool
    ) -> tuple[int, Shipment | bytearray]:
        """Return a shipment, packed or in a file, with the number of the owner that it is for.

        The arguments are as in `Shipment`.
        """
        place, give = self.parcels, self.outgoing.give
        self.parcels += 1
        self.sent[owner] += count
        self.bytes += rows.nbytes + notes.nbytes
        if self.job.folder is None:
            return owner, Shipment(self.number, place, rows, notes, base, count, flat).packed()
        return owner, Shipment(self.number, place, give(rows), give(notes), base, count, flat)
