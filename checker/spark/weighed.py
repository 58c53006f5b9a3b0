"""Partitions whose levels are sums of weights of transitions; see `checker.local.weighed`.

A partition holds its states of all levels that are open, in the order of their marks: those of the
current level, then those that wait. Nothing else is kept, so what is merged at the end of a job is
what is open now with what was sent.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from antecede.checker.spark.rows import (
    LEAD_BITS,
    NO_MARKS,
    NOTHING,
    Marks,
    inserted,
    new_set,
)
from antecede.checker.tables.tabulate import Words

DEPTH_MASK = (1 << LEAD_BITS) - 1


def depths_of(marks: Marks) -> Marks:
    """Return the depths in some marks."""
    return marks & DEPTH_MASK


def ordered(rows: Any, marks: Marks) -> tuple[Words, Marks]:
    """Return rows, of shape (n, words), flat and in the order of their marks, and these."""
    order = np.argsort(marks, kind="stable")
    return rows[order].ravel(), marks[order].astype(np.int32)


def brought_nearer(marks: Marks, least: int) -> Marks:
    """Return marks when the next level that has states, `least` ahead, is the current one."""
    return marks - np.int32((least + 1) << LEAD_BITS)


def current(marks: Marks) -> int:
    """Return how many states are of the current level; they come first."""
    return int(np.searchsorted(marks, 0))


def merged(parts: list[tuple[Words, Marks]], words: int) -> tuple[Words, Marks]:
    """Return rows that come in several parts without duplicates, each with its least mark.

    Args:
        parts: rows and their marks, each in the order of these.
        words: of a row.
    """
    seen = new_set(words, sum(len(marks) for _, marks in parts))
    rows, marks = [NOTHING], [NO_MARKS]
    for mark in np.unique(np.concatenate([NO_MARKS, *(marks for _, marks in parts)])):
        for some, their_marks in parts:
            start, end = np.searchsorted(their_marks, [mark, mark + np.int32(1)])
            some, ones = inserted(
                seen, some[start * words : end * words], np.empty(end - start, np.int64)
            )
            rows.append(some)
            marks.append(np.full(len(ones), mark, np.int32))
    seen.close()
    return np.concatenate(rows), np.concatenate(marks)


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
