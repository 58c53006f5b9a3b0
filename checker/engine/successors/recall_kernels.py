"""The successors of a state from the memo of its thread; see `memo_kernels`.

This is the fast way to successors: copy the parent's row, and replace the composites that change by
numbers from the memo.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get, seek
from antecede.checker.engine.rows.fields_kernels import (
    change_field,
    composite_in,
    field_of,
    row_words_of,
)
from antecede.checker.engine.rows.renaming_kernels import represent
from antecede.checker.engine.rows.rows_kernels import copy_row, decode_part, number_of, same_row
from antecede.checker.engine.successors import derive_kernels as d
from antecede.checker.engine.successors import memo_kernels as m
from antecede.checker.engine.successors.histories_kernels import forget_by
from antecede.checker.engine.successors.learning_kernels import derive_into, learn_list


@inlined
def recall(row, at, work):
    """Write all successors of a state to work.out, as `derive_kernels.successors`, only faster.

    Returns:
        The number of successors, MISSED or OVERFLOWED.
    """
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    stride = row_words_of(work.tables) + 1
    room, slots = memo.figures[m.MEMO_ROOM], memo.figures[m.SLOTS]
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        work.composites[part] = composite
        work.heads[part] = m.heads_of(memo, part, composite, room, slots)
    count = np.int64(0)
    complete = True
    # The order of sources is the order of `transition.enabled`, because the index of a transition
    # among its state's transitions is all that a trace stores.
    for source in range(open_sources(work)):
        part, dst = memo.source_part[source], memo.source_receiver[source]
        head = head_of(source, work)
        if head == m.NOTHING_LISTED:
            continue
        if head == 0:
            head = learn_list(source, row, at, work, count * stride)
            if head == m.NOTHING_LISTED:
                continue
        now = np.int64(g.MISSED)  # stays so if the list could not be made
        if head <= m.NOT_LISTED:
            now = derive_into(source, d.ALL, 0, row, at, work, count)
        elif head > 0 and count + memo.lists[head] > work.room:
            now = np.int64(g.OVERFLOWED)
        elif head > 0 and dst >= 0:
            now = recall_offers(source, head, row, at, work, count)
        elif head > 0:
            now = recall_own(source, head, row, at, work, count)
        if now == g.OVERFLOWED:
            return now
        if now == g.MISSED:
            complete = False
        else:
            count = now
    # A miss does not end the loop above: one round in Python then fills all that the row lacks.
    if not complete:
        return np.int64(g.MISSED)
    memo.figures[m.SUCCESSORS] += count
    if geo[g.PERMUTATIONS]:
        base, tables = 2 * geo[g.ACTORS] * geo[g.WORDS], work.tables
        for k in range(count):
            represent(out, k * stride, geo, tables.renamings, tables.dec, loc, base)
    return count


@inlined
def open_sources(work):
    """Return the number of sources; without the losses, which come last, if none are left."""
    geo, sources = work.tables.geo, work.memo.source_part.shape[0]
    if geo[g.BUDGET]:
        decode_part(0, work.composites[0], geo, work.tables.dec, work.loc, 0)
        if get(work.loc, 0, geo, 0, g.LOSSES) == 0:
            sources -= geo[g.CHANNEL_COUNT]
    return sources


@inlined
def head_of(source, work):
    """Return the head of a source's list, or 0 if it is not known."""
    memo = work.memo
    part = memo.source_part[source]
    heads = work.heads[part]
    if heads < 0:
        return np.int64(m.NOT_LISTED)
    if not m.parted(work) or memo.source_receiver[source] >= 0:
        return np.int64(memo.heads[heads + memo.source_slot[source]])
    key = m.own_key(source, work)
    if key < 0:
        return np.int64(m.NOT_LISTED)
    head = m.recalled(memo.lists, m.steps_of(memo, heads), key)
    return head if head != -1 else np.int64(0)


@inlined
def recall_own(source, head, row, at, work, first):
    """Write the transitions in a composite's own list; return the number of successors then."""
    memo, out, geo = work.memo, work.out, work.tables.geo
    lists, hidden, forgets = memo.lists, ~work.found, geo[g.FORGETS]
    part = memo.source_part[source]
    row_words = row_words_of(work.tables)
    field, before = field_of(geo, part), work.composites[part]
    complete = True
    count = first
    for k in range(lists[head]):
        entry = m.own_at(head, k)
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        change_field(out, start, field, before, lists[entry + m.OWN_AFTER])
        # A send to oneself can deliver a message, which other actors may then forget.
        item = np.int64(lists[entry + m.OWN_ITEM]) - 1
        if forgets and item >= 0 and not forget_elsewhere(item, part, part, work, start):
            complete = False
        event = np.int64(lists[entry + m.OWN_EVENT]) - 1
        records = m.parted(work) and event >= 0
        if records and not record_event(event << 1 | 1, part + 1, work, start):
            # The history does not know this event. Derive the whole list, and remember its steps.
            return derive_into(source, d.ALL, head, row, at, work, first)
        info = np.int64(lists[entry + m.OWN_INFO])
        shown = memo.shows[info >> g.KIND_BITS] & hidden
        out[start + row_words] = (
            count | (info & g.KIND_MASK) << g.KIND_SHIFT | shown << g.SHOWN_SHIFT
        )
        count += 1
    return count if complete else np.int64(g.MISSED)


