"""The explorers in plain Python: the reference for the faster engines.

Question: Why is a counterexample shortest? `BreadthFirst`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from attrs import define, evolve, field

from antecede.checker.graphs.backwards import first_lost
from antecede.checker.model import Property, State, Transition
from antecede.checker.search.graph import StateGraph
from antecede.checker.search.loop import Evidence, Explorer, decided
from antecede.checker.search.never_seen import kind_of
from antecede.checker.search.result import Counts
from antecede.checker.semantics.crashes import is_crash
from antecede.checker.semantics.judge import as_wanted, at_end, in_deliveries, in_state, undelivered
from antecede.checker.semantics.limits import reached
from antecede.checker.semantics.reached import Edge
from antecede.checker.semantics.transition import (
    Outcome,
    System,
    enabled,
    initial_state,
    is_final,
    state_after,
    successor,
)
from antecede.checker.semantics.workload import Position, most_sent
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import ProtocolError


@define(eq=False)
class PlainExplorer(Explorer):
    """The common part of the searches in plain Python: states, counts, and judging of properties.

    Costs about a kilobyte per unique state; meant for small systems and as a reference.

    Attributes:
        delivers: some transition delivers a message.
        undelivered: some final state leaves a message undelivered.
        positions: per actor those in its workload that were met, where sends may wait.
    """

    system: System
    max_depth: int | None = None
    found: dict[str, Evidence] = field(factory=dict)
    cuts: dict[str, Evidence] = field(factory=dict)
    truncated: bool = False
    unique: int = 0
    total: int = 0
    deepest: int = 1
    finals: int = 0
    fired: Counter[str] = field(factory=Counter)
    delivers: bool = False
    undelivered: bool = False
    positions: tuple[set[Position], ...] = field(init=False)

    @positions.default
    def _none_met(self) -> tuple[set[Position], ...]:
        return tuple(set() for _ in range(self.system.actors))

    def counts(self) -> Counts:
        """Return what was explored so far."""
        return Counts(self.unique, self.total, self.deepest, self.finals)

    def unreduced(self) -> Counts:
        """Return the counts, because this search uses no symmetry."""
        return self.counts()

    def statistics(self) -> dict[str, Any]:
        """Return how often transitions of each kind were taken, and what else was met."""
        kinds = {kind: {"total": n} for kind, n in sorted(self.fired.items())}
        workload = self.system.workload
        met = {} if workload.sends is None else {"most_sent": most_sent(workload, self.positions)}
        happened = {"delivers": self.delivers, "undelivered": self.undelivered}
        return {"transitions": kinds, **happened, **met}

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return what shows that some state has no way back to what `prop` wants, or None."""
        return found_lost(self.system, self._own(prop), tick)

    def _own(self, prop: Property) -> Property:
        """Return the explored property of this name: its predicate may compare its calls."""
        return next((own for own in self.system.properties if own.name == prop.name), prop)

    def close(self) -> None:
        """Hold nothing that must be given back."""

    def _show(self, prop: Property, transitions: Callable[[], tuple[Transition, ...]]) -> None:
        """Record the shortest path seen that shows `prop`."""
        path = transitions()
        known = self.found.get(prop.name)
        if known is None or len(path) < len(known.transitions):
            self.found[prop.name] = Evidence(path)

    def _is_cut(self, state: State, path: Callable[[], tuple[Transition, ...]]) -> bool:
        """Return whether a state reaches a limit; of the runs to each the shortest is kept."""
        limit = reached(self.system.limits, state)
        if limit is None:
            return False
        known = self.cuts.get(limit.text)
        if known is None or len(path()) < len(known.transitions):
            self.cuts[limit.text] = Evidence(path())
        return True

    def _judge_state(self, state: State, path: Callable[[], tuple[Transition, ...]]) -> None:
        if self.system.workload.sends is not None:
            for met, position in zip(self.positions, state.workload, strict=True):
                met.add(position)
        self._judge(lambda prop: in_state(prop, state), path)

    def _judge_final(self, state: State, path: Callable[[], tuple[Transition, ...]]) -> None:
        self.finals += 1
        actors = range(self.system.actors)
        self.undelivered = self.undelivered or any(undelivered(state, i) for i in actors)
        self._judge(lambda prop: at_end(self.system, prop, state), path)

    def _judge_outcome(self, outcome: Outcome, path: Callable[[], tuple[Transition, ...]]) -> None:
        if outcome.deliveries:  # most transitions have none
            self.delivers = True
            self._judge(lambda prop: in_deliveries(prop, outcome.deliveries), path)

    def _judge(
        self, is_shown: Callable[[Property], bool], path: Callable[[], tuple[Transition, ...]]
    ) -> None:
        for prop in self.system.properties:
            if (prop.name not in self.found or not prop.sought) and is_shown(prop):
                self._show(prop, path)


