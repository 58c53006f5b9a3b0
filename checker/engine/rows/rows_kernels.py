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

    A row is a state as one composite per part. A part is all of an actor, or under the history
    `full` its state or its history. A composite is the number that stands for the local words of a
    part: the numbers of its components, packed. This changes no result; it only saves time.

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
    each part that changed, for example of an actor. If it did so at once, it would wait for the
    memory. So call this function for all successors of a state first, and then `emit` for each.

    Args:
        loc: loc[0:] has the local words of the successor, loc[size:] of its parent. A part has
            changed if its words differ.
        size: the number of local words of a state.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot).
        base: loc[base:] gets the successor's local words, then one word per part: the index of the
            slot of `cons` where the search for its composite begins, or -1 if the part is
            unchanged.

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
    """Write a successor as a row: look up the parts that changed, and copy the others.

    A part is all of an actor, or under the history `full` its state or its history. Its *local
    words* are the numbers of its components, for example of the actor's state, packed into
    geo[PART_WORDS] words. Its *composite* is the number that stands for these words. A row is a
    state as one composite per part, packed into geo[ROW_WORDS] words.

    An unchanged part keeps the composite that it has in the parent's row. The composite of a
    changed part comes from a hash table. If the table lacks it, the kernel records the part's local
    words in `missing`, and goes on with the next part.

    Args:
        loc, base: loc[base:] has the successor, as `await_composites` writes it. First come the
            local words of all actors, in order. Then comes one word per part: -1 if the part is
            unchanged, otherwise the index of the slot of tables.cons where the search begins.
        row, at: the parent's row is row[at:].
        tables: a `Tables`. The kernel reads tables.geo, the sizes of this search, and tables.cons,
            the hash table from local words to composites.
        out, start: output; the row is written to out[start:].
        missing: output, a `Missing`. For each part that lacks a composite, missing.misses gets the
            record (256 * COMPOSE + part, its local words), unless it is full. The number of
            records, missing.control[MISSES], is updated.

    Returns:
        OK (0) if the row is complete. Or MISSED (-1) if a composite is missing: do not use the row
        in `out`. Python, or `compose_missed`, gives numbers to the recorded words; then expand the
        parent again.

    Examples:
        Two parts of one word. The parent's row has the composites 3 and 4, and part 1 has changed
        to the word 99, for which slot 6 of tables.cons has composite 5. Then loc[base:] is (word of
        part 0, 99, -1, 6), and the row that is written has the composites 3 and 5.
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
    miss, Python (or `compose_missed`) adds it to `cons`, and the caller tries again.

    Args:
        loc, first: loc[first:] holds the local words of the part: the numbers of its components,
            packed into geo[PART_WORDS] words of 64 bits.
        part: the index of the part.
        slot: the index of the slot of `cons` where the search begins: the result of `seek` for
            these words.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot).
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]). After a miss, the next row of this
            array is (256 * COMPOSE + part, the local words). If all n are in use, the miss is not
            recorded.
        control: int64; control[MISSES] is the number of rows of `misses` in use; updated.

    Returns:
        The composite. Or MISSED (-1) if there is none, also if `misses` is full.
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
