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

The lists of a composite are found by its *heads*: one element of `Memo.heads` per source of
transitions (its *slot*) has the place in `Memo.lists` where the list begins. Its first head is for
the table of its steps.

Under `full`, an actor has two composites: its state, and its history. A receipt changes the two
independently, so each has its own step for an event. An actor's own transitions depend on both, but
on its history only through the *moment*: its position in the workload and what it knows. They are
listed per moment. The moment to which a send leads is the event that changes the history.

A successor is then its parent's row with a few fields replaced (`recall_kernels`). A successor that
the memo does not have yet is derived from the tables and stored (`learning_kernels`). Each thread
has its own memo, so there are no locks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get
from antecede.checker.engine.rows.entries_kernels import find, put_entry
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of, row_words_of
from antecede.checker.engine.rows.rows_kernels import decode_part


class Work(NamedTuple):
    """The arguments of most functions in this module: they expand one row.

    Attributes:
        tables: the arrays that the kernels read, borrowed; see `derive_kernels.borrowed`.
        memo: the thread's cache of transitions, borrowed.
        loc: int64, working space; see `derive_kernels.room_for`.
        out: int64, flat; the successors, as entries: a row, and a word about the transition.
        room: the number of entries that `out` has room for, without the last one.
        composites: int64; per part, its composite in the row that is expanded.
        heads: int64; per part, where the heads of that composite begin in `Memo.heads`, or -1.
        found: the bit set of properties not to report.
        misses, control: what the tables lack, and the number of such records; see `Missing`.
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
"""The flags of a step: of the composite that a receiver has after the receipt of a packet.

