"""Numbers for names, in the order of first use; two 64-bit hashes identify a name."""

from __future__ import annotations

import numpy as np

from antecede.checker.audit.kernels.arrays import *


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
    """Return the slot of a name, or the empty slot where it belongs."""
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
def rehash(old, new, begin, end):
    """Move the names in a range of slots to a larger table."""
    for at in range(begin, end):
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
    if (
        number + 2 > len(t.marks)
        or 6 * number > len(t.actor_keys)
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
    number = t.message_keys[3 * at + 2]
    if number >= 0:
        return number
    number, new, used = t.counter[MESSAGES], t.counter[NAMES], 0
    if new:
        used = t.name_ends[new - 1]
    if (
        4 * number > len(t.message_keys)
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


@kernel
def is_member(members, start, end, actor):
    """Return whether an actor is in a part of `members`, which is sorted."""
    while start < end:
        middle = (start + end) // 2
        if members[middle] == actor:
            return True
        if members[middle] < actor:
            start = middle + 1
        else:
            end = middle
    return False
