"""The numbered graph of states, for whoever needs more of it than its states one by one.

States are numbered in the order in which a breadth-first search finds them, so the first one that
has some property is a nearest one. Edges are compressed rows: those of state k are at
first[k]:first[k + 1]. Recovery, fairness and the drawings all work on this graph; the compiled
engine makes the same arrays (see `checker.local.graph`), and compiles the functions on arrays that
stand here.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from attrs import define, field

from antecede.checker.model import State, Transition


def integers(values: Iterable[int] = ()) -> array[int]:
    """Return 64-bit integers."""
    return array("q", values)


@define(eq=False)
class Rows:
    """Labelled edges as compressed rows.

    Attributes:
        first: where the edges of each state begin, and where the last ones end.
        target: per edge, the number of the state that it leads to.
        label: per edge, the number of its transition.
        transitions: by number; equal ones have one number.
    """

    first: array[int] = field(factory=lambda: integers([0]))
    target: array[int] = field(factory=integers)
    label: array[int] = field(factory=integers)
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


@define(eq=False)
class StateGraph:
    """The states of a system that were found, and the edges of those that were expanded.

    It takes about a kilobyte per state and 16 bytes per edge.

    Attributes:
        states: by number; states[0] is where the search began.
        rows: their edges; the first states have them.
        cut: those of the first states that have none, for they reach a limit.
    """

    states: list[State]
    rows: Rows = field(factory=Rows)
    cut: set[int] = field(factory=set)
    _numbers: dict[State, int] = field(init=False)
    _came: array[int] = field(factory=lambda: integers([-1]))

    def __attrs_post_init__(self) -> None:
        """Number the state with which the search begins."""
        self._numbers = {self.states[0]: 0}

    @property
    def expanded(self) -> int:
        """How many states have their edges, or are known to need none."""
        return len(self.rows)

    @property
    def complete(self) -> bool:
        """Every state that was found has all its edges."""
        return self.expanded == len(self.states) and not self.cut

    def all_edges(self, number: int) -> bool:
        """Return whether all edges of a state are there."""
        return number < self.expanded and number not in self.cut

    def add(self, transition: Transition, after: State) -> bool:
        """Add an edge from the first state that is not expanded; return whether it finds a state.

        `rows.end` ends that state's edges.
        """
        number = self._numbers.setdefault(after, len(self.states))
        new = number == len(self.states)
        if new:
            self.states.append(after)
            self._came.append(len(self.rows.target))
        self.rows.add(transition, number)
        return new

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to a state."""
        path = []
        while (edge := self._came[number]) >= 0:
            path.append(self.rows.transitions[self.rows.label[edge]])
            number = self.rows.source(edge)
        return tuple(reversed(path))


def components(rows: Rows, inside: Iterable[int]) -> list[set[int]]:
    """Return the strong components of a part of a graph; it costs as much as that part is large.

    Args:
        rows: the edges of the whole graph.
        inside: the states of the part.
    """
    states = sorted(inside)
    places = {state: place for place, state in enumerate(states)}
    first, target = integers([0]), integers()
    for state in states:
        target.extend(places[after] for _, after in rows.of(state) if after in places)
        first.append(len(target))
    numbers = integers([-1]) * len(states)
    found: list[set[int]] = [set() for _ in range(number_components(first, target, numbers))]
    for place, number in enumerate(numbers):
        found[number].add(states[place])
    return found


def number_components(first: Any, target: Any, numbers: Any) -> int:
    """Number the strong components, and return how many there are (Tarjan 1972, without recursion).

    Args:
        first: as of `Rows`.
        target: as of `Rows`.
        numbers: per state -1; takes the number of its component.
    """
    met, low = [-1] * len(numbers), [0] * len(numbers)
    at = list(first[: len(numbers)])
    open_states: list[int] = []
    count = time = 0
    for root in range(len(numbers)):
        path = [root] if met[root] < 0 else []
        while path:
            state = path[-1]
            if met[state] < 0:
                met[state] = low[state] = time
                time += 1
                open_states.append(state)
            if at[state] < first[state + 1]:
                after = target[at[state]]
                at[state] += 1
                if met[after] < 0:
                    path.append(after)
                elif numbers[after] < 0:
                    low[state] = min(low[state], met[after])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[state])
            if low[state] == met[state]:
                member = -1
                while member != state:
                    member = open_states.pop()
                    numbers[member] = count
                count += 1
    return count
