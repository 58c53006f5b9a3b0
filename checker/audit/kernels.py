"""Compiled kernels of the audit: logs of JSON objects become numbers, and the oracle judges them.

The rule, and the order in which events are taken, are those of `checker.audit.oracle`, the plain
version, which is the judge of this one. Names become numbers as they are first met; two messages
are the same if two 64-bit hashes of their names are.

What an actor knows is a row of numbers of chunks, each of WIDTH counters. Rows and chunks are
shared and counted by their users: a causal-send refers to its sender's row, a delivery copies the
row that somebody refers to, and only those chunks in which it learns something. So a message in
transit costs what its sender has learned since, not a clock of all actors.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from antecede.checker.tables.kernels import jit

Array = np.ndarray[Any, Any]

WIDTH = 32
SEND, DELIVER = 0, 1

# Counters, at fixed places of `counter`.
ACTORS, MESSAGES, SETS, MEMBERS, ARENA, NAMES, SLOTS, CHUNKS, ROWS, NODES, PAIRS = range(11)
OUT, FOUND, READY, READY_END, SENDS, DELIVERIES, UNADDRESSED, LINES, COLUMNS, RAISED = range(11, 21)
FIRST, FIXED = 21, 22
COUNTERS = 24
"""CHUNKS, ROWS, SLOTS and NODES count what is free; READY to READY_END are actors that can go on;
COLUMNS is how many chunks a row has, FIRST which chunk of senders is its first one, and FIXED
whether rows keep those and no others: then only messages of these senders are judged."""

# States of a message: a tag in the lowest two bits, a value above.
UNSENT, TRANSIT, DONE, AWAITED = range(4)

CAUSAL, AGAIN, STRAY, TWICE, NEVER = range(5)
"""Kinds of findings."""

FINISHED, ASK, GROW = range(3)
"""Why a kernel returns: nothing is left; a line is for Python to read; arrays are too short."""

kernel = partial(jit.kernel, _nrt=False)
"""Kernels allocate nothing, and count no references to the many arrays that they hand on."""


class Tables(NamedTuple):
    """All arrays; sizes are in elements.

    Attributes:
        counter: int64, COUNTERS of them.
        actor_keys, message_keys, set_keys: int64; open addressing, slot s holds two hashes at 3s
            and a number at 3s + 2 (-1: empty); the length is 3 times a power of two.
        arena, starts: uint8 and int64; the names of actors, that of actor a from starts[a].
        names, name_ends: uint8 and int64; the names of messages met since they were last taken.
        members, set_starts: int32 and int64; the actors of destination sets.
        state: int64 per message, see above.
        sender, number, row, missing, to, sent_at: per message in transit.
        free_slots, free_chunks, free_rows, free_nodes: int32; stacks.
        chunks, chunk_users: int32; counters, WIDTH of each chunk; chunk 0 is all zero.
        rows, row_users: int32; COLUMNS chunks of each row.
        known: int32 per actor; its row.
        own: int32 per actor; how many messages it has causal-sent.
        waits_for: int64 per actor; the message, or -1.
        next_waiter, last_waiter: int32 per actor; of the list of those that wait for one message,
            whose end its first member knows.
        first_node, last_node: int32 per actor; its events that wait, or -1.
        nodes: int64; per waiting event kind, message, set, place, and the next node.
        pairs: int64; a set of message << 32 | actor (-1: empty): delivered there, not everywhere.
        ready: int32; a ring of actors.
        out: int64; events in causal order: place << 1 | kind, actor, message, set.
        found: int64; kind, actor, message, place, and of CAUSAL the message's sender and number.
        watched, watch_starts: int32 and int64; per actor the senders whose messages it got too
            late; empty in the first pass.
        scratch: int64; for a moment.
        raised: int64; of those: actor << 32 | sender, how many messages are known, by which one.
    """

    counter: Array
    actor_keys: Array
    message_keys: Array
    set_keys: Array
    arena: Array
    starts: Array
    names: Array
    name_ends: Array
    members: Array
    set_starts: Array
    state: Array
    sender: Array
    number: Array
    row: Array
    missing: Array
    to: Array
    sent_at: Array
    free_slots: Array
    chunks: Array
    chunk_users: Array
    free_chunks: Array
    rows: Array
    row_users: Array
    free_rows: Array
    known: Array
    own: Array
    waits_for: Array
    next_waiter: Array
    last_waiter: Array
    first_node: Array
    last_node: Array
    nodes: Array
    free_nodes: Array
    pairs: Array
    ready: Array
    out: Array
    found: Array
    watched: Array
    watch_starts: Array
    raised: Array
    scratch: Array


# Names


@kernel
def hashes(data, start, end):
    """Return two hashes of bytes, after Fowler, Noll and Vo, with different multipliers."""
    one, two = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)
    for at in range(start, end):
        byte = np.uint64(data[at])
        one = (one ^ byte) * np.uint64(0x100000001B3)
        two = (two ^ byte) * np.uint64(0xD6E8FEB86659FD93)
        two ^= two >> np.uint64(32)
    one ^= one >> np.uint64(29)
    return np.int64(one), np.int64(two)


@kernel
def place(keys, one, two):
    """Return the slot of a name, or the empty one where it belongs."""
    mask = len(keys) // 3 - 1
    at = one & mask
    while keys[3 * at + 2] >= 0 and (keys[3 * at] != one or keys[3 * at + 1] != two):
        at = (at + 1) & mask
    return at


@kernel
def put(keys, at, one, two, number):
    """Fill a slot."""
    keys[3 * at] = one
    keys[3 * at + 1] = two
    keys[3 * at + 2] = number


@kernel
def rehash(old, new):
    """Move all names to a larger table."""
    for at in range(len(old) // 3):
        if old[3 * at + 2] >= 0:
            to = place(new, old[3 * at], old[3 * at + 1])
            put(new, to, old[3 * at], old[3 * at + 1], old[3 * at + 2])


@kernel
def actor_of(t, data, start, end):
    """Return the number of an actor, or -1 if there is no room for a new one."""
    one, two = hashes(data, start, end)
    at = place(t.actor_keys, one, two)
    number = t.actor_keys[3 * at + 2]
    if number >= 0:
        return number
    number, used = t.counter[ACTORS], t.counter[ARENA]
    if number + 2 > len(t.own) or used + end - start > len(t.arena):
        return -1
    if not t.counter[FIXED] and number >= t.counter[COLUMNS] * WIDTH:
        return -1
    if 6 * number > len(t.actor_keys):
        return -1
    if t.counter[ROWS] == 0:
        return -1
    for k in range(end - start):
        t.arena[used + k] = data[start + k]
    t.counter[ARENA] += end - start
    t.starts[number + 1] = used + end - start
    put(t.actor_keys, at, one, two, number)
    t.counter[ACTORS] += 1
    t.counter[ROWS] -= 1
    row = t.free_rows[t.counter[ROWS]]
    columns = t.counter[COLUMNS]
    for column in range(columns):
        t.rows[row * columns + column] = 0
    t.row_users[row] = 1
    t.known[number] = row
    t.waits_for[number] = -1
    t.first_node[number] = -1
    return number


@kernel
def message_of(t, data, start, end):
    """Return the number of a message, or -1 if there is no room for a new one."""
    one, two = hashes(data, start, end)
    at = place(t.message_keys, one, two)
    number = t.message_keys[3 * at + 2]
    if number >= 0:
        return number
    number, new, used = t.counter[MESSAGES], t.counter[NAMES], 0
    if new:
        used = t.name_ends[new - 1]
    if number == len(t.state) or 4 * number > len(t.message_keys):
        return -1
    if new == len(t.name_ends) or used + end - start > len(t.names):
        return -1
    for k in range(end - start):
        t.names[used + k] = data[start + k]
    t.name_ends[new] = used + end - start
    t.counter[NAMES] += 1
    put(t.message_keys, at, one, two, number)
    t.counter[MESSAGES] += 1
    t.state[number] = UNSENT
    return number


# JSON objects, a line each


@kernel
def blank(data, at):
    """Return where the next byte is that is no space."""
    while data[at] == 32 or data[at] == 9 or data[at] == 13:
        at += 1
    return at


@kernel
def text_end(data, at):
    """Return the end of a simple text or whole number that starts at `at`, or -1.

    A text starts after its quote and ends before the other one.
    """
    if data[at] == 34:
        at += 1
        while data[at] != 34:
            if data[at] == 92 or data[at] < 32:
                return -1
            at += 1
        return at
    begin = at
    if data[at] == 45:
        at += 1
    first = at
    while 48 <= data[at] <= 57:
        at += 1
    if at == first or (data[first] == 48 and (at > first + 1 or first > begin)):
        return -1
    return at


@kernel
def same(data, start, end, other, begin, stop):
    """Return whether two spans hold the same bytes."""
    if end - start != stop - begin:
        return False
    for at in range(end - start):  # noqa: SIM110 compiled
        if data[start + at] != other[begin + at]:
            return False
    return True


@kernel
def list_end(data, at):
    """Return where the list that starts at `at` ends, or -1 if it is not simple."""
    at += 1
    while data[at] != 93:
        if data[at] == 10 or data[at] == 91 or data[at] == 123:
            return -1
        if data[at] == 34:
            at = text_end(data, at)
            if at < 0:
                return -1
        at += 1
    return at


@kernel
def set_of(t, data, start, end):
    """Return the number of a destination set from the text of its list; STRANGE or FULL as -1, -2.

    `start` is at the bracket that opens it, `end` at the one that closes it.
    """
    one, two = hashes(data, start, end)
    at = place(t.set_keys, one, two)
    if t.set_keys[3 * at + 2] >= 0:
        return t.set_keys[3 * at + 2]
    number, used = t.counter[SETS], t.counter[MEMBERS]
    if number + 2 > len(t.set_starts) or 6 * number > len(t.set_keys):
        return -2
    begin, now = used, blank(data, start + 1)
    while now < end:
        stop = text_end(data, now)
        if stop < 0:
            return -1
        quoted = data[now] == 34
        actor = actor_of(t, data, now + quoted, stop)
        if actor < 0 or used == len(t.members):
            return -2
        if not is_member(t.members, begin, used, actor):
            t.members[used] = actor
            used += 1
        now = blank(data, stop + quoted)
        if now < end:
            if data[now] != 44:
                return -1
            now = blank(data, now + 1)
            if now >= end:
                return -1
    t.counter[MEMBERS] = used
    t.set_starts[number + 1] = used
    put(t.set_keys, at, one, two, number)
    t.counter[SETS] += 1
    return number


@kernel
def is_member(members, start, end, actor):
    """Return whether an actor is in a part of `members`."""
    for at in range(start, end):  # noqa: SIM110 compiled
        if members[at] == actor:
            return True
    return False


@kernel
def parse(t, data, size, at, words, ends, foreign, batch, log):
    """Read lines until the batch is full, a line is not simple, or arrays are too short.

    Args:
        t: the tables.
        data: uint8; whole lines, and a line end after the last.
        size: how many bytes of it are lines.
        at: where to begin.
        words: uint8; those for the fields actor, event, message and to, and for a causal-send and
            a delivery.
        ends: int64; where each of them ends.
        foreign: pass over events that are called otherwise.
        batch: int64; per event kind, actor, message, set, place.
        log: of the place: the log's number, shifted.

    Returns:
        Why it returns, where it is, and how many events there are.
    """
    events = 0
    spans = t.scratch
    while at < size:
        if (events + 1) * 5 > len(batch):
            return FINISHED, at, events
        now = blank(data, at)
        if data[now] == 10:
            t.counter[LINES] += 1
            at = now + 1
            continue
        now = object_spans(data, now, words, ends, spans)
        if now < 0:
            return ASK, at, events
        kind = SEND if same(data, spans[2], spans[3], words, ends[3], ends[4]) else DELIVER
        if kind == DELIVER and not same(data, spans[2], spans[3], words, ends[4], ends[5]):
            if foreign:
                t.counter[LINES] += 1
                at = now + 1
                continue
            return ASK, at, events
        actor = actor_of(t, data, spans[0], spans[1])
        if actor < 0:
            return GROW, at, events
        to = -1
        if spans[7] and kind == SEND:
            to = set_of(t, data, spans[6], spans[7])
            if to < -1:
                return GROW, at, events
            if to < 0:
                return ASK, at, events
        message = message_of(t, data, spans[4], spans[5])
        if message < 0:
            return GROW, at, events
        t.counter[LINES] += 1
        batch[5 * events] = kind
        batch[5 * events + 1] = actor
        batch[5 * events + 2] = message
        batch[5 * events + 3] = to
        batch[5 * events + 4] = log | t.counter[LINES]
        events += 1
        at = now + 1
    return FINISHED, at, events


@kernel
def object_spans(data, at, words, ends, spans):
    """Find the values of the four fields of a simple object; return where its line ends, or -1.

    The spans of actor, event, message and to are at 0, 2, 4 and 6; without `to`, its end is 0.
    """
    if data[at] != 123:
        return -1
    for k in range(8):
        spans[k] = 0
    seen = 0
    at = blank(data, at + 1)
    while True:
        stop = text_end(data, at)
        if data[at] != 34 or stop < 0:
            return -1
        field = -1
        for known in range(4):
            begin = ends[known - 1] if known else 0
            if same(data, at + 1, stop, words, begin, ends[known]):
                field = known
        at = blank(data, stop + 1)
        if data[at] != 58:
            return -1
        at = blank(data, at + 1)
        if field == 3:
            if data[at] != 91:
                return -1
            stop = list_end(data, at)
        else:
            stop = text_end(data, at)
        if stop < 0:
            return -1
        if field >= 0:
            if seen & (1 << field):
                return -1
            seen |= 1 << field
            spans[2 * field] = at + (data[at] == 34)
            spans[2 * field + 1] = stop
        at = blank(data, stop + (data[stop] == 34 or data[stop] == 93))
        if data[at] == 44:
            at = blank(data, at + 1)
        elif data[at] == 125:
            break
        else:
            return -1
    at = blank(data, at + 1)
    if seen & 7 != 7 or data[at] != 10:
        return -1
    return at


# What actors know


@kernel
def knows(t, actor, sender):
    """Return how many messages of a sender an actor knows of by its deliveries; -1: not kept."""
    column = sender // WIDTH - t.counter[FIRST]
    if column < 0 or column >= t.counter[COLUMNS]:
        return -1
    chunk = t.rows[t.known[actor] * t.counter[COLUMNS] + column]
    return t.chunks[chunk * WIDTH + sender % WIDTH]


@kernel
def drop_chunk(t, chunk):
    """Use a chunk once less."""
    if chunk:
        t.chunk_users[chunk] -= 1
        if t.chunk_users[chunk] == 0:
            t.free_chunks[t.counter[CHUNKS]] = chunk
            t.counter[CHUNKS] += 1


@kernel
def drop_row(t, row):
    """Use a row once less."""
    t.row_users[row] -= 1
    if t.row_users[row] == 0:
        columns = t.counter[COLUMNS]
        for column in range(columns):
            drop_chunk(t, t.rows[row * columns + column])
        t.free_rows[t.counter[ROWS]] = row
        t.counter[ROWS] += 1


@kernel
def own_row(t, actor):
    """Return the actor's row, for changes: a copy, if somebody else refers to it."""
    row, columns = t.known[actor], t.counter[COLUMNS]
    if t.row_users[row] == 1:
        return row
    t.counter[ROWS] -= 1
    new = t.free_rows[t.counter[ROWS]]
    for column in range(columns):
        chunk = t.rows[row * columns + column]
        t.rows[new * columns + column] = chunk
        t.chunk_users[chunk] += 1
    t.row_users[row] -= 1
    t.row_users[new] = 1
    t.known[actor] = new
    return new


