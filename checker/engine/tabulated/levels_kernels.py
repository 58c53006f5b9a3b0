"""Breadth-first by levels: expand, insert, gather.

`expand` computes the successors of a thread's rows and sorts them by owner. The owners insert them
into the visited set, and `gather` collects the new ones for the next level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import row_words_of
from antecede.checker.engine.rows.hashing_kernels import hash_words, owner_by
from antecede.checker.engine.rows.renaming_kernels import represent
from antecede.checker.engine.rows.rows_kernels import copy_row, prefetch_composites, same_row
from antecede.checker.engine.successors import memo_kernels as m
from antecede.checker.engine.successors.derive_kernels import (
    borrowed,
    is_final,
    judge_final,
    room_for,
    successors,
)
from antecede.checker.engine.successors.recall_kernels import recall
from antecede.checker.engine.visited.sets_kernels import lower


@kernel
def expand(rows, todo, tables, me, owners, outbox, weighing, told):
    """Expand rows of one thread's frontier: write their successors to the boxes of their owners.

    A row is a state, packed into a few words. The frontier is the states of the current level that
    this thread found. The owner of a successor is the thread that decides whether it is new. The
    rows that `todo` lists come first, then the rows control[AT_FRESH] to control[END_FRESH]. The
    kernel returns when all are expanded or a buffer is full; empty the buffers, and call it again.

    Args:
        rows: int64, flat; the frontier.
        todo: indices of rows that were postponed; control[TODO] is their number. Updated.
        tables: a `Tables`: the geometry, the results of handlers, and the composites with their
            local words.
        me, owners: the number of this thread, and the number of threads.
        outbox: output, an `Outbox`. Each successor is an entry: its row, and a word with the number
            of its parent, times `owners`, plus `me` (bits 31-62), the kind of the transition
            (16-30), and its index among the parent's transitions (0-15).
        weighing: a `Weighing`. If its `leads` are not empty, levels are sums of weights: the words
            have the successor's depth in place of the parent, and there is a box per lead and
            owner.
        told: a `Told`, for all other results; its `control` has the slots above, too. Rows that
            lack an entry of the tables are written to `postponed`, and the entry to `misses`.
            Violated properties are written to `shown`, except those in control[KNOWN].
            control[FULL] is set to the number of a row's successors if the outbox can never hold so
            many, or if their indices do not fit 16 bits.
    """
    rows, todo, tables = borrow(rows), borrow(todo), borrowed(tables)
    told = borrowed_told(told)
    geo, row_words = tables.geo, row_words_of(tables)
    sending = sending_of(outbox, weighing, me, owners, row_words)
    own_loc = np.empty(room_for(geo) + 2 * geo[g.PARTS], np.int64)
    composites = borrow(own_loc[room_for(geo) :])
    heads = borrow(own_loc[room_for(geo) + geo[g.PARTS] :])
    room, fits = 4095, False
    while not fits:
        own_block = np.empty((room + 1) * (row_words + 1), np.int64)
        work = m.Work(
            tables=tables,
            memo=told.memo,
            loc=borrow(own_loc),
            out=borrow(own_block),
            room=room,
            composites=composites,
            heads=heads,
            found=told.control[g.KNOWN],
            misses=told.misses,
            control=told.control,
        )
        fits = expand_rows(rows, todo, work, sending, told)
        # A borrowed array dies with its owner, so the owners must be used last.
        own_loc[0] = own_block[0] = 0
        room = 2 * room + 1


@inlined
def expand_rows(rows, todo, work, sending, told):
    """Expand rows as `expand` does; return False if a row has more successors than work.out holds.

    Such a row is the next one to expand.
    """
    tables, misses, control = work.tables, work.misses, work.control
    geo, row_words = tables.geo, row_words_of(tables)
    capacity = sending.room // (row_words + 1)
    sent = sending.outbox.sizes.sum()
    done_todo, fits = np.int64(0), True
    while True:
        if done_todo < control[g.TODO]:
            index = todo[done_todo]
        elif control[g.AT_FRESH] < control[g.END_FRESH]:
            index = control[g.AT_FRESH]
        else:
            break
        # One row misses few entries, so 64 free records suffice for it. Without the reserve, Python
        # would have to fill the tables for one row several times.
        full = control[g.POSTPONED] == told.postponed.shape[0]
        if full or control[g.MISSES] >= misses.shape[0] - 64:
            break
        at, ahead = index * row_words, index + g.AHEAD < control[g.END_FRESH]
        count = remembered_or_derived(rows, at, ahead, work)
        fits = count != g.OVERFLOWED
        if not fits:
            break
        if count > capacity or count > g.MOST_TRANSITIONS:
            control[g.FULL] = count
            break
        violated = np.int64(0)
        if is_final(work.out, count, geo):
            violated = judge_final(
                rows, at, geo, tables.table, tables.dec, work.loc, misses, control
            )
        # There are three outcomes. A row that misses something waits for Python. A row whose
        # successors do not all fit the outbox waits for the next chunk, as all rows after it do.
        # Any other row is done. No successor of the first two is sent, so none is sent twice.
        if count == g.MISSED or violated == g.MISSED:
            told.postponed[control[g.POSTPONED]] = index
            control[g.POSTPONED] += 1
        elif any_full(sending.outbox.sizes, count, capacity):
            break
        else:
            sent = close_row(rows, index, count, violated, work, sending, sent, told)
        if done_todo < control[g.TODO]:
            done_todo += 1
        else:
            control[g.AT_FRESH] += 1
    drop_first(todo, done_todo, control)
    return fits


@inlined
def borrowed_told(told):
    """Return the output arrays of `expand` with each of them borrowed; see `borrow`."""
    return g.Told(
        borrow(told.postponed),
        borrow(told.misses),
        told.shown,
        borrow(told.fired),
        borrow(told.control),
        m.borrowed_memo(told.memo),
    )


@inlined
def sending_of(outbox, weighing, me, owners, row_words):
    """Return the `Sending` of an outbox, with its arrays borrowed."""
    sizes, recent = borrow(outbox.sizes), borrow(outbox.recent)
    return Sending(
        g.Outbox(borrow(outbox.out), sizes, borrow(outbox.order), recent),
        g.Weighing(borrow(weighing.leads), borrow(weighing.depths), borrow(weighing.recent)),
        outbox.out.shape[0] // outbox.sizes.shape[0],
        outbox.recent.shape[0] // row_words,
        me,
        owners,
    )


@inlined
def close_row(rows, index, count, violated, work, sending, sent, told):
    """Send the successors of a row that misses nothing, and count them.

    Args:
        index: of the row, in the frontier.
        count: the number of its successors in work.out, or SETTLED.
        violated: the properties that it violates, if it is a final state.
        sent: the number of entries in the outbox.

    Returns:
        The number of entries in the outbox afterwards.
    """
    tables, control, block = work.tables, work.control, work.out
    row_words, leads = row_words_of(tables), sending.weighing.leads
    at, final = index * row_words, is_final(block, count, tables.geo)
    count = max(count, np.int64(0))
    link = index * sending.owners + sending.me
    # Levels that are sums of weights keep no parents, but the depth of each state; see `Weighing`.
    label = link if leads.shape[0] == 0 else np.int64(sending.weighing.depths[index]) + 1
    sent = send(block, count, label, link, row_words, sending, sent, told)
    control[g.FIRED] += count
    orbit = orbit_of(rows, at, block, count, tables, work.loc)
    control[g.ORBIT_STATES] += orbit
    control[g.ORBIT_FIRED] += orbit * count
    if final:
        control[g.FINALS] += 1
        control[g.ORBIT_FINALS] += orbit
        if violated & ~control[g.KNOWN]:
            note(told.shown, control, violated & ~control[g.KNOWN], link, -1)
    return sent


@inlined
def remembered_or_derived(rows, at, ahead, work):
    """Write all successors of a state to work.out, from the memo or else from the tables.

    The memo is the thread's cache of transitions, which some systems cannot use. The tables have
    the results of handlers. A state is a row, packed into a few words. Each successor is an entry:
    its row, and a word about the transition; see `derive_kernels.successors`.

    Args:
        rows, at: the row is rows[at:].
        ahead: whether `rows` has the row that is AHEAD rows later; its memory is then prefetched.
        work: a `Work`: memo, tables and working memory of the thread.

    Returns:
        The number of successors. Or a negative number: MISSED (-1) if the tables lack something,
        which is recorded in work.misses (try again when Python has added it), OVERFLOWED (-2) if
        work.out is too small, or SETTLED (-7) if the message that is followed was delivered
        everywhere, so that the state needs no successors.
    """
    tables, memo, geo = work.tables, work.memo, work.tables.geo
    if memo.figures[m.IN_USE]:
        if ahead:
            m.prefetch_memo(memo, rows, at, tables)
        return recall(rows, at, work)
    if ahead:
        prefetch_composites(rows, at + g.AHEAD * row_words_of(tables), geo, tables.dec)
    return successors(rows, at, tables, work.loc, work.out, work.found, work.misses, work.control)


@inlined
def drop_first(todo, done, control):
    """Remove the first `done` of the control[TODO] row indices in `todo`."""
    remaining = control[g.TODO] - done
    for k in range(remaining):
        todo[k] = todo[done + k]
    control[g.TODO] = remaining


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
        me, owners: as for `expand`.
    """

    outbox: g.Outbox
    weighing: g.Weighing
    room: int
    remembered: int
    me: int
    owners: int


