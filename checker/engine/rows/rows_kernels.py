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
    """Ask the processor to load the entries that `decode` will read later for a row.

    A row is a state as one composite per part. A composite is the number that stands for the local
    words (packed columns) of a part. This changes no result.

    Args:
        row, at: the row is row[at:].
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        dec: int64, flat: the local words of composite c of part p are at p * geo[DEC_STRIDE] + c *
            geo[PART_WORDS].
    """
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        prefetch(dec, part * geo[g.DEC_STRIDE] + composite * geo[g.PART_WORDS])


@inlined
def decode(row, at, geo, dec, loc, base):
    """Unpack a row, which is a state, into the local words of all actors, which `get` reads.

    A row holds one composite (a number that stands for local words) per part. Local words pack the
    numbers of an actor's components, for example of its state.

    Args:
        row, at: the row is row[at:].
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        dec: int64, flat: the local words of composite c of part p are at p * geo[DEC_STRIDE] + c *
            geo[PART_WORDS].
        loc, base: output; loc[base:] gets geo[WORDS] words per actor, in order.

    Examples:
        One part with one local word; composite 2 stands for the word 42:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.PARTS], geo[g.PART_WORDS], geo[g.ROW_MASK] = 1, 1, 0xFF
        >>> loc = np.zeros(1, np.int64)
        >>> decode(np.array([2]), 0, geo, np.array([40, 41, 42]), loc, 0)
        >>> int(loc[0])
        42
    """
    for part in range(geo[g.PARTS]):
        decode_part(part, composite_in(row, at, field_of(geo, part)), geo, dec, loc, base)


@inlined
def decode_part(part, composite, geo, dec, loc, base):
    """Write the local words of one part to its place among the local words of all actors.

    A part is all of an actor, or under the history `full` its state or its history. Its local words
    pack the numbers of its components, and its composite is the number that stands for these words.

    Args:
        part: the index of the part.
        composite: the composite of the part.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        dec: int64, flat: the local words of composite c of part p are at p * geo[DEC_STRIDE] + c *
            geo[PART_WORDS].
        loc, base: loc[base:] has room for the local words of all actors; only this part's change.

    Examples:
        Parts of one word; composite 2 of part 1 stands for the word 52:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.PART_WORDS], geo[g.DEC_STRIDE] = 1, 3
        >>> loc = np.zeros(2, np.int64)
        >>> decode_part(1, 2, geo, np.array([40, 41, 42, 50, 51, 52]), loc, 0)
        >>> loc.tolist()
        [0, 52]
    """
    words = geo[g.PART_WORDS]
    start = part * geo[g.DEC_STRIDE] + composite * words
    for k in range(words):
        loc[base + part * words + k] = dec[start + k]


@inlined
def await_composites(loc, size, geo, cons, base):
    """Copy a successor's local words, and prefetch the entries that `emit` will look up for them.

    A successor is first made as local words, which pack the numbers of its components. `emit` then
    makes a row of it: it looks up the composite (the number that stands for the local words) of
    each changed part, for example of an actor. If it did so at once, it would wait for the memory;
    so the successors wait, and the entries are loaded meanwhile.

    Args:
        loc: loc[0:] has the local words of the successor, loc[size:] of its parent.
        size: the number of local words of a state.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot).
        base: loc[base:] gets the successor's local words, then one word per part: the slot of
            `cons` where the search for its composite begins, or -1 if the part is unchanged.
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
    """Write a successor as a row, which is a state as one composite (a number) per part.

    Changed parts get the composites of their local words; the others keep the parent's composites.

    Args:
        loc, base: loc[base:] has the successor's local words, as `await_composites` wrote them.
        row, at: the parent's row is row[at:].
        tables: a `Tables`: the geometry, the results of handlers, and the composites with their
            local words.
        out, start: the row is written to out[start:].
        missing: output, a `Missing`: the composites that the tables lack, so that Python can add
            them.

    Returns:
        OK (0); or MISSED (-1) if a composite is missing, and then the row in `out` must not be
        used.
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
    """Return the composite of a part with the given local words; if there is none, record a miss.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. This kernel makes no composite: after a
    miss, Python adds it to `cons`, and the caller tries again.

    Args:
        loc, first: loc[first:] holds the local words of the part: the numbers of its components,
            packed into geo[PART_WORDS] words of 64 bits.
        part: the index of the part.
        slot: the slot of `cons` where the search begins: the result of `seek` for these words.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot).
        misses: output, int64 of shape (n, 1 + words); the record is 256 * COMPOSE + part, then the
            local words. Nothing is written if it is full.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        The composite; or MISSED (-1) if there is none, also if `misses` is full.
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
    """Copy a row, which is a state packed into 64-bit words, from one array to another.

    Args:
        source, at: the row is source[at:].
        target, start: output; the copy is target[start:].
        row_words: the number of words of a row.

    Examples:
        >>> target = np.zeros(3, np.int64)
        >>> copy_row(np.array([1, 2, 3, 4]), 2, target, 0, 2)
        >>> target.tolist()
        [3, 4, 0]
    """
    target[start] = source[at]
    for k in range(1, row_words):
        target[start + k] = source[at + k]


@inlined
def same_row(one, at, other, start, row_words):
    """Return whether two rows have equal words, so that they are the same state.

    Args:
        one, at: one row is one[at:].
        other, start: the other row is other[start:].
        row_words: the number of 64-bit words of a row.

    Examples:
        >>> bool(same_row(np.array([1, 2, 3, 4]), 2, np.array([3, 4]), 0, 2))
        True
    """
    same = one[at] == other[start]
    for k in range(1, row_words):
        same = same and one[at + k] == other[start + k]
    return same
