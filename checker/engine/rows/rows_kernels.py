"""Translation of a row into the local words of all actors, and back; see `geometry`.

Decoding looks each composite up in `dec`. Encoding looks the words of each changed part up in
`cons`; a part without a composite is a miss.

A successor waits to be encoded as `await_composites` writes it to loc[base:]: first the local words
of all actors, then a word per part, which is the slot of `cons` where the search for its composite
begins, or -1 if the part is as in the parent. All successors of a state are prepared before the
first one is encoded, because a look-up at once would wait for the memory.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import probe, seek
from antecede.checker.engine.rows.fields_kernels import change_field, composite_in, field_of


@inlined
def prefetch_composites(row, at, geo, dec):
    """Ask the processor to load what `decode` will read for a row; only saves time."""
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        prefetch(dec, part * geo[g.DEC_STRIDE] + composite * geo[g.PART_WORDS])


@inlined
def decode(row, at, geo, dec, loc, base):
    """Unpack a row into the local words of all actors, at loc[base:]."""
    for part in range(geo[g.PARTS]):
        decode_part(part, composite_in(row, at, field_of(geo, part)), geo, dec, loc, base)


@inlined
def decode_part(part, composite, geo, dec, loc, base):
    """Write the local words of one part to its place among the local words at loc[base:]."""
    words = geo[g.PART_WORDS]
    start = part * geo[g.DEC_STRIDE] + composite * words
    for k in range(words):
        loc[base + part * words + k] = dec[start + k]


@inlined
def await_composites(loc, size, geo, cons, base):
    """Copy the successor in loc[0:] to loc[base:], and prefetch what `emit` will look up for it.

    The parent is loc[size:], where size is the number of local words of a state.

    Examples:
        Two parts of one word; only part 1 differs from the parent (4, 7). The hash table has one
        slot, so the search for its composite begins in slot 0:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.PARTS], geo[g.PART_WORDS] = 2, 1
        >>> loc = np.array([4, 8, 4, 7, 0, 0, 0, 0])
        >>> await_composites(loc, 2, geo, cons=np.full(2, -1), base=4)
        >>> loc[4:].tolist()
        [4, 8, -1, 0]
    """
    words = geo[g.PART_WORDS]
    for part in range(geo[g.PARTS]):
        same = True
        for k in range(part * words, (part + 1) * words):
            loc[base + k] = loc[k]
            same = same and loc[k] == loc[size + k]
        slot = np.int64(-1)  # most parts are unchanged, and keep their composite without a look-up
        if not same:
            slot = seek(cons, words, loc, part * words, part)
            prefetch(cons, slot * (words + 1))
        loc[base + size + part] = slot


@inlined
def emit(loc, base, row, at, tables, out, start, missing):
    """Write a prepared successor as a row; return OK or MISSED.

    An unchanged part keeps its composite of the parent's row, row[at:].
    """
    geo, cons, misses, control = tables.geo, tables.cons, missing.misses, missing.control
    size = geo[g.ACTORS] * geo[g.WORDS]
    words = geo[g.PART_WORDS]
    copy_row(row, at, out, start, geo[g.ROW_WORDS])
    status = np.int64(g.OK)
    # All parts are looked up even after a miss, so that Python numbers all composites at once.
    for part in range(geo[g.PARTS]):
        slot = loc[base + size + part]
        if slot >= 0:
            first = base + part * words
            number = number_of(loc, first, part, slot, geo, cons, misses, control)
            if number == g.MISSED:
                status = np.int64(g.MISSED)
            else:
                field = field_of(geo, part)
                change_field(out, start, field, composite_in(row, at, field), number)
    return status


@inlined
def number_of(loc, first, part, slot, geo, cons, misses, control):
    """Return the composite of the words loc[first:] of a part; if there is none, record a miss."""
    words = geo[g.PART_WORDS]
    number = probe(cons, words, loc, first, part, slot)
    if number == -1:
        spot = control[g.MISSES]
        if spot < misses.shape[0]:
            misses[spot, 0] = g.COMPOSE << g.MISS_SHIFT | part
            for k in range(words):
                misses[spot, 1 + k] = loc[first + k]
            control[g.MISSES] = spot + 1
        return np.int64(g.MISSED)
    return number


@inlined
def copy_row(source, at, target, start, row_words):
    """Copy the row source[at:] to target[start:]."""
    target[start] = source[at]
    for k in range(1, row_words):
        target[start + k] = source[at + k]


@inlined
def same_row(one, at, other, start, row_words):
    """Return whether the rows one[at:] and other[start:] are equal."""
    same = one[at] == other[start]
    for k in range(1, row_words):
        same = same and one[at + k] == other[start + k]
    return same
