"""Fair cycles: can a message stay undelivered for ever while the application goes on?

The graph of all states in which the marked message is followed is cut into strong components. A
component with a causal-send on a cycle is *fair* if an infinite run may stay in it without treating
any step of the network or of a timer unfairly:

* weak fairness: what is enabled in all its states is taken on some edge inside. One pass over the
  maximal components decides, for what a component leaves out, each of its parts leaves out.
* strong fairness, on networks that lose: what is enabled in some of its states is taken inside.
  States that enable what is never taken are removed, and the rest is cut again (Emerson and Lei
  1987, the procedure for Streett conditions).

The application is never obliged: it may stop, or prefer one destination for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from attrs import define, field, frozen

from antecede.checker.model import CausalSend, State, Transition
from antecede.checker.semantics.judge import obliged, refused
from antecede.checker.semantics.limits import reached
from antecede.checker.semantics.marked import follows, is_over
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

Tick = Callable[[int], None]

MOST_STARTS = 500
"""States of a component from which a shortest fair cycle is looked for, nearest first."""


Edges = list[list[tuple[Transition, int]]]
"""Per state, its transitions, each with the number of the state after it."""

ENDINGS = {
    "stuck": "nothing that may still happen delivers it",
    "starved": "as soon as the application stops, it is delivered",
    "waiting": "it is not delivered either when the application stops, only when it sends again",
}
"""What becomes of a message that a lasso leaves undelivered."""


@frozen(eq=False)
class Lasso:
    """A run without end: a stem, then a cycle for ever.

    Attributes:
        stem, cycle: transitions; the cycle leads from the state after the stem back to it. It is
            empty where nothing can happen any more.
        ending: one of ENDINGS.
    """

    stem: tuple[Transition, ...]
    cycle: tuple[Transition, ...]
    ending: str


@define(eq=False)
class StateGraph:
    """The reachable states in which the marked message may still be delivered, and their edges.

    Attributes:
        states: numbered in breadth-first order; those in which the message is delivered have no
            edges, for nothing can starve it any more.
        edges: per state (transition, number of the state after it).
        parents: per state but the first, the number it was found from, and how.
        expanded: how many states, counted from the first one, have all their edges.
        cut: those of them that have none, for they reach a limit.
    """

    system: System
    states: list[State] = field(factory=list)
    edges: Edges = field(factory=list)
    parents: list[tuple[int, Transition] | None] = field(factory=list)
    expanded: int = 0
    cut: set[int] = field(factory=set)

    @property
    def complete(self) -> bool:
        """Every reachable state was expanded."""
        return self.expanded == len(self.states) and not self.cut

    def explored(self, number: int) -> bool:
        """Return whether the edges of a state are all there."""
        return number < self.expanded and number not in self.cut

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to a state."""
        path = []
        while (parent := self.parents[number]) is not None:
            number, transition = parent
            path.append(transition)
        return tuple(reversed(path))


def graph_of(
    system: System, tick: Tick = lambda _states: None, most: int | None = None
) -> StateGraph:
    """Return the graph of a system whose history is `marked`.

    Args:
        system: what to explore, in plain Python.
        tick: called with the number of states, before each is expanded.
        most: how many states to expand at most.

    It costs some 2 KB of memory per state.
    """
    start = initial_state(system)
    numbers, graph = {start: 0}, StateGraph(system, [start], [[]], [None])
    for here, state in enumerate(graph.states):  # grows meanwhile
        tick(len(graph.states))
        if most is not None and here >= most:
            break
        graph.expanded += 1
        if is_over(state.history):
            continue
        if reached(system.limits, state) is not None:
            graph.cut.add(here)
            continue
        for transition in enabled(system, state):
            after = successor(system, state, transition).state
            number = numbers.setdefault(after, len(graph.states))
            if number == len(graph.states):
                graph.states.append(after)
                graph.edges.append([])
                graph.parents.append((here, transition))
            graph.edges[here].append((transition, number))
    return graph


def lasso(graph: StateGraph, tick: Tick = lambda _states: None) -> Lasso | None:
    """Return the lasso with the shortest cycle found that starves the marked message, or None.

    None says that the states of the graph have no such lasso. That no run starves the message
    follows only if the graph is complete.
    """
    dead = next((k for k in followed(graph) if not graph.edges[k] and graph.explored(k)), None)
    if dead is not None:
        return Lasso(graph.path_to(dead), (), "stuck")
    strong = graph.system.network.lose is not None
    best: tuple[int, tuple[Transition, ...]] | None = None
    for component in fair_components(graph.edges, set(followed(graph)), strong=strong):
        for start in sorted(component)[:MOST_STARTS]:
            tick(len(graph.states))
            most = len(best[1]) - 1 if best else None
            cycle = shortest_fair_cycle(graph.edges, component, start, strong=strong, most=most)
            if cycle is not None:
                best = start, cycle
    if best is None:
        return None
    start, cycle = best
    return Lasso(graph.path_to(start), cycle, ending_of(graph, start, strong=strong))


