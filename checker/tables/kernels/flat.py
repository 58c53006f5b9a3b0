"""Rows that travel between processes; see `checker.spark.rows`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.tables.kernels.composites import (
    find_composite,
    get,
    index_composite,
)
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    DEC_STRIDE,
    FLAT_BITS,
    FLAT_MASK,
    LEAD_BITS,
    PART_WORDS,
    PARTS,
    PENDING,
    PLACE_BITS,
    POSITION,
    REN_STRIDE,
    ROW_MASK,
    ROW_SHIFT,
    ROW_WORD,
    ROW_WORDS,
    WORDS,
)
from antecede.checker.tables.kernels.hashing import (
    mix,
    owner_by,
)
from antecede.checker.tables.kernels.jit import (
    borrow,
    inlined,
    kernel,
)
from antecede.checker.tables.kernels.renaming import (
    weight_of,
)
from antecede.checker.tables.kernels.rows import (
    decode,
)


class Packing(NamedTuple):
    """The packing of local words into flat rows.

    Attributes:
        widths: the number of bits used in each local word of each actor.
        words: words of a flat row.
    """

    widths: np.ndarray[Any, Any]
    words: int


class NoteSource(NamedTuple):
    """The numbers from which `dispatch` makes notes.

    Attributes:
        base: the partition of the parents, shifted to its position in a link.
        numbers: the parents' numbers (for marks: their depths), by the index in an entry's
            information word.
        leads: per kind of transition, the number of levels that it skips; or empty.
    """

    base: int
    numbers: np.ndarray[Any, Any]
    leads: np.ndarray[Any, Any]


class FlatOutbox(NamedTuple):
    """The flat rows that `dispatch` sends.

    Attributes:
        rows: (owners, words of a flat row * room).
        notes: (owners, room); the note of each row.
        sizes: the number of rows sent to each owner; 0 at first.
    """

    rows: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]


@inlined
def pack_flat(loc, widths, out, start):
    """Pack local words bit by bit into out[start:].

    Args:
        loc: the local words of all actors.
        widths: as in `Packing`.
    """
    word, used = start, np.int64(0)
    out[word] = 0
    for k in range(widths.shape[0]):
        value, width = loc[k], widths[k]
        out[word] |= (value << used) & FLAT_MASK
        used += width
        if (used >= FLAT_BITS and k + 1 < widths.shape[0]) or used > FLAT_BITS:
            used -= FLAT_BITS
            word += 1
            out[word] = value >> (width - used)


@inlined
def unpack_flat(flat, start, widths, loc):
    """Write the local words packed at flat[start:] to loc[0:]."""
    word, used = start, np.int64(0)
    for k in range(widths.shape[0]):
        width = widths[k]
        value = flat[word] >> used
        used += width
        if (used >= FLAT_BITS and k + 1 < widths.shape[0]) or used > FLAT_BITS:
            used -= FLAT_BITS
            word += 1
            if used:
                value |= flat[word] << (width - used)
        loc[k] = value & ((np.int64(1) << width) - 1)


@kernel
def compose(flat, which, packing, tables, composites, rows):
    """Translate flat rows into rows of composites, numbering new composites.

    Args:
        flat: flat rows.
        which: the indices of the rows to translate.
        packing: a `Packing`.
        composites: a `Composites`; its counts are updated.
        rows: output; the rows of composites.

    Returns:
        The number of translated rows; fewer than all if there is no room for more composites.
    """
    flat, which, rows = borrow(flat), borrow(which), borrow(rows)
    widths, flat_words = borrow(packing.widths), packing.words
    counts, limits = composites.counts, composites.limits
    geo, cons, dec = borrow(tables.geo), borrow(tables.cons), borrow(tables.dec)
    words, parts, row_words = geo[PART_WORDS], geo[PARTS], geo[ROW_WORDS]
    mask = cons.shape[0] // (words + 1) - 1
    own_loc = np.empty(parts * words, np.int64)
    loc = borrow(own_loc)
    done = which.shape[0]
    total = counts.sum()
    for r in range(which.shape[0]):
        unpack_flat(flat, which[r] * flat_words, widths, loc)
        for k in range(row_words):
            rows[r * row_words + k] = 0
        room = True
        for part in range(parts):
            number = find_composite(cons, words, loc, part * words, part)
            if number == -1:
                room = counts[part] < limits[part] and total < limits[parts]
                if not room:
                    break
                number = counts[part]
                at = part * geo[DEC_STRIDE] + number * words
                for k in range(words):
                    dec[at + k] = loc[part * words + k]
                index_composite(cons, mask, dec, at, words, part, number)
                counts[part] += 1
                total += 1
            rows[r * row_words + geo[ROW_WORD + part]] |= number << geo[ROW_SHIFT + part]
        if not room:
            done = r
            break
    own_loc[0] = 0
    return done


@kernel
def flatten(rows, count, stride, geo, dec, packing, flat):
    """Translate rows of composites into flat rows.

    Args:
        rows: entries of `stride` words; each of the first `count` entries begins with a row.
        flat: output; the flat rows.
    """
    rows, widths, flat = borrow(rows), borrow(packing.widths), borrow(flat)
    geo, dec = borrow(geo), borrow(dec)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(count):
        decode(rows, r * stride, geo, dec, loc, 0)
        pack_flat(loc, widths, flat, r * packing.words)
    own_loc[0] = 0


@kernel
def owners_of(flat, packing, geo, salts, owners, out):
    """Write the owner of each flat row to `out`: a hash of its columns, for any packing.

    `dispatch` computes the same owner from weights.

    Args:
        salts: as for `weigh`.
    """
    flat, widths, geo = borrow(flat), borrow(packing.widths), borrow(geo)
    salts, out = borrow(salts), borrow(out)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(out.shape[0]):
        unpack_flat(flat, r * packing.words, widths, loc)
        h = np.int64(0)
        for part in range(geo[PARTS]):
            h += weight_of(loc, geo, part, salts)
        out[r] = owner_by(mix(h), owners)
    own_loc[0] = 0


@kernel
def dispatch(entries, count, tables, packing, weights, source, outbox):
    """Send the flat rows of entries, each with a note, to their owners.

    A note is a link to the parent, or a mark if levels are sums of weights.

    Args:
        entries: the first `count` are sent.
        packing: a `Packing`.
        weights: as for `weigh`.
        source: a `NoteSource`.
        outbox: a `FlatOutbox`; output.
    """
    entries, weights = borrow(entries), borrow(weights)
    geo, dec, widths = borrow(tables.geo), borrow(tables.dec), borrow(packing.widths)
    numbers, leads, flat_words = borrow(source.numbers), borrow(source.leads), packing.words
    rows, notes, sizes = outbox.rows, outbox.notes, borrow(outbox.sizes)
    owners, row_words = sizes.shape[0], geo[ROW_WORDS]
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    own_flat = np.empty(flat_words, np.int64)
    loc, flat = borrow(own_loc), borrow(own_flat)
    for e in range(count):
        at = e * (row_words + 1)
        h = np.int64(0)
        for part in range(geo[PARTS]):
            field = entries[at + geo[ROW_WORD + part]] >> geo[ROW_SHIFT + part]
            h += weights[part * geo[REN_STRIDE] + (field & geo[ROW_MASK + part])]
        info = entries[at + row_words]
        owner = owner_by(mix(h), owners)
        decode(entries, at, geo, dec, loc, 0)
        pack_flat(loc, widths, flat, 0)
        place = sizes[owner]
        sizes[owner] = place + 1
        number = np.int64(numbers[info >> 31])
        if leads.shape[0]:
            notes[owner, place] = (leads[info >> 16 & 0x7FFF] << LEAD_BITS) + number + 1
        else:
            notes[owner, place] = source.base | number << PLACE_BITS | info & 0xFFFF
        for k in range(flat_words):
            rows[owner, place * flat_words + k] = flat[k]
    own_loc[0] = own_flat[0] = 0


@kernel
def progress_of_flat(flat, packing, geo, sent, pending, out):
    """Write the progress of flat rows to `out`; see `progress_of`.

    Args:
        sent: of shape (actors, room), flat; the amount that an actor's position adds.
        pending: of the same shape, flat; the amount that an actor's undelivered copies subtract.
    """
    flat, widths, geo = borrow(flat), borrow(packing.widths), borrow(geo)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    room = sent.shape[0] // geo[ACTORS]
    for r in range(out.shape[0]):
        unpack_flat(flat, r * packing.words, widths, loc)
        total = np.int64(0)
        for actor in range(geo[ACTORS]):
            total += sent[actor * room + get(loc, 0, geo, actor, POSITION)]
            total -= pending[actor * room + get(loc, 0, geo, actor, PENDING)]
        out[r] = total
    own_loc[0] = 0


@kernel
def pack_rows(local, packing, flat):
    """Pack local words of shape (rows, words of all actors) into flat rows."""
    for r in range(local.shape[0]):
        pack_flat(local[r], packing.widths, flat, r * packing.words)


@kernel
def unpack_rows(flat, packing, local):
    """Unpack flat rows into local words of shape (rows, words of all actors)."""
    for r in range(local.shape[0]):
        unpack_flat(flat, r * packing.words, packing.widths, local[r])