@define(eq=False)
class BreadthFirst(PlainExplorer):
    """Explores level by level; a round is a level, so that counterexamples are shortest.

    Attributes:
        before: transitions that lead from the initial state to where the search starts.
        graph: the states that were found, and the edges of those that were expanded.
        levels: the numbers of new states per depth.
    """

    exhaustive: bool = True
    before: tuple[Transition, ...] = ()
    graph: StateGraph = field(init=False)
    levels: list[int] = field(factory=lambda: [1])
    _level: range = range(1)

    def __attrs_post_init__(self) -> None:
        """Start from the initial state, or from where `before` leads."""
        start = state_after(self.system, self.before)
        self.graph = StateGraph([start])
        self.unique = self.total = 1
        self._judge_state(start, lambda: self.before)

    @property
    def frontier(self) -> int:
        """The number of states that were found and not expanded."""
        return 0 if self.truncated else len(self.graph.states) - self.graph.expanded

    def round(self, tick: Callable[[], None]) -> None:
        """Expand the current level, or the rest of it if the last round was stopped."""
        if self.max_depth is not None and self.deepest >= self.max_depth:
            self.truncated = True
            return
        level = self._level
        while (number := self.graph.expanded) < level.stop:
            if (number - level.start) % 256 == 255:
                tick()
            self.step()

    def step(self) -> None:
        """Expand one state, the first one that is not expanded."""
        self._expand(self.graph.expanded)
        if self.graph.expanded == self._level.stop:
            self._level = range(self._level.stop, len(self.graph.states))
            self.deepest += bool(self._level)
            self.levels += [len(self._level)] * bool(self._level)

    def _expand(self, number: int) -> None:
        """Give the first state that is not expanded its edges, and judge what that finds."""
        graph, state = self.graph, self.graph.states[number]
        if self.system.is_over(state):
            graph.skip()
            return
        if self._is_cut(state, lambda: self.path_to(number)):
            graph.cut.add(number)
            graph.skip()
            return
        transitions = _enabled(self.system, state, lambda: self.path_to(number))
        if is_final(self.system, transitions):
            self._judge_final(state, lambda: self.path_to(number))
        edges = graph.expand(self.system, transitions)
        for edge in _located(edges, lambda: self.path_to(number)):
            self.fired[kind_of(edge.transition)] += 1
            self.total += 1
            self._judge_outcome(
                edge.outcome,
                lambda t=edge.transition: (*self.path_to(number), t),  # type: ignore[misc]
            )
            if edge.new:
                self.unique += 1
                self._judge_state(edge.outcome.state, lambda: self.path_to(len(graph.states) - 1))

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return what shows that some state has no way back to what `prop` wants, or None."""
        path = path_to_lost(self.system, self.graph, self._own(prop), tick)
        return None if path is None else Evidence((*self.before, *path))

    def so_far(self, _tick: Callable[[], None]) -> StateGraph:
        """Return the graph as far as it is known."""
        return self.graph

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return the transitions that lead to a state that was met, by its number."""
        return (*self.before, *self.graph.path_to(number))


def first_states(system: System, states: int) -> BreadthFirst:
    """Return a search that found all states, or this many states.

    It judges no property. A state can have very many transitions, so it stops within a level.
    """
    search = BreadthFirst(evolve(system, properties=()))
    while search.frontier and search.unique < states:
        search.step()
    return search


def path_to_lost(
    system: System, graph: StateGraph, prop: Property, tick: Callable[[], None] = lambda: None
) -> tuple[Transition, ...] | None:
    """Return a shortest path to a state that cannot reach a state with `prop`, or None.

    Args:
        system: the system.
        graph: its complete state graph, in plain Python.
        prop: the property.
        tick: called now and then; it may raise.
    """
    good = bytearray(as_wanted(system, prop, state) for state in graph.states)
    rows = graph.rows
    if system.crashes is not None:  # no crash helps to deliver messages
        rows = rows.without(rows.which(is_crash))
    hopeless = first_lost(rows.first, rows.target, good, tick)
    return None if hopeless is None else graph.path_to(hopeless)


def found_lost(system: System, prop: Property, tick: Callable[[], None]) -> Evidence | None:
    """Return what `Explorer.lost` does, from a graph of states that is made for it."""
    search = BreadthFirst(evolve(system, properties=()))
    while search.frontier:
        search.round(tick)
    return search.lost(prop, tick)


def _located(edges: Iterator[Edge], path: Callable[[], tuple[Transition, ...]]) -> Iterator[Edge]:
    """Yield edges from the state to which `path` leads; a handler's error says how to get there."""
    try:
        yield from edges
    except ProtocolError as error:
        raise _at(len(path()), error) from error


