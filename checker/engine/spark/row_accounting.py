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
    """Check that the tasks of one job received exactly the rows that other tasks sent.

    Args:
        first: partition -> `ExpandReport`.
        second: partition -> `MergeReport`.
        held: partition -> its row counts before the job.
        starts_anew: the second tasks do not read the partitions.

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
    """Check that there is a link for each new state of a partition.

    Args:
        new: the number of new states.
        links: arrays of links.

    Raises:
        ClusterError: there are fewer or more links.
    """
    _check("links to parents", new, sum(map(len, links)))
