"""Whether everything can still be delivered: from every reachable state (AG EF).

Protocols that retransmit may never come to a final state, so final states say nothing about them.
The graph of all states is searched backwards from those in which everything is as wanted; a state
that is not met is one from which there is no way back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from attrs import define, field

from antecede.checker.errors import CapacityError
from antecede.checker.model import Property, State, Transition
from antecede.checker.semantics.judge import as_wanted
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

MOST_STATES = 2_000_000
"""Unique states of a graph; with its edges in plain Python it takes some 2 KB a state."""

TICK = 1 << 12


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


def unrecoverable(
    system: System, prop: Property, tick: Callable[[], None] = lambda: None
) -> tuple[Transition, ...] | None:
    """Return a shortest path to a state from which none as wanted can be reached, or None.

    Args:
        system: what to explore, breadth-first in plain Python.
        prop: says what is wanted.
        tick: called now and then.

    Raises:
        CapacityError: there are more than MOST_STATES states.
    """
    graph = _Graph(system)
    graph.explore(tick)
    wanted = [k for k, state in enumerate(graph.states) if as_wanted(system, prop, state)]
    good = graph.reaching(wanted)
    # The states are numbered breadth-first, so the first one is a nearest one.
    bad = next((k for k, is_good in enumerate(good) if not is_good), None)
    return None if bad is None else graph.path_to(bad)


def _successors(system: System, state: State) -> Iterator[tuple[Transition, State]]:
    for transition in enabled(system, state):
        yield transition, successor(system, state, transition).state


@define(eq=False)
class _Graph:
    """All reachable states, numbered in breadth-first order.

    Attributes:
        parents: for each state but the first, the number of the state that it was found from, and
            the transition that was taken there.
        before: for each state, the states that lead to it.
    """

    system: System
    states: list[State] = field(factory=list)
    parents: list[tuple[int, Transition] | None] = field(factory=list)
    before: list[list[int]] = field(factory=list)

    def explore(self, tick: Callable[[], None]) -> None:
        start = initial_state(self.system)
        numbers = {start: 0}
        self.states, self.parents, self.before = [start], [None], [[]]
        for here, state in enumerate(self.states):  # grows meanwhile
            if here % TICK == 0:
                tick()
            for transition, after in _successors(self.system, state):
                number = numbers.setdefault(after, len(self.states))
                if number == len(self.states):
                    if number >= MOST_STATES:
                        raise CapacityError(
                            f"more than {MOST_STATES:,} states are too many to look for a way back"
                        )
                    self.states.append(after)
                    self.parents.append((here, transition))
                    self.before.append([])
                self.before[number].append(here)

    def reaching(self, goals: list[int]) -> list[bool]:
        """Return for each state whether it leads to one of `goals`."""
        found = [False] * len(self.states)
        waiting = deque(goals)
        for goal in goals:
            found[goal] = True
        while waiting:
            for earlier in self.before[waiting.popleft()]:
                if not found[earlier]:
                    found[earlier] = True
                    waiting.append(earlier)
        return found

    def path_to(self, number: int) -> tuple[Transition, ...]:
        path = []
        while (parent := self.parents[number]) is not None:
            number, transition = parent
            path.append(transition)
        return tuple(reversed(path))
