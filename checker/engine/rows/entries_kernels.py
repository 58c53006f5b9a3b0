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

    The key packs four numbers into one int64: from the highest bits on, the kind, the column (8
    bits), x and y (25 bits each). The table maps it to the number of the result.

    Args:
        kind: the function that is called, as a constant of `geometry`, for example RECEIVE.
        column: in most keys the number of an actor or a channel; below 2 ** COLUMN_BITS.
        x, y: two arguments as numbers, below NUMBER_LIMIT, for example of a state and a packet.

    Examples:
        Channel 1 delivers packet 3 to its receiver, which is in state 7 (g.RECEIVE is 2):

        >>> key_of(g.RECEIVE, 1, 7, 3) == 2 << 58 | 1 << 50 | 7 << 25 | 3
        True
    """
    return (((kind << g.COLUMN_BITS | column) << g.NUMBER_BITS) | x) << g.NUMBER_BITS | y


@inlined
def key_in(table, slot):
    """Return the key in one slot of a hash table of results, or -1 if the slot is empty.

    Slot s has its key at table[2 * s], and its value at table[2 * s + 1]. A key stands for a call
    of a function with its arguments (see `key_of`), and the value for the result.

    Args:
        table: the hash table, int64, flat.
        slot: the index of the slot, from 0 to len(table) // 2 - 1.

    Examples:
        >>> table = np.array([-1, -1, 17, 5])  # slot 0 is empty; slot 1 has the key 17
        >>> int(key_in(table, 0)), int(key_in(table, 1))
        (-1, 17)
    """
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

    A result is the number that a call of a Python function gave, for example of a handler.
    `look_up` also records that a key is missing.

    Args:
        table: the hash table, int64, flat: key and value of each slot in turn; see `Tables`.
        key: a function with its arguments, as `key_of` returns it.

    Examples:
        >>> table = np.full(8, -1)  # four slots, all empty
        >>> put_entry(table, 17, 5)
        >>> int(find(table, 17)), int(find(table, 18))
        (5, -1)
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
    """Return the value of a key in the hash table of results, and record the key if it is missing.

    A result is the number that a call of a Python function gave, for example of a handler. After a
    miss, Python calls the function of the key and adds its result to the table, and the caller
    looks the key up again.

    Args:
        table: the hash table, int64, flat: key and value of each slot in turn; see `Tables`.
        key: a function and its arguments, as `key_of` returns it.
        misses: output, int64 of shape (n, 2) or wider: the record of a missing key is (0, key).
            Nothing is written if it is full.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        The value, or -1 if the table lacks the key.

    Examples:
        >>> table, misses = np.full(8, -1), np.zeros((4, 2), np.int64)
        >>> control = np.zeros(g.CONTROL_SIZE, np.int64)
        >>> int(look_up(table, 17, misses, control)), int(control[g.MISSES]), misses[0].tolist()
        (-1, 1, [0, 17])
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
        table: the hash table, int64, flat: key and value of each slot in turn, -1 in an empty slot;
            updated. Its number of slots is a power of two, and one slot must be empty.
        key, value: int64 that are not negative.

    Examples:
        >>> table = np.full(8, -1)  # four slots, all empty
        >>> put_entry(table, 17, 5)
        >>> put_entry(table, 17, 6)
        >>> int(find(table, 17))
        6
    """
    mask = (table.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while key_in(table, slot) != -1 and key_in(table, slot) != key:
        slot = (slot + 1) & mask
    fill_slot(table, slot, key, value)


@kernel
def find_all(table, keys, values):
    """Look up many keys in the hash table of results at once.

    Args:
        table: the hash table, int64, flat: key and value of each slot in turn; see `Tables`.
        keys: int64 of shape (n,); functions with their arguments, as `key_of` returns them.
        values: output, int64 of shape (n,); the value of each key, or -1 if the table lacks it.

    Examples:
        >>> table, values = np.full(8, -1), np.zeros(2, np.int64)
        >>> store(table, np.array([17]), np.array([5]))
        >>> find_all(table, np.array([17, 18]), values)
        >>> values.tolist()
        [5, -1]
    """
    for k in range(keys.shape[0]):
        values[k] = find(table, keys[k])


@kernel
def store(table, keys, values):
    """Put keys with their values into the hash table of results; known keys get the new values.

    Args:
        table: the hash table, int64, flat: key and value of each slot in turn; updated. At most
            half of its slots should be in use afterwards; see `with_room`.
        keys, values: int64 of shape (n,), not negative.

    Examples:
        >>> table = np.full(8, -1)  # four slots, all empty
        >>> store(table, np.array([17, 18]), np.array([5, 6]))
        >>> int(find(table, 18))
        6
    """
    for k in range(keys.shape[0]):
        put_entry(table, keys[k], values[k])


def with_room(table: Any, entries: int) -> Any:
    """Return a hash table that has at most half of its slots in use with this number of entries.

    Args:
        table: the hash table, int64, flat: key and value of each slot in turn, -1 in an empty slot.
        entries: the number of entries, those in the table and those that will be added.

    Returns:
        `table` itself if it is large enough, and otherwise a larger copy with the same entries.

    Examples:
        >>> table = np.full(8, -1)  # four slots, all empty
        >>> with_room(table, 2) is table, len(with_room(table, 3))
        (True, 16)
    """
    capacity = len(table) // 2
    if 2 * entries <= capacity:
        return table
    while 2 * entries > capacity:
        capacity *= 2
    larger = np.full(2 * capacity, -1, np.int64)
    used = table[::2] != -1
    store(larger, table[::2][used], table[1::2][used])
    return larger
