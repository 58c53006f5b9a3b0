"""The hash table of the results of Python functions.

An entry maps a key, for example the receipt of packet 3 by actor 1 in state 7, to a number. Kernels
look entries up; Python fills in those that are missing, and calls no function twice for one key.

    key     | kind 5 bits | column 8 bits | x 25 bits | y 25 bits |
    table   | key | value | key | value | ...     open addressing; -1: an empty slot

The number of slots is a power of two, and `with_room` keeps half of them empty. The memo has a
table of its own, with other keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.hashing_kernels import mix


@inlined
def key_of(kind, column, x, y):
    """Return the key of a function (such as g.RECEIVE) with its arguments: column, x and y."""
    return (((kind << g.COLUMN_BITS | column) << g.NUMBER_BITS) | x) << g.NUMBER_BITS | y


@inlined
def key_in(table, slot):
    """Return the key in one slot, or -1 if the slot is empty."""
    return table[2 * slot]


@inlined
def value_in(table, slot):
    """Return the value in a slot that has a key."""
    return table[2 * slot + 1]


@inlined
def fill_slot(table, slot, key, value):
    """Put a key and its value into a slot."""
    table[2 * slot] = key
    table[2 * slot + 1] = value


@inlined
def find(table, key):
    """Return the value of a key, or -1 if the table lacks it; `look_up` also records it."""
    mask = (table.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while True:
        there = key_in(table, slot)
        if there == key:
            return value_in(table, slot)
        if there == -1:
            return np.int64(-1)
        slot = (slot + 1) & mask


@inlined
def look_up(table, key, misses, control):
    """Return the value of a key, or -1; `misses` then gets (0, key), unless it is full."""
    value = find(table, key)
    if value == -1:
        at = control[g.MISSES]
        if at < misses.shape[0]:
            misses[at, 0] = 0
            misses[at, 1] = key
            control[g.MISSES] = at + 1
    return value


@inlined
def put_entry(table, key, value):
    """Put a key and its value into a table; if it has the key, replace the value."""
    mask = (table.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while key_in(table, slot) != -1 and key_in(table, slot) != key:
        slot = (slot + 1) & mask
    fill_slot(table, slot, key, value)


@kernel
def find_all(table, keys, values):
    """Look up many keys at once; a value is -1 if the table lacks its key."""
    for k in range(keys.shape[0]):
        values[k] = find(table, keys[k])


@kernel
def store(table, keys, values):
    """Put keys with their values into a table that has room for them; see `with_room`."""
    for k in range(keys.shape[0]):
        put_entry(table, keys[k], values[k])


def with_room(table: Any, entries: int) -> Any:
    """Return the table, or a larger copy, in which the entries take at most half of the slots."""
    capacity = len(table) // 2
    if 2 * entries <= capacity:
        return table
    while 2 * entries > capacity:
        capacity *= 2
    larger = np.full(2 * capacity, -1, np.int64)
    used = table[::2] != -1
    store(larger, table[::2][used], table[1::2][used])
    return larger
