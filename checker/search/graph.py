"""The numbered graph of states, and its edges as arrays.

A breadth-first search numbers states as it finds them, so the first state with some property is a
nearest one. Edges are compressed rows: the edges of state k are at first[k]:first[k + 1]. Ways
back, fairness and the drawings all work on this graph. The compiled engine makes the same arrays
(see `checker.engine.threads.graph`), and compiles the functions on arrays of `checker.graphs`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from attrs import define, field, frozen

from antecede.checker.graphs.cycles import (
    judge_components,
    number_components,
    reach,
    sort_components,
)
from antecede.checker.model import Transition
from antecede.checker.semantics.marked import follows, is_over
from antecede.checker.semantics.reached import Edge, Reached
from antecede.checker.semantics.transition import System


def integers(values: Iterable[int] = ()) -> array[int]:
    """Return 64-bit integers."""
    return array("q", values)


@define(eq=False)
class Rows:
    """Labelled edges as compressed rows, in arrays of Python, or NumPy where they are only read.

    Attributes:
        first: where the edges of each state begin, and where the last ones end.
        target: per edge, the number of the state that it leads to.
        label: per edge, the number of its transition.
        transitions: by number; equal ones have one number.
    """

    first: Any = field(factory=lambda: integers([0]))
    target: Any = field(factory=integers)
    label: Any = field(factory=integers)
    transitions: list[Transition] = field(factory=list)
    _numbers: dict[Transition, int] = field(factory=dict)

    def __len__(self) -> int:
        """Return how many states have their edges."""
        return len(self.first) - 1

    def add(self, transition: Transition, target: int) -> None:
        """Append an edge to the row that is not ended yet."""
        number = self._numbers.setdefault(transition, len(self.transitions))
        if number == len(self.transitions):
            self.transitions.append(transition)
        self.label.append(number)
        self.target.append(target)

    def end(self) -> None:
        """End a row: the next state has its edges now."""
        self.first.append(len(self.target))

    def of(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield (number of the transition, state after it) for the edges of a state."""
        if state >= len(self):
            return iter(())
        here = slice(self.first[state], self.first[state + 1])
        return zip(self.label[here], self.target[here], strict=True)

    def source(self, edge: int) -> int:
        """Return the state that an edge leads from, the row that is not ended included."""
        return bisect_right(self.first, edge) - 1

    def which(self, chosen: Callable[[Transition], bool]) -> frozenset[int]:
        """Return the numbers of the transitions that are as chosen."""
        return frozenset(k for k, transition in enumerate(self.transitions) if chosen(transition))

    def without(self, labels: frozenset[int]) -> Rows:
        """Return the same states without the edges that have one of these transitions."""
        rest = Rows(transitions=self.transitions, numbers=self._numbers)
        for state in range(len(self)):
            for label, after in self.of(state):
                if label not in labels:
                    rest.label.append(label)
                    rest.target.append(after)
            rest.end()
        return rest


@frozen(eq=False)
class Passes:
    """The functions of `checker.graphs.cycles`, as Python runs them, or compiled."""

    number_components: Callable[..., int] = number_components
    sort_components: Callable[..., None] = sort_components
    judge_components: Callable[..., int] = judge_components
    reach: Callable[..., None] = reach


class Explored(Protocol):
    """A graph of states as far as it is known; one message is followed in it."""

    @property
    def rows(self) -> Rows:
        """The edges; the first states have them, but none where the message is delivered."""

    @property
    def passes(self) -> Passes:
        """The functions that work through the arrays of the rows."""

    def followed(self) -> bytearray:
        """Return, per state, whether the marked message was causal-sent and is undelivered."""

    def over(self) -> bytearray:
        """Return, per state, whether the marked message was delivered everywhere."""

    def all_edges(self, number: int) -> bool:
        """Return whether all edges of a state are there."""

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to a state."""


@define(eq=False)
class StateGraph(Reached):
    """The states of a system that were found, and the edges of those that were expanded.

    It takes about a kilobyte per state and 16 bytes per edge.

    Attributes:
        rows: the edges; the first states have them.
        cut: expanded states without edges, because they reach a limit.
        passes: how its arrays are worked through.
    """

    rows: Rows = field(factory=Rows)
    cut: set[int] = field(factory=set)
    passes: Passes = Passes()
    _came: array[int] = field(factory=lambda: integers([-1]))

    def all_edges(self, number: int) -> bool:
        """Return whether all edges of a state are there."""
        return number < self.expanded and number not in self.cut

    def expand(self, system: System, transitions: Iterable[Transition] = ()) -> Iterator[Edge]:
        """Do what `Reached.expand` does, and keep the edges."""
        for edge in Reached.expand(self, system, transitions):
            if edge.new:
                self._came.append(len(self.rows.target))
            self.rows.add(edge.transition, edge.number)
            yield edge
        self.rows.end()

    def skip(self) -> None:
        """Give the first state that is not expanded no edges."""
        self.expanded += 1
        self.rows.end()

    def followed(self) -> bytearray:
        """Return, per state, whether the marked message was causal-sent and is undelivered."""
        return bytearray(follows(state.history) for state in self.states)

    def over(self) -> bytearray:
        """Return, per state, whether the marked message was delivered everywhere."""
        return bytearray(is_over(state.history) for state in self.states)

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to a state."""
        path = []
        while (edge := self._came[number]) >= 0:
            path.append(self.rows.transitions[self.rows.label[edge]])
            number = self.rows.source(edge)
        return tuple(reversed(path))
