"""Flat rows that come in several parts, without duplicates.

With each row comes a *note*, a word: a link to its parent, or its mark. Of equal rows one is kept,
with the least note, so that it does not matter which comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.spark import distinct_kernels
from antecede.checker.engine.storage.arena import Arena, reserve_bytes
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.visited.visited import Visited, capacity_for

NOTHING = np.empty(0, np.int64)

IN_A_BUCKET = 1 << 14
"""Rows of a bucket: few enough that they and their set stay in caches."""

ARRAYS = 16
"""The most arrays of a `Scratch`."""


@frozen(eq=False)
class Part:
    """Some rows with their notes, for example all rows that one partition sent to another.

    Attributes:
        rows: flat rows, or rows of numbers.
        notes: a note per row, of any type, or one note for all of them.
        place_bits: the bits of the transition's place in a note; in the result it has PLACE_BITS.
        base: a number that is added to each note.
    """

    rows: Words
    notes: Any
    place_bits: int = g.PLACE_BITS
    base: int = 0


class Scratch:
    """Named arrays of one process that are used again and again, because new memory is expensive.

    They take as much memory as the largest use so far.
    """

    def __init__(self) -> None:
        self._arenas: dict[str, Arena] = {}

    def room(self, name: str, size: int, dtype: Any = np.int64) -> Any:
        """Return the first `size` elements of the array of this name, with their last values."""
        arena = self._arenas.get(name)
        if arena is None:
            arena = Arena(dtype, reserve_bytes(ARRAYS), "rows of a task")
            self._arenas[name] = arena
        arena.ensure(size)
        return arena.array[:size]

    def joined(self, name: str, first: Words, more: Words) -> Words:
        """Return two arrays one after the other, in the array of this name."""
        count = len(first)
        whole: Words = self.room(name, count + len(more))
        if first.ctypes.data != whole.ctypes.data:
            whole[:count] = first
        whole[count:] = more
        return whole


def known(rows: Words) -> Part:
    """Return a `Part` of rows that are known, so that `distinct` drops all copies of them.

    One note stands for all rows; it is less than any other note.
    """
    return Part(rows, np.array([distinct_kernels.HELD], np.int64))


def distinct(
    parts: Sequence[Part], words: int, scratch: Scratch, shift: int = -1
) -> tuple[Words, Words]:
    """Return the rows of several parts without duplicates, each with the least note of its copies.

    The cost is three passes over the rows, one of them within the caches. The order of the result
    depends only on the parts and their order. Use `unseen` if many rows are known.

    Args:
        scratch: the result lies in this working memory, until its next use.
        shift: -1 if the rows come in any order. If they are roughly sorted by the number that their
            first word begins with, the lowest bit of this number, which makes it faster.

    Returns:
        The rows, flat; and an int64 note per row, with its part's `base` and 16 bits for the place.

    Examples:
        Two parts have the row 5, with the notes 9 and 2:

        >>> one = Part(np.array([5, 6]), np.array([9, 1]))
        >>> other = Part(np.array([5]), np.array([2]))
        >>> rows, notes = distinct([one, other], words=1, scratch=Scratch())
        >>> sorted(zip(rows.tolist(), notes.tolist()))
        [(5, 2), (6, 1)]
    """
    count = sum(len(part.rows) for part in parts) // words
    if not count:
        return NOTHING, NOTHING
    keys = _keys([part.rows for part in parts], words, shift)
    buckets, counts = np.zeros(len(keys), np.int32), np.array([count])
    if count > IN_A_BUCKET:
        buckets = ((np.cumsum(keys) - keys) // IN_A_BUCKET).astype(np.int32)
        counts = np.bincount(buckets, keys).astype(np.int64)
    ends = np.cumsum(counts)
    places = ends - counts
    all_rows, all_notes = scratch.room("rows", count * words), scratch.room("notes", count)
    target = distinct_kernels.Buckets(buckets, places, all_rows, all_notes)
    for part in parts:
        if len(part.rows):
            notes = scratch.room("notes of a part", len(part.notes))
            notes[:] = part.notes
            distinct_kernels.scatter(
                part.rows, notes, part.place_bits, part.base, words, shift, target
            )
    most = max(16, 1 << (3 * int(counts.max()) // 2).bit_length())
    slots = scratch.room("slots", most, np.int32)
    kept = distinct_kernels.keep_least(all_rows, all_notes, words, ends, slots)
    return all_rows[: kept * words], all_notes[:kept]


def _keys(some: Sequence[Words], words: int, shift: int) -> Words:
    """Return how many rows have each key; see `distinct_kernels.key_in`."""
    keys = np.zeros(1 << distinct_kernels.KEY_BITS, np.int64)
    if shift >= 0:
        firsts = (int(rows[::words].max()) >> shift for rows in some if len(rows))
        keys = np.zeros(max(firsts, default=0) + 1, np.int64)
    for rows in some:
        distinct_kernels.count_keys(rows, words, shift, keys)
    return keys


def unseen(
    parts: Sequence[Part], words: int, held: Iterable[Words], scratch: Scratch, shift: int = -1
) -> tuple[Words, Words]:
    """Return what `distinct` does, without the rows that are held already, in new arrays.

    Only the rows of the parts are put into a set. The held rows are looked up there.
    """
    flat, notes = distinct(parts, words, scratch, shift)
    if not len(notes):
        return NOTHING, NOTHING
    keys = _keys([flat], words, shift)
    arena = Arena(np.int64, reserve_bytes(ARRAYS), "rows")
    few = Visited(words, arena, capacity=capacity_for(len(notes)))
    few.add(flat)
    marks = np.zeros(few.slot_count, np.int8)
    figures = few.figures()
    for rows in held:
        distinct_kernels.mark(rows, words, shift, keys, few.slots, figures, marks)
    met = np.zeros(len(notes), np.int8)
    distinct_kernels.marked(flat, words, few.slots, figures, marks, met)
    few.close()
    return flat.reshape(-1, words)[met == 0].ravel(), notes[met == 0]
