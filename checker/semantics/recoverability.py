"""Recoverability of one state: a state with everything delivered is reachable from it (EF).

Protocols that retransmit may never reach a final state, so properties of final states say nothing
about them. `checker.graphs.backwards` decides on the state graph whether all reachable states are
recoverable.
"""

from __future__ import annotations

from antecede.checker.model import Property, State
from antecede.checker.semantics.judge import as_wanted
from antecede.checker.semantics.reached import Reached
from antecede.checker.semantics.transition import System, crashes, enabled


def recovers(system: System, state: State, prop: Property, most: int | None = None) -> bool | None:
    """Return whether a state that satisfies `prop` is reachable from `state`, or None if unknown.

    Args:
        system: the system, explored breadth-first in plain Python.
        state: the start of the search.
        prop: the property.
        most: the search gives up after this many states; None means no limit.
    """
    reached = Reached([state])
    for here in reached.states:  # the list grows during the loop
        if most is not None and len(reached.states) > most:
            return None
        if as_wanted(system, prop, here):
            return True
        transitions = [t for t in enabled(system, here) if not crashes(system, t)]
        for _ in reached.expand(system, transitions):
            pass
    return False
