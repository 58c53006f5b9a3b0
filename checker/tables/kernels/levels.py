"""Breadth-first by levels: expand, insert, gather."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from antecede.checker.tables.kernels.fields import row_words_of
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    AHEAD,
    AT_FRESH,
    CHECKS_PROGRESS,
    DECREASED,
    DROPS_BEHIND,
    END_FRESH,
    FINALS,
    FIRED,
    FOUND,
    FULL,
    KNOWN,
    MISSED,
    MISSES,
    MOST_TRANSITIONS,
    NEW,
    ORBIT_FINALS,
    ORBIT_FIRED,
    ORBIT_STATES,
    OVERFLOWED,
    PARTS,
    PERMUTATIONS,
    POSTPONED,
    SETTLED,
    TODO,
    WORDS,
    Outbox,
    Told,
    Weighing,
)
from antecede.checker.tables.kernels.hashing import hash_words, home, owner_by
from antecede.checker.tables.kernels.jit import borrow, inlined, kernel, prefetch
from antecede.checker.tables.kernels.memo import IN_USE, Work, borrowed_memo, prefetch_memo
from antecede.checker.tables.kernels.progress import progress_of
from antecede.checker.tables.kernels.recall import recall
from antecede.checker.tables.kernels.renaming import represent
from antecede.checker.tables.kernels.rows import copy_row, prefetch_composites, same_row
from antecede.checker.tables.kernels.sets import claim_slot, lower
from antecede.checker.tables.kernels.successors import (
    borrowed,
    judge_final,
    only_crashes,
    room_for,
    successors,
)


@kernel
def expand(rows, todo, tables, me, owners, outbox, weighing, told):
    """Expand rows of one thread's frontier and sort their successors by owner.

    The rows listed in `todo` come first, then rows control[AT_FRESH] to control[END_FRESH]. It
    stops when all are expanded or a buffer is full. A row that misses a table entry is postponed.

    Args:
        rows: the frontier, flat.
        todo: row indices; control[TODO] is their number.
        me, owners: the owner of the frontier, and the number of threads.
        outbox: output; the successors. Information words hold parent * owners + me (bits 31-62),
            and the transition's index (0-15) and kind (16-30).
        weighing: a `Weighing`. If `leads` is not empty, information words hold a depth instead of
            the parent, and successors are sorted by lead, then by owner.
        told: output. In `control`, FIRED and FINALS are added to. FULL is set to a row's number of
            successors if the outbox has no room for them, or an index no bits. KNOWN is the bit set
            of properties not to report. DECREASED counts successors with less progress, if
            geo[CHECKS_PROGRESS].
    """
    rows, todo, tables = borrow(rows), borrow(todo), borrowed(tables)
    room = outbox.out.shape[0] // outbox.sizes.shape[0]
    outbox = Outbox(
        borrow(outbox.out), borrow(outbox.sizes), borrow(outbox.order), borrow(outbox.recent)
    )
    weighing = Weighing(borrow(weighing.leads), borrow(weighing.depths), borrow(weighing.recent))
    misses, control = borrow(told.misses), borrow(told.control)
    memo = borrowed_memo(told.memo)
    told = Told(borrow(told.postponed), misses, told.shown, borrow(told.fired), control, memo)
    geo, row_words = tables.geo, row_words_of(tables)
    stride = row_words + 1
    capacity = room // stride
    own_loc = np.empty(room_for(geo) + 2 * geo[PARTS], np.int64)
    own_block = np.empty(4096 * stride, np.int64)
    loc, block = borrow(own_loc), borrow(own_block)
    places = borrow(own_loc[room_for(geo) :])
    block_room = block.shape[0] // stride - 1
    remembered = outbox.recent.shape[0] // row_words
    sending = Sending(outbox, weighing, room, remembered, owners)
    sent = outbox.sizes.sum()
    done_todo = np.int64(0)
    while True:
        if done_todo < control[TODO]:
            index = todo[done_todo]
        elif control[AT_FRESH] < control[END_FRESH]:
            index = control[AT_FRESH]
        else:
            break
        if control[POSTPONED] == told.postponed.shape[0] or control[MISSES] >= misses.shape[0] - 64:
            break
        at = index * row_words
        ahead = index + AHEAD < control[END_FRESH]
        work = Work(tables, memo, loc, block, block_room, places, control[KNOWN], misses, control)
        count = remembered_or_derived(rows, at, ahead, work)
        if count == OVERFLOWED:
            own_block = np.empty(2 * block.shape[0], np.int64)
            block = borrow(own_block)
            block_room = block.shape[0] // stride - 1
            continue
        if count > capacity or count > MOST_TRANSITIONS:
            control[FULL] = count
            break
        settled = count == SETTLED
        final = count == 0 or only_crashes(block, count, geo)
        count = np.int64(0) if settled else count
        violated = np.int64(0)
        if final:
            violated = judge_final(rows, at, geo, tables.table, tables.dec, loc, misses, control)
        if count == MISSED or violated == MISSED:
            told.postponed[control[POSTPONED]] = index
            control[POSTPONED] += 1
        else:
            if any_full(outbox.sizes, count, capacity):
                break
            link = index * owners + me
            label = link if weighing.leads.shape[0] == 0 else np.int64(weighing.depths[index]) + 1
            sent = send(block, count, label, link, row_words, sending, sent, told)
            control[FIRED] += count
            if geo[CHECKS_PROGRESS]:
                control[DECREASED] += decreases(rows, at, block, count, tables)
            orbit = orbit_of(rows, at, block, count, tables, loc)
            control[ORBIT_STATES] += orbit
            control[ORBIT_FIRED] += orbit * count
            if final:
                control[FINALS] += 1
                control[ORBIT_FINALS] += orbit
                if violated & ~control[KNOWN]:
                    note(told.shown, control, violated & ~control[KNOWN], link, -1)
        if done_todo < control[TODO]:
            done_todo += 1
        else:
            control[AT_FRESH] += 1
    drop_first(todo, done_todo, control)
    # A borrowed array dies with its owner, so the owners must be used last.
    own_loc[0] = own_block[0] = 0


@inlined
def remembered_or_derived(rows, at, ahead, work):
    """Write the successors of rows[at:] to work.out; return as `successors`.

    Args:
        ahead: a later row follows, for which memory is prefetched.
    """
    tables, memo, geo = work.tables, work.memo, work.tables.geo
    if memo.figures[IN_USE]:
        if ahead:
            prefetch_memo(memo, rows, at, tables)
        return recall(rows, at, work)
    if ahead:
        prefetch_composites(rows, at + AHEAD * row_words_of(tables), geo, tables.dec)
    return successors(rows, at, tables, work.loc, work.out, work.found, work.misses, work.control)


@inlined
def drop_first(todo, done, control):
    """Remove the first `done` of the control[TODO] row indices in `todo`."""
    remaining = control[TODO] - done
    for k in range(remaining):
        todo[k] = todo[done + k]
    control[TODO] = remaining


@inlined
def any_full(sizes, count, capacity):
    """Return whether some owner has no room for `count` more entries."""
    full = False
    for o in range(sizes.shape[0]):
        full = full or sizes[o] + count > capacity
    return full


class Sending(NamedTuple):
    """Where successors are sent.

    Attributes:
        outbox, weighing: borrowed.
        room: the words of `outbox.out` that each receiver has.
        remembered: the number of rows in `outbox.recent`.
        owners: the number of threads.
    """

    outbox: Outbox
    weighing: Weighing
    room: int
    remembered: int
    owners: int


@inlined
def sent_lately(spot, block, start, label, sending, row_words):
    """Return whether a row was sent lately, with no greater depth; remember it otherwise.

    Args:
        spot: where rows with its hash are remembered, in `outbox.recent`.
    """
    recent, weighing = sending.outbox.recent, sending.weighing
    at = spot * row_words
    same = same_row(block, start, recent, at, row_words)
    copy_row(block, start, recent, at, row_words)
    if weighing.leads.shape[0] > 0:
        return lower(weighing.recent, spot, label, not same) == 0
    return same


@inlined
def send(block, count, label, link, row_words, sending, sent, told):
    """Count the successors of one row, and send them to their owners.

    Successors that were sent lately are not sent again.

    Args:
        block: the successors, as entries; `count` is their number.
        label: the highest bits of their information words.
        link: names the row in `told`.
        sent: the number of entries in the outbox.

    Returns:
        The number of entries in the outbox afterwards.
    """
    outbox, leads, owners = sending.outbox, sending.weighing.leads, sending.owners
    stride = row_words + 1
    for e in range(count):
        start = e * stride
        info = block[start + row_words]
        told.fired[info >> 16 & 0x7FFF] += 1
        if info >> 32:
            note(told.shown, told.control, info >> 32, link, info & 0xFFFF)
        h = hash_words(block, start, row_words)
        spot = np.int64(h >> np.uint64(20)) & (sending.remembered - 1)
        if sending.remembered and sent_lately(spot, block, start, label, sending, row_words):
            continue
        owner = owner_by(h, owners)
        if leads.shape[0] > 0:
            owner += leads[info >> 16 & 0x7FFF] * owners
        target = owner * sending.room + outbox.sizes[owner] * stride
        copy_row(block, start, outbox.out, target, row_words)
        outbox.out[target + row_words] = label << 31 | info & 0x7FFFFFFF
        outbox.sizes[owner] += 1
        outbox.order[sent] = owner
        sent += 1
    return sent


@inlined
def decreases(rows, at, block, count, tables):
    """Return the number of successors with less progress than their row."""
    geo = tables.geo
    least = progress_of(rows, at, geo, tables.progress)
    less = np.int64(0)
    for e in range(count):
        less += progress_of(block, e * (row_words_of(tables) + 1), geo, tables.progress) < least
    return less


@inlined
def orbit_of(rows, at, block, count, tables, loc):
    """Return the number of states that a row stands for; the end of `block` is written to."""
    geo = tables.geo
    if not geo[PERMUTATIONS]:
        return np.int64(1)
    row_words = row_words_of(tables)
    start = count * (row_words + 1)
    copy_row(rows, at, block, start, row_words)
    base = 2 * geo[ACTORS] * geo[WORDS]
    return (geo[PERMUTATIONS] + 1) // represent(block, start, geo, tables.renamings, loc, base)


@kernel
def note(shown, control, what, link, place):
    """Record that a transition shows properties, unless they are recorded or `shown` is full."""
    at = control[FOUND]
    for k in range(at):
        if what & ~shown[k, 0] == 0 and (place >= 0) == (shown[k, 2] >= 0):
            return
    if at < shown.shape[0]:
        shown[at, 0] = what
        shown[at, 1] = link
        shown[at, 2] = place
        control[FOUND] = at + 1


@kernel
def insert(out, sizes, start, tables, slots, depths, figures, tally):
    """Insert the successors that one owner was sent into its visited set, and mark the new ones.

    Args:
        out: (threads, entries * (row words + 1)): the entries that each thread sent to this owner;
            the information words of new states become negative.
        sizes: per thread, the number of entries.
        start: [thread, entry] to begin with; updated.
        slots: the visited set, open addressing.
        depths: uint16; per slot, the least depth with which its row was sent; or empty.
        figures: int64 [capacity, states, limit of states, words per slot, end of the slots];
            states are updated.
        tally: the number of states per progress; updated if geo[DROPS_BEHIND].

    Returns:
        0 when all entries are inserted, 1 when the visited set must grow.
    """
    geo, progress, row_words = tables.geo, tables.progress, row_words_of(tables)
    stride = row_words + 1
    slots, depths = borrow(slots), borrow(depths)
    capacity = figures[0]
    ahead = 12
    pending = np.empty(ahead, np.int64)
    limit = figures[4]
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
            if figures[1] >= figures[2]:
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
            if slot == MISSED:
                start[0], start[1] = thread, e
                return 1
            if depths.shape[0]:
                lower(depths, slot, source[at + row_words] >> 31, fresh)
            if not fresh:
                continue
            figures[1] += 1
            source[at + row_words] |= NEW
            if geo[DROPS_BEHIND]:
                tally[progress_of(source, at, geo, progress)] += 1
        start[0], start[1] = thread + 1, 0
    return 0


@kernel
def gather(outbox, first, owners, tables, frontier, count, keeps_parents, kinds):
    """Append the new states among one thread's successors to the thread's next frontier.

    They are appended in the order of sending. Neighbours in a frontier share most of their parts,
    so the table entries that one state needs are still in the caches for the next one.

    Args:
        outbox: the successors that this thread sent, as `insert` leaves them.
        first, owners: what owners first … first + owners - 1 got is appended.
        frontier: has room for all entries; parents and places are written if keeps_parents.
        count: the number of rows in the frontier so far.
        kinds: per kind, the number of transitions that led to a new state; updated.

    Returns:
        The number of rows in the frontier.
    """
    row_words = row_words_of(tables)
    stride = row_words + 1
    rows, parents = borrow(frontier.rows), borrow(frontier.parents)
    places = borrow(frontier.places)
    receivers = outbox.sizes.shape[0]
    out, order = borrow(outbox.out), borrow(outbox.order)
    own_at = np.arange(receivers) * (out.shape[0] // receivers)
    at = borrow(own_at)
    for e in range(outbox.sizes.sum()):
        owner = np.int64(order[e])
        entry = at[owner]
        at[owner] = entry + stride
        info = out[entry + row_words]
        if info >= 0 or not first <= owner < first + owners:
            continue
        copy_row(out, entry, rows, count * row_words, row_words)
        kinds[info >> 16 & 0x7FFF] += 1
        if keeps_parents:
            parents[count] = info >> 31 & 0xFFFFFFFF
            places[count] = info & 0xFFFF
        count += 1
    own_at[0] = 0
    return count
