"""The memo, a cache of transitions: each effect on a composite is derived only once.

`checker.engine.successors` explains it with an example. A transition changes few parts of a state.
A send depends on the sender's composite alone. A delivery depends on the receiver's composite and
on an *event*: the channel, the packet, whether the packet stays there, and the entry of the
delivered message in the sender's history. The memo stores:

* for a composite and a source of transitions (see `Memo.heads`), a list. The list of the
  composite's own transitions has the composites that follow. The list of a channel has an *offer*
  per packet: the event, and the sender's composite afterwards;
* for a receiver's composite and an event, a *step*: the receiver's composite that follows. For any
  other actor's composite and an *item*, which is a delivered message with its receiver, the
  composite that remains when the history forgets the item.

The lists of a composite are found by its *heads*, one per source of transitions (its *slot*), and
one for the table of its steps:

    heads  | steps | own | channel | channel ...            per composite; a history: steps, moment
    lists  | length | entry | entry ...                     own transitions, or a channel's offers
           | capacity | count | key | step | key | step ...   open addressing; -1: empty

Under `full`, an actor has two composites: its state, and its history. A receipt changes the two
independently, so each has its own step for an event. An actor's own transitions depend on both, but
on its history only through the *moment*: its position in the workload and what it knows. They are
listed per moment. The moment to which a send leads is the event that changes the history.

A successor is then its parent's row with a few fields replaced (`recall_kernels`). A successor that
the memo does not have yet is derived from the tables and stored (`learning_kernels`). Each thread
has its own memo, so there are no locks. Python enlarges and empties memos between chunks (`memos`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get
from antecede.checker.engine.rows.entries_kernels import find, put_entry
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of, row_words_of
from antecede.checker.engine.rows.rows_kernels import decode_part


class Work(NamedTuple):
    """The arguments of most functions that expand a row with a memo.

    Attributes:
        tables, memo: borrowed; see `derive_kernels.borrowed`.
        loc: see `derive_kernels.room_for`.
        out: int64, flat; the successors, as entries.
        room: the number of entries that `out` has room for, without the last one.
        composites: int64; per part, its composite in the row that is expanded.
        heads: int64; per part, where the heads of that composite begin in `Memo.heads`, or -1.
        found: the bit set of properties not to report.
        misses, control: the fields of `Missing`.
    """

    tables: g.Tables
    memo: g.Memo
    loc: np.ndarray[Any, Any]
    out: np.ndarray[Any, Any]
    room: int
    composites: np.ndarray[Any, Any]
    heads: np.ndarray[Any, Any]
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
OWN_SLOT, CHANNEL_SLOTS = 1, 2
"""The slots of a composite's sends, and of the channels to others; slot 0 has its steps."""
MOMENT_SLOT, HISTORY_SLOTS = 1, 2
"""The slot of a history's moment, and the number of its slots."""
NOTHING_LISTED, NOT_LISTED, NO_ROOM = 1, -3, -4
"""Values of a head in place of the place where a list of transitions begins.

NOTHING_LISTED: the list is empty. NOT_LISTED: the memo cannot store these transitions, so they are
derived in each state. NO_ROOM: there is no room for the list now. It is only a result of functions,
and no head has this value.
"""
FIRST_LIST = 2
"""Where the lists begin."""
OWN_AFTER, OWN_INFO, OWN_ITEM, OWN_EVENT = range(4)
"""The words of an entry in a list of an actor's own transitions, such as sends.

OWN_AFTER: the composite that follows. OWN_INFO: the kind of the transition (bits 0-14), and above
it the code of the properties that it violates or reaches; see `coded`. OWN_ITEM: 1 + the item that
it delivers (the message * actors + the receiver), or 0. OWN_EVENT: under the history `full`, 1 +
the number of the moment to which it leads; otherwise, or if the history is unchanged, 0.
"""
OFFER_EVENT, OFFER_UNTAKEN, OFFER_TAKEN, OFFER_INFO = range(4)
"""The words of an offer: of an entry in the list of the packets of a channel.

OFFER_EVENT: the number of the event, which is the receipt of the packet. OFFER_UNTAKEN: the
sender's composite afterwards if no pending message of the sender is delivered. OFFER_TAKEN: the
sender's composite if one is. Both are -1 until they are known. OFFER_INFO: the kind of the
transition << 1 | whether the packet stays in the channel.
"""
OWN, OFFER = 4, 4
"""Words per entry of a list."""
STEPS_CAPACITY, STEPS_COUNT, STEPS_FIRST = range(3)
"""The words at the beginning of a composite's table of steps.

STEPS_CAPACITY: the number of slots, a power of two. STEPS_COUNT: the number of slots in use.
STEPS_FIRST: the first slot. A slot is two words: a key (-1 if it is empty) and its step.
"""
FEWEST_STEPS = 4
"""The first capacity of a composite's table of steps."""
MOST_CODES = 8
STEP_BITS = 26
STEP_MASK = (1 << STEP_BITS) - 1
MOVED, UNFIT = 1 << 29, -2
TOOK_SHIFT = 30
"""The flags of a step: of the composite that a receiver has after the receipt of a packet.

A step is a 32-bit number. Bits 0-25: the receiver's composite (the number that stands for the
actor's part of the state) that follows. Bits 26-28: the code of the properties that the receipt
violates or reaches; see `coded`. Bit 29 (MOVED): the receipt delivers a message. Bit 30
(TOOK_SHIFT): this message was pending for the receiver, so the delivery was expected, and it
changes the sender's pending messages. UNFIT (-2), in place of a step: the step depends on more than
the receiver and the event, so it is derived anew in each state.
"""
NO_ITEM, STALE = -1, -2
"""What an event delivers if it delivers nothing, or if the event is out of date.

An event is made when a packet is listed, and does not know then whether the receipt of the packet
delivers a message. If it does, the first receipt shows it. The event then says too little, because
the history's word about the message is missing. It becomes STALE, and its list is made again.
"""
MOST_ITEMS = 1 << 28
DELIVERS, MOMENT, LOST = 1 << 62, 3 << 61, 5 << 60
"""The highest bits of keys of `events` that do not name the receipt of a packet.

DELIVERS: the message that the receipt of a packet delivers. MOMENT: a position and what the actor
knows there. LOST: a packet is lost, and actor 0 counts it.
"""
MOST_MOMENTS = 1 << 22
"""Greater numbers of moments do not fit the keys of steps."""


