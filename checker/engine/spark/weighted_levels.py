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
    """Return the depths in some marks.

    A mark has a row's depth in its lowest LEAD_BITS bits.
    """
    return (marks & DEPTH_MASK).astype(np.int64)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return marks after the next level that has states has become the current one.

    Args:
        least: the lead of this level before; all leads become smaller by `least` + 1.
    """
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> Any:
    """Return, per mark, whether its state is in the current level: its lead is -1 then."""
    return marks < 0


def counted(marks: Marks) -> Counter[int]:
    """Return how many states have each mark."""
    found, counts = np.unique(marks, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def next_level(waiting: Counter[int]) -> tuple[int, dict[int, int]]:
    """Return the lead of the next level that has states, and how many of them have each depth.

    Args:
        waiting: how many states have each mark; none is of the current level.
    """
    least = min(waiting) >> LEAD_BITS
    level = {m: states for m, states in waiting.items() if m >> LEAD_BITS == least}
    return least, {mark & DEPTH_MASK: states for mark, states in level.items()}
