"""Fair cycles: endless runs that leave a message undelivered forever.

The graph of all states that follow the marked message is cut into strong components. The search in
plain Python or the fast engine keeps this graph. With the fast engine the passes of
`checker.graphs.cycles` over its edges are compiled. A component with a cycle is *fair* if an
infinite run may stay in it without treating any step of the network or of a timer unfairly:

* weak fairness: a reception, timer or action that is enabled in all its states is taken on some
  edge inside. No part of a component that leaves it out is fair, either.
* strong fairness, on networks that lose: a reception that is enabled in some of its states is taken
  inside. States that enable one that is never taken are removed, and the rest is cut again (Emerson
  and Lei 1987, the procedure for Streett conditions).

The application is not obliged to send, so the cycle may be without causal-sends (a livelock).

Question: Where is an endless run (a lasso) found? `lasso`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import compress, count, islice
from operator import and_, eq

from attrs import evolve, frozen

from antecede.checker.graphs.cycles import FREE, STRONG, WEAK, Components, Edges
from antecede.checker.model import State, Transition
from antecede.checker.search.graph import Explored, Passes, Rows, StateGraph, integers
from antecede.checker.semantics.judge import obliged, strongly_owed
from antecede.checker.semantics.marked import is_over
from antecede.checker.semantics.transition import System, enabled, state_after

MOST_STARTS = 500
"""The number of states of a component, nearest first, where searches for a fair cycle start."""

OFTEN = 1 << 12
"""The number of steps of a search for a cycle between two calls of `tick`."""

MOST_QUIET = 20_000
"""The greatest number of states in a search after the application has stopped."""


ENDINGS = {
    "stuck": "nothing that may still happen delivers it",
    "starved": "as soon as the application stops, it is delivered",
    "avoided": "it may be delivered if the application sends nothing more, but need not be",
    "waiting": "it is delivered only if the application sends again",
    "undecided": "whether it is delivered when the application stops, or sends again, is not known",
}
"""The fate of the message that a lasso leaves undelivered."""


@frozen(eq=False)
class Lasso:
    """A run without end: a stem, then a cycle forever.

    Attributes:
        stem, cycle: transitions; the cycle leads from the state after the stem back to it. It is
            empty if the stem ends in a final state.
        ending: one of ENDINGS.
    """

    stem: tuple[Transition, ...]
    cycle: tuple[Transition, ...]
    ending: str


def lasso(system: System, graph: Explored, tick: Callable[[], None] = lambda: None) -> Lasso | None:
    """Return the lasso with the shortest cycle found that starves the marked message, or None.

    None says that the states of the graph have no such lasso. That no run starves the message
    follows only if the graph is complete.

    Args:
        system: its history is `marked`.
        graph: its states, all or the first ones; states after the delivery of the message have no
            edges, because nothing can starve it any more.
        tick: called now and then; it may raise.
    """
    rows, inside = graph.rows, graph.followed()
    dead = next((k for k in at_rest(rows, inside) if graph.all_edges(k)), None)
    if dead is not None:
        return Lasso(graph.path_to(dead), (), "stuck")
    lossy = system.network.lose is not None
    best: tuple[int, tuple[int, ...]] | None = None
    tick()
    for component in fair_components(rows, inside, lossy=lossy, passes=graph.passes):
        for start in sorted(component)[:MOST_STARTS]:
            most = len(best[1]) - 1 if best else None
            cycle = shortest_fair_cycle(rows, component, start, lossy=lossy, most=most, tick=tick)
            if cycle is not None:
                best = start, cycle
    if best is None:
        return None
    start, labels = best
    cycle_found = tuple(rows.transitions[label] for label in labels)
    return Lasso(graph.path_to(start), cycle_found, ending_of(system, graph, start, lossy=lossy))


def at_rest(rows: Rows, inside: bytearray) -> Iterator[int]:
    """Yield the states of a part that have a row without edges."""
    rests = map(eq, rows.first, islice(rows.first, 1, None))
    return compress(count(), map(and_, inside, rests))


def fair_components(
    rows: Rows,
    inside: bytearray,
    *,
    lossy: bool,
    passes: Passes = Passes(),
) -> list[set[int]]:
    """Return the components where a fair run may stay forever, the nearest first.

    The computation takes 72 bytes per state of the graph.

    Args:
        rows: the edges of the whole graph.
        inside: per state, whether the run may visit it.
        lossy: whether the network loses packets, so that fairness to packets is strong.
        passes: the plain or the compiled functions of `checker.graphs.cycles`.
    """
    size, found = len(rows), 0
    weak, strong = owed_labels(rows, lossy=lossy)
    labels = range(len(rows.transitions))
    demands = bytearray(STRONG if k in strong else WEAK if k in weak else FREE for k in labels)
    edges = Edges(rows.first, rows.target, rows.label)
    left, fair = inside[:size], integers([-1]) * size
    while any(left):
        numbers, members = integers([-1]) * size, integers([0]) * size
        many = passes.number_components(rows.first, rows.target, left, numbers)
        ends = integers([0]) * (many + 1)
        passes.sort_components(numbers, ends, members)
        parts = Components(numbers, ends, members)
        found = passes.judge_components(edges, parts, demands, left, fair, found)
    fair_parts: list[set[int]] = [set() for _ in range(found)]
    for state, number in enumerate(fair) if found else ():
        if number >= 0:
            fair_parts[number].add(state)
    return sorted(fair_parts, key=min)


def owed_labels(rows: Rows, *, lossy: bool) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of the transitions that weak and that strong fairness covers."""
    covered = rows.which(lambda transition: bool(obliged([transition])))
    strong = rows.which(lambda transition: bool(strongly_owed([transition], lossy=lossy)))
    return covered - strong, strong