@inlined
def borrowed_memo(memo):
    """Return views of the memo's arrays for use inside a kernel; see `derive_kernels.borrowed`."""
    return g.Memo(
        borrow(memo.figures),
        borrow(memo.source_part),
        borrow(memo.source_slot),
        borrow(memo.source_receiver),
        borrow(memo.heads),
        borrow(memo.lists),
        borrow(memo.shows),
        borrow(memo.items),
        borrow(memo.events),
        memo.parted,
    )


@inlined
def event_key(channel, packet, stays, says):
    """Return the key of an event: the receipt of a packet, with all that its receiver learns.

    Args:
        channel: 8 bits.
        packet: the number of the received packet, 25 bits.
        stays: whether the packet stays in the channel, 1 bit.
        says: 28 bits; 0 if no message is delivered, otherwise 1 + (stamp | judgement << 25), from
            what `histories.take` returns.
    """
    return says << 34 | stays << 33 | channel << g.NUMBER_BITS | packet


@inlined
def named(memo, key, value):
    """Return the value of a key in memo.events; a new key gets the value, unless it is -1.

    The result is -1 if the key is new and was not entered, also because the table is full.
    """
    there = find(memo.events, key)
    if there != -1 or value == -1 or 3 * memo.figures[NAMED] >= memo.events.shape[0]:
        return there
    put_entry(memo.events, key, value)
    memo.figures[NAMED] += 1
    return value


