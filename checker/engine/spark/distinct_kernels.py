"""Removal of duplicate flat rows, bucket by bucket, so that a bucket's set fits the caches.

A *bucket* has all rows whose *keys* are in one range. Equal rows have equal keys, so they meet in
one bucket. The key is the first word >> shift; with a shift of -1, it is the first 16 bits of the
hash of the row.

`count_keys` counts the rows of each key, from which Python makes the buckets; `scatter` copies the
rows with their notes; `keep_least` removes duplicates in each bucket. If many rows are known
already, the others are put into a set (see `sets_kernels`), and `mark` and `marked` find the known
rows there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.hashing_kernels import hash_words
from antecede.checker.engine.visited.sets_kernels import slot_of

HELD = -(1 << 63)
"""The note of rows that are already known; it is less than any other note."""


KEY_BITS = 16


@inlined
def key_in(array, at, row_words, shift):
    """Return the key of the row array[at:]."""
    if shift >= 0:
        return array[at] >> shift
    return np.int64(hash_words(array, at, row_words) >> np.uint64(64 - KEY_BITS))


@kernel
def count_keys(flat, row_words, shift, counts):
    """Add the number of rows with each key to `counts`."""
    flat, counts = borrow(flat), borrow(counts)
    for r in range(flat.shape[0] // row_words):
        counts[key_in(flat, r * row_words, row_words, shift)] += 1


class Buckets(NamedTuple):
    """The arrays into which `scatter` copies rows, bucket after bucket.

    Attributes:
        of_key: int32; per key, the index of its bucket.
        places: int64; per bucket, the index of the next row to write, at first its first row.
        rows: int64, flat; room for the rows of all buckets.
        notes: int64; per row of `rows`, the note that travels with it.
    """

    of_key: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]


@kernel
def scatter(flat, notes, place_bits, base, row_words, shift, buckets):
    """Copy rows with their notes to the buckets of their keys, in their order.

    Call it once for each array of rows.

    Args:
        notes: int64; a note per row, or one for all, such as HELD.
        place_bits: the bits of the transition's place in a note, 8 or 16; 16 in the copy.
        base: a number that is added to each copied note: partition << 48 | index << 16 of the row
            from which a partition counts parents, so that the result is a link; or 0.

    Examples:
        The key of a row is the row >> 3. The rows 2 and 3 have key 0 and the row 9 has key 1.
        Bucket 0, of key 0, begins at row 0, and bucket 1, of key 1, at row 2:

        >>> rows, notes = np.zeros(3, np.int64), np.zeros(3, np.int64)
        >>> buckets = Buckets(np.array([0, 1], np.int32), np.array([0, 2]), rows, notes)
        >>> flat, their_notes = np.array([9, 2, 3]), np.array([4 << 8 | 1, 5 << 8, 6 << 8])
        >>> scatter(flat, their_notes, place_bits=8, base=0, row_words=1, shift=3, buckets=buckets)
        >>> rows.tolist(), notes.tolist() == [5 << 16, 6 << 16, 4 << 16 | 1]
        ([2, 3, 9], True)
    """
    flat, notes, places = borrow(flat), borrow(notes), borrow(buckets.places)
    rows, their_notes = borrow(buckets.rows), borrow(buckets.notes)
    of_key = borrow(buckets.of_key)
    own, mask = notes.shape[0] > 1, (np.int64(1) << place_bits) - 1
    for r in range(flat.shape[0] // row_words):
        at = r * row_words
        bucket = of_key[key_in(flat, at, row_words, shift)]
        place = places[bucket]
        places[bucket] = place + 1
        for k in range(row_words):
            rows[place * row_words + k] = flat[at + k]
        note = notes[r if own else 0]
        their_notes[place] = base + (note >> place_bits << g.PLACE_BITS | note & mask)


@kernel
def keep_least(rows, notes, row_words, ends, slots):
    """Remove duplicate rows, in place, bucket by bucket; return the number of rows kept.

    Of equal rows, one is kept with the least note; none if a note is HELD: the row is known
    already. The rows that are kept move to the front, in their order.

    Args:
        ends: per bucket, the index after its last row.
        slots: int32; working memory for a set: a power of two of elements, at least 16 and at least
            1.5 times the rows of the largest bucket.
    """
    rows, notes, ends, slots = borrow(rows), borrow(notes), borrow(ends), borrow(slots)
    kept, first = np.int64(0), np.int64(0)
    for bucket in range(ends.shape[0]):
        last, base = ends[bucket], kept
        # A set no larger than the bucket needs is cleared faster, and stays in the caches.
        capacity = np.int64(16)
        while 2 * capacity < 3 * (last - first):
            capacity *= 2
        for empty in range(capacity):
            slots[empty] = -1
        for r in range(first, last):
            at = r * row_words
            slot = np.int64(hash_words(rows, at, row_words) & np.uint64(capacity - 1))
            one = np.int64(0)
            while slots[slot] >= 0:
                one = base + slots[slot]
                same = True
                for k in range(row_words):
                    same = same and rows[one * row_words + k] == rows[at + k]
                if same:
                    break
                slot = (slot + 1) & (capacity - 1)
            if slots[slot] >= 0:
                notes[one] = min(notes[one], notes[r])
                continue
            slots[slot] = kept - base
            for k in range(row_words):
                rows[kept * row_words + k] = rows[at + k]
            notes[kept] = notes[r]
            kept += 1
        # A row that is known already has the least note of all, so any copy of it is HELD now.
        new = base
        for old in range(base, kept):
            if notes[old] != HELD:
                for k in range(row_words):
                    rows[new * row_words + k] = rows[old * row_words + k]
                notes[new] = notes[old]
                new += 1
        kept, first = new, last
    return kept


@kernel
def mark(flat, row_words, shift, keys, slots, figures, marks):
    """Mark the rows of a set, by their slots, that are also among the rows in `flat`.

    Args:
        keys: int64; per key, the number of rows of the set that have it, which saves most look-ups.
            A key beyond the end of the array has none.
        slots, figures: the set, as in `sets_kernels`.
        marks: per slot of the set, 1 if it is marked; updated.
    """
    flat, slots, marks, keys = borrow(flat), borrow(slots), borrow(marks), borrow(keys)
    for r in range(flat.shape[0] // row_words):
        key = key_in(flat, r * row_words, row_words, shift)
        if key < keys.shape[0] and keys[key] > 0:
            slot = slot_of(slots, figures, flat, r * row_words, row_words)
            if slot >= 0:
                marks[slot] = 1


@kernel
def marked(flat, row_words, slots, figures, marks, out):
    """Write to `out` whether `mark` has marked each row of `flat`, all of which the set has."""
    flat, slots, marks, out = borrow(flat), borrow(slots), borrow(marks), borrow(out)
    for r in range(out.shape[0]):
        out[r] = marks[slot_of(slots, figures, flat, r * row_words, row_words)]