A step is a 32-bit number. Bits 0-25: the receiver's composite (the number that stands for the
actor's part of the state) that follows. Bits 26-28: the code of the properties that the receipt
violates or reaches; see `coded`. Bit 29 (MOVED): the receipt delivers a message. Bit 30: this
message was pending for the receiver, so the delivery was expected, and it changes the sender's
pending messages. UNFIT (-2), in place of a step: the step depends on more than the receiver and the
event, so it is derived anew in each state.
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
    """Return a memo with each array replaced by a borrowed view of it, for use inside a kernel.

    The memo is a thread's cache of transitions. Numba counts the references to an array, which
    costs time at each use inside a kernel. It does not count references to a borrowed view. The
    views share the memory of the arrays, so use them only as long as the arrays exist.

    Args:
        memo: a `Memo`.
    """
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

    The memo, a thread's cache of transitions, numbers events by their keys; see `numbered`. Two
    receipts with equal keys change a receiver's part of the state in the same way.

    Args:
        channel: the number of the channel, below 256.
        packet: the number of the packet that is received, below 2 ** 25.
        stays: 1 if the packet stays in the channel, otherwise 0.
        says: 0 if no message is delivered. Otherwise, what the sender's history says about it: 1 +
            (stamp | judgement << 25), below 2 ** 28. `histories.take` returns the two, in bits
            28-52 and 56-57 of one number: the stamp says when the message was sent.

    Returns:
        says << 34 | stays << 33 | channel << 25 | packet.

    Examples:
        >>> event_key(channel=2, packet=5, stays=1, says=0) == 1 << 33 | 2 << 25 | 5
        True
    """
    return says << 34 | stays << 33 | channel << 25 | packet


@inlined
def named(memo, key, value):
    """Return the value of a key in the memo's hash table `events`, and give a new key a value.

    The memo is a thread's cache of transitions. Its table `events` maps keys such as `event_key` to
    numbers.

    Args:
        memo: a `Memo`; `events` gets the key if it is new.
        key: an int64 that is not negative.
        value: the value for the key if it is new, or -1: a new key is not entered.

    Returns:
        The value that the table has for the key now; -1 if the key was not entered, because `value`
        is -1 or the table is full.

    Examples:
        >>> memo = NO_MEMO._replace(figures=np.zeros(FIGURES, np.int64), events=np.full(32, -1))
        >>> int(named(memo, 17, -1)), int(named(memo, 17, 5)), int(named(memo, 17, 6))
        (-1, 5, 5)
    """
    there = find(memo.events, key)
    if there != -1 or value == -1 or 3 * memo.figures[NAMED] >= memo.events.shape[0]:
        return there
    put_entry(memo.events, key, value)
    memo.figures[NAMED] += 1
    return value


@inlined
def numbered(memo, key, item):
    """Return the number of the event with this key, and give a new event the next number.

    The memo, a thread's cache of transitions, numbers events from 0, so that lists of transitions
    store a small number and compare events by it. An event is most often the receipt of a packet.

    Args:
        memo: a `Memo`; a new event is added to it.
        key: the key of the event, for example from `event_key`.
        item: stored in memo.items for a new event: the message that it delivers (message * actors +
            receiver), or NO_ITEM (-1); ignored if the key is known.

    Returns:
        The number, or -1 if the event is new and the memo has no room for it.

    Examples:
        >>> figures, items = np.zeros(FIGURES, np.int64), np.zeros(4, np.int64)
        >>> memo = NO_MEMO._replace(figures=figures, items=items, events=np.full(32, -1))
        >>> [int(numbered(memo, key, NO_ITEM)) for key in (17, 30, 17)]
        [0, 1, 0]
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
    """Return the code of a bit set of properties: its index in memo.shows, from 0 to 7.

    Bit k stands for property k of the system: the transition violates or reaches it. The memo, a
    thread's cache of transitions, stores the short code with each transition and not the bit set.

    Args:
        memo: a `Memo`; a bit set that it has no code for gets the next one.
        shown: the bit set.

    Returns:
        The code, or -1 if 8 other bit sets have the codes already.

    Examples:
        >>> figures, shows = np.zeros(FIGURES, np.int64), np.zeros(MOST_CODES, np.int64)
        >>> memo = NO_MEMO._replace(figures=figures, shows=shows)  # a memo without codes
        >>> [int(coded(memo, shown)) for shown in (0b101, 0, 0b101)]
        [0, 1, 0]
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
    """Return where a composite's heads begin in memo.heads, or -1 if the memo has no heads for it.

    A composite is the number that stands for one actor's part of the state. The memo, a thread's
    cache of transitions, keeps several lists per composite. A head is a number in memo.heads: the
    place in memo.lists where one of these lists begins, or 0 if the list is not made yet. The first
    head of a composite is for the table of its steps; see `steps_of`. The others are for lists of
    its transitions: its own, such as sends, and the packets of each of its channels. They can also
    be NOTHING_LISTED (1) or NOT_LISTED (-3). A history's second head has the number of its moment,
    plus 1; see `own_key`.

    Args:
        memo: a `Memo`.
        part: the index of the part: of an actor, or under the history `full` of its state (even) or
            its history (odd).
        composite: the composite of the part.
        room: memo.figures[MEMO_ROOM], the composites per part that have heads. It is an argument so
            that a loop reads it once.
        slots: memo.figures[SLOTS], the number of heads per composite.

    Returns:
        The index of the composite's first head. Or -1 if the composite is too large a number to
        have heads: derive its transitions in each state.

    Examples:
        Three heads for each of 100 composites per part; composite 5 of part 1:

        >>> int(heads_of(NO_MEMO, part=1, composite=5, room=100, slots=3))  # (100 + 5) * 3
        315
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
    """Return where the table of a composite's steps begins in memo.lists, or 0 if it has none.

    A composite is the number that stands for one actor's part of the state. The table of its steps
    says which composite follows when the part takes part in an event, for example when the actor
    receives a packet. Read it with `recalled`, and write it with `remember`.

    Args:
        memo: a `Memo`, a thread's cache of transitions.
        heads: an index in memo.heads, as `heads_of` returns it for the composite: memo.heads[heads]
            is the place where the table begins, or 0. -1: the memo has no room for the composite,
            and the result is 0.

    Examples:
        The table of one composite begins at lists[40], and another composite has no table:

        >>> memo = NO_MEMO._replace(heads=np.array([40, 0], np.int32))
        >>> int(steps_of(memo, 0)), int(steps_of(memo, 1)), int(steps_of(memo, -1))
        (40, 0, 0)
    """
    return np.int64(memo.heads[heads]) if heads >= 0 else np.int64(0)


