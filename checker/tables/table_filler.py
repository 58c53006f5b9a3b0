"""Keeps the kernels supplied: fills what they missed in the tables, widens columns and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.errors import CapacityError
from antecede.checker.semantics.transition import System
from antecede.checker.tables import kernels
from antecede.checker.tables.grading import Weights
from antecede.checker.tables.layout import Layout
from antecede.checker.tables.packing import Fields
from antecede.checker.tables.sequences import RenamedSequences
from antecede.checker.tables.symmetry import Symmetry
from antecede.checker.tables.tabulate import Tabulation, Words


@contextmanager
def wrapping() -> Iterator[None]:
    """Let hashes wrap around silently where kernels run without the JIT."""
    with np.errstate(over="ignore"):
        yield


def refuse_crowds(transitions: int) -> None:
    """Check that the place of every transition from a state can be written down.

    Raises:
        CapacityError: there are more than a kernel has room for.
    """
    if transitions > kernels.MOST_TRANSITIONS:
        raise CapacityError(
            f"a state has more than {kernels.MOST_TRANSITIONS:,} transitions; "
            "the plain engine (--engine plain) has no such limit"
        )


@frozen(eq=False)
class Repacking:
    """The old and the new packing of rows."""

    before: Fields
    after: Fields
    old_words: int
    new_words: int

    def apply(self, rows: Words) -> Words:
        """Return flat rows packed the new way."""
        shaped = rows.reshape(-1, self.old_words)
        return self.before.packed_as(self.after, shaped, self.new_words).ravel()


@define(eq=False)
class TableFiller:
    """The tables of one system as the kernels read them.

    Attributes:
        tabulation: the system's functions as tables.
        sweep_line, check_progress: as in Layout.
        self_channels: as in Tabulation.
        parted: under `full`, actors have two parts, see Layout.
        symmetric: learn renamings, and let kernels replace states by representatives.
        layout: how numbers are packed.
        tables: what kernels are given; replaced whenever something was filled.
    """

    system: System
    symmetric: bool = False
    sweep_line: bool = False
    check_progress: bool = False
    self_channels: bool = False
    parted: bool = False
    tabulation: Tabulation = field(init=False)
    layout: Layout = field(init=False)
    tables: kernels.Tables = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Number the components of the initial state."""
        self.tabulation = Tabulation(self.system, self.self_channels)
        if self.symmetric:
            symmetry = self.tabulation.symmetry = Symmetry(self.tabulation)
            if self.tabulation.full:
                self.tabulation.renamed = RenamedSequences(symmetry)
        columns = self.tabulation.start()
        self.layout = Layout(
            self.tabulation,
            self.sweep_line,
            self.check_progress,
            self.parted and self.tabulation.full,
        )
        with wrapping():
            since = self.layout.counts.copy()
            self.layout.add(self.layout.encode(columns))
            self.layout.rename_since(since, self.layout.tables, self._fill_tables)
        self.tables = self.layout.tables()

    @property
    def graded(self) -> bool:
        """Every state has one depth, as far as the tables tell; see `checker.tables.grading`."""
        return self.tabulation.grading.reason is None

    def leads(self, weights: Weights) -> Words:
        """Return by how many levels each kind of transition skips ahead; empty without weights."""
        kinds = self.tabulation.kinds if weights else ()
        return np.array([weights.get(kind, 1) - 1 for kind in kinds], np.int64)

    def record(self) -> dict[str, Any]:
        """Return, as data, the calls that made the tables; see `adopt`."""
        return {
            "tabulation": self.tabulation.record(),
            "layout": self.layout.record(),
        }

    def adopt(self, record: Mapping[str, Any]) -> None:
        """Make the tables of another run of the same search.

        Raises:
            InputError: the protocol's handlers return something else now.
        """
        with wrapping():
            self.tabulation.make_again(record["tabulation"])
            self.layout.adopt(record["layout"])
        self.refresh()

    def initial_row(self) -> Words:
        """Return the row of the initial state."""
        return self.layout.row_of([0] * len(self.layout.counts))

    def refresh(self) -> None:
        """Give the kernels what was filled elsewhere."""
        self.tables = self.layout.tables()

    def misses(self) -> Words:
        """Return an empty record of misses, as the kernels need it now."""
        return self.layout.misses()

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
        records = missed[missed[:, 0] >> 8 == kernels.COMPOSE].copy()
        records[:, 0] &= 0xFF
        while len(records) and not self.layout.add(records):
            self.layout.wider_rows()
        keys = missed[missed[:, 0] == 0, 1]
        if len(keys):
            self.tabulation.fill(keys)
        if not self.layout.columns_fit:
            self.layout.widen_columns()

    def keep(self, marks: Any) -> Words:
        """Forget composites that are in no row any more, see `Layout.keep`."""
        numbers = self.layout.keep(marks)
        self.refresh()
        return numbers

    def figures(self, fired: Words, fresh_kinds: Words | None) -> dict[str, Any]:
        """Return figures of the tables and of the transitions taken, by name.

        Args:
            fired: per kind, the transitions taken.
            fresh_kinds: per kind, transitions that led to a new state; None: not counted.
        """
        t = self.tabulation
        return {
            "protocol_calls": t.calls,
            "actor_states": sum(len(states.values) for states in t.states),
            "table_entries": t.entries,
            "python_seconds": t.seconds,
            **t.met,
            "transitions": {
                kind: {"total": int(fired[k])}
                | ({} if fresh_kinds is None else {"new": int(fresh_kinds[k])})
                for k, kind in enumerate(t.kinds)
            },
        }
