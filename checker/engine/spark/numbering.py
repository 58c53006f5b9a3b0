"""The driver's numbers of composites, with which rows travel.

A composite is a combination of one actor's components (see `checker.engine.rows.layout`). The
driver gives each one a number and broadcasts it with the tables, so a number means the same in
every process, and a row of one number per part is short. No task waits for a number: a state with a
composite that has none yet travels as a flat row (see `checker.engine.spark.codec`). The task that
owns the state reports the composite, and the driver numbers it before the next job.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites import CompositeStore
from antecede.checker.engine.rows.packing import Fields, pack_widths
from antecede.checker.engine.storage.arrays import Words

MOST_NUMBERED = 1 << 22
"""The most composites that get numbers; every process keeps all of them, in some 100 bytes each."""


@frozen
class Form:
    """The packing of the rows of a partition.

    Attributes:
        columns: the bits of each column in flat rows.
        numbers: the bits of each number in the other rows; empty: all rows are flat.
    """

    columns: tuple[int, ...]
    numbers: tuple[int, ...] = ()


@define(eq=False)
class Numbering(CompositeStore):
    """The composites that the driver has numbered, as every process knows them.

    Attributes:
        tables: as the kernels read them; only the geometry and the composites are of use.
    """

    tables: g.Tables = field(init=False)

    def refresh(self, tables: g.Tables) -> None:
        """Make the tables of the numbered composites anew, with the columns of this process."""
        geo = tables.geo.copy()
        geo[g.ROW_WORDS], geo[g.DEC_STRIDE] = self.row_words, self.stride
        geo[g.REN_STRIDE] = self.room
        self.row_fields.note(geo, (g.ROW_WORD, g.ROW_SHIFT, g.ROW_MASK))
        self.tables = tables._replace(geo=geo, cons=self.cons, dec=self.dec)

    def widen_rows(self, widths: tuple[int, ...]) -> None:
        """Give the numbers in rows these widths."""
        self.row_widths = list(widths)
        self.place_rows()

    def in_fields(self, rows: Words, widths: tuple[int, ...]) -> Words:
        """Return rows of numbers, whose fields have these widths, with the present fields."""
        if list(widths) == self.row_widths:
            return rows
        old = rows.reshape(-1, words_of(widths))
        return fields_of(widths).packed_as(self.row_fields, old, self.row_words).ravel()


def fields_of(widths: tuple[int, ...]) -> Fields:
    """Return where a numbered row has each number, given the bits of each.

    Examples:
        The first number in a word has the highest bits:

        >>> fields = fields_of((10, 20))
        >>> fields.word.tolist(), fields.shift.tolist(), fields.mask.tolist()
        ([0, 0], [20, 0], [1023, 1048575])
    """
    store = CompositeStore()
    store.row_widths = list(widths)
    store.place_rows()
    return store.row_fields


def words_of(widths: tuple[int, ...]) -> int:
    """Return the number of words of a numbered row, given the bits of each number."""
    return pack_widths(list(widths))[0]


NO_NUMBERS: Any = np.empty(0, np.int32)
