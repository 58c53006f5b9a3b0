"""What a memo does not know yet: transitions that are derived from the tables, and stored.

A list or a step is learnt when it is first needed. The functions here call `derive_kernels` and
store the composites that result.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get
from antecede.checker.engine.rows.entries_kernels import key_of, look_up
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.rows_kernels import decode
from antecede.checker.engine.successors import derive_kernels as d
from antecede.checker.engine.successors import memo_kernels as m


@kernel
def derive_into(source, only, entry, row, at, work, count):
    """Derive successors that the memo lacks, append them to work.out, and store their changes.

    Args:
        only: the index of one transition of the source, or ALL (-1).
        entry: if `only` is an index, where work.memo.lists has the entry of the received packet.
            Otherwise the place of the source's list there, of which only the changes of histories
            are stored; or 0: nothing is stored.
        count: the number of successors in work.out so far.

    Returns:
        The number of successors afterwards, MISSED or OVERFLOWED.
    """
    tables, memo, loc, out = work.tables, work.memo, work.loc, work.out
    geo, missing = tables.geo, g.Missing(work.misses, work.control)
    stride = geo[g.ROW_WORDS] + 1
    size = geo[g.ACTORS] * geo[g.WORDS]
    # The tables know columns, and the row has composites. So all of the row is decoded: a receipt
    # changes columns of two actors, and a delivery may be forgotten by all.
    decode(row, at, geo, tables.dec, loc, size)
    waiting = d.derive(source, only, 0, np.int64(0), tables, loc, work.misses, work.control)
    if waiting == g.MISSED:
        return np.int64(g.MISSED)
    if count + waiting > work.room:
        return np.int64(g.OVERFLOWED)
    complete = True
    first = count
    for k in range(waiting):
        start = count * stride
        done = d.settle(k, row, at, tables, loc, out, start, missing)
        if done == g.MISSED:
            complete = False
            continue
        # A single derived offer lacks its step; a whole list lacks what becomes of the history.
        if only != d.ALL:
            learn_step(source, entry, d.notes_at(geo, k), work, start)
        elif entry and done and complete:
            listed = m.own_at(entry, count - first)
            event = np.int64(memo.lists[listed + m.OWN_EVENT]) - 1
            learn_record(event << 1 | 1, memo.source_part[source] + 1, work, start)
        if done:
            out[start + stride - 1] = count | d.told_by(loc, geo, k, work.found)
            count += 1
    memo.figures[m.DERIVED] += waiting if complete else 0
    return count if complete else np.int64(g.MISSED)


@inlined
def learn_record(key, history, work, start):
    """Store the history that follows in the row work.out[start:]; false if its number is too large.

    Args:
        key: as for `recalled`; negative: the history is unchanged, and nothing is stored.
        history: the index of the history's part.
    """
    after = composite_in(work.out, start, field_of(work.tables.geo, history))
    if key >= 0 and after <= m.STEP_MASK:
        m.remember(work.memo, work.heads[history], key, after)
    return after <= m.STEP_MASK


@inlined
def learn_step(source, entry, notes, work, start):
    """Remember the receipt of the offer at lists[entry:], whose successor is work.out[start:].

    The notes of `derive` about it are loc[notes:].
    """
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    src, dst = memo.source_part[source], memo.source_receiver[source]
    event = np.int64(memo.lists[entry + m.OFFER_EVENT])
    delivered, took = loc[notes + d.NOTE_DELIVERED], loc[notes + d.NOTE_PENDING]
    item = memo.items[event]
    if item == m.STALE:  # the list was made before the packet was known to deliver: make it again
        memo.heads[work.heads[src] + memo.source_slot[source]] = 0
        return
    if delivered >= 0 and item == m.NO_ITEM:
        learn_delivery(source - geo[g.ACTORS], loc[notes + d.NOTE_SUBJECT], delivered, event, memo)
        return
    # Until shown otherwise, the step depends on more than the receiver and the event.
    step = np.int64(m.UNFIT)
    composite = composite_in(out, start, field_of(geo, dst))
    actor = geo[g.CHAN_DST + source - geo[g.ACTORS]]
    fits = delivered == -1 or (delivered >= 0 and item == delivered * geo[g.ACTORS] + actor)
    if m.parted(work):
        # What a receipt shows depends on the history, which a step of the state does not know.
        if loc[notes + d.NOTE_SHOWN]:
            return
        if took and fits:
            fits = learn_record(event << 1, dst + 1, work, start)
    code = m.coded(memo, loc[notes + d.NOTE_SHOWN])
    if fits and code >= 0 and composite <= m.STEP_MASK:
        step = composite | code << m.STEP_BITS | took << m.TOOK_SHIFT
        if loc[notes + d.NOTE_HOW] & 2:
            step |= m.MOVED
        memo.lists[entry + m.OFFER_UNTAKEN + took] = composite_in(out, start, field_of(geo, src))
    m.remember(memo, work.heads[dst], event << 1, step)


@inlined
def learn_delivery(channel, packet, message, event, memo):
    """Remember that the receipt of a packet delivers a message; an event that does not is stale."""
    if m.named(memo, m.DELIVERS | channel << g.NUMBER_BITS | packet, message) == message:
        memo.items[event] = m.STALE


@kernel
def learn_list(source, row, at, work, start):
    """Make the memo's list of the transitions that one source offers, and return the list's place.

    They depend on one composite, so all states with it use the list. The memo must have heads for
    it. One entry at work.out[start:] may be overwritten.

    Returns:
        The place in work.memo.lists, which is greater than 1; NOTHING_LISTED (1): the source has no
        transition; NOT_LISTED (-3): derive them in each state, for example because one delivers
        several messages; NO_ROOM (-4): the memo is full, so derive them and try again later; or
        MISSED.
    """
    memo, geo = work.memo, work.tables.geo
    decode(row, at, geo, work.tables.dec, work.loc, geo[g.ACTORS] * geo[g.WORDS])
    heads = work.heads[memo.source_part[source]]
    if memo.source_receiver[source] >= 0:
        head = list_offers(source, work)
    else:
        head = list_own(source, row, at, work, start)
    if head > 0 or head == m.NOT_LISTED:
        if memo.source_receiver[source] >= 0 or not m.parted(work):
            memo.heads[heads + memo.source_slot[source]] = head
        else:
            m.remember(memo, heads, m.own_key(source, work), head)
    return head


@inlined
def room_to_list(memo, words):
    """Return where a list of some words begins, or NO_ROOM."""
    begin = memo.figures[m.LISTED]
    if begin + words > memo.lists.shape[0]:
        return np.int64(m.NO_ROOM)
    memo.figures[m.LISTED] = begin + words
    return begin


@inlined
def list_own(source, row, at, work, start):
    """List transitions that concern one composite alone; return as `learn_list`."""
    tables, memo, loc, out = work.tables, work.memo, work.loc, work.out
    geo, missing = tables.geo, g.Missing(work.misses, work.control)
    part = memo.source_part[source]
    waiting = d.derive(source, d.ALL, 0, np.int64(0), tables, loc, work.misses, work.control)
    if waiting == g.MISSED:
        return np.int64(g.MISSED)
    head = room_to_list(memo, m.own_at(0, waiting))
    if head == m.NO_ROOM:
        return head
    listed = np.int64(0)
    for k in range(waiting):
        done = d.settle(k, row, at, tables, loc, out, start, missing)
        if done == g.MISSED:
            memo.figures[m.LISTED] = head
            return np.int64(g.MISSED)
        notes = d.notes_at(geo, k)
        code, delivered = m.coded(memo, loc[notes + d.NOTE_SHOWN]), loc[notes + d.NOTE_DELIVERED]
        event = event_of_own(source, k, work, start)
        # Such transitions depend on more than this composite, or there is no room to note them.
        if delivered == d.SEVERAL or code < 0 or event == -1:
            memo.figures[m.LISTED] = head
            return np.int64(m.NOT_LISTED)
        if done:
            entry = m.own_at(head, listed)
            memo.lists[entry + m.OWN_AFTER] = composite_in(out, start, field_of(geo, part))
            memo.lists[entry + m.OWN_INFO] = (
                loc[notes + d.NOTE_KIND] >> g.KIND_SHIFT | code << g.KIND_BITS
            )
            taken = 1 + delivered * geo[g.ACTORS] + part
            memo.lists[entry + m.OWN_ITEM] = taken if loc[notes + d.NOTE_PENDING] else 0
            memo.lists[entry + m.OWN_EVENT] = event
            listed += 1
    memo.figures[m.DERIVED] += listed
    # Transitions that change nothing were not listed, so give back the room that they would take.
    memo.lists[head] = listed
    memo.figures[m.LISTED] = m.own_at(head, listed)
    if listed == 0:
        memo.figures[m.LISTED] = head
        return np.int64(m.NOTHING_LISTED)
    return head


@inlined
def event_of_own(source, k, work, start):
    """Return 1 + the event in the history of waiting successor k, which is work.out[start:].

    0 if the history stays, and -1 if the transition cannot be listed. The event of a send is the
    moment to which it leads, because the moment determines the record.
    """
    geo, part = work.tables.geo, work.memo.source_part[source]
    if not m.parted(work):
        return np.int64(0)
    after = composite_in(work.out, start, field_of(geo, part + 1))
    if after == work.composites[part + 1]:
        return np.int64(0)
    moment = m.moment_at(d.waiting_at(geo, k), part // 2, work)
    return moment + 1 if source < geo[g.ACTORS] and moment >= 0 else np.int64(-1)


@inlined
def list_offers(source, work):
    """List the packets that a channel of a composite offers; return as `learn_list`.

    They are offered to their receiver, or to the actor that counts lost packets.
    """
    tables, memo, loc = work.tables, work.memo, work.loc
    geo, code = tables.geo, tables.code
    kind, dst, src, column, channel = d.source_of(source, geo)
    size = geo[g.ACTORS] * geo[g.WORDS]
    content = get(loc, size, geo, src, column)
    if content == 0:
        return np.int64(m.NOTHING_LISTED)
    state = get(loc, size, geo, dst, g.STATE) if kind == g.RECEIVE else np.int64(0)
    key = key_of(kind, channel, state, content)
    spot = look_up(tables.table, key, work.misses, work.control)
    if spot == -1:
        return np.int64(g.MISSED)
    offers = code[spot]
    spot += 1
    head = room_to_list(memo, m.offer_at(0, offers))
    if head == m.NO_ROOM:
        return head
    memo.lists[head] = offers
    # An offer is listed without its effect on the receiver, because many receivers share the list.
    for k in range(offers):
        pending = get(loc, size, geo, src, g.PENDING)
        if kind == g.LOSE:
            event = number_of_event(memo, m.LOST, m.NO_ITEM)
        else:
            event = event_of(spot, channel, dst, pending, content, work)
        if event < 0:
            memo.figures[m.LISTED] = head
            return event
        entry = m.offer_at(head, k)
        memo.lists[entry + m.OFFER_EVENT] = event
        memo.lists[entry + m.OFFER_UNTAKEN] = memo.lists[entry + m.OFFER_TAKEN] = -1
        stays = kind == g.RECEIVE and code[spot + g.EFFECT_CONTENT] == content
        memo.lists[entry + m.OFFER_INFO] = code[spot + g.EFFECT_KIND] << 1 | stays
        spot = d.after_step(code, spot)
    return head


@inlined
def number_of_event(memo, key, item):
    """Return the number of an event that delivers `item`, or NO_ROOM."""
    event = m.numbered(memo, key, item)
    return event if event >= 0 else np.int64(m.NO_ROOM)


@inlined
def event_of(spot, channel, dst, pending, content, work):
    """Return the event of the receipt at code[spot:], NO_ROOM, or MISSED."""
    tables, memo, code = work.tables, work.memo, work.tables.code
    packet = code[spot + g.EFFECT_SUBJECT]
    message = m.named(memo, m.DELIVERS | channel << g.NUMBER_BITS | packet, -1)
    says, item = np.int64(0), np.int64(m.NO_ITEM)
    # What the history says about a delivered message comes from its sender's pending messages, and
    # decides what the receiver knows afterwards. So it is part of the event.
    if message >= 0:
        item = message * tables.geo[g.ACTORS] + dst
        src = tables.geo[g.CHAN_SRC + channel]
        key = key_of(g.TAKE, src, pending, item)
        taken = look_up(tables.table, key, work.misses, work.control)
        if taken == -1:
            return np.int64(g.MISSED)
        says = 1 + (
            taken >> g.SECOND_SHIFT & g.NUMBER_MASK | (taken >> g.FACT_SHIFT & 3) << g.NUMBER_BITS
        )
    stays = np.int64(code[spot + g.EFFECT_CONTENT] == content)
    if item >= m.MOST_ITEMS:
        return np.int64(m.NO_ROOM)
    return number_of_event(memo, m.event_key(channel, packet, stays, says), item)
