"""Row counts: checks that no row is lost between two tasks.

Rows go through files, sockets and Spark's shuffles. A row that is lost there would not be explored,
and a search that misses a state must never say HOLDS. So every task reports how many rows it
received and sent, and the driver compares the counts.

With P partitions, rows are sent between P² pairs of them, too many for the driver. So a task sums
up its counts, each multiplied by a *weight* of 64 bits that looks random and belongs to its pair of
partitions. The sums of all senders and of all owners are equal if all counts are. Otherwise they
are equal only by chance: with a probability of 2^-64 if a count differs by one, and below 2^-32 in
any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from antecede.checker.engine.storage.arrays import Words
from antecede.checker.support.errors import ClusterError

ODD = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
"""The factors of SplitMix64, a generator whose numbers are the weights."""

AT_FAULT = "the disk or the network of the cluster is at fault"


def weights_of(senders: Any, owners: Any) -> Any:
    """Return the weights of pairs of partitions, given the number of each sender and owner."""
    pairs = np.asarray(senders, np.uint64) << np.uint64(32) | np.asarray(owners, np.uint64)
    mixed = (np.atleast_1d(pairs) + np.uint64(1)) * ODD[0]
    mixed = (mixed ^ mixed >> np.uint64(30)) * ODD[1]
    mixed = (mixed ^ mixed >> np.uint64(27)) * ODD[2]
    return mixed ^ mixed >> np.uint64(31)


class Sent(NamedTuple):
    """Rows that were sent between several pairs of partitions.

    Attributes:
        rows: their number.
        weighted: the sum of the weight of each row's pair, modulo 2^64.
    """

    rows: int = 0
    weighted: int = 0

    @classmethod
    def between(cls, senders: Any, owners: Any, counts: Words) -> Self:
        """Return so many rows between each of these pairs."""
        weighted = weights_of(senders, owners) * counts.astype(np.uint64)
        return cls(int(counts.sum()), int(weighted.sum(dtype=np.uint64)))

    @classmethod
    def in_all(cls, some: Iterable[Self]) -> Self:
        """Return the sum of several."""
        rows, weighted = (sum(each) for each in zip((0, 0), *some, strict=True))
        return cls(rows, weighted % (1 << 64))


class RowCounts(NamedTuple):
    """The number of rows in a partition between two jobs, for four of the arrays of `Partition`."""

    level: int = 0
    todo: int = 0
    visited: int = 0
    following: int = 0


def check_row_counts(
    first: dict[int, Any], second: dict[int, Any], held: dict[int, RowCounts], *, starts_anew: bool
) -> None:
    """Check that no row was lost between the two tasks of each partition in a job.

    It compares the numbers of successors, of rows that were in the partition before (`held`), and
    of rows that wait because a table entry is missing. If the job starts anew, the second tasks do
    not read their partitions.

    Raises:
        ClusterError: rows are missing, or there are more than there were.
    """
    given = Sent.in_all(report.sent for report in first.values())
    arrived = Sent.in_all(report.received for report in second.values())
    _check("successors", given.rows, arrived.rows)
    if given != arrived:
        raise ClusterError(
            f"some of {given.rows} successors were lost between two tasks, and as many others "
            f"were repeated; {AT_FAULT}"
        )
    for p in held:
        _check("the states of a partition", held[p], first[p].held)
        if not starts_anew:
            _check("the states of a partition", held[p], second[p].before)
        _check(
            "rows that wait for table entries",
            len(first[p].expanded.postponed),
            second[p].postponed,
        )


def check_moved(
    first: dict[int, Any], second: dict[int, Any], held: dict[int, RowCounts], *, graded: bool
) -> None:
    """Check that all rows are still there after they were divided into other partitions.

    Args:
        first, second: the reports of the tasks that sent the rows and of those that received them.
        held: row counts before.
        graded: only the states of the next level are kept.

    Raises:
        ClusterError: rows are missing, or there are more than there were.
    """
    for p in held:
        _check("the states of a partition", held[p], first[p].held)
    given = Sent.in_all(report.sent for report in first.values())
    arrived = Sent.in_all(report.sent for report in second.values())
    _check("states that change their partition", given, arrived)
    now = [report.held for report in second.values()]
    following = sum(counts.following for counts in held.values())
    _check("the states of a level", following, sum(counts.following for counts in now))
    visited = 0 if graded else sum(counts.visited + counts.level for counts in held.values())
    _check("visited states", visited, sum(counts.visited for counts in now))


def _check(what: str, given: Any, arrived: Any) -> None:
    if given != arrived:
        raise ClusterError(
            f"{what} were lost between two tasks ({given} handed over, {arrived} arrived); "
            f"{AT_FAULT}"
        )


def check_links(new: int, links: list[Any]) -> None:
    """Raise ClusterError unless a partition reported one link for each of its new states."""
    _check("links to parents", new, sum(map(len, links)))
