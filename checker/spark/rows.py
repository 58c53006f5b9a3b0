"""Rounds on blocks of rows that travel between processes; see `checker.spark.transport`.

A composite is a number that one process gave to local words, so rows of composites cannot travel.
Rows travel with the driver's numbers instead (see `checker.spark.numbering`), or else as *flat
rows*, which hold the local words themselves, packed bit by bit. Whoever expands a block translates
it into composites of its own and the successors back.

Only the driver calls the protocol. Rows that miss a table entry are postponed, and their misses are
reported; the driver fills its tables and sends what was added, and the rows are tried
again. So a round is a pure function of a block and a version of the tables, whoever runs it,
however often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.errors import ClusterError
from antecede.checker.local import memos
from antecede.checker.search.transport import Totals
from antecede.checker.spark.distinct import NOTHING, Gathered, Scratch
from antecede.checker.spark.numbering import NO_NUMBERS, Form, Numbering, words_of
from antecede.checker.tables import kernels
from antecede.checker.tables.composites import CompositeStore
from antecede.checker.tables.packing import Fields, Placement, wider
from antecede.checker.tables.table_filler import refuse_crowds, wrapping
from antecede.checker.tables.tabulate import Words

PARCEL = 1 << 18
"""Rows that are sent to an owner at a time."""

CHUNK = 1 << 15
"""Rows that are expanded at a time: few enough that they and their successors stay in caches."""

ENTRIES = 1 << 16

RECENT = 1 << 15
"""Rows that an expansion remembers having met: most duplicates are among neighbours."""

SALTS = np.random.default_rng(0).integers(
    1 << 62, size=kernels.MOST_ACTORS * kernels.MOST_COLUMNS
) | np.int64(1)
"""See `kernels.weigh`; the same in every process."""

SMALLEST_ROOM = 1 << 12
MOST_COMPOSITES = 1 << 23
"""A process keeps at most this many composites from one task to the next."""

PLACE_BITS, INDEX_BITS = kernels.PLACE_BITS, 32
"""How many bits a link has for the transition's place and for the parent's index in its partition;
the partition takes the rest."""


SHORT_PLACE_BITS = 8
"""How many bits a short note has for the transition's place."""


def links_of(notes: Any, partition: int) -> Words:
    """Return the links that the notes of a partition's successors stand for."""
    links: Words = notes.astype(np.int64)
    if notes.dtype == np.uint32:
        places = links & (1 << SHORT_PLACE_BITS) - 1
        links >>= SHORT_PLACE_BITS
        links <<= PLACE_BITS
        links |= places
    links |= partition << INDEX_BITS + PLACE_BITS
    return links


@frozen(eq=False)
class Growth:
    """Additions to the tables since the version before.

    Attributes:
        version: the number of the tables' version that this makes.
        geo: the geometry of the driver's columns; every process has its own rows and composites.
        col_widths: bits of each column of a local word.
        keys, values: new table entries.
        code: new effects of handlers; they follow the old ones.
        sent, pending: as for `kernels.progress_of_flat`.
        perms: as in `Orbits`. The renamings of all components that the tables know are among the
            entries.
        numbers: the widths of the numbers in rows; empty: rows are flat from now on.
        composites: records of the composites that get the next numbers.
    """

    version: int
    geo: Words
    col_widths: tuple[int, ...]
    keys: Words
    values: Words
    code: Words
    sent: Words
    pending: Words
    perms: Sequence[Sequence[int]]
    numbers: tuple[int, ...]
    composites: Words


