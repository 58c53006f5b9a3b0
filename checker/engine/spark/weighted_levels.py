"""Weighted levels in partitions: levels are sums of weights, see `tabulated.tabulated_search`.

A partition has its states of all open levels and nothing else, and a *mark* for each: its depth and
its lead (see `g.LEAD_BITS`). The end of a job merges them with the rows that were sent.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from antecede.checker.engine.rows.geometry import LEAD_BITS
from antecede.checker.engine.spark.rows import Marks
from antecede.checker.engine.storage.arrays import Words

DEPTH_MASK = (1 << LEAD_BITS) - 1


def depths_of(marks: Marks) -> Words:
    """Return the depth of each state, int64, from its mark.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, 0 in the next level, 1 in the level after it, and so on.

    Examples:
        >>> depths_of(np.array([2 << 16 | 7], np.int32)).tolist()
        [7]
    """
    return (marks & DEPTH_MASK).astype(np.int64)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return the marks of states after the search has moved on to the next level that has states.

    A mark is a number with a state's depth in the lowest 16 bits, and above them its lead: -1 in
    the current level, 0 in the next level, 1 in the level after it, and so on.

    Args:
        marks: int32; per state, its mark before the move.
        least: the lead of the new level before the move, as `next_level` returns it. All leads
            become smaller by `least` + 1, so this one becomes -1.

    Examples:
        >>> marks = brought_nearer(np.array([1 << 16 | 7, 3 << 16 | 8], np.int32), least=1)
        >>> (marks >> 16).tolist(), (marks & 0xFFFF).tolist()  # leads and depths
        ([-1, 1], [7, 8])
    """
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> Any:
    """Return, per mark, whether its state is in the current level, as an array of bool.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, 0 in the next level, 1 in the level after it, and so on.

    Examples:
        >>> current(np.array([2 << 16 | 7, -1 << 16 | 4], np.int32)).tolist()
        [False, True]
    """
    return marks < 0


def counted(marks: Marks) -> Counter[int]:
    """Return how many states have each mark.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, 0 in the next level, 1 in the level after it, and so on.

    Returns:
        Mark -> number of states.

    Examples:
        >>> counted(np.array([7, 7, 8], np.int32))
        Counter({7: 2, 8: 1})
    """
    found, counts = np.unique(marks, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def next_level(waiting: Counter[int]) -> tuple[int, dict[int, int]]:
    """Return how far ahead the next level with states is, and how many states have each depth.

    Levels follow one another; some can be empty. The *lead* of a state is 0 if it belongs to the
    level after the current one, 1 if to the level after that, and so on. A state's depth is its
    distance from the initial state. A *mark* is both in one number: lead << 16 | depth.

    Args:
        waiting: mark -> the number of states with it; not empty, and none is of the current level.

    Returns:
        The least lead of all marks, and depth -> the number of states with this lead.

    Examples:
        >>> next_level(Counter({1 << 16 | 7: 20, 1 << 16 | 8: 5, 3 << 16 | 8: 9}))
        (1, {7: 20, 8: 5})
    """
    least = min(waiting) >> LEAD_BITS
    level = {m: states for m, states in waiting.items() if m >> LEAD_BITS == least}
    return least, {mark & DEPTH_MASK: states for mark, states in level.items()}
