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
    """Return the words of a row, which the compiler knows if rows have one word."""
    return np.int64(1) if tables.one_word is not None else tables.geo[g.ROW_WORDS]


@inlined
def field_of(geo, part):
    """Return the field of a part: its word in a row, its lowest bit there, and its mask."""
    return Field(geo[g.ROW_WORD + part], geo[g.ROW_SHIFT + part], geo[g.ROW_MASK + part])


@inlined
def composite_in(row, at, field):
    """Return the composite in a field of row[at:].

    The row may begin anywhere in a flat array.
    """
    return row[at + field.word] >> field.shift & field.mask


@inlined
def change_field(row, at, field, before, after):
    """Replace the composite in a field of row[at:].

    `before` must be the composite that is there now: the change is one exclusive or.
    """
    row[at + field.word] ^= (before ^ after) << field.shift