_At = tuple[int, frozenset[int], frozenset[int]]
"""(state, owed transitions, taken transitions of strong fairness) on a cycle."""


def shortest_fair_cycle(
    rows: Rows,
    component: set[int],
    start: int,
    *,
    lossy: bool,
    most: int | None = None,
    tick: Callable[[], None] = lambda: None,
) -> tuple[int, ...] | None:
    """Return a shortest cycle from `start` that is fair by itself.

    Weak fairness: every transition that `start` enables is taken, or disabled in some state of the
    cycle. Strong fairness: every transition that a state of the cycle enables is taken.

    Args:
        rows: the edges of the whole graph.
        component: the states that the cycle may visit.
        start: a state of the component.
        lossy: as for `fair_components`.
        most: the greatest useful length, or None.
        tick: called now and then; it may raise.

    Returns:
        The numbers of its transitions.
    """
    weak, strong = owed_labels(rows, lossy=lossy)

    def on(at: _At, label: int, after: int) -> _At:
        """Return the position after one more transition."""
        offered = frozenset(other for other, _ in rows.of(after))
        taken = at[2] | strong & {label}
        stays = at[1] & weak & offered - {label}
        return after, stays | ((at[1] | offered) & strong) - taken, taken

    first: _At = (start, (weak | strong).intersection(t for t, _ in rows.of(start)), frozenset())
    came: dict[_At, tuple[_At, int] | None] = {first: None}
    waiting = deque([(first, 0)])
    while waiting:
        if len(came) % OFTEN == 1:
            tick()
        at, length = waiting.popleft()
        if most is not None and length >= most:
            return None
        for label, after in rows.of(at[0]):
            if after not in component:
                continue
            then = on(at, label, after)
            if after == start and not then[1]:
                return (*_back(came, at), label)
            if then in came:
                continue
            came[then] = (at, label)
            waiting.append((then, length + 1))
    return None


def _back(came: dict[_At, tuple[_At, int] | None], at: _At) -> tuple[int, ...]:
    path = []
    while (step := came[at]) is not None:
        at, label = step
        path.append(label)
    return tuple(reversed(path))


def ending_of(system: System, graph: Explored, start: int, *, lossy: bool) -> str:
    """Return the fate of the message that is undelivered in `start`: one of ENDINGS.

    The states after the application stops are searched again, because the graph may be incomplete.
    """
    over, after = graph.over(), bytearray(len(graph.over()))
    graph.passes.reach(graph.rows.first, graph.rows.target, start, after)
    reached = any(map(and_, over, after))
    if not reached and all(map(graph.all_edges, compress(range(len(after)), after))):
        return "stuck"
    quiet = _without_application(system, state_after(system, graph.path_to(start)))
    if quiet is None:
        return "undecided"
    undelivered = bytearray(not ended for ended in quiet.over())
    rests = any(True for _ in at_rest(quiet.rows, undelivered))
    if not rests and not fair_components(quiet.rows, undelivered, lossy=lossy):
        return "starved"
    if any(quiet.over()):
        return "avoided"
    return "waiting" if reached else "undecided"


def _without_application(system: System, state: State) -> StateGraph | None:
    """Return the graph of states reachable without causal-sends; None if it is too large."""
    workload = evolve(system.workload, choices=lambda _actor, _position: ())
    stopped, graph = evolve(system, workload=workload), StateGraph([state])
    for here in graph.states:  # the list grows during the loop
        if len(graph.states) > MOST_QUIET:
            return None
        transitions = () if is_over(here.history) else enabled(stopped, here)
        for _ in graph.expand(stopped, transitions):
            pass
    return graph
