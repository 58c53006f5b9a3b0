"""Translation of a row into the local words of all actors, and back.

Decoding looks each composite up in `dec`. Encoding looks the words of each changed part up in
`cons`; a part without a composite is a miss. In all functions, row[at:] is a row, loc[base:] is
working space for local words, and `geo` is the geometry array.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import probe, seek
from antecede.checker.engine.rows.fields_kernels import change_field, composite_in, field_of


@inlined
def prefetch_composites(row, at, geo, dec):
    """Prefetch the words that `decode` will read for row[at:]."""
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        prefetch(dec, part * geo[g.DEC_STRIDE] + composite * geo[g.PART_WORDS])


@inlined
def decode(row, at, geo, dec, loc, base):
    """Write the local words of row[at:] to loc[base:].

    They are then read with `get`, actor by actor.
    """
    for part in range(geo[g.PARTS]):
        decode_part(part, composite_in(row, at, field_of(geo, part)), geo, dec, loc, base)


@inlined
def decode_part(part, composite, geo, dec, loc, base):
    """Write the words of a part's composite to their place in loc[base:]."""
    words = geo[g.PART_WORDS]
    start = part * geo[g.DEC_STRIDE] + composite * words
    for k in range(words):
        loc[base + part * words + k] = dec[start + k]


@inlined
def await_composites(loc, size, geo, cons, base):
    """Copy the successor in loc[0:] to loc[base:], and prefetch its composites.

    A word per part follows the local words: the slot where probing for the composite begins, or -1
    if the part is unchanged. Probing at once would wait for the memory each time.
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
    """Encode a successor as a row into out[start:], reusing the fields that did not change.

    Args:
        base: loc[base:] holds the words that `await_composites` wrote.
        row, at: the parent's row, at row[at:].
        missing: a `Missing`; updated.

    Returns:
        OK or MISSED.
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
    """Return the composite of a part with the local words loc[first:], or MISSED.

    A miss is recorded with the words, so that Python can number them.

    Args:
        slot: where probing in `cons` begins, as `seek` returns it.
        misses, control: as in `Told`.
    """
    words = geo[g.PART_WORDS]
    number = probe(cons, words, loc, first, part, slot)
    if number == -1:
        spot = control[g.MISSES]
        if spot < misses.shape[0]:
            misses[spot, 0] = g.COMPOSE << 8 | part
            for k in range(words):
                misses[spot, 1 + k] = loc[first + k]
            control[g.MISSES] = spot + 1
        return np.int64(g.MISSED)
    return number


@inlined
def copy_row(source, at, target, start, row_words):
    """Copy the row source[at:], of `row_words` words, to target[start:].

    The first word is copied outside of the loop, because most rows have no other.
    """
    target[start] = source[at]
    for k in range(1, row_words):
        target[start + k] = source[at + k]


@inlined
def same_row(one, at, other, start, row_words):
    """Return whether the rows one[at:] and other[start:] are equal, and so are the same state."""
    same = one[at] == other[start]
    for k in range(1, row_words):
        same = same and one[at + k] == other[start + k]
    return same
