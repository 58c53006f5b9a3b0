"""Keeps the kernels supplied: fills what they missed in the tables, widens columns and rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import define, field, frozen

from checker import kernels
from checker.layout import Layout, repack
from checker.tabulate import Tabulation, Words
from checker.transition import System

MISSES = 1 << 13
"""Missing entries that a kernel records before it must be supplied."""


@contextmanager
def wrapping() -> Iterator[None]:
    """Let hashes wrap around silently where kernels run without the JIT."""
    with np.errstate(over="ignore"):
        yield


@frozen(eq=False)
class Repacking:
    """How rows were packed and how they are now; `before` and `after` are as Layout.row_fields."""

    before: Any
    after: Any
    old_words: int
    new_words: int

    def apply(self, rows: Words) -> Words:
        """Return flat rows packed the new way."""
        shaped = rows.reshape(-1, self.old_words)
        return repack(shaped, self.before, self.after, self.new_words).ravel()


@define(eq=False)
class Supply:
    """The tables of one system as the kernels read them.

    Attributes:
        tabulation: the system's functions as tables.
        layout: how numbers are packed.
        tables: what kernels are given; replaced whenever something was filled.
    """

    system: System
    row_bits: int = 4
    tabulation: Tabulation = field(init=False)
    layout: Layout = field(init=False)
    tables: kernels.Tables = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Number the components of the initial state."""
        self.tabulation = Tabulation(self.system)
        columns = self.tabulation.start()
        self.layout = Layout(self.tabulation, self.row_bits)
        with wrapping():
            self.layout.add(self.layout.encode(columns))
        self.tables = self.layout.tables()

    def initial_row(self) -> Words:
        """Return the row of the initial state."""
        return self.layout.row_of([0] * self.system.actors)

    def misses(self) -> Words:
        """Return an empty record of misses, as the kernels need it now."""
        return np.empty((MISSES, 1 + self.layout.words), np.int64)

    def fill(self, missed: Words) -> Repacking | None:
        """Make the table entries and composites that kernels missed.

        Args:
            missed: (n, 1 + local words): records as the kernels write them.

        Returns:
            How rows must be packed anew, or None if they stay as they are. Afterwards `tables` is
            new, and records of misses may need more columns: take new ones from `misses`.
        """
        if not len(missed):
            return None
        with wrapping():
            repacking = self._compose(missed[missed[:, 0] != 0])
            keys = missed[missed[:, 0] == 0, 1]
            if len(keys):
                self.tabulation.fill(keys)
            if not self.layout.columns_fit:
                self.layout.widen_columns()
        self.tables = self.layout.tables()
        return repacking

    def _compose(self, missed: Words) -> Repacking | None:
        """Number new composites, widening the rows until they fit."""
        records = missed.copy()
        records[:, 0] &= 0xFF
        before, old_words = None, self.layout.row_words
        while len(records) and not self.layout.add(records):
            first = self.layout.wider_rows()
            before = before or first
        if before is None:
            return None
        return Repacking(before, self.layout.row_fields, old_words, self.layout.row_words)
