"""Breadth-first search over `enabled` and `successor`, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import define, field, frozen

from antecede.checker.model import State, Transition
from antecede.checker.semantics.transition import Outcome, System, successor


@frozen(eq=False)
class Edge:
    """A transition that was taken.

    Attributes:
        outcome: the outcome of the transition.
        number: the number of the state after it.
        new: whether this transition reached the state first.
    """

    transition: Transition
    outcome: Outcome
    number: int
    new: bool


@define(eq=False)
class Reached:
    """The reached states of a search, numbered in the order of discovery.

    A search is a loop that calls `expand` until it has its result or until all states are expanded.

    Attributes:
        states: the states by number; states[0] is the start of the search.
        expanded: the number of expanded states; they are the first ones of `states`.
    """

    states: list[State]
    expanded: int = 0
    _numbers: dict[State, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Give the start of the search the number 0."""
        self._numbers = {self.states[0]: 0}

    def expand(self, system: System, transitions: Iterable[Transition]) -> Iterator[Edge]:
        """Take `transitions` from the first unexpanded state, and yield an edge for each.

        The state counts as expanded after the last edge.

        Raises:
            ProtocolError: a handler raised or returned something unusable.
        """
        state = self.states[self.expanded]
        for transition in transitions:
            outcome = successor(system, state, transition)
            number = self._numbers.setdefault(outcome.state, len(self.states))
            new = number == len(self.states)
            if new:
                self.states.append(outcome.state)
            yield Edge(transition, outcome, number, new)
        self.expanded += 1
