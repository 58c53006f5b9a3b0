"""Whether everything can still be delivered: by definition, from one state (EF).

Protocols that retransmit may never come to a final state, so final states say nothing about them.
That it is so from every reachable state is looked for on the graph of states, see
`checker.search.recovery`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from antecede.checker.model import Property, State, Transition
from antecede.checker.semantics.judge import as_wanted
from antecede.checker.semantics.transition import System, enabled, successor


def recovers(
    system: System, state: State, prop: Property, tick: Callable[[int], None] = lambda _states: None
) -> bool:
    """Return whether a state as wanted can be reached from `state`.

    Args:
        system: what to explore, breadth-first in plain Python.
        state: where to begin.
        prop: the property that says which states are wanted.
        tick: called with the number of states met, before each is looked at.
    """
    seen, waiting = {state}, deque([state])
    while waiting:
        tick(len(seen))
        here = waiting.popleft()
        if as_wanted(system, prop, here):
            return True
        for _, after in _successors(system, here):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return False


def _successors(system: System, state: State) -> Iterator[tuple[Transition, State]]:
    for transition in enabled(system, state):
        yield transition, successor(system, state, transition).state
