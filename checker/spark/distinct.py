"""Flat rows that come in several parts, without duplicates.

With each row comes a *note*, a word: a link to its parent, or its mark. Of equal rows one is kept,
with the least note, so that it does not matter which comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define

from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arenas, reserve_bytes
from antecede.checker.tables.tabulate import Words
from antecede.checker.tables.visited import HIGHEST_LOAD, SMALLEST, Visited

NOTHING = np.empty(0, np.int64)

IN_A_BUCKET = 1 << 14
"""Rows of a bucket: few enough that they and their set stay in caches."""

Part = tuple[Words, Any]
"""Flat rows, and a note for each, or one for all of them."""


class Scratch:
    """Memory of one process that is used again and again, for fresh pages are dear.

    It costs as much as the largest use so far.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Words] = {}

    def room(self, name: str, size: int, dtype: Any = np.int64, kept: int = 0) -> Any:
        """Return `size` elements of the array of this name; the first `kept` have their values."""
        have = self._arrays.get(name)
        if have is None or len(have) < size:
            larger = np.empty(max(size, 2 * kept), dtype)
            if have is not None and kept:
                larger[:kept] = have[:kept]
            self._arrays[name] = have = larger
        return have[:size]


def known(rows: Words) -> Part:
    """Return rows as a part that `distinct` drops."""
    return rows, np.array([kernels.HELD], np.int64)


def distinct(parts: Sequence[Part], words: int, scratch: Scratch, shift: int = -1) -> Part:
    """Return the rows of some parts without duplicates and without known ones, and their notes.

    What is returned lies in `scratch` until the next call. The order depends only on the
    order of the parts. The cost is three passes over the rows, one of them within the caches.

    Args:
        parts: their notes may be of any type.
        words: of a row.
        scratch: takes all rows once more.
        shift: rows with little in their first words come first, where this many bits on the right
            do not count; -1: rows come in any order.
    """
    count = sum(len(rows) for rows, _ in parts) // words
    keys = np.zeros(1 << kernels.KEY_BITS, np.int64)
    if shift >= 0:
        firsts = (int(rows[::words].max()) >> shift for rows, _ in parts if len(rows))
        keys = np.zeros(max(firsts, default=0) + 1, np.int64)
    for rows, _ in parts:
        kernels.count_keys(rows, words, shift, keys)
    buckets = ((np.cumsum(keys) - keys) // IN_A_BUCKET).astype(np.int32)
    counts = np.bincount(buckets, keys).astype(np.int64)
    ends = np.cumsum(counts)
    places = ends - counts
    all_rows, all_notes = scratch.room("rows", count * words), scratch.room("notes", count)
    for rows, notes in parts:
        if len(rows):
            wide = np.asarray(notes, np.int64)
            kernels.scatter(rows, wide, words, shift, buckets, places, all_rows, all_notes)
    most = max(16, 1 << (3 * int(counts.max()) // 2).bit_length())
    slots = scratch.room("slots", most, np.int32)
    kept = kernels.keep_least(all_rows, all_notes, words, ends, slots)
    return all_rows[: kept * words], all_notes[:kept]


@define(eq=False)
class Gathered:
    """Rows for one owner, as they come, with duplicates: only the owner drops these.

    Attributes:
        name: of the owner, for `scratch`.
        note: the type of notes.
        words: of a row.
        scratch: holds the rows, and nothing else of this name.
        count: how many rows there are.
    """

    name: str
    note: Any
    words: int
    scratch: Scratch
    count: int = 0

    def add(self, rows: Words, notes: Words) -> None:
        """Take in some rows, which are copied."""
        count, self.count = self.count, self.count + len(notes)
        all_rows, all_notes = self._room(count, self.count)
        all_rows[count * self.words :], all_notes[count:] = rows, notes

    def taken(self) -> tuple[Words, Words]:
        """Give the rows and their notes away; they lie in `scratch` until the next `add`."""
        count, self.count = self.count, 0
        return self._room(count, count)

    def _room(self, kept: int, count: int) -> tuple[Words, Words]:
        words, room = self.words, self.scratch.room
        rows = room(f"rows of {self.name}", count * words, kept=kept * words)
        return rows, room(f"{self.note} notes of {self.name}", count, self.note, kept)


def unseen(
    parts: Sequence[Part], words: int, held: Iterable[Words], scratch: Scratch, shift: int = -1
) -> tuple[Words, Words]:
    """Return the flat rows of a few that are not among many, without duplicates, and their notes.

    Only the few are put into a set; the many are looked up in it.
    """
    flat, notes = distinct(parts, words, scratch, shift)
    arena = Arenas(None, (), reserve_bytes(1)).make(np.int64, "rows")
    few = Visited(words, arena, capacity=max(SMALLEST, int(len(notes) / HIGHEST_LOAD) + 1))
    few.add(flat)
    marks = np.zeros(few.slot_count, np.int8)
    figures = few.figures()
    for rows in held:
        kernels.mark(rows, words, few.slots, figures, marks)
    met = np.zeros(len(notes), np.int8)
    kernels.marked(flat, words, few.slots, figures, marks, met)
    few.close()
    return flat.reshape(-1, words)[met == 0].ravel(), notes[met == 0]
