"""Recoverability of every reachable state (AG EF), such as the delivery of all messages.

The state graph is searched backwards from the states that satisfy the property. A state that this
search does not reach cannot recover.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antecede.checker.liveness.backwards import spread
from antecede.checker.model import Property, Transition
from antecede.checker.search.graph import StateGraph
from antecede.checker.semantics.crashes import is_crash
from antecede.checker.semantics.judge import as_wanted
from antecede.checker.semantics.transition import System


def first_lost(
    first: Any,
    target: Any,
    good: bytearray,
    tick: Callable[[], None] = lambda: None,
    one_pass: Callable[[Any, Any, Any, bool], int] = spread,
) -> int | None:
    """Return the first state that cannot reach a marked one, or None.

    Args:
        first: the index of each state's first edge, as in `checker.search.graph.Rows`.
        target: the ends of the edges.
        good: per state, whether it is marked; afterwards, whether it can reach a marked state.
        tick: called before each pass over the states.
        one_pass: `spread`, or its compiled version.

    The number of calls of `spread` grows with the number of times that a shortest path to a marked
    state turns from higher to lower state numbers or back.
    """
    left, upwards, fruitless = good.count(0), False, 0
    while left and fruitless < 2:
        tick()
        marked = one_pass(first, target, good, upwards)
        left -= marked
        fruitless = 0 if marked else fruitless + 1
        upwards = not upwards
    return good.find(0) if left else None


def lost(
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
