"""Partitions whose levels are sums of weights of transitions; see `checker.local.weighed`.

A partition holds its states of all levels that are open. Nothing else is kept, so what is merged at
the end of a job is what is open now with what was sent.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from antecede.checker.spark.rows import Marks
from antecede.checker.tables.kernels import LEAD_BITS
from antecede.checker.tables.tabulate import Words

DEPTH_MASK = (1 << LEAD_BITS) - 1


def depths_of(marks: Marks) -> Words:
    """Return the depths in some marks."""
    return (marks & DEPTH_MASK).astype(np.int64)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return marks when the next level that has states, `least` ahead, is the current one."""
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> Any:
    """Return which states are of the current level."""
    return marks < 0


def counted(marks: Marks) -> Counter[int]:
    """Return how many states have each mark."""
    found, counts = np.unique(marks, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def next_level(waiting: Counter[int]) -> tuple[int, Words]:
    """Return the lead of the next level that has states, and how many of them have each depth.

    Args:
        waiting: how many states have each mark; none is of the current level.
    """
    least = min(waiting) >> LEAD_BITS
    depths = np.zeros(DEPTH_MASK + 1, np.int64)
    for mark, states in waiting.items():
        if mark >> LEAD_BITS == least:
            depths[mark & DEPTH_MASK] += states
    return least, np.trim_zeros(depths, "b")
