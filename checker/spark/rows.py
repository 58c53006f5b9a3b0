"""Rounds on blocks of rows that travel between processes; see `checker.spark.transport`.

A composite is a number that one process gave to local words, so rows of composites cannot travel.
A *flat row* holds the local words themselves, packed bit by bit; their components have the driver's
numbers. Whoever expands a block translates it into composites of its own and the successors back.

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

from antecede.checker.local import memos
from antecede.checker.search.transport import Totals
from antecede.checker.spark.distinct import NOTHING, Gathered, Scratch
from antecede.checker.tables import kernels
from antecede.checker.tables.composites import CompositeStore
from antecede.checker.tables.packing import Fields, Placement, wider
from antecede.checker.tables.table_filler import refuse_crowds, wrapping
from antecede.checker.tables.tabulate import Words

PARCEL = 1 << 18
"""Rows that are sent to an owner at a time."""

CHUNK = 1 << 13
"""Rows that are expanded at a time: few enough that they and their successors stay in caches."""

ENTRIES = 1 << 16

RECENT = 1 << 14
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


@frozen
class Codec:
    """The packing of flat rows.

    Attributes:
        widths: bits of each local word of each actor.
        words: words of a flat row.
        col_widths: bits of each column; equal `col_widths` imply equal codecs in one search.
        actors: how many there are.
        parted: as in `Layout`.
        fields: of the columns in an actor's local words.
    """

    widths: Words
    words: int
    col_widths: tuple[int, ...]
    actors: int
    parted: bool
    fields: Fields

    @classmethod
    def of(cls, actors: int, col_widths: Iterable[int], *, parted: bool) -> Codec:
        """Return the codec for columns of these widths."""
        columns = tuple(col_widths)
        placed = Placement.of(columns, parted=parted)
        used = np.zeros(placed.words * (1 + parted), np.int64)
        np.add.at(used, placed.in_actor.word, columns)
        widths = np.tile(used, actors)
        words = -(-int(widths.sum()) // kernels.FLAT_BITS)
        return cls(widths, words, columns, actors, parted, placed.in_actor)

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
        codec: of the flat rows that it reads and writes.
        tables: the tables as the kernels read them.
        known: per part, how many composites have weights and, under symmetry, an orbit.
        weights: see `kernels.weigh`.
        memo: what is remembered of transitions between these composites.
        scratch: memory that is used while a task runs.
    """

    version: int = -1
    codec: Codec = field(init=False)
    tables: kernels.Tables = field(init=False)
    entries: int = 0
    sent: Words = field(init=False)
    pending: Words = field(init=False)
    known: Words = field(init=False)
    weights: Words = field(init=False)
    memo: kernels.Memo = field(init=False)
    scratch: Scratch = field(factory=Scratch)

    @property
    def symmetric(self) -> bool:
        """Rows are replaced by one of their renamings."""
        return self.orbits.order > 0

    def learn(self, growth: Growth) -> None:
        """Take over what was added to the tables.

        Where columns became wider all composites are forgotten: they hold columns of old widths.
        """
        first = self.version < 0
        actors = int(growth.geo[kernels.ACTORS])
        table = np.full(2 << 14, -1, np.int64) if first else self.tables.table
        code = growth.code if first else np.concatenate([self.tables.code, growth.code])
        table = self._stored(table, growth)
        if first or self.codec.col_widths != growth.col_widths:
            parted = int(growth.geo[kernels.PARTS]) > actors
            self.codec = Codec.of(actors, growth.col_widths, parted=parted)
            self._start_anew(growth.geo, growth.perms, table, code)
        else:
            self.tables = self.tables._replace(table=table, code=code, geo=growth.geo)
            self._refresh()
        self.sent, self.pending, self.version = growth.sent, growth.pending, growth.version

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
        self.tables = kernels.Tables(
            geo, table, code, self.cons, self.dec, self.orbits.tables(), np.zeros(0, np.int32)
        )
        self._refresh()
        self.memo = memos.empty(self.tables.geo)

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

    def composed(self, flat: Words, which: Words) -> Words:
        """Return the rows of composites of some flat rows."""
        while True:
            rows = np.empty(max(len(which), 1) * self.row_words, np.int64)
            composites = kernels.Composites(self.counts, self.limits)
            done = kernels.compose(flat, which, self.codec.packing, self.tables, composites, rows)
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
        self.known = self.counts.copy()
        return before is self.row_fields

    def represent(self, rows: Words, count: int, stride: int) -> None:
        """Replace rows of composites, `stride` words apart, by their representatives."""
        t = self.tables
        if self.symmetric:
            kernels.represent_by_weight(
                rows, count, stride, t.geo, t.renamings, self.weights, t.dec
            )

    def orbit_sizes(self, flat: Words) -> int:
        """Return how many states the representatives `flat` stand for."""
        count = len(flat) // self.codec.words
        rows, t = self.composed(flat, np.arange(count)), self.tables
        return int(kernels.orbits(rows, count, t.geo, t.renamings))

    def representatives(self, flat: Words) -> Words:
        """Return the representatives of flat rows."""
        count = len(flat) // self.codec.words
        if not self.symmetric:
            return flat
        rows = self.composed(flat, np.arange(count))
        self.represent(rows, count, self.row_words)
        return self.flattened(rows, count, self.row_words)

    def flattened(self, rows: Words, count: int, stride: int) -> Words:
        """Return the flat rows of rows of composites, `stride` words apart."""
        return self.codec.packed(rows, count, stride, self.tables.geo, self.tables.dec)

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
        waiting: these rows, as flat rows.
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
        flat: rows of a level in one partition.
        numbers: of the rows in their level; they become part of links.
        partition: for the links.
        owners: how many partitions there are.
        known: bit set of the properties not to report any more.
        weights: the depths of the rows, where levels are sums of weights.
    """

    own: WorkerComposites
    flat: Words
    numbers: Words
    partition: int
    owners: int
    known: int
    weights: BlockWeights = UNWEIGHTED
    recent: Words = field(init=False)
    packed: Fields = field(init=False)
    gathered: list[Gathered] = field(init=False)
    control: Words = field(init=False)
    fired: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    shown: list[tuple[int, int, int]] = field(factory=list)
    keys: list[Words] = field(factory=lambda: [NOTHING])
    left: list[Words] = field(factory=lambda: [NOTHING])
    entries: int = ENTRIES

    def __attrs_post_init__(self) -> None:
        self._forget_recent()
        words, scratch = self.own.codec.words, self.own.scratch
        self.gathered = [Gathered(f"{p}", words, scratch) for p in range(self.owners)]
        self.control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        self.control[kernels.KNOWN] = self.known

    def _forget_recent(self) -> None:
        """Forget the last successors; rows of composites that are packed otherwise are others."""
        self.packed = self.own.row_fields
        self.recent = np.full(RECENT * self.own.row_words, -1, np.int64)

    def parcels(self) -> Iterator[tuple[int, Words, Words]]:
        """Expand all rows; yield successors as they come, each time many of one owner.

        Yields:
            An owner, flat successors, and a link for each, or a mark. The arrays are used again
            afterwards.
        """
        for which in self._chunks():
            with wrapping():
                self.left.append(self._chunk(which))
            yield from self._gathered(PARCEL)
        yield from self._gathered(1)

    def _gathered(self, least: int) -> Iterator[tuple[int, Words, Words]]:
        for owner, gathered in enumerate(self.gathered):
            if gathered.count >= least:
                yield owner, *gathered.taken()

    def done(self) -> Expanded:
        """Return the result, once all parcels are there."""
        words, left = self.own.codec.words, np.concatenate(self.left)
        return Expanded(
            postponed=self.numbers[left],
            waiting=self.flat.reshape(-1, words)[left].ravel(),
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
        first, depths = self.flat[:: self.own.codec.words], self.weights.depths
        order = np.lexsort((first, depths)) if len(depths) else np.argsort(first)
        cuts = np.flatnonzero(np.diff(depths[order] if len(depths) else depths)) + 1
        for start, end in pairwise([0, *cuts.tolist(), len(order)]):
            yield from (order[at : min(at + CHUNK, end)] for at in range(start, end, CHUNK))

    def _chunk(self, which: Words) -> Words:
        """Expand the rows at these indices; return those that miss a table entry."""
        rows = self.own.composed(self.flat, which)
        waiting = np.arange(len(which), dtype=np.int64)
        while len(waiting):
            missing, composites = self._pass(rows, waiting, which)
            if not len(missing) or not len(composites):
                return which[missing]
            if not self.own.number(composites):
                rows = self.own.composed(self.flat, which)
            waiting = missing
        return which[:0]

    def _pass(self, rows: Words, waiting: Words, which: Words) -> tuple[Words, Words]:
        """Expand rows; return those that miss something, and the composites that are missing."""
        own, control = self.own, self.control
        if self.packed is not own.row_fields:
            self._forget_recent()
        stride = own.row_words + 1
        out = np.empty((1, self.entries * stride), np.int64)
        sizes, order = np.zeros(1, np.int64), np.empty(self.entries, np.uint16)
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
                kernels.Outbox(out, sizes, order, self.recent),
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
                out = np.empty((1, self.entries * stride), np.int64)
                order = np.empty(self.entries, np.uint16)
        return np.concatenate(missing), np.concatenate(composites)

    def _send(self, entries: Words, count: int, stride: int, which: Words) -> None:
        """Give successors to their owners."""
        own, weights, words = self.own, self.weights, self.own.codec.words
        own.represent(entries, count, stride)
        rows = own.scratch.room("rows of all", self.owners * self.entries * words)
        rows = rows.reshape(self.owners, -1)
        notes = own.scratch.room("notes of all", self.owners * self.entries)
        notes = notes.reshape(self.owners, -1)
        sizes = np.zeros(self.owners, np.int64)
        source = kernels.NoteSource(
            self.partition << INDEX_BITS + PLACE_BITS,
            (weights.depths if weights.on else self.numbers)[which],
            weights.leads,
        )
        outbox = kernels.FlatOutbox(rows, notes, sizes)
        kernels.dispatch(entries, count, own.tables, own.codec.packing, own.weights, source, outbox)
        for owner, size in enumerate(sizes.tolist()):
            if size:
                self.gathered[owner].add(rows[owner, : size * words], notes[owner, :size])


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
