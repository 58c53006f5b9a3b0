"""Backward reachability on compressed rows: which states cannot recover (AG EF)?

A graph of states is searched backwards from the states that satisfy a property. A state that this
search does not reach cannot recover.

`spread` may use only Python that Numba supports, because `checker.engine.threads.graphs_kernels`
compiles it. The plain function is also used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def spread(first: Any, target: Any, good: Any, upwards: bool) -> int:
    """Mark every state with an edge to a marked one, in one pass over the states.

    A new mark counts at once. So one pass from the last state to the first suffices if all edges
    lead to states with higher numbers, as in an acyclic graph whose states are numbered by depth.
    Only edges to lower numbers need further passes.

    Args:
        first: per state, the index of its first edge, then the number of edges.
        target: per edge, its target state.
        good: per state, whether it is marked; updated.
        upwards: whether the pass goes from the first state to the last.

    Returns:
        The number of newly marked states.
    """
    states, marked = len(first) - 1, 0
    for number in range(states):
        state = number if upwards else states - 1 - number
        if good[state]:
            continue
        for edge in range(first[state], first[state + 1]):
            if good[target[edge]]:
                good[state] = 1
                marked += 1
                break
    return marked


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
