"""Exact sets of rows: open addressing, growing in place.

A set stores whole rows, so two states are never mistaken for each other. A row's home slot grows
with its hash, which lets the set spread over more slots in place.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import row_words_of
from antecede.checker.engine.rows.hashing_kernels import hash_words, home, owner_by, owner_of
from antecede.checker.engine.rows.rows_kernels import copy_row, same_row

CAPACITY, STATES, LIMIT, SLOTS = range(4)
"""The figures of a set.

CAPACITY: the number of home slots. STATES: the number of rows. LIMIT: the most rows before the set
must grow. SLOTS: the number of all slots; those behind the last home are for runs that reach there.
"""


@inlined
def is_full(figures):
    """Return whether a set of rows is at its greatest load, and must grow before the next row.

    Args:
        figures: int64; the numbers of the set named at `CAPACITY`: here figures[STATES], the rows
            in the set, and figures[LIMIT], the most rows before it must grow.
    """
    return figures[STATES] >= figures[LIMIT]


@inlined
def claim_slot(slots, slot, limit, source, at, width):
    """Put the row source[at:] into the visited set unless it is already there.

    Returns:
        Its slot, or MISSED if the slots before `limit` are taken; and whether it is new.
    """
    while slot < limit:
        spot = slot * width
        if slots[spot] == -1:
            copy_row(source, at, slots, spot, width)
            return slot, True
        if same_row(source, at, slots, spot, width):
            return slot, False
        slot += 1
    return np.int64(g.MISSED), False


@inlined
def lower(depths, at, depth, fresh):
    """Set depths[at] to `depth` if that is less or the state is new; return 1 if so, otherwise 0.

    A search by weight meets a state on paths of several lengths, and counts it at the shortest.

    Args:
        depths: the least depth of each state so far.
        at: the index of the state in `depths`.
        depth: the depth on the path that was found now.
        fresh: whether the state is new, so that depths[at] has no meaning yet.
    """
    if fresh or depth < np.int64(depths[at]):
        depths[at] = depth
        return 1
    return 0


@inlined
def claim_row(slots, figures, source, at, row_words):
    """Insert a row into an exact set of rows, unless the set has it already.

    A row is a state, packed into a few words. The set is a hash table with open addressing: a row
    is in its home slot or, if that is taken, in the next slots.

    Args:
        slots: the set, flat int64: `row_words` words per slot, -1 in an empty one; updated.
        figures: int64; the numbers of the set named at `CAPACITY`. figures[STATES], the number of
            rows, is updated.
        source, at: the row is source[at:].
        row_words: the number of words of a row.

    Returns:
        1 if the row is new, 0 if the set had it, MISSED (-1) if there is no free slot for it; the
        set must grow then.
    """
    slot = home(hash_words(source, at, row_words), figures[CAPACITY])
    slot, fresh = claim_slot(slots, slot, figures[SLOTS], source, at, row_words)
    figures[STATES] += fresh
    return np.int64(g.MISSED) if slot == g.MISSED else np.int64(fresh)


@kernel
def insert(out, sizes, start, tables, slots, depths, figures):
    """Insert the successors that one owner was sent into its visited set, and mark the new ones.

    Args:
        out: (threads, entries * (row words + 1)): the entries that each thread sent to this owner;
            the information words of new states become negative.
        sizes: per thread, the number of entries.
        start: [thread, entry] to begin with; updated.
        slots: the visited set, open addressing.
        depths: uint16; per slot, the least depth with which its row was sent; or empty.
        figures: int64; see `CAPACITY`. The number of states is updated.

    Returns:
        0 when all entries are inserted, 1 when the visited set must grow.
    """
    row_words = row_words_of(tables)
    stride = row_words + 1
    slots, depths = borrow(slots), borrow(depths)
    capacity = figures[CAPACITY]
    # The set is larger than the caches, so each look-up waits for the memory. The slots of the next
    # rows are fetched while this row is compared: `pending` has the homes of `ahead` rows.
    ahead = 12
    pending = np.empty(ahead, np.int64)
    limit = figures[SLOTS]
    for thread in range(start[0], sizes.shape[0]):
        first = start[1]
        size = sizes[thread]
        source = borrow(out[thread])
        for k in range(first, min(first + ahead, size)):
            slot = home(hash_words(source, k * stride, row_words), capacity)
            pending[k % ahead] = slot
            prefetch(slots, slot * row_words)
            prefetch(depths, slot)
        for e in range(first, size):
            if is_full(figures):  # grow first, and go on with this entry
                start[0], start[1] = thread, e
                return 1
            slot = pending[e % ahead]
            if e + ahead < size:
                later = home(hash_words(source, (e + ahead) * stride, row_words), capacity)
                pending[e % ahead] = later
                prefetch(slots, later * row_words)
                prefetch(depths, later)
            at = e * stride
            slot, fresh = claim_slot(slots, slot, limit, source, at, row_words)
            if slot == g.MISSED:
                start[0], start[1] = thread, e
                return 1
            if depths.shape[0]:
                lower(depths, slot, source[at + row_words] >> 31, fresh)
            if not fresh:
                continue
            figures[STATES] += 1
            source[at + row_words] |= g.NEW
        start[0], start[1] = thread + 1, 0
    return 0


@kernel
def reinsert(rows, row_words, me, owners, start, depths, visited, slot_depths):
    """Insert the rows that `me` owns, of some distinct rows, into an exact visited set.

    Args:
        rows: flat; start[0] is the index to begin with, and is updated.
        depths: the depths of the rows; empty if `slot_depths` is.
        visited: a `RowSet`.
        slot_depths: `depths` of `insert`.

    Returns:
        0 when all rows are inserted, 1 when the visited set must grow.
    """
    slots, figures = visited.slots, visited.figures
    for r in range(start[0], rows.shape[0] // row_words):
        at = r * row_words
        if owner_of(rows, at, row_words, owners) != me:
            continue
        start[0] = r
        if is_full(figures):
            return 1
        slot = home(hash_words(rows, at, row_words), figures[CAPACITY])
        slot, fresh = claim_slot(slots, slot, figures[SLOTS], rows, at, row_words)
        if slot == g.MISSED:
            return 1
        if slot_depths.shape[0]:
            lower(slot_depths, slot, np.int64(depths[r]), fresh)
        figures[STATES] += fresh
    return 0


@kernel
def read_depths(rows, row_words, me, owners, visited, slot_depths, depths):
    """Write the depths of the flat rows that `me` owns to `depths`; all of them are in its set."""
    rows, depths, slot_depths = borrow(rows), borrow(depths), borrow(slot_depths)
    slots, figures = borrow(visited.slots), visited.figures
    count = depths.shape[0]
    for r in range(count):
        if r + 12 < count:  # fetch the slot of a later row while this one is compared
            h = hash_words(rows, (r + 12) * row_words, row_words)
            if owner_by(h, owners) == me:
                slot = home(h, figures[CAPACITY])
                prefetch(slots, slot * row_words)
                prefetch(slot_depths, slot)
        at = r * row_words
        if owner_of(rows, at, row_words, owners) == me:
            depths[r] = slot_depths[slot_of(slots, figures, rows, at, row_words)]


@inlined
def home_of_slot(slots, slot, width, capacity):
    """Return the home of the row in a slot."""
    return home(hash_words(slots, slot * width, width), capacity)


@kernel
def grow(slots, depths, tail, width, old, new):
    """Spread a visited set over a greater capacity, in place.

    Homes grow with hashes, so states move to the right. The kernel processes slots from the last to
    the first, so it never overwrites a slot that is still to be moved. A few states would not move,
    because their new home is before the slot to which they were pushed. They are reinserted last.

    Args:
        slots: has room for new + tail slots; slots from old + tail on are emptied here.
        depths: as for `insert`; they move with the slots.
        tail: the slots behind the last home, for runs that reach beyond it.
        width: words per slot.
        old, new: capacities.

    Returns:
        Whether the tail sufficed.
    """
    for k in range((old + tail) * width, (new + tail) * width):
        slots[k] = -1
    slots, depths = borrow(slots), borrow(depths)
    weighed = depths.shape[0] > 0
    stride = width + 1
    own_stash = np.empty(1024 * stride, np.int64)
    stash, stashed = borrow(own_stash), np.int64(0)
    # From the last slot to the first: a state moves right, into a slot that was emptied before.
    for slot in range(old + tail - 1, -1, -1):
        if slots[slot * width] == -1:
            continue
        place = home_of_slot(slots, slot, width, new)
        # It was pushed beyond its new home, and slots between the two may still be occupied.
        if place < slot:
            if (stashed + 1) * stride > stash.shape[0]:
                larger = np.empty(2 * stash.shape[0], np.int64)
                for k in range(stash.shape[0]):  # Numba takes 2 s to compile a copy of a slice
                    larger[k] = stash[k]
                own_stash = larger
                stash = borrow(own_stash)
            for k in range(width):
                stash[stashed * stride + k] = slots[slot * width + k]
                slots[slot * width + k] = -1
            if weighed:
                stash[stashed * stride + width] = depths[slot]
            stashed += 1
            continue
        while place != slot and slots[place * width] != -1:
            place += 1
        if place >= new + tail - 1:
            return False
        if place != slot:
            for k in range(width):
                slots[place * width + k] = slots[slot * width + k]
                slots[slot * width + k] = -1
            if weighed:
                depths[place] = depths[slot]
    fits = put_back(stash, stashed, slots, depths, width, new, tail)
    own_stash[0] = 0
    return fits


@inlined
def put_back(stash, stashed, slots, depths, width, new, tail):
    """Insert the states that `grow` set aside; return whether the tail sufficed."""
    stride = width + 1
    for s in range(stashed):
        place = home(hash_words(stash, s * stride, width), new)
        while slots[place * width] != -1:
            place += 1
        if place >= new + tail - 1:
            return False
        for k in range(width):
            slots[place * width + k] = stash[s * stride + k]
        if depths.shape[0] > 0:
            depths[place] = stash[s * stride + width]
    return True


@inlined
def slot_of(slots, figures, flat, at, flat_words):
    """Return the slot where an exact set of rows has a row, or -1 if the set lacks it.

    A row is a state, packed into a few words. The set is a hash table with open addressing: the row
    is between its home slot and the next empty slot.

    Args:
        slots: the set, flat int64: `flat_words` words per slot, -1 in an empty one.
        figures: int64; the numbers of the set named at `CAPACITY`, here the number of home slots.
        flat, at: the row is flat[at:].
        flat_words: the number of words of a row.
    """
    slot = home(hash_words(flat, at, flat_words), figures[CAPACITY])
    while slots[slot * flat_words] != -1:
        if same_row(flat, at, slots, slot * flat_words, flat_words):
            return slot
        slot += 1
    return np.int64(-1)