def _enabled(
    system: System, state: State, path: Callable[[], tuple[Transition, ...]]
) -> tuple[Transition, ...]:
    """Return the transitions of the state to which `path` leads; an error says how to get there."""
    try:
        return enabled(system, state)
    except ProtocolError as error:
        raise _at(len(path()), error) from error


def _apply(
    system: System, state: State, transition: Transition, taken: list[Transition]
) -> Outcome:
    """Apply `transition`; a handler's error says how to get there."""
    try:
        return successor(system, state, transition)
    except ProtocolError as error:
        raise _at(len(taken), error) from error


def _at(steps: int, error: ProtocolError) -> ProtocolError:
    return type(error)(f"{error} (after {counted(steps, 'transition')} from the start)")


@define(eq=False)
class DepthFirst(PlainExplorer):
    """Explores depth-first, a batch of states a round; `deepest` is of the longest path."""

    exhaustive: bool = True
    batch: int = 1024
    visited: set[State] = field(factory=set)
    stack: list[tuple[State, Iterator[Transition]]] = field(factory=list)
    taken: list[Transition] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Start from the initial state."""
        self.total = 1
        self._enter(initial_state(self.system))

    @property
    def frontier(self) -> int:
        """The length of the stack."""
        return len(self.stack)

    def round(self, tick: Callable[[], None]) -> None:
        """Take up to `batch` transitions; stop at a violation, for depth-first has no levels."""
        for number in range(self.batch):
            if not self.stack or decided(self.system, self):
                return
            if number % 64 == 63:
                tick()
            self._advance()

    def _advance(self) -> None:
        state, transitions = self.stack[-1]
        transition = next(transitions, None)
        if transition is None:
            self.stack.pop()
            if self.taken:
                self.taken.pop()
            return
        path = (*self.taken, transition)
        outcome = _apply(self.system, state, transition, self.taken)
        self.fired[kind_of(transition)] += 1
        self.total += 1
        self._judge_outcome(outcome, lambda: path)
        if outcome.state not in self.visited:
            self.taken.append(transition)
            self._enter(outcome.state)

    def _enter(self, state: State) -> None:
        self.visited.add(state)
        self.unique += 1
        self.deepest = max(self.deepest, len(self.taken) + 1)
        self._judge_state(state, lambda: tuple(self.taken))
        cut = self._is_cut(state, lambda: tuple(self.taken))
        transitions = () if cut else _enabled(self.system, state, lambda: tuple(self.taken))
        if not cut and is_final(self.system, transitions):
            self._judge_final(state, lambda: tuple(self.taken))
        if transitions and self.max_depth is not None and len(self.taken) + 1 >= self.max_depth:
            self.truncated, transitions = True, ()
        self.stack.append((state, iter(transitions)))


@define(eq=False)
class RandomWalks(PlainExplorer):
    """Walks from the initial state along random transitions, all as likely; a round is a walk."""

    walks: int = 1000
    seed: int = 0
    exhaustive: bool = False
    visited: set[State] = field(factory=set)
    final_states: set[State] = field(factory=set)
    rng: random.Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Seed the generator."""
        self.rng = random.Random(self.seed)

    @property
    def frontier(self) -> int:
        """The number of walks left."""
        return self.walks

    def round(self, tick: Callable[[], None]) -> None:
        """Walk until a final state, a violation or the greatest depth."""
        self.walks -= 1
        state, taken = initial_state(self.system), []  # type: tuple[State, list[Transition]]
        self._meet(state, taken)
        while transitions := _enabled(self.system, state, lambda: tuple(taken)):
            if is_final(self.system, transitions):
                self._end(state, taken)
            if self.max_depth is not None and len(taken) + 1 >= self.max_depth:
                return
            if self._is_cut(state, lambda: tuple(taken)):
                return
            if len(taken) % 256 == 255:
                tick()
            transition = self.rng.choice(transitions)
            outcome = _apply(self.system, state, transition, taken)
            self.fired[kind_of(transition)] += 1
            taken.append(transition)
            self._judge_outcome(outcome, lambda: tuple(taken))
            state = outcome.state
            self._meet(state, taken)
            if decided(self.system, self):
                return
        self._end(state, taken)

    def _end(self, state: State, taken: list[Transition]) -> None:
        """Judge a final state, unless an earlier walk met it."""
        if state not in self.final_states:
            self.final_states.add(state)
            self._judge_final(state, lambda: tuple(taken))

    def _meet(self, state: State, taken: list[Transition]) -> None:
        self.total += 1
        self.deepest = max(self.deepest, len(taken) + 1)
        if state not in self.visited:
            self.visited.add(state)
            self.unique += 1
            self._judge_state(state, lambda: tuple(taken))
