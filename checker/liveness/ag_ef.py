"""Ways back from every reachable state (AG EF), such as to deliver all messages.

The graph of all states is searched backwards from the states that are as wanted. A state that is
not met has no way back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antecede.checker.liveness.backwards import spread
from antecede.checker.model import Property, Transition
from antecede.checker.search.graph import StateGraph
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
        first: the edges of all states, as of `checker.search.graph.Rows`.
        target: the ends of these edges.
        good: per state, whether it is marked; afterwards, whether a marked one can be reached.
        tick: called before each pass over the states.
        one_pass: `spread`, or the same compiled.

    It costs as much as `spread`, times how often a way to a marked state turns from higher numbers
    to lower ones or back.
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
    """Return a shortest path to a state that cannot reach one as `prop` wants, or None.

    Args:
        system: whose states they are.
        graph: complete, in plain Python.
        prop: says what is wanted.
        tick: called now and then; it may raise.
    """
    good = bytearray(as_wanted(system, prop, state) for state in graph.states)
    found = first_lost(graph.rows.first, graph.rows.target, good, tick)
    return None if found is None else graph.path_to(found)
