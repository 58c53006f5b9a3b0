"""Ranks for counters that are only compared.

If a protocol only compares counters with each other, and makes each new one greater than all
others, its behaviour stays the same when each counter is replaced by its rank. A global state can
then be written without its past, so that infinite runs may have finitely many states
(`Protocol.normal`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

Rank: TypeAlias = Callable[[int], int]


def ranked(values: Iterable[int]) -> Rank:
    """Return a function that maps each of `values` to its rank, from 0."""
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return ranks.__getitem__