@inlined
def slot_of_step(key):
    """Return a number whose lowest bits say at which slot of a table the search for a step begins.

    Args:
        key: a key of a step, as for `recalled`. Even keys, which are events, give the numbers 0, 1,
            2 and so on. Odd keys give -1, -2, -3 and so on, so they begin at the other end of the
            table.

    Returns:
        The number. The caller keeps as many of its lowest bits as the index of a slot has.

    Examples:
        >>> [slot_of_step(key) for key in (0, 2, 4, 1, 3)]
        [0, 1, 2, -1, -2]
    """
    return key >> 1 ^ -(key & 1)


@inlined
def spot_of_slot(first, slot):
    """Return where one slot of a composite's table of steps begins in memo.lists.

    A slot is two words: its key (-1 if it is empty), and the value of the key.

    Args:
        first: the place where the table begins. Its first two words are the number of its slots and
            the number of its steps.
        slot: the index of the slot, from 0.

    Examples:
        >>> spot_of_slot(first=100, slot=3)  # two words, then three slots of two words
        108
    """
    return first + STEPS_FIRST + 2 * slot


@inlined
def own_at(head, k):
    """Return where entry k of a list of an actor's own transitions begins in memo.lists.

    Own transitions, such as sends, change no part but the actor's. An entry has the four words that
    OWN_AFTER, OWN_INFO, OWN_ITEM and OWN_EVENT name, after the length of the list.

    Args:
        head: the place of the list in memo.lists; lists[head] is its length.
        k: the index of the entry, from 0.

    Examples:
        >>> own_at(head=100, k=2)  # one word for the length, and four words per entry
        109
    """
    return head + 1 + OWN * k


@inlined
def offer_at(head, k):
    """Return where entry k of the list of a channel's packets begins in memo.lists.

    An entry, an *offer*, is a packet that the channel offers to its receiver. It has the four words
    that OFFER_EVENT, OFFER_UNTAKEN, OFFER_TAKEN and OFFER_INFO name, after the length of the list.

    Args:
        head: the place of the list in memo.lists; lists[head] is its length.
        k: the index of the entry, from 0.

    Examples:
        >>> offer_at(head=100, k=2)  # one word for the length, and four words per entry
        109
    """
    return head + 1 + OFFER * k


