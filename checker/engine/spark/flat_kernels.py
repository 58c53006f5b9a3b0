"""Rows that travel between processes, flat or numbered; see `checker.engine.spark`.

`flat` and `numbered` are such rows, one after the other. `tables` are those of this process;
`compose` and `localize` add new composites to them.

The owner of a state is selected by the sum of its parts' weights (`renaming_kernels.weight_of`),
which is the same for every packing and in every process. `salts` has an odd factor per column at
actor * MOST_COLUMNS + column.

A composite of this process has a *tag*, from which `dispatch` makes numbered rows:

    | weight, 32 bits | number, NO_NUMBER or WANTED, 32 bits |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import find_composite, index_composite
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import mix, owner_by
from antecede.checker.engine.rows.renaming_kernels import weight_of
from antecede.checker.engine.rows.rows_kernels import decode


class Packing(NamedTuple):
    """The packing of local words into flat rows.

    Attributes:
        widths: the number of bits used in each local word of each actor.
        words: the number of words of a flat row.
    """

    widths: np.ndarray[Any, Any]
    words: int


class NoteSource(NamedTuple):
    """The numbers that `dispatch` combines into the notes that travel with rows.

    Attributes:
        place_bits: the bits of a note for the transition's place; the parent's number takes the
            rest.
        numbers: the parents' numbers (for marks: their depths), by the index in an entry's
            information word.
        leads: per kind of transition, the number of levels that it skips; or empty.
    """

    place_bits: int
    numbers: np.ndarray[Any, Any]
    leads: np.ndarray[Any, Any]


class Numbers(NamedTuple):
    """The numbers that the driver gave to composites; see `checker.engine.spark.numbering`.

    Attributes:
        geo: the geometry of rows of these numbers.
        tags: the tag of composite g of part i is at i * geo[REN_STRIDE] of the tables + g; updated
            to WANTED for composites without a number that are in a row that is sent.
        sends: rows are sent as numbers; otherwise, as flat rows.
    """

    geo: np.ndarray[Any, Any]
    tags: np.ndarray[Any, Any]
    sends: bool


AT_ONCE = 32
"""The rows whose tags `dispatch` fetches at once."""

WEIGHT_SHIFT = 32
NO_NUMBER, WANTED = 0xFFFFFFFF, 0xFFFFFFFE
"""See `Numbers`. Both are greater than all numbers; NO_NUMBER is also the mask of numbers."""


class FlatOutbox(NamedTuple):
    """The rows that `dispatch` sends.

    Attributes:
        rows: the rows, with the same room for each owner.
        notes: the note of each row, of any type.
        sizes: the number of rows for each owner; updated.
        room: the most rows for an owner.
        words: the words of a row.
    """

    rows: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]
    room: int
    words: int


@inlined
def pack_flat(loc, widths, out, start):
    """Pack the local words of all actors bit by bit into out[start:]."""
    word, used = start, np.int64(0)
    out[word] = 0
    for k in range(widths.shape[0]):
        value, width = loc[k], widths[k]
        out[word] |= (value << used) & g.FLAT_MASK
        used += width
        if (used >= g.FLAT_BITS and k + 1 < widths.shape[0]) or used > g.FLAT_BITS:
            used -= g.FLAT_BITS
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
        if (used >= g.FLAT_BITS and k + 1 < widths.shape[0]) or used > g.FLAT_BITS:
            used -= g.FLAT_BITS
            word += 1
            if used:
                value |= flat[word] << (width - used)
        loc[k] = value & ((np.int64(1) << width) - 1)


@inlined
def find_or_add(loc, base, part, geo, cons, dec, composites):
    """Return the composite of a part with the local words loc[base:]; -1 if it has no room."""
    counts, limits = composites.counts, composites.limits
    words, parts = geo[g.PART_WORDS], geo[g.PARTS]
    number = find_composite(cons, words, loc, base, part)
    if number == -1 and counts[part] < limits[part] and counts.sum() < limits[parts]:
        number = counts[part]
        at = part * geo[g.DEC_STRIDE] + number * words
        for k in range(words):
            dec[at + k] = loc[base + k]
        index_composite(cons, cons.shape[0] // (words + 1) - 1, dec, at, words, part, number)
        counts[part] = number + 1
    return number


@kernel
def compose(flat, which, packing, tables, composites, rows):
    """Translate flat rows into rows of this process's composites; new contents get numbers.

    Args:
        which: the indices of the flat rows to translate, in the order of the result.

    Returns:
        The number of translated rows; fewer than all if there is no room for more composites.
    """
    flat, which, rows = borrow(flat), borrow(which), borrow(rows)
    widths, flat_words = borrow(packing.widths), packing.words
    geo, cons, dec = borrow(tables.geo), borrow(tables.cons), borrow(tables.dec)
    words, parts, row_words = geo[g.PART_WORDS], geo[g.PARTS], geo[g.ROW_WORDS]
    own_loc = np.empty(parts * words, np.int64)
    loc = borrow(own_loc)
    done = which.shape[0]
    for r in range(which.shape[0]):
        unpack_flat(flat, which[r] * flat_words, widths, loc)
        for k in range(row_words):
            rows[r * row_words + k] = 0
        # A worker numbers composites as it meets them: its numbers need not last beyond the task.
        room = True
        for part in range(parts):
            number = find_or_add(loc, part * words, part, geo, cons, dec, composites)
            room = number >= 0
            if not room:
                break
            rows[r * row_words + geo[g.ROW_WORD + part]] |= number << geo[g.ROW_SHIFT + part]
        if not room:
            done = r
            break
    own_loc[0] = 0
    return done


@kernel
def localize(numbered, which, others, mine, tables, composites, rows):
    """Translate numbered rows into rows of this process's composites, and return as `compose`.

    Args:
        others: the `Tables` of the driver's numbers.
        mine: int32; the composite for number n of part p, at p * others.geo[REN_STRIDE] + n; -1:
            not known yet. Updated.
    """
    numbered, which, rows = borrow(numbered), borrow(which), borrow(rows)
    geo, cons, dec = borrow(tables.geo), borrow(tables.cons), borrow(tables.dec)
    other, words_of, mine = borrow(others.geo), borrow(others.dec), borrow(mine)
    parts, row_words = geo[g.PARTS], geo[g.ROW_WORDS]
    done = which.shape[0]
    for r in range(which.shape[0]):
        for k in range(row_words):
            rows[r * row_words + k] = 0
        room = True
        for part in range(parts):
            number = composite_in(numbered, which[r] * other[g.ROW_WORDS], field_of(other, part))
            spot = part * other[g.REN_STRIDE] + number
            if mine[spot] == -1:
                at = part * other[g.DEC_STRIDE] + number * other[g.PART_WORDS]
                mine[spot] = find_or_add(words_of, at, part, geo, cons, dec, composites)
            room = mine[spot] >= 0
            if not room:
                break
            word = r * row_words + geo[g.ROW_WORD + part]
            rows[word] |= np.int64(mine[spot]) << geo[g.ROW_SHIFT + part]
        if not room:
            done = r
            break
    return done


@kernel
def find_composites(one, other, part, first, found):
    """Find the composites of another store that have the contents of the composites of one store.

    Composite `first` + k of a part of `one` has the content of composite found[k] of `other`, or of
    none if that is -1.
    """
    cons, dec, words = borrow(other.cons), borrow(one.dec), one.geo[g.PART_WORDS]
    for k in range(found.shape[0]):
        at = part * one.geo[g.DEC_STRIDE] + (first + k) * words
        found[k] = find_composite(cons, words, dec, at, part)


@kernel
def flatten(rows, count, stride, geo, dec, packing, flat):
    """Translate the rows at the beginning of `count` entries of `stride` words into flat rows."""
    rows, widths, flat = borrow(rows), borrow(packing.widths), borrow(flat)
    geo, dec = borrow(geo), borrow(dec)
    own_loc = np.empty(geo[g.ACTORS] * geo[g.WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(count):
        decode(rows, r * stride, geo, dec, loc, 0)
        pack_flat(loc, widths, flat, r * packing.words)
    own_loc[0] = 0


@kernel
def owners_of(flat, packing, geo, salts, owners, out):
    """Write the owner of each flat row to `out`."""
    flat, widths, geo = borrow(flat), borrow(packing.widths), borrow(geo)
    salts, out = borrow(salts), borrow(out)
    own_loc = np.empty(geo[g.ACTORS] * geo[g.WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(out.shape[0]):
        unpack_flat(flat, r * packing.words, widths, loc)
        h = np.int64(0)
        for part in range(geo[g.PARTS]):
            h += weight_of(loc, geo, part, salts) << WEIGHT_SHIFT >> WEIGHT_SHIFT
        out[r] = owner_by(mix(h), owners)
    own_loc[0] = 0


@kernel
def dispatch(entries, count, tables, packing, numbers, source, outbox, rest):
    """Write successors, each with a note, to the outboxes of the partitions that own them.

    Args:
        entries, count: the successors as entries.
        source: the parents' numbers, from which notes are made.
        outbox: for the form of rows that `numbers.sends` says.
        rest: for rows with composites without a number, which travel flat then.
    """
    entries, tags, their_geo = borrow(entries), borrow(numbers.tags), borrow(numbers.geo)
    geo, dec, widths = borrow(tables.geo), borrow(tables.dec), borrow(packing.widths)
    numbers_of, leads = borrow(source.numbers), borrow(source.leads)
    owners, row_words, parts = outbox.sizes.shape[0], geo[g.ROW_WORDS], geo[g.PARTS]
    own_loc = np.empty(geo[g.ACTORS] * geo[g.WORDS], np.int64)
    own_row = np.empty(max(packing.words, their_geo[g.ROW_WORDS]), np.int64)
    own_spots = np.empty(AT_ONCE * parts, np.int64)
    loc, row, spots = borrow(own_loc), borrow(own_row), borrow(own_spots)
    for e in range(count):
        at, first = e * (row_words + 1), e % AT_ONCE * parts
        if first == 0:
            fetch_tags(entries, e, min(AT_ONCE, count - e), geo, tags, spots)
        h, all_numbered = write_numbers(row, tags, spots, first, their_geo)
        # Flat rows alone would be simpler, but twice as many bytes would travel, and a search would
        # take up to 30 % more processor time and 60 % more memory (hybrid-sps 3 x 2). With numbers
        # alone, the parents of new composites would be expanded again, in 11 to 15 % more processor
        # time (mfss 3 x 3).
        numbered = numbers.sends and all_numbered
        info = entries[at + row_words]
        owner = owner_by(mix(h), owners)
        note = note_of(info, np.int64(numbers_of[info >> g.LABEL_SHIFT]), source.place_bits, leads)
        if numbered:
            put_row(row, note, owner, outbox)
            continue
        # The row travels as a flat row, and this process reports the composites without a number.
        for part in range(parts):
            if tags[spots[first + part]] & NO_NUMBER == NO_NUMBER:
                tags[spots[first + part]] -= NO_NUMBER - WANTED
        decode(entries, at, geo, dec, loc, 0)
        pack_flat(loc, widths, row, 0)
        put_row(row, note, owner, rest if numbers.sends else outbox)
    own_loc[0] = own_row[0] = own_spots[0] = 0


@inlined
def fetch_tags(entries, first, count, geo, tags, spots):
    """Write where the tags of some entries' composites are to `spots`, and prefetch the tags."""
    stride, parts = geo[g.ROW_WORDS] + 1, geo[g.PARTS]
    # There are too many tags for the caches. If the kernel asks for those of many rows at once,
    # the memory fetches them at the same time; row by row, it would wait for each one.
    for later in range(count):
        for part in range(parts):
            composite = composite_in(entries, (first + later) * stride, field_of(geo, part))
            spots[later * parts + part] = part * geo[g.REN_STRIDE] + composite
            prefetch(tags, part * geo[g.REN_STRIDE] + composite)


