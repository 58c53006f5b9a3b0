"""Successors from memory: what the transitions of one composite do is derived only once.

A transition changes few parts of a state. A send depends on the sender's composite alone. A
delivery depends on the receiver's composite and on an *event*: the channel, the packet, whether it
stays there, and what the sender's history says of the delivered message. So two kinds of things are
remembered:

* for a composite and a source of transitions (see `Memo.heads`), a list. The list of the
  composite's own transitions has the composites that follow. The list of a channel has an *offer*
  per packet: the event, and the sender's composite afterwards;
* for a receiver's composite and an event, a *step*: the receiver's composite that follows. For any
  other actor's composite and a delivered message, the composite that remains when the message is
  forgotten.

A successor is then its parent's row with one to three fields replaced. Whatever is not remembered
is derived from the tables (`successors.derive`) and remembered for the next time. Each thread has a
memo of its own, so there are no locks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.tables.kernels.composites import (
    get,
    seek,
)
from antecede.checker.tables.kernels.entries import (
    key_of,
    look_up,
)
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    AHEAD,
    CHAN_COL,
    CHAN_DST,
    CHAN_SRC,
    DEC_STRIDE,
    FORGETS,
    MISSED,
    OVERFLOWED,
    PARTS,
    PENDING,
    PERMUTATIONS,
    RECEIVE,
    ROW_WORDS,
    STATE,
    TAKE,
    WORDS,
    Memo,
    Missing,
    Tables,
)
from antecede.checker.tables.kernels.hashing import (
    mix,
)
from antecede.checker.tables.kernels.histories import (
    forget_by,
)
from antecede.checker.tables.kernels.jit import (
    borrow,
    inlined,
    kernel,
    prefetch,
)
from antecede.checker.tables.kernels.renaming import (
    represent,
)
from antecede.checker.tables.kernels.rows import (
    copy_row,
    decode,
    number_of,
    part_in,
    replace_part,
    same_row,
)
from antecede.checker.tables.kernels.successors import (
    ALL,
    WAITING,
    after_step,
    derive,
    settle,
    waiting_from,
)


class Work(NamedTuple):
    """What a thread works with.

    Attributes:
        tables: borrowed.
        memo: borrowed.
        loc: int64, working space; see `successors.room_for`.
        out: the successors, as entries; the last one is not filled.
        found: the bit set of properties not to report.
        misses, control: as in `Told`.
    """

    tables: Tables
    memo: Memo
    loc: np.ndarray[Any, Any]
    out: np.ndarray[Any, Any]
    found: int
    misses: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]


(
    IN_USE,
    MEMO_ROOM,
    SLOTS,
    LISTED,
    NAMED,
    EVENTS,
    CODES,
    RECALLED,
    DERIVED,
) = range(9)
"""The elements of `Memo.figures`.

IN_USE: whether anything is to be remembered. MEMO_ROOM: composites per part that have heads. SLOTS:
heads per composite. LISTED: words used in `lists`. NAMED: slots used in `events`. EVENTS, CODES:
the numbers of events and codes. RECALLED: the number of successors. DERIVED: how many of them were
derived from the tables.
"""
FIGURES = 9
STEPS_SLOT, OWN_SLOT, CHANNEL_SLOTS = 0, 1, 2
"""The slots of a composite's steps, of its sends, and of the channels to others; more follow."""
NOTHING_LISTED, NOT_LISTED, NO_ROOM = 1, -3, -4
"""Heads: of an empty list, of one that is not to be remembered, and of one without room for it.

The last one is not kept.
"""
FIRST_LIST = 2
"""Where the lists begin."""
OWN, OFFER, FEWEST_STEPS = 3, 3, 4
"""Words per entry of a list, and the first capacity of a composite's steps."""
MOST_CODES = 8
STEP_BITS = 26
STEP_MASK = (1 << STEP_BITS) - 1
MOVED, TOOK, UNFIT = 1 << 29, 1 << 30, -2
"""A step is the composite that follows, a code of what it shows, and two bits; or UNFIT.

MOVED: something was delivered. TOOK: the sender's message was pending. UNFIT: the step depends on
more than the receiver and the event.
"""
STALE = -1
"""Stands for an event that says too little, because its packet turned out to deliver a message."""
MOST_ITEMS = 1 << 28
DELIVERS = 1 << 62
"""The bit that tells keys of `events` apart: the message that the receipt of a packet delivers."""


@inlined
def borrowed_memo(memo):
    """Return the memo with every array borrowed; see `borrow`."""
    return Memo(
        borrow(memo.figures),
        borrow(memo.sources),
        borrow(memo.heads),
        borrow(memo.lists),
        borrow(memo.shows),
        borrow(memo.abouts),
        borrow(memo.events),
    )


