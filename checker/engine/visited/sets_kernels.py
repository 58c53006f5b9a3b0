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
    """Return whether a set of rows must grow before it gets another row.

    Args:
        figures: int64; the numbers of the set named at `CAPACITY`: here figures[STATES], the rows
            in the set, and figures[LIMIT], the most rows before it must grow.

    Examples:
        >>> figures = np.zeros(4, np.int64)
        >>> figures[STATES], figures[LIMIT] = 6, 7
        >>> bool(is_full(figures))
        False
    """
    return figures[STATES] >= figures[LIMIT]


@inlined
def claim_slot(slots, slot, limit, source, at, width):
    """Put a row into an exact set of rows, unless the set has it already.

    Args:
        slots: the set, int64, flat: `width` words per slot, -1 in an empty one; updated.
        slot: the index of the slot where the search begins: the row's home slot.
        limit: the number of all slots.
        source, at: the row is source[at:].
        width: the number of words of a row.

    Returns:
        Two values: the index of the row's slot, and whether the row is new. If all slots from the
        home slot on are taken by other rows, MISSED (-1) and False; the set must grow then.
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
    """Lower the depth of a state if it was found on a shorter path, or set it if the state is new.

    A search by weight meets a state on paths of several lengths, and counts it at the shortest.

    Args:
        depths: the least depth of each state so far; updated.
        at: the index of the state in `depths`.
        depth: the depth on the path that was found now.
        fresh: whether the state is new, so that depths[at] has no meaning yet.

    Returns:
        1 if depths[at] was set, otherwise 0.

    Examples:
        >>> depths = np.array([9, 4], np.uint16)
        >>> int(lower(depths, 0, 7, False)), int(lower(depths, 1, 7, False)), depths.tolist()
        (1, 0, [7, 4])
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
        slots: the set, int64, flat: `row_words` words per slot, -1 in an empty one; updated.
        figures: int64; the numbers of the set named at `CAPACITY`. figures[STATES], the number of
            rows, is updated.
        source, at: the row is source[at:].
        row_words: the number of words of a row.

    Returns:
        1 if the row is new, 0 if the set had it, MISSED (-1) if there is no free slot for it; the
        set must grow then.

    Examples:
        An empty set of eight slots of one word. Its figures are 4 home slots, 0 rows, at most 3
        rows before it must grow, and 8 slots in all. The row 99 is new only once:

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

    If several threads search, the hash of a state says which thread *owns* the state: it keeps the
    state in its visited set, and decides whether it is new. All threads send the successors that
    they find to their owners. Each owner then calls this kernel.

    Args:
        out: int64 of shape (threads, room); out[t] has the entries that thread t sent to this
            owner, one after the other. An entry is a row (a state, packed into a few words), then a
            word about the transition. The kernel sets the sign bit of this word if the state is
            new.
        sizes: per thread, the number of entries.
        start: int64, two elements: the thread and the index of its entry to begin with; (0, 0) for
            the first call. If the kernel returns 1, this is the entry to go on with.
        tables: a `Tables`. Only the number of words of a row is read; see `row_words_of`.
        slots: int64, flat; the set, a hash table: a row per slot, -1 in an empty one; updated.
        depths: uint16; per slot, the least depth with which its row was sent; updated. The depth of
            an entry is its word >> 31. Empty if levels are not sums of weights.
        figures: int64; the numbers of the set named at `CAPACITY`. figures[STATES] is updated.

    Returns:
        0 when all entries are inserted. 1 when the set must grow first: let it grow (see `grow`),
        set its new figures, and call again with the same `start`.
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
    """Insert the rows that one owner has into its visited set.

    A row is a state, packed into a few words. If several threads or partitions search, the hash of
    a row says which one *owns* the row: it alone keeps the row in its visited set. Each owner calls
    this kernel with the same rows, and the kernel skips the rows of the others. The rows come, for
    example, from a checkpoint. They must be distinct, and none of them may be in the set yet.

    Args:
        rows: int64, flat; the rows, one after the other.
        row_words: the number of words of a row.
        me, owners: the number of this owner, and the number of owners. Owners are numbered from 0;
            a single owner, 0 of 1, owns all rows.
        start: int64, one element: the index of the row to begin with; 0 for the first call. If the
            kernel returns 1, it is the row to go on with.
        depths: the depth of each row; not read if `slot_depths` is empty.
        visited: a `RowSet`, the owner's visited set. Its slots and figures[STATES] are updated.
        slot_depths: uint16; per slot of the set, the depth of its row; updated. Empty if the search
            keeps no depths.

    Returns:
        0 when all rows of this owner are in the set. 1 when the set must grow first: let it grow
        (see `grow`), set its new figures, and call again with the same `start`.

    Examples:
        An empty set of eight slots of one word. Its figures are 4 home slots, 0 rows, at most 3
        rows before it must grow, and 8 slots in all. The only owner inserts two rows:

        >>> visited = g.RowSet(np.full(8, -1), np.array([4, 0, 3, 8]))
        >>> start, none = np.zeros(1, np.int64), np.zeros(0, np.uint16)
        >>> reinsert(np.array([99, 98]), 1, 0, 1, start, none, visited, none)
        0
        >>> int(visited.figures[STATES])
        2
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
    """Look up the depths of some states in the visited set of one thread.

    A row is a state, packed into a few words. Its depth is its distance from the initial state. If
    several threads search, the hash of a row says which thread *owns* the row: it alone keeps the
    row in its visited set. To get the depths of all rows, call this kernel once for each owner,
    with the same `depths`.

    Args:
        rows: int64, flat; the rows. Those that `me` owns must all be in the set.
        row_words: the number of words of a row.
        me, owners: the number of this owner, and the number of owners. Owners are numbered from 0;
            a single owner, 0 of 1, owns all rows.
        visited: a `RowSet`, the owner's visited set.
        slot_depths: uint16; per slot of the set, the depth of its row.
        depths: output; an element per row. Elements of rows that `me` does not own are not changed.

    Examples:
        An empty set of eight slots of one word. Its figures are 4 home slots, 0 rows, at most 3
        rows before it must grow, and 8 slots in all. The rows 99 and 98 have the depths 6 and 7:

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
    """Spread a visited set over more slots, in place.

    The set is a hash table with open addressing: a row is in its home slot or in one of the slots
    after it. Homes never decrease as hashes increase, so rows only move to the right. The kernel
    moves them from the last to the first, so it never overwrites one that is still to be moved. A
    few rows would not move, because their new home is before the slot to which they were pushed;
    they are reinserted last.

    Args:
        slots: int64, flat; the set: `width` words per slot, -1 in an empty one; updated. It has
            room for `new` + `tail` slots; the kernel empties those from `old` + `tail` on first.
        depths: uint16; per slot, the depth of its row, which moves with it; or empty.
        tail: the number of slots behind the last home, for rows that are pushed beyond it.
        width: the number of words of a row.
        old, new: the number of home slots before and afterwards.

    Returns:
        Whether all rows fit; if not, the set must not be used any more.

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
    """Insert the rows that `grow` set aside, after it has moved all others.

    Args:
        stash: int64, flat: per row, its `width` words and its depth.
        stashed: the number of rows in `stash`.
        slots, depths, width, new, tail: as for `grow`.

    Returns:
        Whether all rows fit. If not, the set must not be used any more.
    """
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
        slots: the set, int64, flat: `flat_words` words per slot, -1 in an empty one.
        figures: int64; the numbers of the set named at `CAPACITY`. Only figures[CAPACITY], the
            number of home slots, is read.
        flat, at: the row is flat[at:].
        flat_words: the number of words of a row.

    Examples:
        An empty set of eight slots of one word, of which 4 are home slots:

        >>> slots, figures = np.full(8, -1), np.array([4, 0, 3, 8])
        >>> int(slot_of(slots, figures, np.array([99]), 0, 1))
        -1
    """
    slot = home(hash_words(flat, at, flat_words), figures[CAPACITY])
    while slots[slot * flat_words] != -1:
        if same_row(flat, at, slots, slot * flat_words, flat_words):
            return slot
        slot += 1
    return np.int64(-1)
