"""What lies ahead of a state: a bounded search from there, breadth-first in plain Python."""

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
"""What a person waits for, in about 100 MB."""


@frozen(eq=False)
class Ahead:
    """What a search found.

    Attributes:
        prop: the property that is violated, or the witness that is shown; None: none was found.
        transitions: from the initial state to there.
        unique_states: how many states were explored.
        stopped_by: the bound that was hit; None: a shortest path was found, or all that can be
            reached was explored.
    """

    prop: Property | None
    transitions: tuple[Transition, ...]
    unique_states: int
    stopped_by: str | None


def searchable(prop: Property) -> bool:
    """Return whether a path can be searched for that shows `prop` violated, or the witness."""
    return not prop.later


def look_ahead(
    system: System,
    before: tuple[Transition, ...],
    properties: tuple[Property, ...],
    bounds: Bounds = BOUNDS,
) -> Ahead:
    """Search for a shortest path, from where `before` leads, to what shows one of `properties`.

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
    # The first witness found is a nearest one; a violation later in the same level may be nearer.
    stopped_by = result.stopped_by if not prop.sought else None
    return Ahead(prop, found[prop.name].transitions, unique, stopped_by)