def followed(graph: StateGraph) -> Iterator[int]:
    """Yield the states in which the marked message was causal-sent and is undelivered."""
    return (k for k, state in enumerate(graph.states) if follows(state.history))


def fair_components(
    edges: Edges, inside: set[int], *, strong: bool, sends: bool = True
) -> Iterator[set[int]]:
    """Yield the components in which a fair run may stay for ever.

    Args:
        edges: of the whole graph.
        inside: the states that the run may visit.
        strong: whether fairness is strong, not weak.
        sends: whether a causal-send must lie on a cycle; otherwise any cycle will do.
    """
    waiting = list(_components(edges, inside))
    while waiting:
        component = waiting.pop()
        inner = [t for k in component for t, after in edges[k] if after in component]
        if not any(isinstance(t, CausalSend) or not sends for t in inner):
            continue
        offered = {k: obliged(t for t, _ in edges[k]) for k in component}
        unfair = refused(list(offered.values()), inner, strong=strong)
        if not unfair:
            yield component
        elif strong:
            waiting.extend(_components(edges, {k for k in component if not offered[k] & unfair}))


def _components(edges: Edges, inside: set[int]) -> Iterable[set[int]]:
    """Return the strong components of a part of the graph."""
    import networkx  # takes a while, and most checks need no such graph

    digraph = networkx.DiGraph()
    digraph.add_nodes_from(inside)
    digraph.add_edges_from((k, after) for k in inside for _, after in edges[k] if after in inside)
    found: Iterable[set[int]] = networkx.strongly_connected_components(digraph)
    return found


_At = tuple[int, frozenset[Transition], frozenset[Transition], bool]
"""A state on the way, what the cycle still owes, what it took, whether it causal-sent."""


def shortest_fair_cycle(
    edges: Edges, component: set[int], start: int, *, strong: bool, most: int | None = None
) -> tuple[Transition, ...] | None:
    """Return a shortest cycle from `start` that causal-sends and is fair by itself.

    Weak: what `start` enables is taken, or disabled in some state of the cycle; other steps are not
    enabled all along. Strong: whatever a state of the cycle enables is taken.

    Args:
        edges: of the whole graph.
        component: the states that it may visit.
        start: one of them.
        strong: whether fairness is strong, not weak.
        most: the greatest length that is of use, or None if every length is.
    """
    first: _At = (start, frozenset(obliged(t for t, _ in edges[start])), frozenset(), False)
    came: dict[_At, tuple[_At, Transition] | None] = {first: None}
    waiting = deque([(first, 0)])
    while waiting:
        at, length = waiting.popleft()
        if most is not None and length >= most:
            return None
        for transition, after in edges[at[0]]:
            if after not in component:
                continue
            then = _on(at, transition, after, edges, strong=strong)
            if then in came:
                continue
            came[then] = (at, transition)
            if after == start and not then[1] and then[3]:
                return _back(came, then)
            waiting.append((then, length + 1))
    return None


def _on(at: _At, transition: Transition, after: int, edges: Edges, *, strong: bool) -> _At:
    """Return where a cycle stands after one more transition."""
    _, owed, taken, sent = at
    offered = obliged(t for t, _ in edges[after])
    if strong:
        taken = taken | obliged([transition])
        owed = (owed | offered) - taken
    else:
        owed = (owed - {transition}) & offered
    return after, owed, taken, sent or isinstance(transition, CausalSend)


def _back(came: dict[_At, tuple[_At, Transition] | None], at: _At) -> tuple[Transition, ...]:
    path = []
    while (step := came[at]) is not None:
        at, transition = step
        path.append(transition)
    return tuple(reversed(path))


def ending_of(graph: StateGraph, start: int, *, strong: bool) -> str:
    """Return which of ENDINGS the message comes to that is undelivered in `start`."""
    if not any(is_over(graph.states[k].history) for k in _reachable(graph.edges, start)):
        return "stuck"
    quiet: Edges = [
        [(t, k) for t, k in row if not isinstance(t, CausalSend)] for row in graph.edges
    ]
    after = _reachable(quiet, start)
    undelivered = {k for k in after if not is_over(graph.states[k].history)}
    rests = any(not quiet[k] for k in undelivered)
    goes_on = any(fair_components(quiet, undelivered, strong=strong, sends=False))
    return "waiting" if rests or goes_on else "starved"


def _reachable(edges: Edges, start: int) -> set[int]:
    """Return the states that can be reached from `start`, itself included."""
    seen, waiting = {start}, deque([start])
    while waiting:
        for _, after in edges[waiting.popleft()]:
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen
