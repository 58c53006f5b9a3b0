"""Where a row has the composite of each part.

A row packs the composites of all parts into words. A `Field` names the word, the lowest bit and the
mask of one part's composite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from antecede.checker.compiled.jit import inlined
from antecede.checker.engine.rows import geometry as g


class Field(NamedTuple):
    """Where rows have a part's composite: the word, its lowest bit, and a mask of its bits."""

    word: Any
    shift: Any
    mask: Any


@inlined
def row_words_of(tables):
    """Return the number of words of a row.

    With `tables.one_word`, which most searches set, the compiler knows the result.
    """
    return np.int64(1) if tables.one_word is not None else tables.geo[g.ROW_WORDS]


@inlined
def field_of(geo, part):
    """Return the place of a part's composite in every row."""
    return Field(geo[g.ROW_WORD + part], geo[g.ROW_SHIFT + part], geo[g.ROW_MASK + part])


@inlined
def composite_in(row, at, field):
    """Return the composite in one field of the row that begins at row[at]."""
    return row[at + field.word] >> field.shift & field.mask


@inlined
def change_field(row, at, field, before, after):
    """Replace the composite in one field of a row, in place.

    `before` must be right: the kernel does not read the field, and changes the bits that differ.
    """
    row[at + field.word] ^= (before ^ after) << field.shift