@inlined
def event_key(channel, packet, stays, says):
    """Return the key of an event in `events`; `says` is 0 if its packet delivers no message."""
    return says << 34 | stays << 33 | channel << 25 | packet


@inlined
def named(memo, key, value):
    """Return the value of a key in `events`; a new key gets `value`, or -1 without room."""
    events, figures = memo.events, memo.figures
    mask = (events.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while events[2 * slot] != -1:
        if events[2 * slot] == key:
            return events[2 * slot + 1]
        slot = (slot + 1) & mask
    if value == -1:
        return np.int64(-1)
    if 3 * figures[NAMED] >= 2 * mask:
        return np.int64(-1)
    events[2 * slot], events[2 * slot + 1] = key, value
    figures[NAMED] += 1
    return value


@kernel
def rehash_events(old, events):
    """Put all keys of a smaller table into an empty one."""
    mask = (events.shape[0] >> 1) - 1
    for k in range(old.shape[0] >> 1):
        if old[2 * k] != -1:
            slot = np.int64(mix(old[2 * k]) >> np.uint64(20)) & mask
            while events[2 * slot] != -1:
                slot = (slot + 1) & mask
            events[2 * slot], events[2 * slot + 1] = old[2 * k], old[2 * k + 1]


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
def heads_of(memo, row, at, geo, part):
    """Return where the heads of a part's composite begin, or -1 if there is no room for them."""
    composite = part_in(row, at, geo, part)
    if composite >= memo.figures[MEMO_ROOM]:
        return np.int64(-1)
    return (part * memo.figures[MEMO_ROOM] + composite) * memo.figures[SLOTS]


@inlined
def recalled(memo, heads, key):
    """Return the step of a composite, or -1 if it is not known."""
    if heads < 0 or memo.heads[heads] == 0:
        return np.int64(-1)
    lists, first = memo.lists, np.int64(memo.heads[heads])
    mask = np.int64(lists[first]) - 1
    slot = key & mask
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
    slot = key & mask
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
    for part in range(geo[PARTS]):
        heads = heads_of(memo, rows, at + AHEAD * geo[ROW_WORDS], geo, part)
        if heads >= 0:
            prefetch(memo.heads, heads)
        heads = heads_of(memo, rows, at + AHEAD // 2 * geo[ROW_WORDS], geo, part)
        if heads >= 0:
            prefetch(memo.lists, max(memo.heads[heads], 0))
            prefetch(memo.lists, max(memo.heads[heads + OWN_SLOT], 0))


@inlined
def recall(row, at, work):
    """Do the same as `successors`, from memory where possible."""
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    stride = geo[ROW_WORDS] + 1
    room = out.shape[0] // stride - 1
    count = np.int64(0)
    complete = True
    for source in range(memo.sources.shape[0] // 3):
        part, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
        heads = heads_of(memo, row, at, geo, part)
        place = heads + memo.sources[3 * source + 1] if heads >= 0 else np.int64(-1)
        head = np.int64(memo.heads[place]) if place >= 0 else np.int64(NOT_LISTED)
        if head == 0:
            start = count * stride
            head = learn_list(source, place, row, at, work, start)
        if head == NOTHING_LISTED:
            continue
        now = np.int64(MISSED)
        if head <= NOT_LISTED:
            now = derive_into(source, ALL, 0, row, at, work, count)
        elif head > 0 and count + memo.lists[head] > room:
            now = np.int64(OVERFLOWED)
        elif head > 0 and dst >= 0:
            now = recall_offers(source, place, row, at, work, count)
        elif head > 0:
            now = recall_own(head, part, row, at, work, count)
        if now == OVERFLOWED:
            return now
        if now == MISSED:
            complete = False
        else:
            count = now
    if not complete:
        return np.int64(MISSED)
    memo.figures[RECALLED] += count
    if geo[PERMUTATIONS]:
        base = 2 * geo[ACTORS] * geo[WORDS]
        for k in range(count):
            represent(out, k * stride, geo, work.tables.renamings, loc, base)
    return count


@inlined
def recall_own(head, part, row, at, work, count):
    """Write the transitions in a composite's own list; return their number so far, or MISSED."""
    memo, out, geo = work.memo, work.out, work.tables.geo
    lists = memo.lists
    row_words = geo[ROW_WORDS]
    complete = True
    for k in range(lists[head]):
        entry = head + 1 + OWN * k
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        replace_part(out, start, geo, part, lists[entry])
        item = np.int64(lists[entry + 2]) - 1
        if not forget_elsewhere(item, part, part, work, start):
            complete = False
        info = np.int64(lists[entry + 1])
        shown = memo.shows[info >> 15] & ~work.found
        out[start + row_words] = count | (info & 0x7FFF) << 16 | shown << 32
        count += 1
    return count if complete else np.int64(MISSED)


@inlined
def recall_offers(source, place, row, at, work, count):
    """Write the deliveries that a channel's list offers; return as `recall_own`."""
    memo, out, geo = work.memo, work.out, work.tables.geo
    lists = memo.lists
    row_words = geo[ROW_WORDS]
    src, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
    heads = heads_of(memo, row, at, geo, dst)
    head = np.int64(memo.heads[place])
    complete = True
    for k in range(lists[head]):
        entry = head + 1 + OFFER * k
        event = np.int64(lists[entry])
        about = memo.abouts[event]
        step = recalled(memo, heads, event << 1)
        took = step >> 30 & 1
        after = lists[entry + 1 + took]
        if step < 0 or after == -1 or about == STALE:
            now = derive_into(source, k, entry, row, at, work, count)
            if now == MISSED:
                complete = False
            else:
                count = now
            continue
        start = count * (row_words + 1)
        copy_row(row, at, out, start, row_words)
        replace_part(out, start, geo, dst, step & STEP_MASK)
        replace_part(out, start, geo, src, after)
        item = (about >> 16) - 1 if took else np.int64(-1)
        if not forget_elsewhere(item, src, dst, work, start):
            complete = False
        stays = about & 1 and not step & MOVED
        if stays and same_row(row, at, out, start, row_words):
            continue
        shown = memo.shows[step >> STEP_BITS & 7] & ~work.found
        out[start + row_words] = count | (about >> 1 & 0x7FFF) << 16 | shown << 32
        count += 1
    return count if complete else np.int64(MISSED)


@inlined
def forget_elsewhere(item, one, other, work, start):
    """Forget a delivered item in all parts of out[start:] but two; return False if one is missing.

    Args:
        item: what `memo` calls the message and its receiver, or -1: nothing is to be forgotten.
        one, other: the parts that are done.
    """
    memo, out, geo = work.memo, work.out, work.tables.geo
    complete = True
    if geo[FORGETS] and item >= 0:
        for part in range(geo[PARTS]):
            if part != one and part != other:
                heads = heads_of(memo, out, start, geo, part)
                after = recalled(memo, heads, item << 1 | 1)
                if after == -1:
                    composite = part_in(out, start, geo, part)
                    after = forgotten(item, part, composite, work)
                    if after != MISSED:
                        remember(memo, heads, item << 1 | 1, after)
                if after == MISSED:
                    complete = False
                else:
                    replace_part(out, start, geo, part, after)
    return complete


@kernel
def forgotten(item, part, composite, work):
    """Return what remains of a composite when an item is forgotten, or MISSED."""
    tables, loc, misses, control = work.tables, work.loc, work.misses, work.control
    geo = tables.geo
    words = geo[WORDS]
    first = geo[DEC_STRIDE] * part + composite * words
    for k in range(words):
        loc[part * words + k] = tables.dec[first + k]
    if not forget_by(part, item, loc, geo, tables.table, misses, control):
        return np.int64(MISSED)
    slot = seek(tables.cons, words, loc, part * words, part)
    return number_of(loc, part * words, part, slot, geo, tables.cons, misses, control)


@kernel
def derive_into(source, only, entry, row, at, work, count):
    """Derive successors of one source, write them to `out`, and remember steps of receivers.

    Args:
        only: which of the source's transitions, or ALL.
        entry: where the offer is listed, if it is only one.

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
    if count + waiting > out.shape[0] // stride - 1:
        return np.int64(OVERFLOWED)
    complete = True
    for k in range(waiting):
        start = count * stride
        done = settle(k, row, at, tables, loc, out, start, missing)
        if done == MISSED:
            complete = False
            continue
        base = waiting_from(geo) + size + geo[PARTS] + k * (size + geo[PARTS] + WAITING)
        if only != ALL:
            learn_step(source, entry, row, at, base, work, start)
        if done:
            out[start + stride - 1] = count | loc[base] | (loc[base + 1] & ~work.found) << 32
            count += 1
    memo.figures[DERIVED] += waiting if complete else 0
    return count if complete else np.int64(MISSED)


@inlined
def learn_step(source, entry, row, at, base, work, start):
    """Remember the receipt of a listed offer, whose successor is out[start:].

    Args:
        entry: where the offer is listed.
        base: where loc has what `derive` says of the successor.
    """
    memo, loc, out, geo = work.memo, work.loc, work.out, work.tables.geo
    src, dst = memo.sources[3 * source], memo.sources[3 * source + 2]
    event = np.int64(memo.lists[entry])
    delivered, took = loc[base + 4], loc[base + 5]
    if memo.abouts[event] == STALE:
        memo.heads[heads_of(memo, row, at, geo, src) + memo.sources[3 * source + 1]] = 0
        return
    item = (memo.abouts[event] >> 16) - 1
    if delivered >= 0 and item == -1:
        learn_delivery(source - geo[ACTORS], loc[base + 3], delivered, event, memo)
        return
    code = coded(memo, loc[base + 1])
    step = np.int64(UNFIT)
    composite = part_in(out, start, geo, dst)
    fits = delivered == -1 or (delivered >= 0 and item == delivered * geo[ACTORS] + dst)
    if fits and code >= 0 and composite <= STEP_MASK:
        step = composite | code << STEP_BITS | took << 30
        if loc[base + 2] & 2:
            step |= MOVED
        memo.lists[entry + 1 + took] = part_in(out, start, geo, src)
    remember(memo, heads_of(memo, row, at, geo, dst), event << 1, step)


@inlined
def learn_delivery(channel, packet, message, event, memo):
    """Remember that the receipt of a packet delivers a message; an event that does not is stale."""
    if named(memo, DELIVERS | channel << 25 | packet, message) == message:
        memo.abouts[event] = STALE


@kernel
def learn_list(source, place, row, at, work, start):
    """List the transitions of a composite that one source has, and return the list's head.

    Args:
        place: where the head is to be remembered.
        start: work.out[start:] has room for one entry.

    Returns:
        The head, NOTHING_LISTED, NOT_LISTED, NO_ROOM, or MISSED.
    """
    memo, geo = work.memo, work.tables.geo
    decode(row, at, geo, work.tables.dec, work.loc, geo[ACTORS] * geo[WORDS])
    if memo.sources[3 * source + 2] >= 0:
        head = list_offers(source, work)
    else:
        head = list_own(source, row, at, work, start)
    if head > 0 or head == NOT_LISTED:
        memo.heads[place] = head
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
    """List transitions of a composite that receive nothing; return as `learn_list`."""
    tables, memo, loc, out = work.tables, work.memo, work.loc, work.out
    geo, missing = tables.geo, Missing(work.misses, work.control)
    size = geo[ACTORS] * geo[WORDS]
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
        base = waiting_from(geo) + size + geo[PARTS] + k * (size + geo[PARTS] + WAITING)
        code, delivered = coded(memo, loc[base + 1]), loc[base + 4]
        if delivered == -2 or code < 0:
            memo.figures[LISTED] = head
            return np.int64(NOT_LISTED)
        if done:
            entry = head + 1 + OWN * listed
            memo.lists[entry] = part_in(out, start, geo, part)
            memo.lists[entry + 1] = loc[base] >> 16 | code << 15
            memo.lists[entry + 2] = 1 + delivered * geo[ACTORS] + part if loc[base + 5] else 0
            listed += 1
    memo.figures[DERIVED] += listed
    memo.lists[head] = listed
    memo.figures[LISTED] = head + 1 + OWN * listed
    if listed == 0:
        memo.figures[LISTED] = head
        return np.int64(NOTHING_LISTED)
    return head


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
        spot = after_step(code, spot)
    return head


@inlined
def event_of(spot, channel, dst, pending, content, work):
    """Return the event of the receipt at code[spot:], NO_ROOM, or MISSED."""
    tables, memo, code = work.tables, work.memo, work.tables.code
    packet = code[spot + 4]
    message = named(memo, DELIVERS | channel << 25 | packet, -1)
    says, item = np.int64(0), np.int64(-1)
    if message >= 0:
        item = message * tables.geo[ACTORS] + dst
        src = tables.geo[CHAN_SRC + channel]
        key = key_of(TAKE, src, pending, item)
        taken = look_up(tables.table, key, work.misses, work.control)
        if taken == -1:
            return np.int64(MISSED)
        says = 1 + (taken >> 28 & 0x1FFFFFF | (taken >> 56 & 3) << 25)
    stays = np.int64(code[spot + 3] == content)
    new = memo.figures[EVENTS]
    event = np.int64(-1)
    if new < memo.abouts.shape[0] and item < MOST_ITEMS:
        event = named(memo, event_key(channel, packet, stays, says), new)
    if event == -1:
        return np.int64(NO_ROOM)
    if event == new:
        memo.figures[EVENTS] = new + 1
        memo.abouts[event] = (item + 1) << 16 | code[spot + 2] << 1 | stays
    return event


_FEW = np.zeros(FIGURES, np.int64)
_NONE = np.zeros(1, np.int32)
NO_MEMO = Memo(_FEW, _FEW, _NONE, _NONE, _FEW, _FEW, _FEW)
"""A memo that remembers nothing, so that every successor is derived."""
