"""Row counts: checks that no row is lost between two tasks.

Rows go through files, sockets and Spark's shuffles. A row that is lost there would not be explored,
and a search that misses a state must never say HOLDS. So every task reports how many rows it
received and sent, and the driver compares the counts.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from antecede.checker.support.errors import ClusterError


@frozen
class RowCounts:
    """The number of rows in a partition between two jobs, for four of the arrays of `Partition`."""

    level: int = 0
    todo: int = 0
    visited: int = 0
    following: int = 0


def check_row_counts(
    first: dict[int, Any], second: dict[int, Any], held: dict[int, RowCounts], *, starts_anew: bool
) -> None:
    """Check that no row was lost between the two halves of a job on a cluster.

    A row is a state. Every partition (the share of the states that one task works on) has two
    tasks: the first expands rows, and the second merges the successors that were sent to it. The
    check compares the numbers of successors, of rows that were in the partition before, and of rows
    that wait because a table entry is missing.

    Args:
        first: partition -> the report of its first task, an `ExpandReport`.
        second: partition -> the report of its second task, a `MergeReport`.
        held: partition -> the numbers of its rows before the job; has all partitions.
        starts_anew: the second tasks do not read their partitions, so their row counts are not
            compared.

    Raises:
        ClusterError: rows are missing, or there are more than there were.
    """
    for p in held:
        _check("the states of a partition", held[p], first[p].held)
        if not starts_anew:
            _check("the states of a partition", held[p], second[p].before)
        _check(
            "rows that wait for table entries",
            len(first[p].expanded.postponed),
            second[p].postponed,
        )
        for owner in held:
            _check("successors", int(first[p].sent[owner]), second[owner].received.get(p, 0))


def _check(what: str, given: Any, arrived: Any) -> None:
    if given != arrived:
        raise ClusterError(
            f"{what} were lost between two tasks ({given} handed over, {arrived} arrived); the "
            "disk or the network of the cluster is at fault"
        )


def check_links(new: int, links: list[Any]) -> None:
    """Check that a partition reported one link to a parent for each of its new states.

    A partition is the share of the states that one task works on. A link is an int64 word that
    names a state's parent and the transition from it.

    Args:
        new: the number of new states.
        links: arrays of links, or the places (`StoredArray`) of such arrays in files.

    Raises:
        ClusterError: there are fewer or more links.

    Examples:
        >>> check_links(3, [[7, 8], [9]])  # two arrays with three links, so nothing is raised
    """
    _check("links to parents", new, sum(map(len, links)))