@inlined
def recalled(lists, first, key):
    """Return the step that a composite's table has for a key, or -1 if the step is not known yet.

    A composite is the number that stands for one actor's part of the state. A step is the composite
    that follows when something happens to the part. `remember` stores steps.

    Args:
        lists: memo.lists, int32, flat; the memo is the thread's cache of transitions.
        first: the table of the composite begins at lists[first], as `steps_of` returns it; 0: there
            is no table.
        key: what happens, a number that is not negative:

            * 2 * e: event number e, which is most often the receipt of a packet;
            * 2 * i + 1: the part forgets item i, a delivered message with its receiver (the number
              of the message, times the number of actors, plus the receiver);
            * under the history `full`, which forgets nothing: 2 * m + 1, for the part with an
              actor's history, is a send that leads to moment m (see `moment_at`). For the part with
              an actor's state, an odd key is an `own_key`.

    Returns:
        One of these numbers:

        * the composite that follows. After the receipt of a packet it has flags in bits 26-30,
          which `MOVED` explains, unless the part is a history;
        * -1: the step is not known. Derive it, and store it with `remember`;
        * UNFIT (-2): the step depends on more than the key. Derive it in each state;
        * for an `own_key`: the place in `lists` of the actor's own transitions, or NOTHING_LISTED
          (1) or NOT_LISTED (-3), which `learn_list` explains.

    Examples:
        There is no table, so the step for event 3 is not known; `remember` has a longer example:

        >>> int(recalled(np.zeros(99, np.int32), first=0, key=2 * 3))
        -1
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
    """Put a step into a composite's table of steps; if the table has the key, replace the value.

    Args:
        lists: memo.lists, int32, flat; updated. lists[first:] is the table: its number of slots (a
            power of two), its number of steps, then a key (-1 in an empty slot) and a value per
            slot. One slot must be empty.
        first: where the table begins.
        key, value: what happens, and the step; see `recalled`.
    """
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

    A composite is the number that stands for one actor's part of the state. A step says which
    composite follows when something happens to the part, for example when the actor receives a
    packet. Each composite has a table of its steps in memo.lists. This function makes the table at
    the first step, and moves it to a larger place when three quarters of it are in use. If
    memo.lists has no room for that, nothing is stored, and the caller derives the step again when
    it needs it.

    Args:
        memo: a `Memo`, the thread's cache of transitions. Its lists, its heads and figures[LISTED]
            are updated.
        heads: an index in memo.heads, as `heads_of` returns it for the composite: memo.heads[heads]
            is the place in memo.lists where the table begins, or 0 if there is no table yet. -1:
            the memo has no room for this composite, so nothing is stored.
        key: what happens, a number that is not negative: 2 * e for event number e, which is most
            often the receipt of a packet; 2 * i + 1 if the part forgets delivered message i. Under
            the history `full`, odd keys have another meaning; see `recalled`.
        value: the step: the composite that follows. For a receipt it has flags in bits 26-30, or it
            is UNFIT (-2); see `MOVED`.

    Examples:
        One composite without a table; its element of `heads` is 0. The first two words of `lists`
        are never used (FIRST_LIST is 2), so its table will begin at lists[2]. After event 3, whose
        key is 2 * 3, composite 41 follows:

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
    """Ask the processor to load what `recall` will read from the memo for rows further on.

    The memo is a thread's cache of transitions. For each composite (the number of a part of a
    state), memo.heads has places in memo.lists, where lists with the transitions of this part
    begin. `recall` reads both for the row that is expanded. To have them in the processor's cache
    by then, this loads memo.heads for the row AHEAD rows later, and memo.lists for a row half as
    far ahead. It changes no result; it only saves time.

    Args:
        memo: a `Memo`.
        rows: the rows, flat.
        at: the row that is expanded now is rows[at:]. `rows` must have AHEAD more rows after it.
        tables: a `Tables`. Only `geo` is read: the sizes and switches of this search.
    """
    geo, row_words = tables.geo, row_words_of(tables)
    room, slots = memo.figures[MEMO_ROOM], memo.figures[SLOTS]
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
    """Return whether each actor has two parts, its state and its history, and not one.

    A part is a share of the state that a row stores as one number. Only the history `full` divides
    actors in two. The compiler knows the answer from the type of the memo, so a test of it costs
    nothing.

    Args:
        work: a `Work`: memo, tables and working memory of the thread. Only work.memo.parted is
            read.
    """
    return work.memo.parted is not None


@inlined
def own_key(source, work):
    """Return the key under which the memo has the list of an actor's own transitions.

    Own transitions, such as sends, change no other actor. Under the history `full` they depend on
    two composites, of the actor's state and of its history. So the table of steps of the first
    composite has a list per *moment* of the second: the actor's position in the workload and what
    it knows.

    Args:
        source: the index of the source of transitions: the sends of an actor, or its timers. The
            actor is the one whose part work.memo.source_part[source] is.
        work: a `Work`: memo, tables and working memory of the thread. work.composites and
            work.heads must have the parts of the state, as `recall` fills them. work.loc is
            overwritten if the moment is new, and the memo remembers it.

    Returns:
        (moment * figures[SLOTS] + slot) << 1 | 1, a key for `recalled` and `remember`: the moment
        is numbered from 1, and the slot is work.memo.source_slot[source]. Or -1 if the memo has no
        room for the moment.
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
    """Return the number of an actor's moment: its position in the workload with what it knows.

    Under the history `full`, an actor's possible sends depend on its history only through the
    moment. The memo, a thread's cache of transitions, numbers moments and events together, from 0;
    a new moment gets the next number.

    Args:
        base: work.loc[base:] has the state: the local words of all actors, in order. Only the
            columns POSITION and KNOWS of the actor are read.
        actor: the index of the actor.
        work: a `Work`: memo, tables and working memory of the thread.

    Returns:
        The number; or -1 if the moment is new and the memo has no room for it.
    """
    loc, geo = work.loc, work.tables.geo
    position, knows = get(loc, base, geo, actor, g.POSITION), get(loc, base, geo, actor, g.KNOWS)
    return numbered(work.memo, MOMENT | position << 25 | knows, NO_ITEM)


_FEW = np.zeros(FIGURES, np.int64)
_NONE = np.zeros(1, np.int32)
NO_MEMO = g.Memo(_FEW, _FEW, _FEW, _FEW, _NONE, _NONE, _FEW, _FEW, _FEW, None)
"""A memo that remembers nothing, so that every successor is derived."""
