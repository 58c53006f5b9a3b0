"""Where a row has the composite of each part.

A row packs the composites of all parts into words. A field names the word, the lowest bit and the
mask of one part's composite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.engine.compiled.jit import inlined
from antecede.checker.engine.rows import geometry as g


class Field(NamedTuple):
    """Where rows have a part's composite: the word, its lowest bit, and a mask of its bits."""

    word: Any
    shift: Any
    mask: Any


@inlined
def row_words_of(tables):
    """Return the number of 64-bit words of a row, which is a state as the search stores it.

    Most searches have rows of one word. They set `tables.one_word`, so that the compiler knows the
    result and generates faster code.

    Args:
        tables: a `Tables`: the number is tables.geo[ROW_WORDS], unless tables.one_word is True.
    """
    return np.int64(1) if tables.one_word is not None else tables.geo[g.ROW_WORDS]


@inlined
def field_of(geo, part):
    """Return the place of a part's composite in every row, as a `Field`: word, lowest bit and mask.

    A row is a state, packed into a few words. It has one composite (a number that stands for local
    words) per part. A part is an actor, or under the history `full` its state or its history.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        part: the index of the part.

    Examples:
        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.ROW_SHIFT + 1], geo[g.ROW_MASK + 1] = 31, 0xFF  # part 1 is in bits 31 to 38
        >>> tuple(map(int, field_of(geo, 1)))
        (0, 31, 255)
    """
    return Field(geo[g.ROW_WORD + part], geo[g.ROW_SHIFT + part], geo[g.ROW_MASK + part])


@inlined
def composite_in(row, at, field):
    """Return the composite in one field of a row.

    A row is a state as one composite per part, packed into a few words. A composite is the number
    that stands for one actor's part of the state.

    Args:
        row, at: the row is row[at:]; it may begin anywhere in a flat int64 array.
        field: the `Field` of the part whose composite is read, as `field_of` returns it.

    Examples:
        >>> row = np.array([7 << 31 | 3])
        >>> int(composite_in(row, 0, Field(word=0, shift=31, mask=0xFFFFFFFF)))
        7
    """
    return row[at + field.word] >> field.shift & field.mask


@inlined
def change_field(row, at, field, before, after):
    """Replace the composite in one field of a row, in place.

    A row is a state as one composite per part, packed into a few words. A composite is the number
    that stands for one actor's part of the state.

    Args:
        row, at: the row is row[at:]; it may begin anywhere in a flat int64 array.
        field: the `Field` of the part, as `field_of` returns it.
        before: the composite that is there now. It must be right, because the kernel does not read
            the field: it changes the bits in which `before` and `after` differ.
        after: the composite that replaces it.

    Examples:
        >>> row = np.array([7 << 31 | 3])
        >>> change_field(row, 0, Field(word=0, shift=31, mask=0xFFFFFFFF), before=7, after=9)
        >>> int(row[0]) == 9 << 31 | 3
        True
    """
    row[at + field.word] ^= (before ^ after) << field.shift
