"""Backward reachability on compressed rows.

This module may use only Python that Numba supports, because `checker.engine.threads.graphs_kernels`
compiles it. The plain function is also used.
"""

from __future__ import annotations

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
