"""The hash table of the results of Python functions.

An entry maps a key, for example the receipt of packet 3 by actor 1 in state 7, to a number. Kernels
look entries up; Python fills in those that are missing, and calls no function twice for one key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.hashing_kernels import mix


@inlined
def key_of(kind, column, x, y):
    """Return the key of a result in the hash table of results: a function with its arguments.

    The key packs the four numbers into one int64.

    Args:
        kind: the function that is called, as a constant of `geometry`, for example RECEIVE.
        column: in most keys the number of an actor or a channel; below 2 ** COLUMN_BITS.
        x, y: two arguments as numbers, below NUMBER_LIMIT, for example of a state and a packet.
    """
    return (((kind << g.COLUMN_BITS | column) << g.NUMBER_BITS) | x) << g.NUMBER_BITS | y


@inlined
def key_in(table, slot):
    """Return the key in a slot, or -1 if it is empty."""
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
    """Return the value of a key in the hash table of results, or -1 if the table lacks the key.

    The results are from calls of Python functions. `look_up` also records that a key is missing.

    Args:
        table: the hash table, flat int64: key and value of each slot in turn; see `Tables`.
        key: a function and its arguments, as `key_of` returns it.
    """
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
    """Return the value of a key in the hash table of results, or -1 if the table lacks it.

    A missing key is recorded, if `misses` has room. Python then calls the function of the key and
    adds its result to the table, and the caller looks the key up again.

    Args:
        table: the hash table, flat int64: key and value of each slot in turn; see `Tables`.
        key: a function and its arguments, as `key_of` returns it.
        misses: where to write the calls and composites that the tables lack, for Python to make.
        control: counters of the kernels, such as the number of misses (control[MISSES]).
    """
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
    """Put a key and its value into a hash table; if it has the key, replace the value.

    Args:
        table: the hash table, flat int64: key and value of each slot in turn. It must have an empty
            slot, and its number of slots is a power of two.
        key, value: int64 that are not negative.
    """
    mask = (table.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while key_in(table, slot) != -1 and key_in(table, slot) != key:
        slot = (slot + 1) & mask
    fill_slot(table, slot, key, value)


@kernel
def find_all(table, keys, values):
    """Write the value of every key to `values`; -1 for a key that the table lacks."""
    for k in range(keys.shape[0]):
        values[k] = find(table, keys[k])


@kernel
def store(table, keys, values):
    """Put new keys with their values into `table`, which has room for them."""
    for k in range(keys.shape[0]):
        put_entry(table, keys[k], values[k])


def with_room(table: Any, entries: int) -> Any:
    """Return the table, or a larger copy, so that `entries` entries fill at most half of it."""
    capacity = len(table) // 2
    if 2 * entries <= capacity:
        return table
    while 2 * entries > capacity:
        capacity *= 2
    larger = np.full(2 * capacity, -1, np.int64)
    used = table[::2] != -1
    store(larger, table[::2][used], table[1::2][used])
    return larger
