"""Hashes of rows; they determine a row's slot in a set and the thread that owns it.

A hash is a uint64 that depends only on the words, so it is the same in every process.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel


@inlined
def mix(word):
    """Return a well-mixed uint64 of one word (the finaliser of splitmix64).

    Each bit of the word changes about half of the bits of the result.
    """
    h = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@inlined
def hash_words(array, start, count):
    """Return the uint64 hash of `count` words from array[start], the same in every process."""
    h = mix(array[start])
    for k in range(1, count):
        h = mix(np.int64(h >> np.uint64(1)) ^ array[start + k])
    return h


@inlined
def home(h, capacity):
    """Return the slot of a set where the search for a row begins.

    Greater hashes have greater homes, so a set that grows keeps its order and can grow in place.

    Args:
        h: the uint64 hash of the row.
        capacity: the number of home slots.
    """
    return np.int64(((h >> np.uint64(32)) * np.uint64(capacity)) >> np.uint64(32))


@inlined
def owner_by(h, owners):
    """Return the number of the owner of rows with hash `h`, from 0 to `owners` - 1.

    Homes use the other half of the hash.
    """
    return np.int64(((h & np.uint64(0xFFFFFFFF)) * np.uint64(owners)) >> np.uint64(32))


@inlined
def owner_of(array, start, row_words, owners):
    """Return the number of the owner of the row array[start:], from 0 to `owners` - 1.

    All threads compute the same owner without asking each other.
    """
    return owner_by(hash_words(array, start, row_words), owners)


@kernel
def hash_row(row):
    """Return the uint64 hash of a whole row, for callers in Python."""
    return hash_words(row, 0, row.shape[0])