@inlined
def numbered(memo, key, item):
    """Return the number of the event with this key, or -1; a new event gets the next number.

    Args:
        item: what memo.items stores for a new event: the delivered item, or NO_ITEM.
    """
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
    """Return the code of a bit set of properties, its index in memo.shows; -1 if all are in use.

    Each transition of the memo stores a code of three bits and not the bit set.
    """
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
    """Return where a composite's heads begin in memo.heads, or -1 if its number is too large.

    Args:
        room, slots: memo.figures[MEMO_ROOM] and [SLOTS], as arguments so that a loop reads them
            once.
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
    """Return where a composite's table of steps begins in memo.lists, or 0 if it has none."""
    return np.int64(memo.heads[heads]) if heads >= 0 else np.int64(0)


@inlined
def slot_of_step(key):
    """Return a number whose lowest bits are the slot where the search for a step begins.

    Even keys, which are events, give 0, 1, 2, ...; odd keys give -1, -2, -3, ..., so they begin at
    the other end of the table.
    """
    return key >> 1 ^ -(key & 1)


@inlined
def spot_of_slot(first, slot):
    """Return where a slot (a key and its value) of the table of steps at lists[first:] begins."""
    return first + STEPS_FIRST + 2 * slot


@inlined
def own_at(head, k):
    """Return where entry k of the list of own transitions at lists[head:] begins."""
    return head + 1 + OWN * k


@inlined
def offer_at(head, k):
    """Return where entry k of the list of offers at lists[head:] begins."""
    return head + 1 + OFFER * k


@inlined
def recalled(lists, first, key):
    """Return the step that the table at lists[first:] has for a key, or -1 if it is not known yet.

    Args:
        first: as `steps_of` returns it; 0: there is no table.
        key: what happens to the part:

            * 2 * e: event number e, which is most often the receipt of a packet;
            * 2 * i + 1: the part forgets item i;
            * under the history `full`, which forgets nothing, 2 * m + 1 is a send that leads to
              moment m, for a part with a history. For a part with a state, an odd key is an
              `own_key`.

    Returns:
        The composite that follows, which has the flags of `MOVED` in bits 26-30 after a receipt,
        unless the part is a history; or UNFIT: the step depends on more than the key, so derive it
        in each state. For an `own_key`: the place of the list, NOTHING_LISTED or NOT_LISTED; see
        `learn_list`.
    """
    if first == 0:
        return np.int64(-1)
    mask = np.int64(lists[first + STEPS_CAPACITY]) - 1
    slot = slot_of_step(key) & mask
    while True:
        spot = spot_of_slot(first, slot)
        there = lists[spot]
        if there == key:
            return np.int64(lists[spot + 1])
        if there == -1:
            return np.int64(-1)
        slot = (slot + 1) & mask


@inlined
def put_step(lists, first, key, value):
    """Put a step into the table at lists[first:], or replace its value; one slot must be empty."""
    mask = np.int64(lists[first + STEPS_CAPACITY]) - 1
    slot = slot_of_step(key) & mask
    spot = spot_of_slot(first, slot)
    while lists[spot] != -1 and lists[spot] != key:
        slot = (slot + 1) & mask
        spot = spot_of_slot(first, slot)
    lists[first + STEPS_COUNT] += lists[spot] == -1
    lists[spot], lists[spot + 1] = key, value


