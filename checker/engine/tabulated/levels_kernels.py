"""Breadth-first by levels: expand, insert, gather.

`expand` computes the successors of a thread's rows and sorts them by owner: the thread that a hash
selects, which decides whether a successor is new. The owners insert them into the visited set, and
`gather` collects the new ones for the next level. `Frontier`, `Outbox`, `Weighing` and `Told` have
the arrays. A *link* names the state that is expanded: its index in the frontier of its thread,
times the number of threads, plus the number of the thread. The label of an entry (see
`g.KIND_SHIFT`) is the link, or the successor's depth if levels are sums of weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel
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

    The rows that `todo` lists come first (control[TODO]), then the rows control[AT_FRESH] to
    control[END_FRESH]. The kernel returns when all are expanded or a buffer is full; empty the
    buffers, and call it again.

    Args:
        me, owners: the number of this thread, and the number of threads.
        outbox: output; with weights, there is a box per lead and owner.
        told: output. Rows that lack an entry are postponed. The properties in control[KNOWN] are
            not reported. control[FULL] is set to the number of a row's successors if the outbox can
            never hold so many, or if their places do not fit.
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
        count: the number of its successors in work.out, or SETTLED.
        violated: the properties that it violates, if it is a final state.
        sent: the number of entries in the outbox; the result is the number afterwards.
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

    `ahead` is whether `rows` has the row that is AHEAD rows later, whose memory is prefetched. The
    results are those of `derive_kernels.successors`.
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
    """Return whether a row was sent lately, with no greater depth; remember it otherwise."""
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

    A row that was sent a short time ago is not sent again; see `Outbox.recent`. The boxes must have
    room for all successors.

    Args:
        block, count: the successors, as entries.
        label, link: of the expanded row.
        sent: the number of entries in the boxes; the result is the number afterwards.
    """
    outbox, leads, owners = sending.outbox, sending.weighing.leads, sending.owners
    stride = row_words + 1
    for e in range(count):
        start = e * stride
        info = block[start + row_words]
        told.fired[info >> g.KIND_SHIFT & g.KIND_MASK] += 1
        if info >> g.SHOWN_SHIFT:
            note(told.shown, told.control, info >> g.SHOWN_SHIFT, link, info & g.PLACE_MASK)
        h = hash_words(block, start, row_words)
        # The owner and the home slot use the other bits of the hash.
        spot = np.int64(h >> np.uint64(20)) & (sending.remembered - 1)
        # Neighbours in a frontier have many successors in common, and the owner would only find
        # that it knows them. It is counted above all the same: totals count transitions.
        if sending.remembered and sent_lately(spot, block, start, label, sending, row_words):
            continue
        owner = owner_by(h, owners)
        if leads.shape[0] > 0:
            owner += leads[info >> g.KIND_SHIFT & g.KIND_MASK] * owners
        target = owner * sending.room + outbox.sizes[owner] * stride
        copy_row(block, start, outbox.out, target, row_words)
        outbox.out[target + row_words] = label << g.LABEL_SHIFT | info & g.EDGE_MASK
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
    """Record which properties a transition, or a state (place -1), shows, if there is room."""
    at = control[g.FOUND]
    # One example per property, of a state and of a transition, suffices: all successors of a level
    # are equally far from the initial state.
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
    """Append the new states among one thread's successors to its next frontier.

    Args:
        first, owners: only successors in the boxes first … first + owners - 1 are appended.
        frontier: has room for all successors.
        count: the number of rows in the frontier so far; the result is the number afterwards.
        kinds: per kind, the number of transitions that led to a new state; updated.
    """
    row_words = row_words_of(tables)
    stride = row_words + 1
    rows, parents = borrow(frontier.rows), borrow(frontier.parents)
    places = borrow(frontier.places)
    receivers = outbox.sizes.shape[0]
    out, order = borrow(outbox.out), borrow(outbox.order)
    own_at = np.arange(receivers) * (out.shape[0] // receivers)
    at = borrow(own_at)
    # In the order of sending: neighbours share most of their parts, so the table entries that one
    # state needs are still in the caches for the next one.
    for e in range(outbox.sizes.sum()):
        owner = np.int64(order[e])
        entry = at[owner]
        at[owner] = entry + stride
        info = out[entry + row_words]
        # `insert` made the information words of new states negative.
        if info >= 0 or not first <= owner < first + owners:
            continue
        copy_row(out, entry, rows, count * row_words, row_words)
        kinds[info >> g.KIND_SHIFT & g.KIND_MASK] += 1
        if keeps_parents:
            parents[count] = info >> g.LABEL_SHIFT & g.LABEL_MASK
            places[count] = info & g.PLACE_MASK
        count += 1
    own_at[0] = 0
    return count
