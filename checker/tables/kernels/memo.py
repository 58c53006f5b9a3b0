"""A memo of successors: each effect of a transition on a composite is derived only once.

A transition changes few parts of a state. A send depends on the sender's composite alone. A
delivery depends on the receiver's composite and on an *event*: the channel, the packet, whether the
packet stays there, and the entry of the delivered message in the sender's history. The memo stores:

* for a composite and a source of transitions (see `Memo.heads`), a list. The list of the
  composite's own transitions has the composites that follow. The list of a channel has an *offer*
  per packet: the event, and the sender's composite afterwards;
* for a receiver's composite and an event, a *step*: the receiver's composite that follows. For any
  other actor's composite and a delivered message, the composite that remains when the message is
  forgotten.

A successor is then its parent's row with one to three fields replaced. A successor that the memo
does not have yet is derived from the tables (`successors.derive`) and stored. Each thread has its
own memo, so there are no locks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.tables.kernels.composites import get, seek
from antecede.checker.tables.kernels.entries import find, key_of, look_up, put_entry
from antecede.checker.tables.kernels.fields import change_field, composite_in, field_of
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    AHEAD,
    CHAN_COL,
    CHAN_DST,
    CHAN_SRC,
    FORGETS,
    KNOWS,
    MISSED,
    OVERFLOWED,
    PARTS,
    PENDING,
    PERMUTATIONS,
    POSITION,
    RECEIVE,
    ROW_WORDS,
    STATE,
    TAKE,
    WORDS,
    Memo,
    Missing,
    Tables,
)
from antecede.checker.tables.kernels.histories import forget_by
from antecede.checker.tables.kernels.jit import borrow, inlined, kernel, prefetch
from antecede.checker.tables.kernels.renaming import represent
from antecede.checker.tables.kernels.rows import copy_row, decode, decode_part, number_of, same_row
from antecede.checker.tables.kernels.successors import (
    ALL,
    NOTE_DELIVERED,
    NOTE_HOW,
    NOTE_KIND,
    NOTE_PENDING,
    NOTE_SHOWN,
    NOTE_SUBJECT,
    after_step,
    derive,
    notes_at,
    settle,
    told_by,
    waiting_at,
)


class Work(NamedTuple):
    """The arguments that most functions here share.

    Attributes:
        tables: borrowed.
        memo: borrowed.
        loc: int64, working space; see `successors.room_for`.
        out: the successors, as entries.
        room: the number of entries that `out` has room for, without the last one.
        places: int64; per part, its composite and where its heads begin.
        found: the bit set of properties not to report.
        misses, control: as in `Told`.
    """

    tables: Tables
    memo: Memo
    loc: np.ndarray[Any, Any]
    out: np.ndarray[Any, Any]
    room: int
    places: np.ndarray[Any, Any]
    found: int
    misses: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]


(
    IN_USE,
    MEMO_ROOM,
    HISTORY_ROOM,
    HISTORIES,
    SLOTS,
    LISTED,
    NAMED,
    EVENTS,
    CODES,
    SUCCESSORS,
    DERIVED,
) = range(11)
"""The elements of `Memo.figures`.

IN_USE: whether anything is to be remembered. MEMO_ROOM, HISTORY_ROOM: composites per part that have
heads, if the part is no history, and if it is one. HISTORIES: where the heads of histories begin.
SLOTS: heads per composite that is no history. LISTED: words used in `lists`. NAMED: slots used in
`events`. EVENTS, CODES: the numbers of events and codes. SUCCESSORS: their number. DERIVED: how
many of them were derived from the tables.
"""
FIGURES = 11
STEPS_SLOT, OWN_SLOT, CHANNEL_SLOTS = 0, 1, 2
"""The slots of a composite's steps, of its sends, and of the channels to others; more follow."""
MOMENT_SLOT, HISTORY_SLOTS = 1, 2
"""The slot of a history's moment, and the number of its slots."""
NOTHING_LISTED, NOT_LISTED, NO_ROOM = 1, -3, -4
"""Heads: of an empty list, of one that is not to be remembered, and of one without room for it.

The last one is not kept.
"""
FIRST_LIST = 2
"""Where the lists begin."""
OWN, OFFER, FEWEST_STEPS = 4, 4, 4
"""Words per entry of a list, and the first capacity of a composite's steps."""
MOST_CODES = 8
STEP_BITS = 26
STEP_MASK = (1 << STEP_BITS) - 1
MOVED, UNFIT = 1 << 29, -2
"""A step is the composite that follows, a code of what it shows, and two bits; or UNFIT.

MOVED: something was delivered. Bit 30: the sender's message was pending. UNFIT: the step depends on
more than the receiver and the event.
"""
NO_ITEM, STALE = -1, -2
"""What an event delivers if it delivers nothing, or says too little.

The latter happens if its packet turned out to deliver a message.
"""
MOST_ITEMS = 1 << 28
DELIVERS, MOMENT = 1 << 62, 3 << 61
"""The highest bits of keys of `events` that do not name the receipt of a packet.

DELIVERS: the message that the receipt of a packet delivers. MOMENT: a position and what the actor
knows there.
"""
MOST_MOMENTS = 1 << 22
"""Greater numbers of moments do not fit the keys of steps."""