@inlined
def remember(memo, heads, key, value):
    """Store a step of a composite in the memo, so that `recalled` finds it from then on.

    The table of the composite is made at the first step, and moved when three quarters are in use.

    Args:
        heads: where the composite's heads begin; -1: nothing is stored.
        key, value: as for `recalled`.

    Examples:
        The first two words of `lists` are never used, so the first table begins at lists[2]:

        >>> figures = np.zeros(FIGURES, np.int64)
        >>> figures[LISTED] = FIRST_LIST  # the number of words of `lists` that are in use
        >>> heads, lists = np.array([0], np.int32), np.zeros(99, np.int32)
        >>> memo = NO_MEMO._replace(figures=figures, heads=heads, lists=lists)
        >>> remember(memo, heads=0, key=2 * 3, value=41)
        >>> int(heads[0]), int(recalled(lists, first=2, key=2 * 3))
        (2, 41)
    """
    if heads < 0:
        return
    lists, first = memo.lists, np.int64(memo.heads[heads])
    capacity = np.int64(lists[first + STEPS_CAPACITY]) if first > 0 else np.int64(0)
    if first <= 0 or 4 * lists[first + STEPS_COUNT] >= 3 * capacity:
        larger = 2 * capacity if capacity else np.int64(FEWEST_STEPS)
        begin = memo.figures[LISTED]
        end = spot_of_slot(begin, larger)
        if end > lists.shape[0]:
            return  # a step that is not remembered is only derived again
        lists[begin + STEPS_CAPACITY], lists[begin + STEPS_COUNT] = larger, 0
        for spot in range(begin + STEPS_FIRST, end):
            lists[spot] = -1
        # The old table is not reused: `tended` empties all lists when they take too much memory.
        for slot in range(capacity):
            spot = spot_of_slot(first, slot)
            if lists[spot] != -1:
                put_step(lists, begin, np.int64(lists[spot]), lists[spot + 1])
        memo.figures[LISTED] = end
        memo.heads[heads] = begin
        first = begin
    put_step(lists, first, key, value)


@inlined
def prefetch_memo(memo, rows, at, tables):
    """Ask the processor to load what `recall` will read for rows further on; only saves time.

    `rows` must have AHEAD more rows after rows[at:].
    """
    geo, row_words = tables.geo, row_words_of(tables)
    room, slots = memo.figures[MEMO_ROOM], memo.figures[SLOTS]
    # The heads of a row must have arrived before its lists can be asked for.
    later, nearer = at + g.AHEAD * row_words, at + g.AHEAD // 2 * row_words
    for part in range(geo[g.PARTS]):
        field = field_of(geo, part)
        prefetch(memo.heads, heads_of(memo, part, composite_in(rows, later, field), room, slots))
        heads = heads_of(memo, part, composite_in(rows, nearer, field), room, slots)
        if heads >= 0 and memo.parted is not None and part % 2:
            prefetch(memo.lists, memo.heads[heads])
        elif heads >= 0:
            for slot in range(slots):
                prefetch(memo.lists, memo.heads[heads + slot])


@inlined
def parted(work):
    """Return whether actors have two parts; the memo's type tells, so the test costs nothing."""
    return work.memo.parted is not None


@inlined
def own_key(source, work):
    """Return the key under which the memo lists an actor's own transitions under `full`, or -1.

    work.composites and work.heads must be filled. work.loc is overwritten if the moment is new.
    """
    memo = work.memo
    part, slot = memo.source_part[source], memo.source_slot[source]
    heads = work.heads[part + 1]
    moment = np.int64(memo.heads[heads + MOMENT_SLOT]) if heads >= 0 else np.int64(-1)
    if moment == 0:
        moment = learn_moment(part + 1, heads, work)
    return (moment * memo.figures[SLOTS] + slot) << 1 | 1 if moment > 0 else np.int64(-1)


@kernel
def learn_moment(history, heads, work):
    """Return 1 + the number of a history's moment, or -1 without room; remember it."""
    memo, loc, geo = work.memo, work.loc, work.tables.geo
    decode_part(history, work.composites[history], geo, work.tables.dec, loc, 0)
    moment = moment_at(0, history // 2, work) + 1
    if moment == 0 or moment >= MOST_MOMENTS:
        return np.int64(-1)
    memo.heads[heads + MOMENT_SLOT] = moment
    return moment


@inlined
def moment_at(base, actor, work):
    """Return the number of the moment of an actor in work.loc[base:]; -1 if there is no room."""
    loc, geo = work.loc, work.tables.geo
    position, knows = get(loc, base, geo, actor, g.POSITION), get(loc, base, geo, actor, g.KNOWS)
    return numbered(work.memo, MOMENT | position << g.NUMBER_BITS | knows, NO_ITEM)


_FEW = np.zeros(FIGURES, np.int64)
_NONE = np.zeros(1, np.int32)
NO_MEMO = g.Memo(_FEW, _FEW, _FEW, _FEW, _NONE, _NONE, _FEW, _FEW, _FEW, None)
"""A memo that remembers nothing, so that every successor is derived."""