@frozen
class Codec:
    """The packing of flat rows.

    Attributes:
        widths: bits of each local word of each actor.
        words: words of a flat row.
        col_widths: bits of each column; equal `col_widths` imply equal codecs in one search.
        actors: how many there are.
        parted: as in `Layout`.
        placed: the columns in an actor's local words.
    """

    widths: Words
    words: int
    col_widths: tuple[int, ...]
    actors: int
    parted: bool
    placed: Placement

    @classmethod
    def of(cls, actors: int, col_widths: Iterable[int], *, parted: bool) -> Codec:
        """Return the codec for columns of these widths."""
        columns = tuple(col_widths)
        placed = Placement.of(columns, parted=parted)
        used = np.zeros(placed.words * (1 + parted), np.int64)
        np.add.at(used, placed.in_actor.word, columns)
        widths = np.tile(used, actors)
        words = -(-int(widths.sum()) // kernels.FLAT_BITS)
        return cls(widths, words, columns, actors, parted, placed)

    @property
    def fields(self) -> Fields:
        """The fields of the columns in an actor's local words."""
        return self.placed.in_actor

    @property
    def packing(self) -> kernels.Packing:
        """The packing, as the kernels take it."""
        return kernels.Packing(self.widths, self.words)

    def with_widths(self, col_widths: Iterable[int]) -> Codec:
        """Return the codec of the same search for columns of other widths."""
        return Codec.of(self.actors, col_widths, parted=self.parted)

    def packed(self, rows: Words, count: int, stride: int, geo: Words, dec: Words) -> Words:
        """Return the flat rows of rows of composites; see `kernels.flatten`."""
        flat = np.empty(count * self.words, np.int64)
        kernels.flatten(rows, count, stride, geo, dec, self.packing, flat)
        return flat

    def unpacked(self, flat: Words) -> Words:
        """Return the local words of flat rows, of shape (rows, actors, words of an actor)."""
        local = np.empty((len(flat) // self.words, len(self.widths)), np.int64)
        kernels.unpack_rows(flat, self.packing, local)
        return local.reshape(len(local), self.actors, len(self.widths) // self.actors)

    def column(self, local: Words, number: int) -> Words:
        """Return a column of unpacked local words, of shape (rows, actors)."""
        return np.asarray(self.fields.read(local, number), np.int64)


@define(eq=False)
class WorkerComposites(CompositeStore):
    """The composites of one process, and the tables with them, as the kernels read them.

    Unlike the composites of `checker.tables.layout.Layout`, they name the states of a block only
    while it is expanded, and may be forgotten then.

    Attributes:
        version: of the tables.
        broadcasts: how many were taken over.
        codec: of the flat rows that it reads and writes.
        tables: the tables as the kernels read them.
        known: per part, how many composites have weights and, under symmetry, an orbit.
        weights: see `kernels.weigh`.
        numbering: the composites that the driver has numbered.
        numbered: rows have these numbers, and not the composites' columns.
        tags, mine: the numbers of this process's composites, see `kernels.dispatch`, and the other
            way round, see `kernels.localize`.
        memo: what is remembered of transitions between these composites.
        scratch: memory that is used while a task runs.
    """

    version: int = -1
    broadcasts: int = 0
    codec: Codec = field(init=False)
    tables: kernels.Tables = field(init=False)
    entries: int = 0
    sent: Words = field(init=False)
    pending: Words = field(init=False)
    known: Words = field(init=False)
    weights: Words = field(init=False)
    numbering: Numbering = field(init=False)
    numbered: bool = True
    tags: Words = field(init=False)
    mine: Any = field(init=False)
    memo: kernels.Memo = field(init=False)
    scratch: Scratch = field(factory=Scratch)

    @property
    def symmetric(self) -> bool:
        """Rows are replaced by one of their renamings."""
        return self.orbits.order > 0

    def learn(self, growth: Growth) -> None:
        """Take over what was added to the tables.

        Where columns became wider all composites of this process are forgotten.
        """
        first = self.version < 0
        actors = int(growth.geo[kernels.ACTORS])
        table = np.full(2 << 14, -1, np.int64) if first else self.tables.table
        code = growth.code if first else np.concatenate([self.tables.code, growth.code])
        table = self._stored(table, growth)
        if first or self.codec.col_widths != growth.col_widths:
            parted = int(growth.geo[kernels.PARTS]) > actors
            codec = Codec.of(actors, growth.col_widths, parted=parted)
            if first:
                self.numbering = Numbering()
                self.numbering.words = codec.placed.words
                self.numbering.begin(int(growth.geo[kernels.PARTS]), (), SMALLEST_ROOM)
            else:
                self.numbering.repack(self.codec.placed, codec.placed)
            self.codec = codec
            self._start_anew(growth.geo, growth.perms, table, code)
        else:
            self.tables = self.tables._replace(table=table, code=code, geo=growth.geo)
            self._refresh()
        self.sent, self.pending, self.version = growth.sent, growth.pending, growth.version
        self.numbered = bool(growth.numbers)
        if self.numbered:
            self.numbering.widen_rows(growth.numbers)
            self.give_numbers(growth.composites)

    def give_numbers(self, records: Words) -> Words:
        """Number the composites in `records`; return those that had no number, in order."""
        since, numbering = self.numbering.counts.copy(), self.numbering
        while not numbering.add(records):
            numbering.wider_rows()
        numbering.refresh(self.tables)
        self._make_room_for_numbers()
        upto = numbering.counts
        for part, numbers, found in _pairs(numbering.tables, self.tables, since, upto):
            self.mine.reshape(len(upto), -1)[part, numbers] = found
            self._tag(part, found[found >= 0], numbers[found >= 0])
        return numbering.records(since)

    def _make_room_for_numbers(self) -> None:
        parts = len(self.counts)
        if len(self.tags) != parts * self.room:
            self.tags = wider(self.tags.reshape(parts, -1), self.room, -1)
        if len(self.mine) != parts * self.numbering.room:
            self.mine = wider(self.mine.reshape(parts, -1), self.numbering.room, -1)

    def _tag(self, part: int, composites: Words, numbers: Words) -> None:
        """Note the numbers of some composites of a part; -1: they have none."""
        weights = self.weights.reshape(len(self.counts), -1)[part, composites]
        tags = self.tags.reshape(len(self.counts), -1)
        tags[part, composites] = weights << 32 | numbers & 0xFFFFFFFF

    @property
    def form(self) -> Form:
        """How rows are packed now."""
        numbers = tuple(self.numbering.row_widths) if self.numbered else ()
        return Form(self.codec.col_widths, numbers)

    @property
    def row_size(self) -> int:
        """The words of a row that travels."""
        return self.numbering.row_words if self.numbered else self.codec.words

    @property
    def first_shift(self) -> int:
        """The lowest bit of the first number in the first word of a row; -1: rows are flat."""
        return int(self.numbering.row_fields.shift[0]) if self.numbered else -1

    def words_in(self, form: Form) -> int:
        """Return the words of a row of another form."""
        if form.numbers:
            return words_of(form.numbers)
        return self.codec.with_widths(form.columns).words

    def _stored(self, table: Words, growth: Growth) -> Words:
        capacity = len(table) // 2
        self.entries += len(growth.keys)
        if self.entries * 2 > capacity:
            while self.entries * 2 > capacity:
                capacity *= 2
            old = table.reshape(-1, 2)
            old = old[old[:, 0] != -1]
            table = np.full(2 * capacity, -1, np.int64)
            kernels.store(table, old[:, 0].copy(), old[:, 1].copy())
        kernels.store(table, growth.keys, growth.values)
        return table

    def trim(self) -> None:
        """Forget all composites if they are many: those that are needed again are made anew.

        Rows of composites made before are of no use any more.
        """
        if int(self.counts.sum()) > MOST_COMPOSITES:
            t = self.tables
            self._start_anew(t.geo, self.orbits.perms, t.table, t.code)

    def _start_anew(
        self, geo: Words, perms: Sequence[Sequence[int]], table: Words, code: Words
    ) -> None:
        self.words = int(geo[kernels.PART_WORDS])
        self.begin(int(geo[kernels.PARTS]), perms, SMALLEST_ROOM)
        self.known, self.weights = 0 * self.counts, np.zeros(0, np.int64)
        self.tags, self.mine = NOTHING, NO_NUMBERS
        self.tables = kernels.Tables(
            geo, table, code, self.cons, self.dec, self.orbits.tables(), np.zeros(0, np.int32)
        )
        self._refresh()
        self.memo = memos.empty(self.tables.geo)
        self.numbering.refresh(self.tables)
        self._make_room_for_numbers()

    def _current(self) -> kernels.Tables:
        self._refresh()
        return self.tables

    def _refresh(self) -> None:
        """Give the kernels this process's own part, and put it into the geometry."""
        geo = self.tables.geo.copy()
        geo[kernels.ROW_WORDS] = self.row_words
        self.row_fields.note(geo, (kernels.ROW_WORD, kernels.ROW_SHIFT, kernels.ROW_MASK))
        geo[kernels.DEC_STRIDE], geo[kernels.REN_STRIDE] = self.stride, self.room
        geo[kernels.PERMUTATIONS] = max(self.orbits.order - 1, 0)
        geo[kernels.DROPS_BEHIND] = geo[kernels.CHECKS_PROGRESS] = 0
        self.tables = self.tables._replace(
            geo=geo, cons=self.cons, dec=self.dec, renamings=self.orbits.tables()
        )

    def composed(self, given: Words, which: Words, *, flat: bool) -> Words:
        """Return the rows of composites of some rows, which are flat, or have numbers."""
        while True:
            rows = np.empty(max(len(which), 1) * self.row_words, np.int64)
            composites = kernels.Composites(self.counts, self.limits)
            if flat:
                packing = self.codec.packing
                done = kernels.compose(given, which, packing, self.tables, composites, rows)
            else:
                others = self.numbering.tables
                done = kernels.localize(
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
        """Number the composites in `records`; return whether rows made before are still of use."""
        before = self.row_fields
        self._fill(records)
        return self._learn_new() and before is self.row_fields

    def _fill(self, records: Words) -> None:
        assert (records[:, 0] >> 8 == kernels.COMPOSE).all(), "a renaming was not sent along"
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
        kernels.weigh(t.geo, t.dec, SALTS, self.known, self.counts, self.weights)
        self._make_room_for_numbers()
        numbering = self.numbering.tables
        for part, composites, found in _pairs(self.tables, numbering, self.known, self.counts):
            self._tag(part, composites, found)
            self.mine.reshape(parts, -1)[part, found[found >= 0]] = composites[found >= 0]
        self.known = self.counts.copy()
        return before is self.row_fields

    def represent(self, rows: Words, count: int, stride: int) -> None:
        """Replace rows of composites, `stride` words apart, by their representatives."""
        t = self.tables
        if self.symmetric:
            kernels.represent_by_weight(
                rows, count, stride, t.geo, t.renamings, self.weights, t.dec
            )

    def orbit_sizes(self, given: Words) -> int:
        """Return how many states the representatives in the present form stand for."""
        count = len(given) // self.row_size
        rows = self.composed(given, np.arange(count), flat=not self.numbered)
        return int(kernels.orbits(rows, count, self.tables.geo, self.tables.renamings))

    def representatives(self, flat: Words) -> Words:
        """Return the representatives of flat rows."""
        count = len(flat) // self.codec.words
        if not self.symmetric:
            return flat
        rows, t = self.composed(flat, np.arange(count), flat=True), self.tables
        self.represent(rows, count, self.row_words)
        return self.codec.packed(rows, count, self.row_words, t.geo, t.dec)

    def flat(self, rows: Words) -> Words:
        """Return the flat rows of rows of the present form."""
        if not self.numbered:
            return rows
        return self._flat(rows)

    def _flat(self, rows: Words) -> Words:
        words, t = self.numbering.row_words, self.numbering.tables
        return self.codec.packed(rows, len(rows) // words, words, t.geo, t.dec)

    def formed(self, flat: Words) -> Words:
        """Return flat rows in the present form; the driver has numbered their composites."""
        if not self.numbered:
            return flat
        numbering, count = self.numbering, len(flat) // self.codec.words
        rows = np.empty(count * numbering.row_words, np.int64)
        full = kernels.Composites(numbering.counts, np.append(numbering.counts, 0))
        packing, which = self.codec.packing, np.arange(count)
        done = kernels.compose(flat, which, packing, numbering.tables, full, rows)
        if done < count:
            raise ClusterError("a composite was not numbered; please report this")
        return rows

    def converted(self, rows: Words, before: Form) -> Words:
        """Return rows of another form in the present form."""
        if before == self.form or not len(rows):
            return rows
        if not before.numbers:
            flat = widened(rows, self.codec.with_widths(before.columns), self.codec)
            return self.formed(flat)
        rows = self.numbering.in_fields(rows, before.numbers)
        return rows if self.numbered else self._flat(rows)

    def unnumbered(self, flat: Words) -> Words:
        """Return records of the composites in some flat rows that have no number."""
        fresh, parts = CompositeStore(), len(self.counts)
        fresh.words = self.words
        fresh.begin(parts, (), SMALLEST_ROOM)
        step = CHUNK * self.codec.words
        for at in range(0, len(flat) * self.numbered, step):
            some = flat[at : at + step]
            records = np.empty((len(some) // self.codec.words * parts, 1 + self.words), np.int64)
            t, packing = self.numbering.tables, self.codec.packing
            count = kernels.list_unnumbered(some, packing, t, records)
            while not fresh.add(records[:count]):
                fresh.wider_rows()
        return fresh.records()

    def owners_of(self, flat: Words, owners: int) -> Words:
        """Return the owner of each flat row, which stays the same when columns become wider."""
        out = np.empty(len(flat) // self.codec.words, np.int64)
        kernels.owners_of(flat, self.codec.packing, self.tables.geo, SALTS, owners, out)
        return out

    def progress(self, flat: Words) -> Words:
        """Return the progress of flat rows, which the sweep-line goes by."""
        out = np.empty(len(flat) // self.codec.words, np.int64)
        packing, geo = self.codec.packing, self.tables.geo
        kernels.progress_of_flat(flat, packing, geo, self.sent, self.pending, out)
        return out


def _pairs(
    one: kernels.Tables, other: kernels.Tables, since: Words, upto: Words
) -> Iterator[tuple[int, Words, Words]]:
    """Yield, per part, some composites of one store, and which ones of another they are, or -1."""
    for part, (first, last) in enumerate(zip(since.tolist(), upto.tolist(), strict=True)):
        if first < last:
            found = np.empty(last - first, np.int64)
            kernels.find_composites(one, other, part, first, found)
            yield part, np.arange(first, last), found


Marks = np.ndarray[Any, np.dtype[np.int32]]
NO_MARKS: Marks = np.empty(0, np.int32)
"""See `kernels.LEAD_BITS`."""


@frozen(eq=False)
class BlockWeights:
    """The weights with which a block is expanded.

    Attributes:
        leads: per kind of transition, the lead of its successor.
        levels: how many levels a transition can lead down.
        depths: of the rows of the block.
    """

    leads: Words
    levels: int
    depths: Words

    @property
    def on(self) -> bool:
        """Some kind of transition weighs more than others, whether it is met already or not."""
        return self.levels > 1


UNWEIGHTED = BlockWeights(NOTHING, 1, NOTHING)
"""For blocks of which nothing is weighed."""


@frozen(eq=False)
class Expanded:
    """The result of the expansion of a block.

    Attributes:
        postponed: numbers of the rows that miss something.
        waiting: these rows.
        keys: of the table entries that they miss, as far as they came to need them.
        totals: sums over the expanded rows; they do not know which successors are new.
        shown: (properties, index, place) where properties are shown; place -1: the state itself.
    """

    postponed: Words
    waiting: Words
    keys: Words
    totals: Totals
    shown: list[tuple[int, int, int]]


@define(eq=False)
class Expansion:
    """Expands a block.

    Attributes:
        own: this process's composites and tables.
        rows: of a level in one partition.
        flat: these rows are flat, and all successors are sent as flat rows.
        numbers: of the rows in their level; they become part of notes.
        owners: how many partitions there are.
        known: bit set of the properties not to report any more.
        weights: the depths of the rows, where levels are sums of weights.
    """

    own: WorkerComposites
    rows: Words
    flat: bool
    numbers: Words
    owners: int
    known: int
    weights: BlockWeights = UNWEIGHTED
    recent: Words = field(init=False)
    packed: Fields = field(init=False)
    note: Any = field(init=False)
    gathered: list[list[Gathered]] = field(init=False)
    control: Words = field(init=False)
    fired: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    shown: list[tuple[int, int, int]] = field(factory=list)
    keys: list[Words] = field(factory=lambda: [NOTHING])
    left: list[Words] = field(factory=lambda: [NOTHING])
    entries: int = ENTRIES

    def __attrs_post_init__(self) -> None:
        self._forget_recent()
        self.note = self._note_type()
        flat, scratch = self.own.codec.words, self.own.scratch
        outboxes = ((self.words, "sent"), (flat, "sent as flat rows"))
        self.gathered = [
            [Gathered(f"{p} {name}", self.note, words, scratch) for p in range(self.owners)]
            for words, name in outboxes
        ]
        self.control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        self.control[kernels.KNOWN] = self.known

    def _note_type(self) -> Any:
        """Return the type of notes: a short one if all parents' numbers and all places fit it."""
        most = int(self.own.tables.geo[kernels.CHOICES])
        short = len(self.numbers) == 0 or int(self.numbers.max()) < 1 << 32 - SHORT_PLACE_BITS
        if self.weights.on or (short and most <= 1 << SHORT_PLACE_BITS):
            return np.uint32
        return np.int64

    @property
    def words(self) -> int:
        """The words of a row."""
        return self.own.codec.words if self.flat else self.own.row_size

    def _forget_recent(self) -> None:
        """Forget the last successors; rows of composites that are packed otherwise are others."""
        self.packed = self.own.row_fields
        self.recent = np.full(RECENT * self.own.row_words, -1, np.int64)

    def parcels(self) -> Iterator[tuple[int, Words, Words, bool]]:
        """Expand all rows; yield successors as they come, each time many of one owner.

        Yields:
            An owner, successors, a note for each (see `links_of`), and whether they are flat rows
            although the expanded rows are not. The arrays are used again afterwards.
        """
        for which in self._chunks():
            with wrapping():
                self.left.append(self._chunk(which))
            yield from self._gathered(PARCEL)
        yield from self._gathered(1)

    def _gathered(self, least: int) -> Iterator[tuple[int, Words, Words, bool]]:
        for flat, outbox in enumerate(self.gathered):
            for owner, gathered in enumerate(outbox):
                if gathered.count >= least:
                    yield owner, *gathered.taken(), bool(flat)

    def done(self) -> Expanded:
        """Return the result, once all parcels are there."""
        left = np.concatenate(self.left)
        return Expanded(
            postponed=self.numbers[left],
            waiting=self.rows.reshape(-1, self.words)[left].ravel(),
            keys=np.unique(np.concatenate(self.keys)),
            totals=Totals(
                fired=int(self.control[kernels.FIRED]),
                finals=int(self.control[kernels.FINALS]),
                kinds=self.fired,
                new=None,
                orbits=self.control[kernels.ORBIT_STATES : kernels.ORBIT_FINALS + 1],
            ),
            shown=self.shown,
        )

    def _chunks(self) -> Iterator[Words]:
        """Yield the indices of the rows, neighbours together; by weight, one depth after the other.

        Of successors that come soon after each other only the first is kept, with its depth; and
        within a chunk rows that miss a composite come later.
        """
        first, depths = self.rows[:: self.words], self.weights.depths
        if not (self.flat or len(depths)):  # rows of numbers are almost sorted, see `distinct`
            for at in range(0, len(first), CHUNK):
                yield at + np.argsort(first[at : at + CHUNK])
            return
        order = np.lexsort((first, depths)) if len(depths) else np.argsort(first)
        cuts = np.flatnonzero(np.diff(depths[order] if len(depths) else depths)) + 1
        for start, end in pairwise([0, *cuts.tolist(), len(order)]):
            yield from (order[at : min(at + CHUNK, end)] for at in range(start, end, CHUNK))

    def _chunk(self, which: Words) -> Words:
        """Expand the rows at these indices; return those that miss a table entry."""
        rows = self.own.composed(self.rows, which, flat=self.flat)
        waiting = np.arange(len(which), dtype=np.int64)
        while len(waiting):
            missing, composites = self._pass(rows, waiting, which)
            if not len(missing) or not len(composites):
                return which[missing]
            if not self.own.number(composites):
                rows = self.own.composed(self.rows, which, flat=self.flat)
            waiting = missing
        return which[:0]

    def _pass(self, rows: Words, waiting: Words, which: Words) -> tuple[Words, Words]:
        """Expand rows; return those that miss something, and the composites that are missing."""
        own, control = self.own, self.control
        if self.packed is not own.row_fields:
            self._forget_recent()
        stride = own.row_words + 1
        out, order = self._room(stride)
        sizes = np.zeros(1, np.int64)
        postponed, shown = np.empty(len(waiting), np.int64), np.empty((64, 3), np.int64)
        misses = own.misses()
        todo, missing, composites = waiting.copy(), [], []
        # The kernel fetches rows in advance unless they are listed.
        listed = len(rows) != len(waiting) * own.row_words
        control[kernels.TODO], control[kernels.AT_FRESH] = len(todo) * listed, 0
        control[kernels.END_FRESH] = len(todo) * (not listed)
        while control[kernels.TODO] or control[kernels.AT_FRESH] < control[kernels.END_FRESH]:
            control[kernels.MISSES] = control[kernels.POSTPONED] = control[kernels.FOUND] = 0
            kernels.expand(
                rows,
                todo,
                own.tables,
                0,
                1,
                kernels.Outbox(out.ravel(), sizes, order, self.recent),
                kernels.BY_DEPTH,
                kernels.Told(postponed, misses, shown, self.fired, control, own.memo),
            )
            own.memo = memos.tended(own.memo, own.tables.geo)
            self._send(out[0], int(sizes[0]), stride, which)
            sizes[:] = 0
            missing.append(postponed[: control[kernels.POSTPONED]].copy())
            found = misses[: control[kernels.MISSES]]
            composites.append(found[found[:, 0] >> 8 == kernels.COMPOSE])
            self.keys.append(found[found[:, 0] == 0, 1])
            for bits, index, place in shown[: control[kernels.FOUND]]:
                self.shown.append((int(bits), int(self.numbers[which[index]]), int(place)))
            if control[kernels.FULL]:
                refuse_crowds(int(control[kernels.FULL]))
                self.entries = max(2 * self.entries, 2 * int(control[kernels.FULL]))
                control[kernels.FULL] = 0
                out, order = self._room(stride)
        return np.concatenate(missing), np.concatenate(composites)

    def _room(self, stride: int) -> tuple[Words, Words]:
        """Return room for entries, and for their order."""
        scratch = self.own.scratch
        out = scratch.room("entries", self.entries * stride).reshape(1, -1)
        return out, scratch.room("order", self.entries, np.uint16)

    def _send(self, entries: Words, count: int, stride: int, which: Words) -> None:
        """Give successors to their owners."""
        own, weights = self.own, self.weights
        own.represent(entries, count, stride)
        source = kernels.NoteSource(
            PLACE_BITS if self.note is np.int64 else SHORT_PLACE_BITS,
            (weights.depths if weights.on else self.numbers)[which],
            weights.leads,
        )
        numbers = kernels.Numbers(own.numbering.tables.geo, own.tags, not self.flat)
        outboxes = [self._outbox(gathered) for gathered in self.gathered]
        kernels.dispatch(entries, count, own.tables, own.codec.packing, numbers, source, *outboxes)
        for outbox, gathered in zip(outboxes, self.gathered, strict=True):
            for owner, size in enumerate(outbox.sizes.tolist()):
                if size:
                    words = gathered[owner].words
                    gathered[owner].add(
                        outbox.rows[owner, : size * words], outbox.notes[owner, :size]
                    )

    def _outbox(self, gathered: list[Gathered]) -> kernels.FlatOutbox:
        """Return room for what one pass can send to each owner."""
        room, name = self.own.scratch.room, gathered[0].name
        rows = room(f"{name}, rows of all", self.owners * self.entries * gathered[0].words)
        notes = room(f"{name}, {self.note} notes of all", self.owners * self.entries, self.note)
        shape = (self.owners, -1)
        return kernels.FlatOutbox(
            rows.reshape(shape), notes.reshape(shape), np.zeros(self.owners, np.int64)
        )


def repacked(records: Words, before: Codec, after: Codec) -> Words:
    """Return records of composites with wider columns."""
    if before.col_widths == after.col_widths:
        return records
    new = np.zeros((len(records), 1 + after.placed.words), np.int64)
    new[:, 0] = records[:, 0]
    for column, half in enumerate(after.placed.half):
        its = records[:, 0] % (1 + after.parted) == half
        words = np.zeros((int(its.sum()), after.placed.words), np.int64)
        values = before.placed.fields.read(records[its, 1:], column)
        after.placed.fields.write(words, column, values)
        new[its, 1:] |= words
    return new


def widened(flat: Words, before: Codec, after: Codec) -> Words:
    """Return flat rows with wider columns."""
    if before.col_widths == after.col_widths:
        return flat
    old = before.unpacked(flat)
    new = np.zeros((len(old), after.actors, len(after.widths) // after.actors), np.int64)
    for k in range(len(before.col_widths)):
        after.fields.write(new, k, before.column(old, k))
    packed = np.empty(len(new) * after.words, np.int64)
    kernels.pack_rows(new.reshape(len(new), len(after.widths)), after.packing, packed)
    return packed