@inlined
def borrowed_memo(memo):
    """Return the memo with every array borrowed; see `borrow`."""
    return Memo(
        borrow(memo.figures),
        borrow(memo.sources),
        borrow(memo.heads),
        borrow(memo.lists),
        borrow(memo.shows),
        borrow(memo.items),
        borrow(memo.events),
        memo.parted,
    )


@inlined
def event_key(channel, packet, stays, says):
    """Return the key of an event in `events`; `says` is 0 if its packet delivers no message."""
    return says << 34 | stays << 33 | channel << 25 | packet


@inlined
def named(memo, key, value):
    """Return the value of a key in `events`; a new key gets `value`, or -1 without room."""
    there = find(memo.events, key)
    if there != -1 or value == -1 or 3 * memo.figures[NAMED] >= memo.events.shape[0]:
        return there
    put_entry(memo.events, key, value)
    memo.figures[NAMED] += 1
    return value


@inlined
def numbered(memo, key, item):
    """Return the number of an event, or -1 without room; a new event delivers `item`."""
    new = memo.figures[EVENTS]
    event = np.int64(-1)
    if new < memo.items.shape[0]:
        event = named(memo, key, new)
    if event == new:
        memo.figures[EVENTS] = new + 1
        memo.items[event] = item
    return event


@inlined
def coded(memo, shown):
    """Return the code of a bit set of properties, or -1 if there are too many."""
    for code in range(memo.figures[CODES]):
        if memo.shows[code] == shown:
            return np.int64(code)
    code = memo.figures[CODES]
    if code == MOST_CODES:
        return np.int64(-1)
    memo.shows[code] = shown
    memo.figures[CODES] = code + 1
    return code


@inlined
def heads_of(memo, part, composite, room, slots):
    """Return where the heads of a part's composite begin, or -1 if there is no room for them.

    Args:
        room, slots: memo.figures[MEMO_ROOM] and memo.figures[SLOTS].
    """
    first, owner = np.int64(0), part
    if memo.parted is not None:
        owner = part // 2
        if part % 2:
            first, room = memo.figures[HISTORIES], memo.figures[HISTORY_ROOM]
            slots = np.int64(HISTORY_SLOTS)
    if composite >= room:
        return np.int64(-1)
    return first + (owner * room + composite) * slots


@inlined
def steps_of(memo, heads):
    """Return where the table of a composite's steps begins in `lists`, or 0."""
    return np.int64(memo.heads[heads]) if heads >= 0 else np.int64(0)


@inlined
def slot_of_step(key):
    """Return where the search for a step begins: events are low numbers, and items high ones."""
    return key >> 1 ^ -(key & 1)


@inlined
def recalled(lists, first, key):
    """Return the step of the table at lists[first:], or -1 if it is not known."""
    if first == 0:
        return np.int64(-1)
    mask = np.int64(lists[first]) - 1
    slot = slot_of_step(key) & mask
    while True:
        there = lists[first + 2 + 2 * slot]
        if there == key:
            return np.int64(lists[first + 3 + 2 * slot])
        if there == -1:
            return np.int64(-1)
        slot = (slot + 1) & mask


