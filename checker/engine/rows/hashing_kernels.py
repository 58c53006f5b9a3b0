"""Hashes of rows; they determine a row's slot in a set and the thread that owns it.

A hash is a uint64 that depends only on the words, so it is the same in every process.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel


@inlined
def mix(word):
    """Return a well-mixed uint64 of one word (the finaliser of splitmix64).

    Each bit of the word changes about half of the bits of the result. Different words never have
    the same result.

    Args:
        word: an int64 or uint64.

    Examples:
        >>> with np.errstate(over="ignore"):
        ...     print(hex(mix(np.int64(0))))
        0xe220a8397b1dcdaf
    """
    h = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@inlined
def hash_words(array, start, count):
    """Return a uint64 hash of consecutive words of an array.

    The hash depends on these words only, so it is the same in every process.

    Args:
        array: int64, flat.
        start: the index of the first word.
        count: the number of words, at least 1.

    Examples:
        >>> bool(hash_words(np.array([9, 4, 7]), 1, 2) == hash_words(np.array([4, 7]), 0, 2))
        True
    """
    h = mix(array[start])
    for k in range(1, count):
        h = mix(np.int64(h >> np.uint64(1)) ^ array[start + k])
    return h


@inlined
def home(h, capacity):
    """Return the slot of a visited set where the search for a row (a stored state) begins.

    The slot depends on the upper 32 bits of the hash. Slots never decrease as hashes increase, so a
    set that grows keeps its order and can grow in place.

    Args:
        h: the uint64 hash of the row.
        capacity: the number of slots, at most 2 ** 32.

    Returns:
        An int64 from 0 to `capacity` - 1.

    Examples:
        >>> int(home(np.uint64(2**63), 1000))  # half of all hashes are less
        500
    """
    return np.int64(((h >> np.uint64(32)) * np.uint64(capacity)) >> np.uint64(32))


@inlined
def owner_by(h, owners):
    """Return the number of the thread or partition that owns a state: it decides whether it is new.

    The owner depends on the lower 32 bits of the hash, because `home` uses the upper ones.

    Args:
        h: the uint64 hash of the state.
        owners: the number of owners.

    Returns:
        An int64 from 0 to `owners` - 1.

    Examples:
        >>> int(owner_by(np.uint64(2**31), 4))  # half of all lower halves are less
        2
    """
    return np.int64(((h & np.uint64(0xFFFFFFFF)) * np.uint64(owners)) >> np.uint64(32))


@inlined
def owner_of(array, start, row_words, owners):
    """Return the number of the thread or partition that owns a state: it decides whether it is new.

    The owner depends on the row alone, so all threads compute it without asking each other.

    Args:
        array, start: the state is array[start:], a row.
        row_words: the number of 64-bit words of a row.
        owners: the number of owners; the result is from 0 to `owners` - 1.

    Examples:
        >>> bool(owner_of(np.array([9, 4, 7]), 1, 2, 8) == owner_of(np.array([4, 7]), 0, 2, 8))
        True
    """
    return owner_by(hash_words(array, start, row_words), owners)


@kernel
def hash_row(row):
    """Return the uint64 hash of a whole row, for callers in Python; kernels call `hash_words`.

    A row is a state, packed into a few words.

    Args:
        row: int64; the words of the row.

    Examples:
        >>> bool(hash_row(np.array([4, 7])) == hash_words(np.array([9, 4, 7]), 1, 2))
        True
    """
    return hash_words(row, 0, row.shape[0])
