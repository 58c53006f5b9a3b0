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
            current level, n if n levels are between the current level and its own.
    """
    return (marks & DEPTH_MASK).astype(np.int64)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return the marks of states after the search has moved on to the next level that has states.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, n if n levels are between the current level and its own.
        least: the lead of the new level before the move; all leads become smaller by `least` + 1,
            so this one becomes -1.
    """
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> Any:
    """Return, per mark, whether its state is in the current level, as an array of bool.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, n if n levels are between the current level and its own.
    """
    return marks < 0


def counted(marks: Marks) -> Counter[int]:
    """Return how many states have each mark, as mark -> number of states.

    Args:
        marks: int32; per state, its depth in the lowest 16 bits, and above them its lead: -1 in the
            current level, n if n levels are between the current level and its own.
    """
    found, counts = np.unique(marks, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def next_level(waiting: Counter[int]) -> tuple[int, dict[int, int]]:
    """Return the lead of the next level that has states, and its states by depth.

    A mark is a number with a state's depth in the lowest 16 bits, and above them its lead: n if n
    levels are between the current level and its own.

    Args:
        waiting: mark -> the number of states with it; not empty, and none is of the current level.

    Returns:
        The least lead of all marks, and depth -> the number of states with this lead.
    """
    least = min(waiting) >> LEAD_BITS
    level = {m: states for m, states in waiting.items() if m >> LEAD_BITS == least}
    return least, {mark & DEPTH_MASK: states for mark, states in level.items()}
