"""Backwards reachability on compressed rows, in plain Python and, the same function, compiled.

Nothing here may use more of Python than Numba knows: `checker.tables.kernels.graphs` compiles it.
"""

from __future__ import annotations

from typing import Any


def spread(first: Any, target: Any, good: Any, upwards: bool) -> int:
    """Mark every state with an edge to a marked one, in one pass over the states.

    What is marked counts at once. So one pass from the last state to the first marks everything
    where all edges lead to states with higher numbers, as in a graph without cycles whose states
    are numbered by depth; only what leads back needs further passes.

    Args:
        first: where the edges of each state begin, and where the last ones end.
        target: per edge, the state that it leads to.
        good: per state, whether it is marked; updated.
        upwards: from the first state to the last, or the other way.

    Returns:
        How many states were marked now.
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