@inlined
def record_event(key, history, work, start):
    """Replace an actor's history in a successor by the one that follows an event, if it is known.

    Args:
        key: as for `recalled`.
        history: the index of the history's part, which is odd.
        start: the successor is work.out[start:], so far a copy of its parent in this part.
    """
    composite, heads = work.composites[history], work.heads[history]
    after = m.recalled(work.memo.lists, m.steps_of(work.memo, heads), key)
    if after != -1:
        change_field(work.out, start, field_of(work.tables.geo, history), composite, after)
    return after != -1


@inlined
def recall_offers(source, head, row, at, work, count):
    """Write the deliveries that a channel's list offers; return as `recall_own`."""
    memo, out, geo = work.memo, work.out, work.tables.geo
    lists, hidden, forgets = memo.lists, ~work.found, geo[g.FORGETS]
    row_words = row_words_of(work.tables)
    src, dst = memo.source_part[source], memo.source_receiver[source]
    sends, takes = field_of(geo, src), field_of(geo, dst)
    sender, receiver, heads = work.composites[src], work.composites[dst], work.heads[dst]
    steps = m.steps_of(memo, heads)
    complete = True
    for k in range(lists[head]):
        entry = m.offer_at(head, k)
        event, about = np.int64(lists[entry + m.OFFER_EVENT]), np.int64(lists[entry + m.OFFER_INFO])
        step = m.recalled(lists, steps, event << 1)
        took = step >> m.TOOK_SHIFT & 1
        after = lists[entry + m.OFFER_UNTAKEN + took]
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        known = step >= 0 and after != -1
        if known and m.parted(work) and took:
            known = record_event(event << 1, dst + 1, work, start)
        if not known:
            now = derive_into(source, k, entry, row, at, work, count)
            steps = m.steps_of(memo, heads)  # a new step may have moved the table
            if now == g.MISSED:
                complete = False
            else:
                count = now
            continue
        # The receiver takes the packet, and the sender's channel loses it: two fields change.
        change_field(out, start, takes, receiver, step & m.STEP_MASK)
        change_field(out, start, sends, sender, after)
        if forgets and took and not forget_elsewhere(memo.items[event], src, dst, work, start):
            complete = False
        # On a duplicating network a packet stays. If nothing else changed, it is no transition.
        if about & 1 and not step & m.MOVED and same_row(row, at, out, start, row_words):
            continue
        shown = memo.shows[step >> m.STEP_BITS & 7] & hidden
        out[start + row_words] = count | about >> 1 << g.KIND_SHIFT | shown << g.SHOWN_SHIFT
        count += 1
    return count if complete else np.int64(g.MISSED)


@inlined
def forget_elsewhere(item, one, other, work, start):
    """Forget an item in all parts of work.out[start:] but two; False if a step is missing."""
    memo, out, geo = work.memo, work.out, work.tables.geo
    complete = True
    for part in range(geo[g.PARTS]):
        if part != one and part != other:
            composite, heads = work.composites[part], work.heads[part]
            after = m.recalled(memo.lists, m.steps_of(memo, heads), item << 1 | 1)
            if after == -1:
                after = forgotten(item, part, composite, work)
                if after != g.MISSED:
                    m.remember(memo, heads, item << 1 | 1, after)
            if after == g.MISSED:
                complete = False
            else:
                change_field(out, start, field_of(geo, part), composite, after)
    return complete


@kernel
def forgotten(item, part, composite, work):
    """Return what remains of a composite when an item is forgotten, or MISSED."""
    tables, loc, misses, control = work.tables, work.loc, work.misses, work.control
    geo = tables.geo
    words = geo[g.WORDS]
    decode_part(part, composite, geo, tables.dec, loc, 0)
    if not forget_by(part, item, loc, geo, tables.table, misses, control):
        return np.int64(g.MISSED)
    slot = seek(tables.cons, words, loc, part * words, part)
    return number_of(loc, part * words, part, slot, geo, tables.cons, misses, control)
