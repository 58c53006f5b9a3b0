"""Second searches: each answers one question of a search that cannot answer it.

A search that kept no parents has no run to a violation, and a search that has forgotten its states
cannot look for ways back. A second search explores the same system with other options.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

from antecede.checker.model import Property
from antecede.checker.search.loop import Evidence, Explorer, Stop
from antecede.checker.search.result import Counts
from antecede.checker.support.errors import CapacityError, ReplayError


class SecondSearch(Explorer, Protocol):
    """A search whose `lost` makes a graph of all states.

    Attributes:
        graph_figures: figures of this graph by name, once it was made.
    """

    graph_figures: dict[str, Any]


def shortest_runs(
    violated: set[str], begin: Callable[[], SecondSearch], tick: Callable[[], None]
) -> tuple[dict[str, Evidence], Counts | None]:
    """Search a system again from the start, for shortest runs that violate the given properties.

    It is for a first search that found violations but kept no parents of states.

    Args:
        begin: starts the second search, which keeps parents.
        tick: called now and then. The verdict is reached, so its `Stop` is ignored.

    Returns:
        A run per property that the search found violated, among them the given ones; and the counts
        of states without symmetry, or None if it used symmetry and they are unknown.

    Raises:
        CapacityError: the second search needs more memory than there is.
        ReplayError: it ends without a violation of each given property.
    """
    names = ", ".join(sorted(violated))

    def report() -> None:
        with contextlib.suppress(Stop):
            tick()

    try:
        again = begin()
        try:
            while again.frontier and not violated <= again.found.keys():
                again.round(report)
            unreduced = again.unreduced()
        finally:
            again.close()
    except CapacityError as error:
        raise CapacityError(
            f"{names} is violated, but the second search, for the counterexample, failed: {error}"
        ) from None
    if not violated <= again.found.keys():
        raise ReplayError(f"a second search does not find what violates {names}.")
    return again.found, unreduced


def lost_after(
    search: SecondSearch, prop: Property, tick: Callable[[], None]
) -> tuple[Evidence | None, dict[str, Any]]:
    """Explore all states, and look for a state from which no goal of a property can be reached.

    The search is closed at the end, also if `tick` raises.

    Returns:
        A shortest run to such a state, or None if there is none; and figures of the graph of all
        states, by name, for statistics.
    """
    try:
        while search.frontier:
            search.round(tick)
        return search.lost(prop, tick), search.graph_figures
    finally:
        search.close()
