"""Runs as lists of places. A place is the index of a transition among the enabled ones."""

from __future__ import annotations

from collections.abc import Iterable

from antecede.checker.model import Transition
from antecede.checker.semantics.transition import System, enabled, initial_state, successor


def transitions_at(system: System, places: Iterable[int]) -> tuple[Transition, ...]:
    """Return the run from the initial state that takes the transitions at these places."""
    state, transitions = initial_state(system), list[Transition]()
    for place in places:
        if transitions:
            state = successor(system, state, transitions[-1]).state
        transitions.append(enabled(system, state)[place])
    return tuple(transitions)


def places_of(system: System, transitions: Iterable[Transition]) -> list[int]:
    """Return the place of each transition of a run."""
    state, places, before = initial_state(system), list[int](), None
    for transition in transitions:
        if before is not None:
            state = successor(system, state, before).state
        places.append(enabled(system, state).index(transition))
        before = transition
    return places
