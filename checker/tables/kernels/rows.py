"""From a row to the local words of all actors, and back."""

from __future__ import annotations

import numpy as np

from antecede.checker.tables.kernels.composites import (
    probe,
    seek,
)
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    COMPOSE,
    DEC_STRIDE,
    MISSED,
    MISSES,
    OK,
    ROW_MASK,
    ROW_SHIFT,
    ROW_WORD,
    ROW_WORDS,
    WORDS,
)
from antecede.checker.tables.kernels.jit import (
    inlined,
    prefetch,
)


@inlined
def prefetch_composites(row, at, geo, dec):
    """Ask for what `decode` will need of row[at:]."""
    for actor in range(geo[ACTORS]):
        field = row[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
        prefetch(dec, actor * geo[DEC_STRIDE] + (field & geo[ROW_MASK + actor]) * geo[WORDS])


@inlined
def decode(row, at, geo, dec, loc, base):
    """Write the local words of row[at:] to loc[base:]."""
    words = geo[WORDS]
    for actor in range(geo[ACTORS]):
        field = row[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
        start = actor * geo[DEC_STRIDE] + (field & geo[ROW_MASK + actor]) * words
        for k in range(words):
            loc[base + actor * words + k] = dec[start + k]


@inlined
def await_composites(loc, size, geo, cons, base):
    """Put the successor in loc[0:] to loc[base:] until its composites are in the caches.

    Its local words are followed by a word per actor: where to begin the search for the composite,
    or -1 if that is the parent's. Looking them up one by one would wait for the memory each time.
    """
    words = geo[WORDS]
    for actor in range(geo[ACTORS]):
        same = True
        for k in range(actor * words, (actor + 1) * words):
            loc[base + k] = loc[k]
            same = same and loc[k] == loc[size + k]
        slot = np.int64(-1)
        if not same:
            slot = seek(cons, words, loc, actor * words, actor)
            prefetch(cons, slot * (words + 1))
        loc[base + size + actor] = slot


@inlined
def emit(loc, base, size, row, at, geo, cons, out, start, misses, control):
    """Encode a successor as a row into out[start:], reusing the fields that did not change.

    Args:
        base: loc[base:] holds what `await_composites` put there.
        row, at: the parent's row, at row[at:].

    Returns:
        OK or MISSED.
    """
    words = geo[WORDS]
    for k in range(geo[ROW_WORDS]):
        out[start + k] = row[at + k]
    status = np.int64(OK)
    for actor in range(geo[ACTORS]):
        slot = loc[base + size + actor]
        if slot >= 0:
            first = base + actor * words
            number = probe(cons, words, loc, first, actor, slot)
            if number == -1:
                spot = control[MISSES]
                if spot < misses.shape[0]:
                    misses[spot, 0] = COMPOSE << 8 | actor
                    for k in range(words):
                        misses[spot, 1 + k] = loc[first + k]
                    control[MISSES] = spot + 1
                status = np.int64(MISSED)
            else:
                word = start + geo[ROW_WORD + actor]
                shift = geo[ROW_SHIFT + actor]
                old = (out[word] >> shift) & geo[ROW_MASK + actor]
                out[word] ^= (old ^ number) << shift
    return status
