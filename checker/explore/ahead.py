"""Bounded breadth-first search from a state of the explore page, in plain Python."""

from __future__ import annotations

from attrs import evolve, frozen

from antecede.checker.check.pipeline import self_checking
from antecede.checker.errors import ProtocolError
from antecede.checker.model import Property, Transition
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.semantics.transition import System

BOUNDS = Bounds(max_states=100_000, max_seconds=20.0)
"""The bounds of a search: a tolerable waiting time and about 100 MB."""


@frozen(eq=False)
class Ahead:
    """The result of a search.

    Attributes:
        prop: the property that is violated, or the witness that is reached; None if there is none.
        transitions: the path from the initial state to the violation or witness.
        unique_states: the number of explored states.
        stopped_by: the bound that was hit; None if a shortest path was found or all reachable
            states were explored.
    """

    prop: Property | None
    transitions: tuple[Transition, ...]
    unique_states: int
    stopped_by: str | None


def searchable(prop: Property) -> bool:
    """Return whether a bounded search can find a violation of `prop`, or the witness."""
    return not prop.later


def look_ahead(
    system: System,
    before: tuple[Transition, ...],
    properties: tuple[Property, ...],
    bounds: Bounds = BOUNDS,
) -> Ahead:
    """Search for a shortest path that extends `before` and shows one of `properties`.

    Raises:
        ProtocolError: a handler of the protocol fails, or is not a pure function.
    """
    asked = evolve(system, properties=properties)
    explorer = BreadthFirst(self_checking(asked, "on"), before=before)
    result = explore(asked, explorer, bounds)
    if result.error is not None:
        raise ProtocolError(result.error)
    unique, found = result.counts.unique_states, explorer.found
    shown = [prop for prop in properties if prop.name in found]
    if not shown:
        return Ahead(None, (), unique, result.stopped_by)
    prop = min(shown, key=lambda p: len(found[p.name].transitions))
    # The first witness is a nearest one. A violation later in the same level may be nearer.
    stopped_by = result.stopped_by if not prop.sought else None
    return Ahead(prop, found[prop.name].transitions, unique, stopped_by)
