"""Hashes of rows; they determine a row's slot in a set and the thread that owns it.

A hash is a uint64 that depends only on the words, so it is the same in every process.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel


@inlined
def mix(word):
    """Return a well-mixed uint64 of a word, different for each (the finaliser of splitmix64)."""
    h = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@inlined
def hash_words(array, start, count):
    """Return the uint64 hash of `count` words of an array, at least one."""
    h = mix(array[start])
    for k in range(1, count):
        h = mix(np.int64(h >> np.uint64(1)) ^ array[start + k])
    return h


@inlined
def home(h, capacity):
    """Return the slot, below `capacity`, of a visited set where the search for a row begins.

    It depends on the upper 32 bits of the hash, and never decreases as hashes increase, so a set
    that grows keeps its order and can grow in place. A capacity is at most 2 ** 32.

    Examples:
        >>> int(home(np.uint64(2**63), 1000))  # half of all hashes are less
        500
    """
    return np.int64(((h >> np.uint64(32)) * np.uint64(capacity)) >> np.uint64(32))


@inlined
def owner_by(h, owners):
    """Return the number of the thread or partition that owns a state: it decides whether it is new.

    It depends on the lower 32 bits of the hash, because `home` uses the upper ones.
    """
    return np.int64(((h & np.uint64(0xFFFFFFFF)) * np.uint64(owners)) >> np.uint64(32))


@inlined
def owner_of(array, start, row_words, owners):
    """Return the owner of the row at array[start:]; see `owner_by`."""
    return owner_by(hash_words(array, start, row_words), owners)


@kernel
def hash_row(row):
    """Return the hash of a whole row, for callers in Python."""
    return hash_words(row, 0, row.shape[0])
