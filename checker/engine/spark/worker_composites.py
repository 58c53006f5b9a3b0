"""The composites and tables of one process on a cluster.

A composite is a number that one process gave to local words, so rows of composites cannot travel.
Rows travel with the driver's numbers instead (see `checker.engine.spark.numbering`), or else as
*flat rows*, which hold the local words themselves, packed bit by bit (see
`checker.engine.spark.codec`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.engine.rows import entries_kernels, renaming_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites import CompositeStore
from antecede.checker.engine.rows.packing import wider
from antecede.checker.engine.spark import flat_kernels
from antecede.checker.engine.spark.codec import Codec, widened
from antecede.checker.engine.spark.distinct import NOTHING, Scratch
from antecede.checker.engine.spark.numbering import NO_NUMBERS, Form, Numbering, words_of
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.successors import memos
from antecede.checker.support.errors import ClusterError

SALTS = np.random.default_rng(0).integers(1 << 62, size=g.MOST_ACTORS * g.MOST_COLUMNS) | np.int64(
    1
)
"""See `renaming_kernels.weigh`; the same in every process."""

CHUNK = 1 << 15
"""Rows that are worked on at a time: few enough that they and their successors stay in caches."""

SMALLEST_ROOM = 1 << 12
MOST_COMPOSITES = 1 << 23
"""A process keeps at most this many composites from one task to the next."""


@frozen(eq=False)
class TableUpdate:
    """Additions to the tables since the version before; the driver sends them to all processes.

    Attributes:
        version: the number of the version that results.
        geo: the geometry of the driver's columns; every process has its own rows and composites.
        col_widths: the bits of each column of a local word.
        keys, values: new table entries.
        code: new effects of handlers; they follow the old ones.
        perms: as in `Orbits`. The renamings of all components that the tables know are among the
            entries.
        numbers: the bits of each number in rows; empty: rows are flat from now on.
        composites: records of the composites that get the next numbers.
    """

    version: int
    geo: Words
    col_widths: tuple[int, ...]
    keys: Words
    values: Words
    code: Words
    perms: Sequence[Sequence[int]]
    numbers: tuple[int, ...]
    composites: Words


@define(eq=False)
class WorkerComposites(CompositeStore):
    """The composites of one process, and the tables with them, as the kernels read them.

    The composites of `checker.engine.rows.layout.Layout` name states as long as the search lasts.
    These name the states of a block only while it is expanded, and may be forgotten then.

    Attributes:
        version: the version of the tables.
        broadcasts: the number of broadcasts that were taken over.
        codec: the packing of the flat rows that it reads and writes.
        tables: the tables as the kernels read them.
        entries: the number of table entries.
        known: per part, the number of composites that have weights and, under symmetry, an orbit.
        weights: see `renaming_kernels.weigh`.
        numbering: the composites that the driver has numbered.
        numbered: rows have these numbers, and not the composites' columns.
        tags, mine: the numbers of this process's composites, see `flat_kernels.dispatch`, and the
            composites of the numbers, see `flat_kernels.localize`.
        memo: the remembered transitions between these composites.
        scratch: memory that is used while a task runs.
    """

    version: int = -1
    broadcasts: int = 0
    codec: Codec = field(init=False)
    tables: g.Tables = field(init=False)
    entries: int = 0
    known: Words = field(init=False)
    weights: Words = field(init=False)
    numbering: Numbering = field(init=False)
    numbered: bool = True
    tags: Words = field(init=False)
    mine: Any = field(init=False)
    memo: g.Memo = field(init=False)
    scratch: Scratch = field(factory=Scratch)

    @property
    def symmetric(self) -> bool:
        """States are replaced by their representatives."""
        return self.orbits.order > 0

    def learn(self, growth: TableUpdate) -> None:
        """Take over additions to the tables; they must be of the next version."""
        first = self.version < 0
        actors = int(growth.geo[g.ACTORS])
        table = np.full(2 << 14, -1, np.int64) if first else self.tables.table
        code = growth.code if first else np.concatenate([self.tables.code, growth.code])
        self.entries += len(growth.keys)
        table = entries_kernels.with_room(table, self.entries)
        entries_kernels.store(table, growth.keys, growth.values)
        if first:
            parts = int(growth.geo[g.PARTS])
            self.codec = Codec.of(actors, growth.col_widths, parted=parts > actors)
            self.numbering = Numbering()
            self.numbering.words = self.codec.placed.words
            self.numbering.begin(parts, (), SMALLEST_ROOM)
            self._start_anew(growth.geo, growth.perms, table, code)
        else:
            before, self.codec = self.codec, self.codec.with_widths(growth.col_widths)
            if before.col_widths != self.codec.col_widths:
                for store in (self, self.numbering):
                    store.repack(before.placed, self.codec.placed)
            self.tables = self.tables._replace(table=table, code=code, geo=growth.geo)
            self._refresh()
            # Numbered rows become flat once more with the columns of today, also if this growth
            # says that there are no numbers any more.
            self.numbering.refresh(self.tables)
        self.version = growth.version
        self.numbered = bool(growth.numbers)
        if self.numbered:
            self.numbering.widen_rows(growth.numbers)
            self.give_numbers(growth.composites)

    def give_numbers(self, records: Words) -> Words:
        """Give the driver's numbers to the composites in `records`, in their order.

        Return the records of those that had no number before.
        """
        since, numbering = self.numbering.counts.copy(), self.numbering
        while not numbering.add(records):
            numbering.wider_rows()
        numbering.refresh(self.tables)
        self._make_room_for_numbers()
        upto = numbering.counts
        for part, numbers, found in _pairs(numbering.tables, self.tables, since, upto):
            self._tag(part, found[found >= 0], numbers[found >= 0])
        return numbering.records(since)

    def _make_room_for_numbers(self) -> None:
        parts = len(self.counts)
        if len(self.tags) != parts * self.room:
            self.tags = wider(self.tags.reshape(parts, -1), self.room, -1)
        if len(self.mine) != parts * self.numbering.room:
            self.mine = wider(self.mine.reshape(parts, -1), self.numbering.room, -1)

    def wanted(self) -> Words:
        """Return records of composites without a number in rows sent since the last call."""
        wanted = (self.tags & flat_kernels.NO_NUMBER == flat_kernels.WANTED) & self.numbered
        # Otherwise every later task of this process would report them again.
        self.tags[wanted] += flat_kernels.NO_NUMBER - flat_kernels.WANTED
        return self.records_of(map(np.flatnonzero, wanted.reshape(len(self.counts), -1)))

    def _tag(self, part: int, composites: Words, numbers: Words) -> None:
        """Note the numbers of some composites of a part; -1: they have none."""
        weights = self.weights.reshape(len(self.counts), -1)[part, composites]
        tags = self.tags.reshape(len(self.counts), -1)
        tags[part, composites] = (
            weights << flat_kernels.WEIGHT_SHIFT | numbers & flat_kernels.NO_NUMBER
        )

    @property
    def form(self) -> Form:
        """The packing of rows that travel now."""
        numbers = tuple(self.numbering.row_widths) if self.numbered else ()
        return Form(self.codec.col_widths, numbers)

    @property
    def row_size(self) -> int:
        """The number of words of a row that travels."""
        return self.numbering.row_words if self.numbered else self.codec.words

    @property
    def first_shift(self) -> int:
        """The lowest bit of the first number in the first word of a row; -1: rows are flat."""
        return int(self.numbering.row_fields.shift[0]) if self.numbered else -1

    def words_in(self, form: Form) -> int:
        """Return the number of words of a row with another packing."""
        if form.numbers:
            return words_of(form.numbers)
        return self.codec.with_widths(form.columns).words

    def trim(self) -> None:
        """Forget all composites if there are very many; they get new numbers when needed.

        Rows of composites that were made before become useless.
        """
        if int(self.counts.sum()) > MOST_COMPOSITES:
            t = self.tables
            self._start_anew(t.geo, self.orbits.perms, t.table, t.code)

    def _start_anew(
        self, geo: Words, perms: Sequence[Sequence[int]], table: Words, code: Words
    ) -> None:
        self.words = int(geo[g.PART_WORDS])
        parts = int(geo[g.PARTS])
        self.begin(parts, perms, SMALLEST_ROOM, parts // int(geo[g.ACTORS]))
        self.orbits.keyed = True
        self.known, self.weights = 0 * self.counts, np.zeros(0, np.int64)
        self.tags, self.mine = NOTHING, NO_NUMBERS
        self.tables = g.Tables(geo, table, code, self.cons, self.dec, self.orbits.tables(), None)
        self._refresh()
        self.memo = memos.empty(self.tables.geo, self.counts)
        self.numbering.refresh(self.tables)
        self._make_room_for_numbers()

    def _current(self) -> g.Tables:
        self._refresh()
        return self.tables

    def _refresh(self) -> None:
        """Give the kernels this process's own part, and put it into the geometry."""
        geo = self.tables.geo.copy()
        geo[g.ROW_WORDS] = self.row_words
        self.row_fields.note(geo, (g.ROW_WORD, g.ROW_SHIFT, g.ROW_MASK))
        geo[g.DEC_STRIDE], geo[g.REN_STRIDE] = self.stride, self.room
        geo[g.PERMUTATIONS] = max(self.orbits.order - 1, 0)
        self.tables = self.tables._replace(
            geo=geo,
            cons=self.cons,
            dec=self.dec,
            renamings=self.orbits.tables(),
            one_word=self.one_word,
        )

    def composed(self, given: Words, which: Words, *, flat: bool) -> Words:
        """Return some rows that travel, flat or numbered, as rows of composites."""
        while True:
            rows = np.empty(max(len(which), 1) * self.row_words, np.int64)
            composites = g.Composites(self.counts, self.limits)
            if flat:
                packing = self.codec.packing
                done = flat_kernels.compose(given, which, packing, self.tables, composites, rows)
            else:
                others = self.numbering.tables
                done = flat_kernels.localize(
                    given, which, others, self.mine, self.tables, composites, rows
                )
            if done == len(which) and self._learn_new():
                return rows
            if done < len(which):
                self._extend()

    def _extend(self) -> None:
        """Make room where a kernel found too little; rows made before may be of no use any more."""
        if (self.counts > self.row_fields.mask).any():
            self.wider_rows()
        else:
            self.reserve(self.room)
        self._refresh()

    def number(self, records: Words) -> bool:
        """Number the composites in `records`, which a kernel missed.

        Return whether rows of composites that were made before can still be used.
        """
        before = self.row_fields
        self._fill(records)
        return self._learn_new() and before is self.row_fields

    def _fill(self, records: Words) -> None:
        assert (records[:, 0] >> g.MISS_SHIFT == g.COMPOSE).all(), "a renaming was not sent along"
        records[:, 0] &= 0xFF
        while not self.add(records):
            self.wider_rows()
        self._refresh()

    def _learn_new(self) -> bool:
        """Rename and weigh new composites; return whether rows made before are still of use."""
        before, parts = self.row_fields, len(self.counts)
        self.rename_since(self.known, self._current, self._fill)
        if len(self.weights) != parts * self.room:
            self.weights = wider(self.weights.reshape(parts, -1), self.room, 0)
        t = self.tables
        renaming_kernels.weigh(t.geo, t.dec, SALTS, self.known, self.counts, self.weights)
        if self.symmetric:
            since, upto = self.known, self.counts
            renaming_kernels.key_orbits(t.geo, t.renamings, self.weights, t.dec, since, upto)
        self._make_room_for_numbers()
        numbering = self.numbering.tables
        for part, composites, found in _pairs(self.tables, numbering, self.known, self.counts):
            self._tag(part, composites, found)
        self.known = self.counts.copy()
        return before is self.row_fields

    def orbit_sizes(self, given: Words) -> int:
        """Return the number of states that some representatives, rows that travel, stand for."""
        count = len(given) // self.row_size
        rows, t = self.composed(given, np.arange(count), flat=not self.numbered), self.tables
        return int(renaming_kernels.orbits(rows, count, t.geo, t.renamings, t.dec))

    def representatives(self, flat: Words) -> Words:
        """Return the representatives of flat rows."""
        count = len(flat) // self.codec.words
        if not self.symmetric:
            return flat
        rows, t = self.composed(flat, np.arange(count), flat=True), self.tables
        renaming_kernels.represent_all(rows, count, self.row_words, t.geo, t.renamings, t.dec)
        return self.codec.packed(rows, count, self.row_words, t.geo, t.dec)

    def flat(self, rows: Words) -> Words:
        """Return rows that travel as flat rows."""
        if not self.numbered:
            return rows
        return self._flat(rows)

    def _flat(self, rows: Words) -> Words:
        words, t = self.numbering.row_words, self.numbering.tables
        return self.codec.packed(rows, len(rows) // words, words, t.geo, t.dec)

    def formed(self, flat: Words) -> Words:
        """Return flat rows as rows that travel; the driver has numbered their composites."""
        if not self.numbered:
            return flat
        numbering, count = self.numbering, len(flat) // self.codec.words
        rows = np.empty(count * numbering.row_words, np.int64)
        full = g.Composites(numbering.counts, np.append(numbering.counts, 0))
        packing, which = self.codec.packing, np.arange(count)
        done = flat_kernels.compose(flat, which, packing, numbering.tables, full, rows)
        if done < count:
            raise ClusterError("a composite was not numbered; please report this")
        return rows

    def converted(self, rows: Words, before: Form) -> Words:
        """Return rows that travelled with the packing `before`, now with the present packing."""
        if before == self.form or not len(rows):
            return rows
        if not before.numbers:
            flat = widened(rows, self.codec.with_widths(before.columns), self.codec)
            return self.formed(flat)
        rows = self.numbering.in_fields(rows, before.numbers)
        return rows if self.numbered else self._flat(rows)

    def owners_of(self, flat: Words, owners: int) -> Words:
        """Return the owner of each flat row, which stays the same when columns become wider."""
        out = np.empty(len(flat) // self.codec.words, np.int64)
        flat_kernels.owners_of(flat, self.codec.packing, self.tables.geo, SALTS, owners, out)
        return out


def keyed(tables: g.Tables, counts: Words) -> g.Renamings:
    """Return the renamings of other tables with the keys by which a cluster represents states."""
    geo, dec, renamings = tables.geo, tables.dec, tables.renamings
    weights, none = np.zeros(len(renamings.kin), np.int64), 0 * counts
    renaming_kernels.weigh(geo, dec, SALTS, none, counts, weights)
    renamings = renamings._replace(kin=renamings.kin.copy(), unordered=g.KEY_SHIFT)
    renaming_kernels.key_orbits(geo, renamings, weights, dec, none, counts)
    return renamings


def _pairs(
    one: g.Tables, other: g.Tables, since: Words, upto: Words
) -> Iterator[tuple[int, Words, Words]]:
    """Yield, per part, some composites of one store, and which ones of another they are, or -1."""
    for part, (first, last) in enumerate(zip(since.tolist(), upto.tolist(), strict=True)):
        if first < last:
            found = np.empty(last - first, np.int64)
            flat_kernels.find_composites(one, other, part, first, found)
            yield part, np.arange(first, last), found
