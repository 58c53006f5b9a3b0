"""Removal of duplicate flat rows, bucket by bucket, so that a bucket's set fits the caches.

A *bucket* has all rows whose keys are in one range. Equal rows have equal keys, so they are in one
bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.hashing_kernels import hash_words
from antecede.checker.engine.visited.sets_kernels import slot_of

HELD = -(1 << 63)
"""The note of rows that are already known; it is less than any other note."""


KEY_BITS = 16


@inlined
def key_in(array, at, row_words, shift):
    """Return the key of a row, which says into which bucket the row is put.

    Equal rows have equal keys, so they meet in one bucket.

    Args:
        array, at: the row is array[at:], a state packed into a few words.
        row_words: the number of words of a row.
        shift: the key is the first word of the row, shifted to the right by this number of bits;
            -1: the key is the first 16 bits of the row's hash.

    Examples:
        >>> int(key_in(np.array([9, 13]), at=1, row_words=1, shift=2))  # 13 >> 2
        3
    """
    if shift >= 0:
        return array[at] >> shift
    return np.int64(hash_words(array, at, row_words) >> np.uint64(64 - KEY_BITS))


@kernel
def count_keys(flat, row_words, shift, counts):
    """Count how many flat rows have each key, and add the counts to `counts`.

    A flat row is a state, packed into a few words. Its key says into which bucket it is put, so
    that equal rows meet in one bucket.

    Args:
        flat: int64; the rows, one after the other.
        row_words: the number of words of a row.
        shift: the key is the first word of the row, shifted to the right by this number of bits;
            -1: the key is the first 16 bits of the row's hash.
        counts: int64; per key, a count; updated.

    Examples:
        >>> counts = np.zeros(4, np.int64)
        >>> count_keys(np.array([5, 6, 13]), 1, 2, counts)  # 5 >> 2 and 6 >> 2 are 1, 13 >> 2 is 3
        >>> counts.tolist()
        [0, 2, 0, 1]
    """
    flat, counts = borrow(flat), borrow(counts)
    for r in range(flat.shape[0] // row_words):
        counts[key_in(flat, r * row_words, row_words, shift)] += 1


class Buckets(NamedTuple):
    """The arrays into which `scatter` copies rows, so that equal rows are in one bucket.

    A bucket is a range of row indices in `rows`. Bucket 0 comes first, then bucket 1, and so on.

    Attributes:
        of_key: int32; per key (see `key_in`), the index of its bucket.
        places: int64; per bucket, the index of the next row of `rows` to write. At first, it is the
            first row of the bucket; `scatter` counts it up.
        rows: int64, flat; room for the rows of all buckets. Row r begins at word r * row_words.
        notes: int64; per row of `rows`, the note that travels with it.
    """

    of_key: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]
    rows: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]


@kernel
def scatter(flat, notes, place_bits, base, row_words, shift, buckets):
    """Copy rows with their notes to the buckets of their keys, so that equal rows are together.

    A row is a state, packed into a few words. Its note is a word that travels with it: the number
    of its parent, and in the lowest bits the index of the transition among the parent's
    transitions. (Other notes, such as HELD, are copied unchanged if `place_bits` is 16 and `base`
    is 0.) Call this kernel once for each array of rows. Then `keep_least` removes the duplicates.

    Args:
        flat: int64; the rows, one after the other.
        notes: int64; a note per row. If the array has one element, it is the note of all rows, for
            example HELD.
        place_bits: how many of the lowest bits of a note are the index of the transition: 8 or 16.
            In the copied note they are 16: (note >> place_bits) << 16, with the index in bits 0-15.
        base: a number that is added to each copied note, or 0. In the notes of a partition, the
            number of a parent is its distance from one of the partition's states. Then `base` is
            partition << 48, plus the number of this state << 16; so the copied notes name the
            parents among all partitions.
        row_words: the number of words of a row.
        shift: the key is the first word of the row, shifted to the right by this number of bits;
            -1: the key is the first 16 bits of the row's hash.
        buckets: a `Buckets`. Its arrays `rows` and `notes` get the copies, in the order of `flat`
            within each bucket, and its array `places` is updated.

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
    """Remove duplicate rows, in place, bucket by bucket; of equal rows, keep the least note.

    A row is a state, packed into a few words. Its note is a word that travels with it, such as the
    number of its parent with the index of the transition. `scatter` makes the buckets, in which
    equal rows are together. The rows that are kept move to the front, in their order. The cost is
    one pass over the rows, within the caches.

    Args:
        rows: int64, flat; bucket after bucket; updated.
        notes: int64; per row, its note; updated. If one of several equal rows has the note HELD,
            which says that the row is known already, all of them are removed.
        row_words: the number of words of a row.
        ends: per bucket, the index after its last row.
        slots: int32; working memory for a set: a power of two of elements, at least 16 and at least
            1.5 times the rows of the largest bucket.

    Returns:
        The number of rows kept.

    Examples:
        One bucket with three rows of one word. The row 7 is there twice, with the notes 4 and 3:

        >>> rows, notes = np.array([7, 5, 7]), np.array([4, 2, 3])
        >>> kept = keep_least(rows, notes, 1, ends=np.array([3]), slots=np.zeros(16, np.int32))
        >>> rows[:kept].tolist(), notes[:kept].tolist()
        ([7, 5], [3, 2])
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
    """Mark the rows of a set that are also among some other rows.

    A row is a state, packed into a few words. The set is a hash table; a row is marked by its slot.
    Most of the other rows are not in the set, and a look at the counts of keys (see `count_keys`)
    saves the search for them. `marked` reads the marks.

    Args:
        flat: int64; the other rows, one after the other.
        row_words: the number of words of a row.
        shift: the key is the first word of the row, shifted to the right by this number of bits;
            -1: the key is the first 16 bits of the row's hash.
        keys: int64; per key, the number of rows of the set that have it. A key beyond the end of
            the array has none.
        slots: int64, flat; the set: `row_words` words per slot, -1 in an empty one.
        figures: int64, four numbers, of which only the first is read: the number of home slots. A
            row is in its home slot, which its hash gives, or in a slot after it.
        marks: per slot of the set, 1 if it is marked; updated.

    Examples:
        A set of four slots, one of them a home slot, with the row 5 in slot 0. Its key is 5 >> 2,
        so `keys` has a 1 for key 1. The row 6 has the same key, but is not in the set:

        >>> slots, figures = np.array([5, -1, -1, -1]), np.array([1, 1, 3, 4])
        >>> marks, keys = np.zeros(4, np.int64), np.array([0, 1])
        >>> mark(np.array([6, 5]), 1, 2, keys, slots, figures, marks)
        >>> marks.tolist()
        [1, 0, 0, 0]
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
    """Write, for each row, whether `mark` has marked it in the set.

    Args:
        flat: int64; rows (states, packed into a few words) that are all in the set, one after the
            other.
        row_words: the number of words of a row.
        slots: int64, flat; the set, a hash table: `row_words` words per slot, -1 in an empty one.
        figures: int64, four numbers, of which only the first is read: the number of home slots. A
            row is in its home slot, which its hash gives, or in a slot after it.
        marks: per slot of the set, 1 if it is marked.
        out: output; per row, 1 or 0.

    Examples:
        A set of four slots, one of them a home slot. The row 5 is in slot 0, which is marked, and
        the row 6 in slot 1:

        >>> slots, figures = np.array([5, 6, -1, -1]), np.array([1, 2, 3, 4])
        >>> out = np.zeros(2, np.int64)
        >>> marked(np.array([6, 5]), 1, slots, figures, np.array([1, 0, 0, 0]), out)
        >>> out.tolist()
        [0, 1]
    """
    flat, slots, marks, out = borrow(flat), borrow(slots), borrow(marks), borrow(out)
    for r in range(out.shape[0]):
        out[r] = marks[slot_of(slots, figures, flat, r * row_words, row_words)]
