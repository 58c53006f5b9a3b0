"""Weighted levels in partitions: levels are sums of weights, see `tabulated.tabulated_search`.

A partition has its states of all open levels and nothing else, and a *mark* for each (int32): its
depth in the lowest 16 bits, and above them its lead (see `checker.engine.spark`). The end of a job
merges them with the rows that were sent.
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
    """Return the depth of each state from its mark."""
    return (marks & DEPTH_MASK).astype(np.int64)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return the marks after the search has moved on to the level with the lead `least`."""
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> Any:
    """Return, per mark, whether its state is in the current level."""
    return marks < 0


def counted(marks: Marks) -> Counter[int]:
    """Return how many states have each mark."""
    found, counts = np.unique(marks, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def next_level(waiting: Counter[int]) -> tuple[int, dict[int, int]]:
    """Return the least lead of the waiting states, and depth -> the number of states with it.

    Examples:
        >>> next_level(Counter({1 << 16 | 7: 20, 1 << 16 | 8: 5, 3 << 16 | 8: 9}))
        (1, {7: 20, 8: 5})
    """
    least = min(waiting) >> LEAD_BITS
    level = {m: states for m, states in waiting.items() if m >> LEAD_BITS == least}
    return least, {mark & DEPTH_MASK: states for mark, states in level.items()}
