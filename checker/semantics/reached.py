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
        outcome: the state after it, and what happened.
        number: the number of that state.
        new: the state was found by this transition.
    """

    transition: Transition
    outcome: Outcome
    number: int
    new: bool


@define(eq=False)
class Reached:
    """The states that a search has found, numbered in the order in which it found them.

    A search is a loop that calls `expand` until it has seen enough or `expanded` states are all.

    Attributes:
        states: by number; states[0] is where the search began.
        expanded: the number of states that were expanded, always the first ones.
    """

    states: list[State]
    expanded: int = 0
    _numbers: dict[State, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Number the state with which the search begins."""
        self._numbers = {self.states[0]: 0}

    def expand(self, system: System, transitions: Iterable[Transition]) -> Iterator[Edge]:
        """Take transitions of the first state that is not expanded; yield each once it was taken.

        The state counts as expanded when the last one was yielded.

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
