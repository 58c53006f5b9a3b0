"""One partition of a search, and how its rows travel between tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.errors import ClusterError
from antecede.checker.spark.messages import Job
from antecede.checker.spark.row_accounting import RowCounts
from antecede.checker.spark.rows import NO_MARKS, Marks, WorkerComposites
from antecede.checker.spark.transfer import from_file, to_file
from antecede.checker.tables.tabulate import Words

PIECE = 1 << 18
"""Rows that are handed over at a time: some megabytes. PySpark puts twenty such things or more
together, and Java's heap holds several such heaps at once."""


@frozen(eq=False)
class Partition:
    """The content of one partition, or a piece of it; all rows flat. Its arrays may be in files.

    Attributes:
        columns: the widths of the codec.
        level: the states of the current depth; where every state has one depth only, those that
            are still to be expanded.
        todo: the numbers of those in their level.
        visited: states of earlier depths that may be met again.
        progress: of each of them, int32; see `WorkerComposites.progress`.
        following: the states of the next depth found so far; where levels are sums of weights,
            the states of all open levels, and nothing else is held.
        marks: of these, where levels are sums of weights; see `checker.spark.rows`.
        piece: the number of the piece.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = (
        "level",
        "todo",
        "visited",
        "progress",
        "following",
        "marks",
    )

    columns: tuple[int, ...]
    level: Words
    todo: Words
    visited: Words
    progress: Any
    following: Words
    marks: Marks = NO_MARKS
    piece: int = 0

    def pieces(self, words: int, folder: str | None = None, name: str = "") -> Iterator[Partition]:
        """Yield this partition as it travels.

        Args:
            words: of a row.
            folder: where to put its arrays; None: they travel themselves, in pieces.
            name: for the files, the same for no other partition.
        """
        if folder is not None:
            yield evolve(
                self, **{k: to_file(getattr(self, k), folder, f"{name}-{k}") for k in self.ARRAYS}
            )
            return
        rows = max(map(len, (self.level, self.visited, self.following))) // words
        for piece, at in enumerate(range(0, max(rows, 1), PIECE)):
            here, there = slice(at, at + PIECE), slice(at * words, (at + PIECE) * words)
            yield Partition(
                columns=self.columns,
                level=self.level[there],
                todo=self.todo[here],
                visited=self.visited[there],
                progress=self.progress[here],
                following=self.following[there],
                marks=self.marks[here],
                piece=piece,
            )

    def held(self, own: WorkerComposites) -> RowCounts:
        """Return how many rows there are of each sort."""
        words = own.codec.with_widths(self.columns).words
        level, visited, following = (
            len(rows) // words for rows in (self.level, self.visited, self.following)
        )
        return RowCounts(level, len(self.todo), visited, following)

    @classmethod
    def joined(cls, pieces: list[Partition]) -> Partition:
        """Return the partition that comes in these pieces.

        Raises:
            ClusterError: there is none.
        """
        if not pieces:
            raise ClusterError(
                "the states of a partition were lost between two tasks; the disk or the network of "
                "the cluster is at fault"
            )
        pieces.sort(key=lambda piece: piece.piece)
        found = {k: [from_file(getattr(piece, k)) for piece in pieces] for k in cls.ARRAYS}
        whole: dict[str, Any] = {
            k: p[0] if len(p) == 1 else np.concatenate(p) for k, p in found.items()
        }
        return cls(columns=pieces[0].columns, **whole)


@define(eq=False)
class Sender:
    """Sends what a partition has for others, in files or in copies.

    Attributes:
        job: what for.
        number: of the partition.
        sent: rows per owner.
        bytes: of the rows and notes.
        parcels: how many there were.
    """

    job: Job
    number: int
    sent: Words = field(init=False)
    bytes: int = 0
    parcels: int = 0

    def __attrs_post_init__(self) -> None:
        """Begin with nothing sent."""
        self.sent = np.zeros(self.job.owners, np.int64)

    def parcel(self, owner: int, rows: Words, notes: Any, words: int) -> Any:
        """Return what carries rows of some words to an owner: a pair with the owner's number."""
        job, place = self.job, self.parcels
        self.parcels += 1
        self.sent[owner] += len(rows) // words
        self.bytes += rows.nbytes + notes.nbytes
        if job.folder is None:
            return owner, (self.number, place, rows.copy(), notes.copy())
        name = f"{job.number}-sent-{self.number}-{place}"
        its_notes = to_file(notes, job.folder, f"{name}-notes")
        return owner, (self.number, place, to_file(rows, job.folder, name), its_notes)
