"""Fills missing table entries for the kernels; widens columns and rows for greater numbers.

A miss is a key or a composite that a kernel did not find. The filler calls the protocol for the
keys, numbers the composites, and repacks the rows if numbers outgrow their fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components
from antecede.checker.engine.rows.grading import Weights
from antecede.checker.engine.rows.layout import Layout
from antecede.checker.engine.rows.packing import Fields
from antecede.checker.engine.rows.symmetry import Symmetry
from antecede.checker.engine.rows.tabulate import Tabulation
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import CapacityError


@contextmanager
def wrapping() -> Iterator[None]:
    """Switch off NumPy's warnings of overflow: hashes overflow, also in kernels as plain Python."""
    with np.errstate(over="ignore"):
        yield


def refuse_crowds(transitions: int) -> None:
    """Raise CapacityError if a state has more transitions than the engine can number (2 ** 16)."""
    if transitions > g.MOST_TRANSITIONS:
        raise CapacityError(
            f"a state has more than {g.MOST_TRANSITIONS:,} transitions; "
            "the plain engine (--engine plain) has no such limit"
        )


@frozen(eq=False)
class Repacking:
    """A change of the packing of rows, to be applied to all rows that exist.

    Attributes:
        before, after: the places of the composites in a row.
        old_words, new_words: the words per row.
    """

    before: Fields
    after: Fields
    old_words: int
    new_words: int

    def apply(self, rows: Words) -> Words:
        """Return flat rows in the new packing."""
        shaped = rows.reshape(-1, self.old_words)
        return self.before.packed_as(self.after, shaped, self.new_words).ravel()


@define(eq=False)
class TableFiller:
    """The tables of one system, as the kernels read them, and how they are filled.

    Attributes:
        system: the system.
        symmetric: learn renamings, and let kernels replace states by representatives.
        self_channels: as in `Components`.
        parted: actors have two parts; needed for the `full` history, see `Layout`.
        components: the numbered components of the system.
        tabulation: the system's functions as tables.
        layout: the packing of numbers into rows.
        tables: the arrays that kernels read; replaced after every `fill`.
    """

    system: System
    symmetric: bool = False
    self_channels: bool = False
    parted: bool = False
    components: Components = field(init=False)
    tabulation: Tabulation = field(init=False)
    layout: Layout = field(init=False)
    tables: g.Tables = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Number the components of the initial state."""
        self.components = Components(self.system, self.self_channels)
        symmetry = Symmetry(self.components) if self.symmetric else None
        self.tabulation = Tabulation(self.components, symmetry)
        columns = self.tabulation.start()
        self.layout = Layout(self.tabulation, self.parted and self.components.full)
        with wrapping():
            since = self.layout.counts.copy()
            self.layout.add(self.layout.encode(columns))
            self.layout.rename_since(since, self.layout.tables, self._fill_tables)
        self.tables = self.layout.tables()

    @property
    def graded(self) -> bool:
        """True as long as the tables prove one depth per state; see `rows.grading`."""
        return self.tabulation.grading.reason is None

    def leads(self, weights: Weights) -> Words:
        """Return how many levels each kind of transition skips; empty if `weights` is empty."""
        kinds = self.tabulation.kinds if weights else ()
        return np.array([weights.get(kind, 1) - 1 for kind in kinds], np.int64)

    def record(self) -> dict[str, Any]:
        """Return the tables as data of a checkpoint: the calls that made them, and composites."""
        return {
            "tabulation": self.tabulation.record(),
            "layout": self.layout.record(),
        }

    def adopt(self, record: Mapping[str, Any]) -> None:
        """Rebuild the tables of another run of this search from what `record` returned.

        Raises:
            InputError: the protocol's handlers now return different values.
        """
        with wrapping():
            self.tabulation.make_again(record["tabulation"])
            self.layout.adopt(record["layout"])
        self.refresh()

    def initial_row(self) -> Words:
        """Return the row of the initial state."""
        return self.layout.row_of([0] * len(self.layout.counts))

    def refresh(self) -> None:
        """Update `tables` after the layout or the tabulation was changed from outside."""
        self.tables = self.layout.tables()

    def misses(self) -> Words:
        """Return an empty array for misses; its records have as many words as kernels need now."""
        return self.layout.misses()

    def fill(self, missed: Words) -> Repacking | None:
        """Make the table entries and composites that kernels missed, and update `tables`.

        Returns:
            How to repack rows, or None. Afterwards, take a new array from `misses`, whose records
            may need more columns.
        """
        if not len(missed):
            return None
        before, old_words = self.layout.row_fields, self.layout.row_words
        with wrapping():
            since = self.layout.counts.copy()
            self._fill_tables(missed)
            self.layout.rename_since(since, self.layout.tables, self._fill_tables)
        self.tables = self.layout.tables()
        if self.layout.row_fields is before:
            return None
        return Repacking(before, self.layout.row_fields, old_words, self.layout.row_words)

    def _fill_tables(self, missed: Words) -> None:
        """Number new composites and make table entries; widen rows and columns as needed."""
        records = missed[missed[:, 0] >> g.MISS_SHIFT == g.COMPOSE].copy()
        records[:, 0] &= 0xFF
        while len(records) and not self.layout.add(records):
            self.layout.wider_rows()
        keys = missed[missed[:, 0] == 0, 1]
        if len(keys):
            self.tabulation.fill(keys)
        if not self.layout.columns_fit:
            self.layout.widen_columns()

    def keep(self, used: Any) -> Words:
        """Forget the composites that no row contains; see `CompositeStore.keep`."""
        numbers = self.layout.keep(used)
        self.refresh()
        return numbers

    def figures(self, fired: Words, fresh_kinds: Words | None) -> dict[str, Any]:
        """Return the figures of tables and transitions that `--verbose` shows, by name.

        The arguments are per kind: the transitions taken, and those that reached a new state.
        """
        t = self.tabulation
        return {
            "protocol_calls": self.components.calls,
            "actor_states": sum(len(states.values) for states in self.components.states),
            "table_entries": t.entries,
            "python_seconds": t.seconds,
            **t.met,
            "transitions": {
                kind: {"total": int(fired[k])}
                | ({} if fresh_kinds is None else {"new": int(fresh_kinds[k])})
                for k, kind in enumerate(t.kinds)
            },
        }