@inlined
def put_step(lists, first, key, value):
    """Put a step into a table of a composite that has room for it."""
    mask = np.int64(lists[first]) - 1
    slot = slot_of_step(key) & mask
    while lists[first + 2 + 2 * slot] != -1 and lists[first + 2 + 2 * slot] != key:
        slot = (slot + 1) & mask
    lists[first + 1] += lists[first + 2 + 2 * slot] == -1
    lists[first + 2 + 2 * slot], lists[first + 3 + 2 * slot] = key, value


@inlined
def remember(memo, heads, key, value):
    """Put a step of a composite into its table, which is replaced by a larger one if needed."""
    if heads < 0:
        return
    lists, first = memo.lists, np.int64(memo.heads[heads])
    capacity = np.int64(lists[first]) if first > 0 else np.int64(0)
    if first <= 0 or 4 * lists[first + 1] >= 3 * capacity:
        larger = 2 * capacity if capacity else np.int64(FEWEST_STEPS)
        begin = memo.figures[LISTED]
        if begin + 2 + 2 * larger > lists.shape[0]:
            return
        lists[begin], lists[begin + 1] = larger, 0
        for k in range(2 * larger):
            lists[begin + 2 + k] = -1
        for k in range(capacity):
            if lists[first + 2 + 2 * k] != -1:
                put_step(lists, begin, np.int64(lists[first + 2 + 2 * k]), lists[first + 3 + 2 * k])
        memo.figures[LISTED] = begin + 2 + 2 * larger
        memo.heads[heads] = begin
        first = begin
    put_step(lists, first, key, value)


@inlined
def prefetch_memo(memo, rows, at, geo):
    """Prefetch what `recall` will read for a later row: its heads, and nearer ones' lists."""
    room, slots = memo.figures[MEMO_ROOM], memo.figures[SLOTS]
    later, nearer = at + AHEAD * geo[ROW_WORDS], at + AHEAD // 2 * geo[ROW_WORDS]
    for part in range(geo[PARTS]):
        field = field_of(geo, part)
        prefetch(memo.heads, heads_of(memo, part, composite_in(rows, later, field), room, slots))
        heads = heads_of(memo, part, composite_in(rows, nearer, field), room, slots)
        if heads >= 0 and memo.parted is not None and part % 2:
            prefetch(memo.lists, memo.heads[heads])
        elif heads >= 0:
            for slot in range(slots):
                prefetch(memo.lists, memo.heads[heads + slot])


