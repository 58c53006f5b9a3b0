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
from collections.abc import Callable, Iterator

from attrs import evolve, frozen

from antecede.checker.model import CausalSend, State, Transition
from antecede.checker.search.graph import Rows, StateGraph, components
from antecede.checker.semantics.judge import obliged, refused
from antecede.checker.semantics.marked import follows, is_over
from antecede.checker.semantics.transition import System, enabled, successor

Tick = Callable[[int], None]

MOST_STARTS = 500
"""States of a component from which a shortest fair cycle is looked for, nearest first."""

MOST_QUIET = 20_000
"""States in which the application has stopped that are looked at."""


ENDINGS = {
    "stuck": "nothing that may still happen delivers it",
    "starved": "as soon as the application stops, it is delivered",
    "waiting": "it is not delivered either when the application stops, only when it sends again",
    "undecided": "whether it is delivered when the application stops, or sends again, is not known",
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


def lasso(system: System, graph: StateGraph, tick: Tick = lambda _states: None) -> Lasso | None:
    """Return the lasso with the shortest cycle found that starves the marked message, or None.

    None says that the states of the graph have no such lasso. That no run starves the message
    follows only if the graph is complete.

    Args:
        system: its history is `marked`.
        graph: its states, all or the first ones; those in which the message is delivered have no
            edges, for nothing can starve it any more.
        tick: called with the number of states, before a shortest cycle is looked for.
    """
    rows, inside = graph.rows, set(followed(graph))
    dead = next((k for k in sorted(inside) if graph.all_edges(k) and not any(rows.of(k))), None)
    if dead is not None:
        return Lasso(graph.path_to(dead), (), "stuck")
    strong = system.network.lose is not None
    best: tuple[int, tuple[int, ...]] | None = None
    for component in fair_components(rows, inside, strong=strong):
        for start in sorted(component)[:MOST_STARTS]:
            tick(len(graph.states))
            most = len(best[1]) - 1 if best else None
            cycle = shortest_fair_cycle(rows, component, start, strong=strong, most=most)
            if cycle is not None:
                best = start, cycle
    if best is None:
        return None
    start, labels = best
    cycle_found = tuple(rows.transitions[label] for label in labels)
    return Lasso(graph.path_to(start), cycle_found, ending_of(system, graph, start, strong=strong))


def followed(graph: StateGraph) -> Iterator[int]:
    """Yield the states in which the marked message was causal-sent and is undelivered."""
    return (k for k, state in enumerate(graph.states) if follows(state.history))


def fair_components(
    rows: Rows, inside: set[int], *, strong: bool, sends: bool = True
) -> Iterator[set[int]]:
    """Yield the components in which a fair run may stay for ever.

    Args:
        rows: the edges of the whole graph.
        inside: the states that the run may visit.
        strong: whether fairness is strong, not weak.
        sends: whether a causal-send must lie on a cycle; otherwise any cycle will do.
    """
    owed, sending = obliged_labels(rows), causal_sends(rows)
    waiting = components(rows, inside)
    while waiting:
        component = waiting.pop()
        inner = {label for k in component for label, after in rows.of(k) if after in component}
        if not inner or (sends and not inner & sending):
            continue
        offered = {k: owed.intersection(label for label, _ in rows.of(k)) for k in component}
        unfair = refused(list(offered.values()), inner, strong=strong)
        if not unfair:
            yield component
        elif strong:
            rest = {k for k in component if not offered[k] & unfair}
            waiting.extend(components(rows, rest))


def obliged_labels(rows: Rows) -> frozenset[int]:
    """Return the transitions that fairness speaks of, by number."""
    return rows.which(lambda transition: bool(obliged([transition])))


def causal_sends(rows: Rows) -> frozenset[int]:
    """Return the causal-sends, by number."""
    return rows.which(lambda transition: isinstance(transition, CausalSend))


_At = tuple[int, frozenset[int], frozenset[int], bool]
"""A state on the way, what the cycle still owes, what it took, whether it causal-sent."""


def shortest_fair_cycle(
    rows: Rows, component: set[int], start: int, *, strong: bool, most: int | None = None
) -> tuple[int, ...] | None:
    """Return a shortest cycle from `start` that causal-sends and is fair by itself.

    Weak: what `start` enables is taken, or disabled in some state of the cycle; other steps are not
    enabled all along. Strong: whatever a state of the cycle enables is taken.

    Args:
        rows: the edges of the whole graph.
        component: the states that it may visit.
        start: one of them.
        strong: whether fairness is strong, not weak.
        most: the greatest length that is of use, or None if every length is.

    Returns:
        The numbers of its transitions.
    """
    owed, sending = obliged_labels(rows), causal_sends(rows)

    def on(at: _At, label: int, after: int) -> _At:
        """Return where a cycle stands after one more transition."""
        offered = owed.intersection(other for other, _ in rows.of(after))
        taken = at[2]
        if strong:
            taken |= owed & {label}
            owing = (at[1] | offered) - taken
        else:
            owing = (at[1] - {label}) & offered
        return after, owing, taken, at[3] or label in sending

    first: _At = (start, owed.intersection(t for t, _ in rows.of(start)), frozenset(), False)
    came: dict[_At, tuple[_At, int] | None] = {first: None}
    waiting = deque([(first, 0)])
    while waiting:
        at, length = waiting.popleft()
        if most is not None and length >= most:
            return None
        for label, after in rows.of(at[0]):
            if after not in component:
                continue
            then = on(at, label, after)
            if then in came:
                continue
            came[then] = (at, label)
            if after == start and not then[1] and then[3]:
                return _back(came, then)
            waiting.append((then, length + 1))
    return None


def _back(came: dict[_At, tuple[_At, int] | None], at: _At) -> tuple[int, ...]:
    path = []
    while (step := came[at]) is not None:
        at, label = step
        path.append(label)
    return tuple(reversed(path))


def ending_of(system: System, graph: StateGraph, start: int, *, strong: bool) -> str:
    """Return which of ENDINGS the message comes to that is undelivered in `start`.

    What happens once the application stops is looked for anew, for the graph may be a part.
    """
    after = _reachable(graph.rows, start)
    reached = any(is_over(graph.states[k].history) for k in after)
    if not reached and all(map(graph.all_edges, after)):
        return "stuck"
    quiet = _without_application(system, graph.states[start])
    if quiet is None:
        return "undecided"
    undelivered = {k for k, state in enumerate(quiet.states) if not is_over(state.history)}
    rests = any(not any(quiet.rows.of(k)) for k in undelivered)
    if rests or any(fair_components(quiet.rows, undelivered, strong=strong, sends=False)):
        return "waiting" if reached else "undecided"
    return "starved"


def _without_application(system: System, state: State) -> StateGraph | None:
    """Return what can happen from a state when nobody causal-sends any more; None: too much."""
    workload = evolve(system.workload, choices=lambda _actor, _position: ())
    stopped, graph = evolve(system, workload=workload), StateGraph([state])
    for here in graph.states:  # grows meanwhile
        if len(graph.states) > MOST_QUIET:
            return None
        if not is_over(here.history):
            for transition in enabled(stopped, here):
                graph.add(transition, successor(stopped, here, transition).state)
        graph.rows.end()
    return graph


def _reachable(rows: Rows, start: int) -> set[int]:
    """Return the states that can be reached from `start`, itself included."""
    seen, waiting = {start}, deque([start])
    while waiting:
        for _, after in rows.of(waiting.popleft()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen
