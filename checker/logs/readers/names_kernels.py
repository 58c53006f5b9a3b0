"""Numbers for names, in the order of first use; two 64-bit hashes identify a name.

A table of names has open addressing: a row with the two hashes of a name and its number, or -1 if
the row is empty. There are tables for actors, for messages and for lists of destinations; the last
ones are named by their text in the log. `parser` creates and lengthens the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from antecede.checker.logs.events.columns_kernels import Array, kernel

# Columns of a table of names.
HASH, OTHER_HASH, INDEX = range(3)

# Counters, at fixed places of `counter`.
ACTORS, MESSAGES, SETS, MEMBERS, ARENA, NAMES, LINES, WANTED = range(8)
LISTED, LISTS, FIRST_SET, NAMED, OTHERS = range(8, 13)
COUNTERS = 13
"""The length of `counter`.

WANTED is the length of a name that did not fit. LISTED is the number of members of a list that did
not fit. LISTS numbers lists. FIRST_SET is the number of the first destination set in the arrays.
NAMED is the number of events in a batch whose messages have numbers. OTHERS counts the lines with
other words since the kernel began."""

# Columns of `ahead`, and of the first two also of `spans`.
BEGIN, END, FIRST_HASH, SECOND_HASH, LINE = range(5)

AHEAD = 8
"""The number of events between the hashes of a message's name and its number. Meanwhile, the
processor loads the name's row, which is usually not in its caches."""


class NameTables(NamedTuple):
    """The arrays of the compiled reader.

    Attributes:
        counter: int64, COUNTERS elements.
        actor_keys, message_keys, set_keys: int64; tables of names; their length is a power of two.
        arena, starts: uint8 and int64; the names of actors; actor a's name begins at starts[a].
        marks: int64 per actor; the last list (see LISTS) that named it.
        names, name_ends: uint8 and int64; the names of messages that are not yet on disk.
        members, set_starts: int32 and int64; the actors of destination sets that the judge does
            not have yet.
        spans: int64; where the values of the four fields of a line begin and end.
        ahead: int64; a ring of AHEAD events whose messages have no numbers yet: where the name
            begins and ends, its hashes, and the start of the line.
    """

    counter: Array
    actor_keys: Array
    message_keys: Array
    set_keys: Array
    arena: Array
    starts: Array
    marks: Array
    names: Array
    name_ends: Array
    members: Array
    set_starts: Array
    spans: Array
    ahead: Array


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
    """Return the row of a name, or the empty row where it belongs."""
    mask = len(keys) - 1
    at = one & mask
    while keys[at, INDEX] >= 0 and (keys[at, HASH] != one or keys[at, OTHER_HASH] != two):
        at = (at + 1) & mask
    return at


@kernel
def put(keys, at, one, two, number):
    """Fill a row."""
    keys[at, HASH] = one
    keys[at, OTHER_HASH] = two
    keys[at, INDEX] = number


@kernel
def rehash(old, new, begin, end):
    """Move the names in a range of rows to a larger table."""
    for at in range(begin, end):
        if old[at, INDEX] >= 0:
            to = place(new, old[at, HASH], old[at, OTHER_HASH])
            put(new, to, old[at, HASH], old[at, OTHER_HASH], old[at, INDEX])


@kernel
def actor_of(t, data, start, end):
    """Return the number of an actor, or -1 if there is no room for a new one."""
    one, two = hashes(data, start, end)
    at = place(t.actor_keys, one, two)
    number = t.actor_keys[at, INDEX]
    if number >= 0:
        return number
    number, used = t.counter[ACTORS], t.counter[ARENA]
    if (
        number + 2 > len(t.marks)
        or 2 * number > len(t.actor_keys)
        or used + end - start > len(t.arena)
    ):
        t.counter[WANTED] = end - start
        return -1
    for k in range(end - start):
        t.arena[used + k] = data[start + k]
    t.counter[ARENA] += end - start
    t.starts[number + 1] = used + end - start
    put(t.actor_keys, at, one, two, number)
    t.counter[ACTORS] += 1
    return number


@kernel
def message_of(t, data, start, end):
    """Return the number of a message, or -1 if there is no room for a new one."""
    one, two = hashes(data, start, end)
    return hashed_message(t, data, start, end, one, two)


@kernel
def hashed_message(t, data, start, end, one, two):
    """Return the same as `message_of` for a name with the given hashes."""
    at = place(t.message_keys, one, two)
    number = t.message_keys[at, INDEX]
    if number >= 0:
        return number
    number, new, used = t.counter[MESSAGES], t.counter[NAMES], 0
    if new:
        used = t.name_ends[new - 1]
    if (
        4 * number > 3 * len(t.message_keys)
        or new == len(t.name_ends)
        or used + end - start > len(t.names)
    ):
        t.counter[WANTED] = end - start
        return -1
    for k in range(end - start):
        t.names[used + k] = data[start + k]
    t.name_ends[new] = used + end - start
    t.counter[NAMES] += 1
    put(t.message_keys, at, one, two, number)
    t.counter[MESSAGES] += 1
    return number