@kernel
def own_chunk(t, at):
    """Return the chunk at a place of `rows`, for changes: a copy, if it is used elsewhere."""
    chunk = t.rows[at]
    if chunk and t.chunk_users[chunk] == 1:
        return chunk
    t.counter[CHUNKS] -= 1
    new = t.free_chunks[t.counter[CHUNKS]]
    for k in range(WIDTH):
        t.chunks[new * WIDTH + k] = t.chunks[chunk * WIDTH + k]
    if chunk:
        t.chunk_users[chunk] -= 1
    t.chunk_users[new] = 1
    t.rows[at] = new
    return new


@kernel
def merge_chunk(t, at, other):
    """Make the chunk at a place of `rows` know what another one does."""
    mine = t.rows[at]
    less, more = False, False
    for k in range(WIDTH):
        a, b = t.chunks[mine * WIDTH + k], t.chunks[other * WIDTH + k]
        less |= a < b
        more |= a > b
    if not less:
        return
    if not more:
        t.chunk_users[other] += 1
        t.rows[at] = other
        drop_chunk(t, mine)
        return
    mine = own_chunk(t, at)
    for k in range(WIDTH):
        t.chunks[mine * WIDTH + k] = max(t.chunks[mine * WIDTH + k], t.chunks[other * WIDTH + k])


