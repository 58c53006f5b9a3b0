"""The exact visited set: open addressing over packed rows, growing in place.

A slot's home grows with its hash, so the set can spread over more slots without a second copy (see
`sets_kernels.grow`). Linear probing needs no pointers. In a large set, a state costs 1/0.85 of its
row at the highest load, and 1/0.68 of its row after growing. Smaller sets take more memory and less
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from attrs import define

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import PIECE, numbers, whole
from antecede.checker.engine.visited import sets_kernels
from antecede.checker.support.errors import CapacityError

Depths = np.ndarray[Any, np.dtype[np.uint16]]
NO_DEPTHS: Depths = np.empty(0, np.uint16)

STAGES = ((1 << 20, 4.0, 0.8), (1 << 25, 1.6, 0.8), (1 << 62, 1.25, 0.85))
"""Per stage of a set: the capacity below which it applies, the factor by which the set grows, and
the load at which it does.
"""
TAIL = 1 << 14
SMALLEST = 1 << 14


def capacity_for(states: int) -> int:
    """Return the number of slots with which a set has room for some states without growing."""
    return max(int(states / min(load for _below, _factor, load in STAGES)) + 1, SMALLEST)


@define(eq=False)
class Visited:
    """An exact set of rows that grows in place: the visited states that one thread owns.

    Attributes:
        width: words per slot, equal to the words of a row.
        arena: an empty arena for the slots.
        states: the number of states in the set now.
        dropped: the number of states that `forget` removed.
        depths: an empty arena for the least depth of each state, or None.
        capacity: the number of home slots; TAIL more slots follow.
    """

    width: int
    arena: Arena
    states: int = 0
    dropped: int = 0
    capacity: int = SMALLEST
    depths: Arena | None = None

    def __attrs_post_init__(self) -> None:
        """Start small and empty."""
        self._empty()

    def _empty(self) -> None:
        """Let all slots be empty."""
        self._ensure(self.capacity)
        self.slots[: self.slot_count * self.width] = -1

    def _ensure(self, capacity: int) -> None:
        self.arena.ensure((capacity + TAIL) * self.width)
        if self.depths is not None:
            self.depths.ensure(capacity + TAIL)

    @property
    def slot_depths(self) -> Depths:
        """The depths of all slots; empty if depths are not recorded."""
        return NO_DEPTHS if self.depths is None else self.depths.array

    @property
    def slots(self) -> Words:
        """All slots, one after the other; a slot has a row, or -1 if it is empty."""
        return self.arena.array

    @property
    def limit(self) -> int:
        """The greatest number of states that the set can hold without growing."""
        return int(self.capacity * self._growth[1])

    @property
    def _growth(self) -> tuple[float, float]:
        """The factor of the next growth, and the greatest load (states per slot) before it."""
        return next((factor, load) for below, factor, load in STAGES if self.capacity < below)

    @property
    def slot_count(self) -> int:
        """The number of slots, including empty slots."""
        return self.capacity + TAIL

    @property
    def bytes(self) -> int:
        """Bytes of all slots, with their depths if there are any."""
        kept = 0 if self.depths is None else 2
        return self.slot_count * (self.width * 8 + kept)

    def grow(self) -> None:
        """Spread the states over more slots; CapacityError: the arena is full."""
        factor, _load = self._growth
        old = self.capacity
        new = int(old * factor)
        self._ensure(new)
        if not sets_kernels.grow(self.slots, self.slot_depths, TAIL, self.width, old, new):
            raise CapacityError("the visited set's hashes are too unevenly spread")
        self.capacity = new

    def insert(self, sent: Any, sizes: Words, tables: g.Tables) -> None:
        """Insert rows that threads sent, and mark the new ones; see `sets_kernels.insert`."""
        start = np.zeros(2, np.int64)
        self.until_done(
            lambda f: (
                sets_kernels.insert(sent, sizes, start, tables, self.slots, self.slot_depths, f)
                == 0
            )
        )

    def add(self, rows: Words, me: int = 0, owners: int = 1, depths: Depths = NO_DEPTHS) -> None:
        """Add the flat rows that belong to owner `me` of `owners`.

        The rows must be distinct, and none of them may be in the set already.
        """
        start = np.zeros(1, np.int64)

        def reinsert(figures: Words) -> bool:
            visited = g.RowSet(self.slots, figures)
            width, kept = self.width, self.slot_depths
            return bool(
                sets_kernels.reinsert(rows, width, me, owners, start, depths, visited, kept) == 0
            )

        self.until_done(reinsert)

    def read_depths(self, rows: Words, me: int, owners: int, depths: Depths) -> None:
        """Write the depths of the rows that this set's owner, `me`, has to `depths`."""
        visited = g.RowSet(self.slots, self.figures())
        sets_kernels.read_depths(rows, self.width, me, owners, visited, self.slot_depths, depths)

    def until_done(self, kernel: Callable[[Words], bool]) -> None:
        """Call a kernel with `figures` until it returns True; grow the set between two calls."""
        done = False
        while not done:
            figures = self.figures()
            done = kernel(figures)
            self.states = int(figures[sets_kernels.STATES])
            if not done:
                self.grow()

    @property
    def unique(self) -> int:
        """The number of states that were ever inserted."""
        return self.states + self.dropped

    def forget(self, expected: int) -> None:
        """Drop all states and make room for `expected` states, but never more room than before."""
        self.dropped, self.states = self.unique, 0
        self.capacity = min(self.capacity, capacity_for(expected))
        self.arena.release(self.slot_count * self.width)
        if self.depths is not None:
            self.depths.release(self.slot_count)
        self._empty()

    def figures(self) -> Words:
        """Return the figures for kernels; see `sets_kernels.CAPACITY`."""
        return np.array([self.capacity, self.states, self.limit, self.slot_count], np.int64)

    def parts(self) -> Iterator[Any]:
        """Yield the occupied slots in parts of shape (n, width)."""
        used = self.slots[: self.slot_count * self.width].reshape(-1, self.width)
        for first in range(0, len(used), 1 << 20):
            part = used[first : first + (1 << 20)]
            yield part[part[:, 0] != -1]

    def record(self) -> dict[str, Any]:
        """Return the set as data of a checkpoint; see `adopt`."""
        return {
            "dropped": self.dropped,
            "slots": self.slots[: self.slot_count * self.width],
            "depths": self.slot_depths[: self.slot_count],
        }

    def adopt(self, record: dict[str, Any], check: Callable[[Words], None]) -> None:
        """Insert the states that another process recorded; `check` raises for any other rows."""
        self.dropped = whole("forgotten states", record["dropped"])
        slots = numbers("visited states", record["slots"], np.int64, least=-1)
        slots = slots.reshape(-1, self.width)
        depths = numbers("their depths", record["depths"], np.uint16)
        if len(depths) != len(slots) * (self.depths is not None):
            raise ValueError("some visited states have no depths")
        self.capacity = max(len(slots) - TAIL, SMALLEST)
        self._empty()
        for start in range(0, len(slots), PIECE):
            part = slots[start : start + PIECE]
            held = part[:, 0] != -1
            rows = part[held]
            check(rows)
            kept = depths[start : start + PIECE][held] if len(depths) else NO_DEPTHS
            self.add(rows.ravel(), depths=kept)

    def close(self) -> None:
        """Free the memory."""
        self.arena.close()
        if self.depths is not None:
            self.depths.close()