@inlined
def write_numbers(row, tags, spots, first, geo):
    """Write a numbered row to row[0:]; spots[first:] has where the tag of each composite is.

    Returns:
        The sum of the composites' weights, and whether all composites have numbers.
    """
    words, h, numbered, word = geo[g.ROW_WORDS], np.int64(0), True, np.int64(0)
    for k in range(words):
        row[k] = 0
    for part in range(geo[g.PARTS]):
        tag = tags[spots[first + part]]
        h += tag >> WEIGHT_SHIFT
        number = tag & NO_NUMBER
        numbered = numbered and number < WANTED
        if words == 1:  # most rows have one word, which then stays in a register
            word |= number << geo[g.ROW_SHIFT + part]
        else:
            row[geo[g.ROW_WORD + part]] |= number << geo[g.ROW_SHIFT + part]
    if words == 1:
        row[0] = word
    return h, numbered


@inlined
def note_of(info, number, place_bits, leads):
    """Return the note of a successor, whose information word is `info`: a link, or a mark.

    Args:
        number: the number of the parent; for marks, its depth.
        leads: per kind of transition, the number of levels that it skips; empty for links.
    """
    if leads.shape[0]:
        return (leads[info >> g.KIND_SHIFT & g.KIND_MASK] << g.LEAD_BITS) + number + 1
    return number << place_bits | info & g.PLACE_MASK


@inlined
def put_row(row, note, owner, outbox):
    """Append a row and its note to the outbox for an owner."""
    rows, notes, sizes = borrow(outbox.rows), borrow(outbox.notes), borrow(outbox.sizes)
    place = owner * outbox.room + sizes[owner]
    sizes[owner] += 1
    notes[place] = note
    for k in range(outbox.words):
        rows[place * outbox.words + k] = row[k]


@kernel
def pack_rows(local, packing, flat):
    """Pack local words, of shape (rows, local words of all actors), into flat rows."""
    for r in range(local.shape[0]):
        pack_flat(local[r], packing.widths, flat, r * packing.words)


@kernel
def unpack_rows(flat, packing, local):
    """Unpack flat rows into local words; it undoes `pack_rows`."""
    for r in range(local.shape[0]):
        unpack_flat(flat, r * packing.words, packing.widths, local[r])