@kernel
def learn(t, actor, slot):
    """Let an actor know what was known at the causal-send of a message, and of the message."""
    columns, sender, number = t.counter[COLUMNS], t.sender[slot], t.number[slot]
    row, other = own_row(t, actor) * columns, t.row[slot] * columns
    for column in range(columns):
        theirs = t.rows[other + column]
        if theirs and theirs != t.rows[row + column]:
            merge_chunk(t, row + column, theirs)
    column = sender // WIDTH - t.counter[FIRST]
    if column < 0 or column >= columns:
        return
    at = row + column
    if t.chunks[t.rows[at] * WIDTH + sender % WIDTH] < number:
        t.chunks[own_chunk(t, at) * WIDTH + sender % WIDTH] = number


# The oracle


@kernel
def pair_place(pairs, key):
    """Return the slot of a pair, or the empty one where it belongs."""
    mask = len(pairs) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(mixed >> np.uint64(20)) & mask
    while pairs[at] >= 0 and pairs[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def forget_pair(pairs, key):
    """Take a pair out, and move back those that had to go further because of it; 1 if it was in."""
    mask = len(pairs) - 1
    hole = pair_place(pairs, key)
    if pairs[hole] < 0:
        return 0
    pairs[hole] = -1
    at = (hole + 1) & mask
    while pairs[at] >= 0:
        moved = pairs[at]
        pairs[at] = -1
        pairs[pair_place(pairs, moved)] = moved
        at = (at + 1) & mask
    return 1


@kernel
def repair_pairs(old, new):
    """Move all pairs to a larger table."""
    for at in range(len(old)):
        if old[at] >= 0:
            new[pair_place(new, old[at])] = old[at]


@kernel
def find(t, kind, actor, message, where, sender, number):
    """Note a finding."""
    at = 6 * t.counter[FOUND]
    t.found[at], t.found[at + 1], t.found[at + 2], t.found[at + 3] = kind, actor, message, where
    t.found[at + 4], t.found[at + 5] = sender, number
    t.counter[FOUND] += 1


@kernel
def room(t):
    """Return whether the next event finds room, whatever it does."""
    return (
        t.counter[CHUNKS] > t.counter[COLUMNS] + 1
        and t.counter[ROWS] > 1
        and t.counter[SLOTS] > 0
        and t.counter[NODES] > 0
        and 2 * t.counter[PAIRS] < len(t.pairs)
        and 4 * t.counter[OUT] < len(t.out)
        and 6 * t.counter[FOUND] < len(t.found)
        and (len(t.watched) == 0 or 3 * (t.counter[RAISED] + t.counter[ACTORS]) <= len(t.raised))
    )


@kernel
def send(t, actor, message, to, where):
    """Put a message in transit, and let those go on that wait for it."""
    tag = t.state[message] & 3
    if tag in (TRANSIT, DONE):
        find(t, TWICE, actor, message, where, 0, 0)
        return
    waiter = t.state[message] >> 2 if tag == AWAITED else -1
    t.counter[SENDS] += 1
    t.own[actor] += 1
    t.counter[SLOTS] -= 1
    slot = t.free_slots[t.counter[SLOTS]]
    t.sender[slot], t.number[slot] = actor, t.own[actor]
    t.row[slot], t.to[slot], t.sent_at[slot] = t.known[actor], to, where
    t.row_users[t.known[actor]] += 1
    t.missing[slot] = -1 if to < 0 else t.set_starts[to + 1] - t.set_starts[to]
    t.counter[UNADDRESSED] += to < 0
    t.state[message] = (slot << 2) | TRANSIT
    if t.missing[slot] == 0:
        forget(t, message, slot)
    while waiter >= 0:
        after = t.next_waiter[waiter]
        t.waits_for[waiter] = -1
        t.ready[t.counter[READY_END] % len(t.ready)] = waiter
        t.counter[READY_END] += 1
        waiter = after


@kernel
def forget(t, message, slot):
    """Keep no more than the destinations of a message that was delivered everywhere."""
    to = t.to[slot]
    if t.set_starts[to + 1] - t.set_starts[to] > 1:
        for at in range(t.set_starts[to], t.set_starts[to + 1]):
            t.counter[PAIRS] -= forget_pair(t.pairs, (message << 32) | t.members[at])
    drop_row(t, t.row[slot])
    t.free_slots[t.counter[SLOTS]] = slot
    t.counter[SLOTS] += 1
    t.state[message] = (to << 2) | DONE


@kernel
def deliver(t, actor, message, where):
    """Judge a delivery; one that should not be teaches its actor nothing."""
    t.counter[DELIVERIES] += 1
    transit, value = t.state[message] & 3 == TRANSIT, t.state[message] >> 2
    to = t.to[value] if transit else value
    if to >= 0 and not is_member(t.members, t.set_starts[to], t.set_starts[to + 1], actor):
        find(t, STRAY, actor, message, where, 0, 0)
        return
    several = to < 0 or t.set_starts[to + 1] - t.set_starts[to] > 1
    key = (message << 32) | actor
    at = pair_place(t.pairs, key) if several else 0
    if not transit or (several and t.pairs[at] >= 0):
        find(t, AGAIN, actor, message, where, 0, 0)
        return
    if knows(t, actor, t.sender[value]) >= t.number[value]:
        find(t, CAUSAL, actor, message, where, t.sender[value], t.number[value])
    if len(t.watched):
        watch(t, actor, message, value)
    else:
        learn(t, actor, value)
    if several:
        t.pairs[at] = key
        t.counter[PAIRS] += 1
    if to >= 0:
        t.missing[value] -= 1
        if t.missing[value] == 0:
            forget(t, message, value)


@kernel
def watch(t, actor, message, slot):
    """Learn, and note what it tells of those senders whose messages came too late here."""
    begin, end = t.watch_starts[actor], t.watch_starts[actor + 1]
    before = t.scratch
    for k in range(begin, end):
        before[k - begin] = knows(t, actor, t.watched[k])
    learn(t, actor, slot)
    for k in range(begin, end):
        now = knows(t, actor, t.watched[k])
        if now > before[k - begin]:
            at = 3 * t.counter[RAISED]
            t.raised[at] = (actor << 32) | t.watched[k]
            t.raised[at + 1], t.raised[at + 2] = now, message
            t.counter[RAISED] += 1


@kernel
def act(t, kind, actor, message, to, where):
    """Let an event happen that has nothing to wait for."""
    at = 4 * t.counter[OUT]
    t.out[at] = (where << 1) | kind
    t.out[at + 1], t.out[at + 2], t.out[at + 3] = actor, message, to
    t.counter[OUT] += 1
    if kind == SEND:
        send(t, actor, message, to, where)
    else:
        deliver(t, actor, message, where)


@kernel
def unsent(t, kind, message):
    """Return whether an event is a delivery of what was not causal-sent yet."""
    tag = t.state[message] & 3
    return kind == DELIVER and tag in (UNSENT, AWAITED)


@kernel
def block(t, actor, message):
    """Let an actor wait for a message, behind those that do already."""
    t.waits_for[actor] = message
    t.next_waiter[actor] = -1
    if t.state[message] & 3 == AWAITED:
        first = t.state[message] >> 2
        t.next_waiter[t.last_waiter[first]] = actor
        t.last_waiter[first] = actor
    else:
        t.state[message] = (actor << 2) | AWAITED
        t.last_waiter[actor] = actor


@kernel
def queue(t, actor, kind, message, to, where):
    """Put an event behind those of its actor that wait."""
    t.counter[NODES] -= 1
    node = t.free_nodes[t.counter[NODES]]
    at = 5 * node
    t.nodes[at], t.nodes[at + 1], t.nodes[at + 2] = kind, message, to
    t.nodes[at + 3], t.nodes[at + 4] = where, -1
    if t.first_node[actor] < 0:
        t.first_node[actor] = node
    else:
        t.nodes[5 * t.last_node[actor] + 4] = node
    t.last_node[actor] = node


@kernel
def pop(t, actor):
    """Take the first waiting event of an actor off its queue; its values stay for now."""
    node = t.first_node[actor]
    t.first_node[actor] = t.nodes[5 * node + 4]
    t.free_nodes[t.counter[NODES]] = node
    t.counter[NODES] += 1


@kernel
def drain(t):
    """Let the actors that are ready go on until each waits or has no events; False: no room."""
    while t.counter[READY] < t.counter[READY_END]:
        actor = t.ready[t.counter[READY] % len(t.ready)]
        while t.first_node[actor] >= 0:
            if not room(t):
                return False
            at = 5 * t.first_node[actor]
            kind, message, to, where = (
                t.nodes[at],
                t.nodes[at + 1],
                t.nodes[at + 2],
                t.nodes[at + 3],
            )
            if unsent(t, kind, message):
                block(t, actor, message)
                break
            pop(t, actor)
            act(t, kind, actor, message, to, where)
        t.counter[READY] += 1
    return True


@kernel
def judge(t, batch, begin, end):
    """Take the events of a batch; return how many, fewer than there are if there is no room."""
    for k in range(begin, end):
        if not drain(t) or not room(t):
            return k
        kind, actor, message = batch[5 * k], batch[5 * k + 1], batch[5 * k + 2]
        to, where = batch[5 * k + 3], batch[5 * k + 4]
        if t.waits_for[actor] >= 0:
            queue(t, actor, kind, message, to, where)
        elif unsent(t, kind, message):
            queue(t, actor, kind, message, to, where)
            block(t, actor, message)
        else:
            act(t, kind, actor, message, to, where)
    if not drain(t):
        return end
    return end + 1


@kernel
def give_up(t, actor):
    """Let an actor go on without the delivery that it waits for; return where that stands."""
    message = t.waits_for[actor]
    first = t.state[message] >> 2
    if first == actor:
        after = t.next_waiter[actor]
        if after < 0:
            t.state[message] = UNSENT
        else:
            t.last_waiter[after] = t.last_waiter[actor]
            t.state[message] = (after << 2) | AWAITED
    else:
        before = first
        while t.next_waiter[before] != actor:
            before = t.next_waiter[before]
        t.next_waiter[before] = t.next_waiter[actor]
        if t.last_waiter[first] == actor:
            t.last_waiter[first] = before
    t.waits_for[actor] = -1
    where = t.nodes[5 * t.first_node[actor] + 3]
    pop(t, actor)
    t.ready[t.counter[READY_END] % len(t.ready)] = actor
    t.counter[READY_END] += 1
    find(t, NEVER, actor, message, where, 0, 0)
    return where


@kernel
def follow(events, base, first, second, via, how, sent_at):
    """Follow who knew of a message; see `checker.audit.chains`.

    Args:
        events: int64; in causal order, as in `out`.
        base: the number of the first of them.
        first: the message that was overtaken.
        second: the one that overtook it.
        via: int64 per actor; the number of the event by which it first knew of `first`, or -1.
        how: int64 per message; by which event its sender knew when it causal-sent it, or -1.
        sent_at: int64 per message; its causal-send, or -1 where its sender did not know.

    Returns:
        Whether `second` was causal-sent.
    """
    for k in range(len(events) // 4):
        kind, actor, message = events[4 * k] & 1, events[4 * k + 1], events[4 * k + 2]
        if kind == DELIVER:
            if sent_at[message] >= 0 and via[actor] < 0:
                via[actor] = base + k
        elif sent_at[message] < 0:
            if message == first:
                sent_at[message] = base + k
                via[actor] = base + k
            elif via[actor] >= 0:
                how[message] = via[actor]
                sent_at[message] = base + k
            if message == second and sent_at[message] >= 0:
                return True
    return False
