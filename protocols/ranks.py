"""Counters that are only compared: written as their ranks among those in use.

Whoever compares counters with each other, and makes a new one greater than all others, does the
same if each is replaced by its rank. So a global state can be written without the past, and runs
without end may have finitely many states (`Protocol.normal`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

Rank: TypeAlias = Callable[[int], int]


def ranked(values: Iterable[int]) -> Rank:
    """Return what gives each of `values` its rank, from 0."""
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return ranks.__getitem__