@inlined
def sent_lately(spot, block, start, label, sending, row_words):
    """Return whether a row was sent lately, with no greater depth; remember it otherwise.

    Args:
        spot: where rows with its hash are remembered, in `outbox.recent`.
    """
    recent, weighing = sending.outbox.recent, sending.weighing
    at = spot * row_words
    # The row takes the place of the one remembered there: one comparison, and no search.
    same = same_row(block, start, recent, at, row_words)
    copy_row(block, start, recent, at, row_words)
    if weighing.leads.shape[0] > 0:
        return lower(weighing.recent, spot, label, not same) == 0
    return same


@inlined
def send(block, count, label, link, row_words, sending, sent, told):
    """Count the successors of one row, and write them to the boxes of the threads that own them.

    A row is a state, packed into a few words. The owner decides whether a successor is new. A row
    that was sent a short time ago is not sent again; see `Outbox.recent`.

    Args:
        block: int64, flat; the successors, as entries that `successors` wrote: a row, and a word
            about the transition, which is place | kind << 16 | shown << 32.
        count: the number of successors.
        label: bits 31-62 of the words that are sent: `link`, or the successors' depth if levels are
            sums of weights.
        link: the expanded row, for `note`: its index in the frontier, times the number of threads,
            plus the number of this thread.
        row_words: the number of words of a row.
        sending: a `Sending`: the boxes of the owners, which must have room for all successors.
        sent: the number of entries in the boxes so far.
        told: a `Told`: `fired` gets the counts of kinds, and `shown` the properties.

    Returns:
        The number of entries in the boxes afterwards.
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
        # The owner and the home slot use the other bits of the hash.
        spot = np.int64(h >> np.uint64(20)) & (sending.remembered - 1)
        # Neighbours in a frontier have many successors in common, and the owner would only find
        # that it knows them. It is counted above all the same: totals count transitions.
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
def orbit_of(rows, at, block, count, tables, loc):
    """Return the number of states that a row stands for; the end of `block` is written to."""
    geo = tables.geo
    if not geo[g.PERMUTATIONS]:
        return np.int64(1)
    row_words = row_words_of(tables)
    start = count * (row_words + 1)
    copy_row(rows, at, block, start, row_words)
    base = 2 * geo[g.ACTORS] * geo[g.WORDS]
    fixed = represent(block, start, geo, tables.renamings, tables.dec, loc, base)
    return (geo[g.PERMUTATIONS] + 1) // fixed


@kernel
def note(shown, control, what, link, place):
    """Record that a transition or a final state shows properties: that it violates or reaches them.

    Nothing is recorded if `shown` is full, or if an earlier record of the same sort (transition or
    state) has all of these properties. One example per property suffices, because all successors of
    a level are equally far from the initial state.

    Args:
        shown: output, int64 of shape (n, 3); a record is (what, link, place).
        control: int64; counters of the kernels; control[FOUND] is the number of records; updated.
        what: the bit set of the properties, not 0; bit k stands for property k of the system.
        link: the state that is expanded: its index in the frontier of its thread, times the number
            of threads, plus the number of the thread.
        place: the index of the transition among the state's transitions, or -1 for the state
            itself.

    Examples:
        >>> shown, control = np.zeros((4, 3), np.int64), np.zeros(g.CONTROL_SIZE, np.int64)
        >>> note(shown, control, 0b10, link=7, place=0)
        >>> note(shown, control, 0b10, link=9, place=2)  # property 1 is recorded already
        >>> int(control[g.FOUND]), shown[0].tolist()
        (1, [2, 7, 0])
    """
    at = control[g.FOUND]
    for k in range(at):
        if what & ~shown[k, 0] == 0 and (place >= 0) == (shown[k, 2] >= 0):
            return
    if at < shown.shape[0]:
        shown[at, 0] = what
        shown[at, 1] = link
        shown[at, 2] = place
        control[g.FOUND] = at + 1


@kernel
def gather(outbox, first, owners, tables, frontier, count, keeps_parents, kinds):
    """Append the new states among one thread's successors to the thread's next frontier.

    A frontier is the states of one level that a thread has found. The states are appended in the
    order of sending: neighbours share most of their parts, so the table entries that one state
    needs are still in the caches for the next one.

    Args:
        outbox: the successors that this thread sent, an `Outbox`, after `insert` marked the new
            ones.
        first, owners: only successors sent to the boxes first … first + owners - 1 are appended.
        tables: a `Tables`. Only the number of words of a row is read; see `row_words_of`.
        frontier: a `Frontier` with room for all successors; updated.
        count: the number of rows in the frontier so far.
        keeps_parents: whether the parents and places of states are written to the frontier, too.
        kinds: per kind, the number of transitions that led to a new state; updated.

    Returns:
        The number of rows in the frontier now.
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
        # `insert` made the information words of new states negative.
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
