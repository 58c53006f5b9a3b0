"""Row counts: checks that no row is lost between two tasks.

Blocks go through files, sockets and shuffles of others. A row that is lost there would not be
explored, and a search that misses a state must never say HOLDS. So every task reports how many
rows it was given and gave away, and the driver compares the counts.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen

from antecede.checker.support.errors import ClusterError


@frozen
class RowCounts:
    """The number of rows of each sort in a partition between two jobs."""

    level: int = 0
    todo: int = 0
    visited: int = 0
    following: int = 0


def check_row_counts(
    first: dict[int, Any], second: dict[int, Any], held: dict[int, RowCounts], *, starts_anew: bool
) -> None:
    """Compare what the tasks of one job were given with what others gave them.

    Args:
        first: partition -> `ExpandReport`.
        second: partition -> `MergeReport`.
        held: partition -> what it held before the job.
        starts_anew: the second tasks are not given what the partitions held.

    Raises:
        ClusterError: something is missing, or there is more than there was.
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

    Raises:
        ClusterError: there is not.
    """
    _check("links to parents", new, sum(map(len, links)))
