"""Exact sets of rows: open addressing, growing in place.

A set stores whole rows, so two states are never mistaken for each other. A row is in its home slot
or, if that is taken, in one of the next slots. Homes never decrease as hashes increase, which lets
the set spread over more slots in place. It is three arrays:

    slots     | home 0 | ... | home CAPACITY - 1 | tail |     each of `width` words; -1: empty
    depths    uint16, one per slot: the least depth of its row so far; or empty
    figures   | CAPACITY | STATES | LIMIT | SLOTS |

Each owner of states has a set, which no other thread reads or writes meanwhile. Kernels cannot make
arrays larger: one that finds the set full returns, Python calls `grow`, and the kernel goes on.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel, prefetch
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
    """Return whether a set of rows must grow before it gets another row."""
    return figures[STATES] >= figures[LIMIT]


@inlined
def claim_slot(slots, slot, limit, source, at, width):
    """Put the row source[at:] into a set, unless the set has it already.

    Args:
        slot: the row's home slot.
        limit: the number of all slots.

    Returns:
        The index of the row's slot, and whether the row is new. MISSED and False if all slots from
        the home slot on are taken by other rows: the set must grow.
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
    """Lower the depth of a state, or set it if the state is new; return 1 if it was written.

    A search by weight meets a state on paths of several lengths, and counts it at the shortest.
    """
    if fresh or depth < np.int64(depths[at]):
        depths[at] = depth
        return 1
    return 0


@inlined
def claim_row(slots, figures, source, at, row_words):
    """Insert the row source[at:] into a set, unless the set has it already.

    Returns:
        1 if the row is new, 0 if the set had it, MISSED if it must grow to have a slot for it.

    Examples:
        An empty set of eight slots of one word, with 4 home slots, which must grow after 3 rows:

        >>> slots, figures = np.full(8, -1), np.array([4, 0, 3, 8])
        >>> row = np.array([99])
        >>> int(claim_row(slots, figures, row, 0, 1)), int(claim_row(slots, figures, row, 0, 1))
        (1, 0)
    """
    slot = home(hash_words(source, at, row_words), figures[CAPACITY])
    slot, fresh = claim_slot(slots, slot, figures[SLOTS], source, at, row_words)
    figures[STATES] += fresh
    return np.int64(g.MISSED) if slot == g.MISSED else np.int64(fresh)


@kernel
def insert(out, sizes, start, tables, slots, depths, figures):
    """Insert the successors that one owner was sent into its visited set, and mark the new ones.

    Args:
        out: int64 of shape (threads, room); out[t] has the entries that thread t sent. The sign bit
            of the information word of a new state is set (`g.NEW`). With depths, an entry's depth
            is in this word from bit 31 on.
        sizes: per thread, the number of entries.
        start: int64, two elements, updated: the thread and the index of its entry to go on with.

    Returns:
        0 when all entries are inserted. 1 when the set must grow first: let it grow, set its new
        figures, and call again with the same `start`.
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
                lower(depths, slot, source[at + row_words] >> g.LABEL_SHIFT, fresh)
            if not fresh:
                continue
            figures[STATES] += 1
            source[at + row_words] |= g.NEW
        start[0], start[1] = thread + 1, 0
    return 0


@kernel
def reinsert(rows, row_words, me, owners, start, depths, visited, slot_depths):
    """Insert the rows of one owner into its visited set, for example from a checkpoint.

    The rows of other owners are skipped. Rows must be distinct, and none may be in the set yet.

    Args:
        start: int64, one element, updated: the index of the row to go on with; see `insert`.
        depths, slot_depths: the depth of each row, and of each slot's row; or both empty.
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
    """Write the depths of the rows that `me` owns, all of which the set has, to `depths`.

    Examples:
        An empty set of eight slots of one word; the rows 99 and 98 have the depths 6 and 7:

        >>> visited = g.RowSet(np.full(8, -1), np.array([4, 0, 3, 8]))
        >>> slot_depths, depths = np.zeros(8, np.uint16), np.zeros(2, np.int64)
        >>> rows, given = np.array([99, 98]), np.array([6, 7])
        >>> reinsert(rows, 1, 0, 1, np.zeros(1, np.int64), given, visited, slot_depths)
        0
        >>> read_depths(np.array([98, 99]), 1, 0, 1, visited, slot_depths, depths)
        >>> depths.tolist()
        [7, 6]
    """
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
    """Spread a visited set from `old` over `new` home slots, in place; false if rows do not fit.

    If they do not fit, the set must not be used any more. `slots` has room for `new` + `tail`
    slots; those from `old` + `tail` on are emptied here.

    Examples:
        One home slot and two behind it become four home slots and two behind them:

        >>> slots = np.array([99, -1, -1, 0, 0, 0])
        >>> grow(slots, np.zeros(0, np.uint16), tail=2, width=1, old=1, new=4)
        True
        >>> int(slots[slot_of(slots, np.array([4, 1, 3, 6]), np.array([99]), 0, 1)])
        99
    """
    for k in range((old + tail) * width, (new + tail) * width):
        slots[k] = -1
    slots, depths = borrow(slots), borrow(depths)
    weighed = depths.shape[0] > 0
    stride = width + 1
    own_stash = np.empty(1024 * stride, np.int64)
    stash, stashed = borrow(own_stash), np.int64(0)
    # Homes never decrease as hashes increase, so a state moves right, into a slot that was emptied
    # before, if the last slot comes first.
    for slot in range(old + tail - 1, -1, -1):
        if slots[slot * width] == -1:
            continue
        place = home_of_slot(slots, slot, width, new)
        # It was pushed beyond its new home, and slots between the two may still be occupied. So it
        # is inserted again after all others.
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
    """Insert the rows that `grow` set aside (words and depth of each); false if some do not fit."""
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
    """Return the slot of the row flat[at:] in a set, or -1 if the set lacks it."""
    slot = home(hash_words(flat, at, flat_words), figures[CAPACITY])
    while slots[slot * flat_words] != -1:
        if same_row(flat, at, slots, slot * flat_words, flat_words):
            return slot
        slot += 1
    return np.int64(-1)
