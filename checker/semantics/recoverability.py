"""Whether everything can still be delivered: by definition, from one state (EF).

Protocols that retransmit may never come to a final state, so final states say nothing about them.
That it is so from every reachable state is looked for on the graph of states, see
`checker.liveness.ag_ef`.
"""

from __future__ import annotations

from antecede.checker.model import Property, State
from antecede.checker.semantics.judge import as_wanted
from antecede.checker.semantics.reached import Reached
from antecede.checker.semantics.transition import System, enabled


def recovers(system: System, state: State, prop: Property, most: int | None = None) -> bool | None:
    """Return whether a state as wanted can be reached from `state`, or None if that is not known.

    Args:
        system: what to explore, breadth-first in plain Python.
        state: where to begin.
        prop: the property that says which states are wanted.
        most: nothing is known where more states than that are met; None: any number is looked at.
    """
    reached = Reached([state])
    for here in reached.states:  # grows meanwhile
        if most is not None and len(reached.states) > most:
            return None
        if as_wanted(system, prop, here):
            return True
        for _ in reached.expand(system, enabled(system, here)):
            pass
    return False