@inlined
def recall(row, at, work):
    """Do the same as `successors`, from memory where possible."""
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    stride = geo[ROW_WORDS] + 1
    room, slots = memo.figures[MEMO_ROOM], memo.figures[SLOTS]
    for part in range(geo[PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        work.places[2 * part] = composite
        work.places[2 * part + 1] = heads_of(memo, part, composite, room, slots)
    count = np.int64(0)
    complete = True
    for source in range(memo.sources.shape[0] // 3):
        part, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
        head = head_of(source, work)
        if head == NOTHING_LISTED:
            continue
        if head == 0:
            head = learn_list(source, row, at, work, count * stride)
            if head == NOTHING_LISTED:
                continue
        now = np.int64(MISSED)
        if head <= NOT_LISTED:
            now = derive_into(source, ALL, 0, row, at, work, count)
        elif head > 0 and count + memo.lists[head] > work.room:
            now = np.int64(OVERFLOWED)
        elif head > 0 and dst >= 0:
            now = recall_offers(source, head, row, at, work, count)
        elif head > 0:
            now = recall_own(source, head, row, at, work, count)
        if now == OVERFLOWED:
            return now
        if now == MISSED:
            complete = False
        else:
            count = now
    if not complete:
        return np.int64(MISSED)
    memo.figures[SUCCESSORS] += count
    if geo[PERMUTATIONS]:
        base = 2 * geo[ACTORS] * geo[WORDS]
        for k in range(count):
            represent(out, k * stride, geo, work.tables.renamings, loc, base)
    return count


@inlined
def parted(work):
    """Return whether the part after an actor's first one is its history; known to the compiler."""
    return work.memo.parted is not None


@inlined
def head_of(source, work):
    """Return the head of a source's list, or 0 if it is not known."""
    memo = work.memo
    part = memo.sources[3 * source]
    heads = work.places[2 * part + 1]
    if heads < 0:
        return np.int64(NOT_LISTED)
    if not parted(work) or memo.sources[3 * source + 2] >= 0:
        return np.int64(memo.heads[heads + memo.sources[3 * source + 1]])
    key = own_key(source, work)
    if key < 0:
        return np.int64(NOT_LISTED)
    head = recalled(memo.lists, steps_of(memo, heads), key)
    return head if head != -1 else np.int64(0)


@inlined
def own_key(source, work):
    """Return under which key the first part of an actor has its own list at a moment, or -1."""
    memo = work.memo
    part, slot = memo.sources[3 * source], memo.sources[3 * source + 1]
    heads = work.places[2 * part + 3]
    moment = np.int64(memo.heads[heads + MOMENT_SLOT]) if heads >= 0 else np.int64(-1)
    if moment == 0:
        moment = learn_moment(part + 1, heads, work)
    return (moment * memo.figures[SLOTS] + slot) << 1 | 1 if moment > 0 else np.int64(-1)


@kernel
def learn_moment(history, heads, work):
    """Return 1 + the number of a history's moment, or -1 without room; remember it."""
    memo, loc, geo = work.memo, work.loc, work.tables.geo
    decode_part(history, work.places[2 * history], geo, work.tables.dec, loc, 0)
    moment = moment_at(0, history // 2, work) + 1
    if moment == 0 or moment >= MOST_MOMENTS:
        return np.int64(-1)
    memo.heads[heads + MOMENT_SLOT] = moment
    return moment


@inlined
def moment_at(base, actor, work):
    """Return the number of the moment of an actor with its local words in loc[base:], or -1."""
    loc, geo = work.loc, work.tables.geo
    position, knows = get(loc, base, geo, actor, POSITION), get(loc, base, geo, actor, KNOWS)
    return numbered(work.memo, MOMENT | position << 25 | knows, NO_ITEM)


@inlined
def recall_own(source, head, row, at, work, first):
    """Write the transitions in a composite's own list.

    Args:
        first: the number of successors so far.

    Returns:
        The number of successors then, MISSED, or OVERFLOWED.
    """
    memo, out, geo = work.memo, work.out, work.tables.geo
    lists, hidden, forgets = memo.lists, ~work.found, geo[FORGETS]
    part = memo.sources[3 * source]
    row_words, field, before = geo[ROW_WORDS], field_of(geo, part), work.places[2 * part]
    complete = True
    count = first
    for k in range(lists[head]):
        entry = head + 1 + OWN * k
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        change_field(out, start, field, before, lists[entry])
        item = np.int64(lists[entry + 2]) - 1
        if forgets and item >= 0 and not forget_elsewhere(item, part, part, work, start):
            complete = False
        event = np.int64(lists[entry + 3]) - 1
        if parted(work) and event >= 0 and not record_event(event << 1 | 1, part + 1, work, start):
            return derive_into(source, ALL, head, row, at, work, first)
        info = np.int64(lists[entry + 1])
        shown = memo.shows[info >> 15] & hidden
        out[start + row_words] = count | (info & 0x7FFF) << 16 | shown << 32
        count += 1
    return count if complete else np.int64(MISSED)


@inlined
def record_event(key, history, work, start):
    """Replace a history in out[start:] by the one after an event; return False if not known."""
    composite, heads = work.places[2 * history], work.places[2 * history + 1]
    after = recalled(work.memo.lists, steps_of(work.memo, heads), key)
    if after != -1:
        change_field(work.out, start, field_of(work.tables.geo, history), composite, after)
    return after != -1


@inlined
def recall_offers(source, head, row, at, work, count):
    """Write the deliveries that a channel's list offers; return as `recall_own`."""
    memo, out, geo, places = work.memo, work.out, work.tables.geo, work.places
    lists, hidden, forgets = memo.lists, ~work.found, geo[FORGETS]
    row_words = geo[ROW_WORDS]
    src, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
    sends, takes = field_of(geo, src), field_of(geo, dst)
    sender, receiver, heads = places[2 * src], places[2 * dst], places[2 * dst + 1]
    steps = steps_of(memo, heads)
    complete = True
    for k in range(lists[head]):
        entry = head + 1 + OFFER * k
        event, about = np.int64(lists[entry]), np.int64(lists[entry + 3])
        step = recalled(lists, steps, event << 1)
        took = step >> 30 & 1
        after = lists[entry + 1 + took]
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        known = step >= 0 and after != -1
        if known and parted(work) and took:
            known = record_event(event << 1, dst + 1, work, start)
        if not known:
            now = derive_into(source, k, entry, row, at, work, count)
            steps = steps_of(memo, heads)
            if now == MISSED:
                complete = False
            else:
                count = now
            continue
        change_field(out, start, takes, receiver, step & STEP_MASK)
        change_field(out, start, sends, sender, after)
        if forgets and took and not forget_elsewhere(memo.items[event], src, dst, work, start):
            complete = False
        if about & 1 and not step & MOVED and same_row(row, at, out, start, row_words):
            continue
        shown = memo.shows[step >> STEP_BITS & 7] & hidden
        out[start + row_words] = count | about >> 1 << 16 | shown << 32
        count += 1
    return count if complete else np.int64(MISSED)


@inlined
def forget_elsewhere(item, one, other, work, start):
    """Forget a delivered item in all parts of out[start:] but two; return False if one is missing.

    Args:
        item: what `memo` calls the message and its receiver.
        one, other: the parts that are done.
    """
    memo, out, geo = work.memo, work.out, work.tables.geo
    complete = True
    for part in range(geo[PARTS]):
        if part != one and part != other:
            composite, heads = work.places[2 * part], work.places[2 * part + 1]
            after = recalled(memo.lists, steps_of(memo, heads), item << 1 | 1)
            if after == -1:
                after = forgotten(item, part, composite, work)
                if after != MISSED:
                    remember(memo, heads, item << 1 | 1, after)
            if after == MISSED:
                complete = False
            else:
                change_field(out, start, field_of(geo, part), composite, after)
    return complete


@kernel
def forgotten(item, part, composite, work):
    """Return what remains of a composite when an item is forgotten, or MISSED."""
    tables, loc, misses, control = work.tables, work.loc, work.misses, work.control
    geo = tables.geo
    words = geo[WORDS]
    decode_part(part, composite, geo, tables.dec, loc, 0)
    if not forget_by(part, item, loc, geo, tables.table, misses, control):
        return np.int64(MISSED)
    slot = seek(tables.cons, words, loc, part * words, part)
    return number_of(loc, part * words, part, slot, geo, tables.cons, misses, control)


@kernel
def derive_into(source, only, entry, row, at, work, count):
    """Derive successors of one source, write them to `out`, and remember steps.

    Args:
        only: which of the source's transitions, or ALL.
        entry: where the offer is listed, if it is only one. Otherwise the head of the list with the
            events of which the history's steps are to be remembered, or 0.

    Returns:
        The number of successors so far, MISSED, or OVERFLOWED.
    """
    tables, memo, loc, out = work.tables, work.memo, work.loc, work.out
    geo, missing = tables.geo, Missing(work.misses, work.control)
    stride = geo[ROW_WORDS] + 1
    size = geo[ACTORS] * geo[WORDS]
    decode(row, at, geo, tables.dec, loc, size)
    waiting = derive(source, only, 0, np.int64(0), tables, loc, work.misses, work.control)
    if waiting == MISSED:
        return np.int64(MISSED)
    if count + waiting > work.room:
        return np.int64(OVERFLOWED)
    complete = True
    first = count
    for k in range(waiting):
        start = count * stride
        done = settle(k, row, at, tables, loc, out, start, missing)
        if done == MISSED:
            complete = False
            continue
        if only != ALL:
            learn_step(source, entry, notes_at(geo, k), work, start)
        elif entry and done and complete:
            event = np.int64(memo.lists[entry + 1 + OWN * (count - first) + 3]) - 1
            learn_record(event << 1 | 1, memo.sources[3 * source] + 1, work, start)
        if done:
            out[start + stride - 1] = count | told_by(loc, geo, k, work.found)
            count += 1
    memo.figures[DERIVED] += waiting if complete else 0
    return count if complete else np.int64(MISSED)


@inlined
def learn_record(key, history, work, start):
    """Remember the history in out[start:], which follows an event; nothing if the key is negative.

    Returns:
        Whether it has a number that a step has room for.
    """
    after = composite_in(work.out, start, field_of(work.tables.geo, history))
    if key >= 0 and after <= STEP_MASK:
        remember(work.memo, work.places[2 * history + 1], key, after)
    return after <= STEP_MASK


@inlined
def learn_step(source, entry, notes, work, start):
    """Remember the receipt of a listed offer, whose successor is out[start:].

    Args:
        entry: where the offer is listed.
        notes: loc[notes:] has the notes of `derive`.
    """
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    src, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
    event = np.int64(memo.lists[entry])
    delivered, took = loc[notes + NOTE_DELIVERED], loc[notes + NOTE_PENDING]
    item = memo.items[event]
    if item == STALE:
        memo.heads[work.places[2 * src + 1] + memo.sources[3 * source + 1]] = 0
        return
    if delivered >= 0 and item == NO_ITEM:
        learn_delivery(source - geo[ACTORS], loc[notes + NOTE_SUBJECT], delivered, event, memo)
        return
    step = np.int64(UNFIT)
    composite = composite_in(out, start, field_of(geo, dst))
    actor = geo[CHAN_DST + source - geo[ACTORS]]
    fits = delivered == -1 or (delivered >= 0 and item == delivered * geo[ACTORS] + actor)
    if parted(work):
        if loc[notes + NOTE_SHOWN]:
            return
        if took and fits:
            fits = learn_record(event << 1, dst + 1, work, start)
    code = coded(memo, loc[notes + NOTE_SHOWN])
    if fits and code >= 0 and composite <= STEP_MASK:
        step = composite | code << STEP_BITS | took << 30
        if loc[notes + NOTE_HOW] & 2:
            step |= MOVED
        memo.lists[entry + 1 + took] = composite_in(out, start, field_of(geo, src))
    remember(memo, work.places[2 * dst + 1], event << 1, step)


@inlined
def learn_delivery(channel, packet, message, event, memo):
    """Remember that the receipt of a packet delivers a message; an event that does not is stale."""
    if named(memo, DELIVERS | channel << 25 | packet, message) == message:
        memo.items[event] = STALE


@kernel
def learn_list(source, row, at, work, start):
    """List the transitions of a composite that one source has, and return the list's head.

    Args:
        start: work.out[start:] has room for one entry.

    Returns:
        The head, NOTHING_LISTED, NOT_LISTED, NO_ROOM, or MISSED.
    """
    memo, geo = work.memo, work.tables.geo
    decode(row, at, geo, work.tables.dec, work.loc, geo[ACTORS] * geo[WORDS])
    heads = work.places[2 * memo.sources[3 * source] + 1]
    if memo.sources[3 * source + 2] >= 0:
        head = list_offers(source, work)
    else:
        head = list_own(source, row, at, work, start)
    if head > 0 or head == NOT_LISTED:
        if memo.sources[3 * source + 2] >= 0 or not parted(work):
            memo.heads[heads + memo.sources[3 * source + 1]] = head
        else:
            remember(memo, heads, own_key(source, work), head)
    return head


@inlined
def room_to_list(memo, words):
    """Return where a list of some words begins, or NO_ROOM."""
    begin = memo.figures[LISTED]
    if begin + words > memo.lists.shape[0]:
        return np.int64(NO_ROOM)
    memo.figures[LISTED] = begin + words
    return begin


@inlined
def list_own(source, row, at, work, start):
    """List transitions that concern one composite alone; return as `learn_list`."""
    tables, memo, loc, out = work.tables, work.memo, work.loc, work.out
    geo, missing = tables.geo, Missing(work.misses, work.control)
    part = memo.sources[3 * source]
    waiting = derive(source, ALL, 0, np.int64(0), tables, loc, work.misses, work.control)
    if waiting == MISSED:
        return np.int64(MISSED)
    head = room_to_list(memo, 1 + OWN * waiting)
    if head == NO_ROOM:
        return head
    listed = np.int64(0)
    for k in range(waiting):
        done = settle(k, row, at, tables, loc, out, start, missing)
        if done == MISSED:
            memo.figures[LISTED] = head
            return np.int64(MISSED)
        notes = notes_at(geo, k)
        code, delivered = coded(memo, loc[notes + NOTE_SHOWN]), loc[notes + NOTE_DELIVERED]
        event = event_of_own(source, k, work, start)
        if delivered == -2 or code < 0 or event == -1:
            memo.figures[LISTED] = head
            return np.int64(NOT_LISTED)
        if done:
            entry = head + 1 + OWN * listed
            memo.lists[entry] = composite_in(out, start, field_of(geo, part))
            memo.lists[entry + 1] = loc[notes + NOTE_KIND] >> 16 | code << 15
            taken = 1 + delivered * geo[ACTORS] + part
            memo.lists[entry + 2] = taken if loc[notes + NOTE_PENDING] else 0
            memo.lists[entry + 3] = event
            listed += 1
    memo.figures[DERIVED] += listed
    memo.lists[head] = listed
    memo.figures[LISTED] = head + 1 + OWN * listed
    if listed == 0:
        memo.figures[LISTED] = head
        return np.int64(NOTHING_LISTED)
    return head


@inlined
def event_of_own(source, k, work, start):
    """Return 1 + the event in the history of waiting successor k, which is out[start:].

    The event of a send is the moment to which it leads, because the moment determines the record.

    Returns:
        0 if its history stays, and -1 if the transition is not to be listed.
    """
    geo, part = work.tables.geo, work.memo.sources[3 * source]
    if not parted(work):
        return np.int64(0)
    after = composite_in(work.out, start, field_of(geo, part + 1))
    if after == work.places[2 * part + 2]:
        return np.int64(0)
    moment = moment_at(waiting_at(geo, k), part // 2, work)
    return moment + 1 if source < geo[ACTORS] and moment >= 0 else np.int64(-1)


@inlined
def list_offers(source, work):
    """List the packets that a channel of a composite offers; return as `learn_list`."""
    tables, memo, loc = work.tables, work.memo, work.loc
    geo, code = tables.geo, tables.code
    channel = source - geo[ACTORS]
    src, dst = geo[CHAN_SRC + channel], geo[CHAN_DST + channel]
    size = geo[ACTORS] * geo[WORDS]
    content = get(loc, size, geo, src, geo[CHAN_COL + channel])
    if content == 0:
        return np.int64(NOTHING_LISTED)
    state = get(loc, size, geo, dst, STATE)
    key = key_of(RECEIVE, channel, state, content)
    spot = look_up(tables.table, key, work.misses, work.control)
    if spot == -1:
        return np.int64(MISSED)
    offers = code[spot]
    spot += 1
    head = room_to_list(memo, 1 + OFFER * offers)
    if head == NO_ROOM:
        return head
    memo.lists[head] = offers
    for k in range(offers):
        pending = get(loc, size, geo, src, PENDING)
        event = event_of(spot, channel, dst, pending, content, work)
        if event < 0:
            memo.figures[LISTED] = head
            return event
        entry = head + 1 + OFFER * k
        memo.lists[entry], memo.lists[entry + 1], memo.lists[entry + 2] = event, -1, -1
        stays = code[spot + 3] == content
        memo.lists[entry + 3] = code[spot + 2] << 1 | stays
        spot = after_step(code, spot)
    return head


@inlined
def event_of(spot, channel, dst, pending, content, work):
    """Return the event of the receipt at code[spot:], NO_ROOM, or MISSED."""
    tables, memo, code = work.tables, work.memo, work.tables.code
    packet = code[spot + 4]
    message = named(memo, DELIVERS | channel << 25 | packet, -1)
    says, item = np.int64(0), np.int64(NO_ITEM)
    if message >= 0:
        item = message * tables.geo[ACTORS] + dst
        src = tables.geo[CHAN_SRC + channel]
        key = key_of(TAKE, src, pending, item)
        taken = look_up(tables.table, key, work.misses, work.control)
        if taken == -1:
            return np.int64(MISSED)
        says = 1 + (taken >> 28 & 0x1FFFFFF | (taken >> 56 & 3) << 25)
    stays = np.int64(code[spot + 3] == content)
    if item >= MOST_ITEMS:
        return np.int64(NO_ROOM)
    event = numbered(memo, event_key(channel, packet, stays, says), item)
    return event if event >= 0 else np.int64(NO_ROOM)


_FEW = np.zeros(FIGURES, np.int64)
_NONE = np.zeros(1, np.int32)
NO_MEMO = Memo(_FEW, _FEW, _NONE, _NONE, _FEW, _FEW, _FEW, None)
"""A memo that remembers nothing, so that every successor is derived."""
