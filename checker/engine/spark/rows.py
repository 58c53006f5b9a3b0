"""Expands blocks of rows that travel between processes; see `checker.engine.spark.transport`.

A block is some rows of one partition's level. The process that expands it translates the rows into
composites of its own (see `worker_composites`), and the successors back. With each successor goes a
*note*: a link to its parent, or a mark if levels are sums of weights.

Only the driver calls the protocol. Rows that miss a table entry are postponed, and their misses are
reported. The driver fills its tables and sends the additions, and the rows are tried again. So the
result of a round depends only on the block and on the version of the tables, whichever process
computes it, and however often.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.packing import Fields
from antecede.checker.engine.rows.table_filler import refuse_crowds, wrapping
from antecede.checker.engine.spark import flat_kernels
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.lean import Lean
from antecede.checker.engine.spark.worker_composites import CHUNK, WorkerComposites
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.successors import memos
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.engine.tabulated.transport import Totals

PARCEL, PARCELS = 1 << 18, 1 << 23
"""Rows that are sent to an owner at a time, and the most rows that wait to be sent."""

ENTRIES = 1 << 16

RECENT = 1 << 15
"""Rows that an expansion remembers having met: most duplicates are among neighbours."""

PLACE_BITS, INDEX_BITS = g.PLACE_BITS, 32
"""How many bits a link has for the transition's place and for the parent's index in its partition;
the partition takes the rest."""

SHORT_PLACE_BITS = 8
"""How many bits a short note has for the transition's place."""

SEGMENT = 1 << 32 - SHORT_PLACE_BITS
"""The parents that short notes can tell apart. Rows in order are numbered anew after so many."""


def place_bits_of(notes: Any) -> int:
    """Return how many of a note's lowest bits are for the place: 8 if it is uint32, or 16."""
    return SHORT_PLACE_BITS if notes.dtype == np.uint32 else PLACE_BITS


def base_of(partition: int) -> int:
    """Return the number that makes a link of a note with 16 bits for the place."""
    return partition << INDEX_BITS + PLACE_BITS


def links_of(notes: Any, partition: int) -> Words:
    """Return the links of successors whose parents are all in this partition, from their notes."""
    wide, bits = notes.astype(np.int64), place_bits_of(notes)
    links: Words = wide >> bits << PLACE_BITS | wide & (1 << bits) - 1
    return links + base_of(partition)


Marks = np.ndarray[Any, np.dtype[np.int32]]
NO_MARKS: Marks = np.empty(0, np.int32)
"""See `g.LEAD_BITS`."""


@frozen(eq=False)
class BlockWeights:
    """The weights with which a block is expanded.

    Attributes:
        leads: per kind of transition, the number of levels that it skips.
        levels: the number of levels that a transition can lead down.
        depths: the depths of the rows of the block.
    """

    leads: Words
    levels: int
    depths: Words

    @property
    def on(self) -> bool:
        """Levels are sums of weights, because some kind of transition weighs more than others."""
        return self.levels > 1


UNWEIGHTED = BlockWeights(NOTHING, 1, NOTHING)
"""For blocks of which nothing is weighed."""


@frozen(eq=False)
class Expanded(Lean):
    """The result of the expansion of a block.

    Attributes:
        postponed: the numbers of the rows that miss a table entry.
        waiting: these rows.
        keys: the keys of the table entries that they miss first.
        totals: sums over the expanded rows; they do not know which successors are new.
        shown: (properties, index, place) of each row or transition that shows properties; the place
            is -1 for the state itself.
    """

    postponed: Words
    waiting: Words
    keys: Words
    totals: Totals
    shown: list[tuple[int, int, int]]


@define(eq=False)
class BlockExpansion:
    """Expands a block of rows, and collects successors by the partition that owns them.

    Attributes:
        own: this process's composites and tables.
        rows: the rows, of a level in one partition.
        flat: these rows are flat, and all successors are sent as flat rows.
        numbers: the numbers of the rows in their level, for notes; None: from zero on.
        owners: the number of partitions.
        known: the bit set of the properties not to report any more.
        weights: the weights of transitions, and the depths of the rows if levels are weighted.
        base: the number of the row from which notes count parents.
        full: copies of what outboxes had when they were full.
    """

    own: WorkerComposites
    rows: Words
    flat: bool
    numbers: Words | None
    owners: int
    known: int
    weights: BlockWeights = UNWEIGHTED
    recent: Words = field(init=False)
    packed: Fields = field(init=False)
    note: Any = field(init=False)
    outboxes: list[flat_kernels.FlatOutbox] = field(init=False)
    control: Words = field(init=False)
    fired: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    shown: list[tuple[int, int, int]] = field(factory=list)
    keys: list[Words] = field(factory=lambda: [NOTHING])
    left: list[Words] = field(factory=lambda: [NOTHING])
    entries: int = ENTRIES
    base: int = 0
    full: list[tuple[int, Words, Words, bool]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self._forget_recent()
        self.note = self._note_type()
        kinds = (self.words, "sent"), (self.own.codec.words, "sent as flat rows")
        self.outboxes = [self._outbox(*kind) for kind in kinds]
        self.control = np.zeros(g.CONTROL_SIZE, np.int64)
        self.control[g.KNOWN] = self.known

    def _note_type(self) -> Any:
        """Return the type of notes: a short one if all parents' numbers and all places fit it."""
        most = int(self.own.tables.geo[g.CHOICES])
        greatest = len(self.rows) // self.words
        if self.numbers is not None:
            greatest = int(self.numbers.max(initial=0))
        short = greatest < SEGMENT or self._in_segments
        if self.weights.on or (short and most <= 1 << SHORT_PLACE_BITS):
            return np.uint32
        return np.int64

    @property
    def _in_segments(self) -> bool:
        """Rows are expanded in their order, chunk by chunk, and notes count from a base."""
        return self.numbers is None and not (self.flat or self.weights.on)

    def _numbers_of(self, which: Any) -> Any:
        """Return the numbers of the rows at these indices."""
        return which if self.numbers is None else self.numbers[which]

    @property
    def words(self) -> int:
        """The number of words of a row."""
        return self.own.codec.words if self.flat else self.own.row_size

    def _forget_recent(self) -> None:
        """Forget the last successors; rows of composites that are packed otherwise are others."""
        self.packed = self.own.row_fields
        self.recent = np.full(RECENT * self.own.row_words, -1, np.int64)

    def parcels(self) -> Iterator[tuple[int, Words, Words, bool]]:
        """Expand all rows; yield successors as they come, each time many of one owner.

        Yields:
            An owner, successors, a note for each (see `links_of` and `base`), and whether they are
            flat rows although the expanded rows are not. The arrays are used again afterwards.
        """
        for which in self._chunks():
            if self._in_segments and int(which.max()) - self.base >= SEGMENT:
                yield from self._taken(1)
                self.base = int(which.min())
            with wrapping():
                self.left.append(self._chunk(which))
            yield from self.full
            self.full.clear()
            yield from self._taken(self._parcel)
        yield from self._taken(1)

    def _taken(self, least: int) -> Iterator[tuple[int, Words, Words, bool]]:
        for flat, (rows, notes, sizes, room, words) in enumerate(self.outboxes):
            for owner in np.flatnonzero(sizes >= least).tolist():
                first, last = owner * room, owner * room + int(sizes[owner])
                sizes[owner] = 0
                yield owner, rows[first * words : last * words], notes[first:last], bool(flat)

    def done(self) -> Expanded:
        """Return the result, after all successors were taken from `parcels`."""
        left = np.concatenate(self.left)
        return Expanded(
            postponed=self._numbers_of(left),
            waiting=self.rows.reshape(-1, self.words)[left].ravel(),
            keys=np.unique(np.concatenate(self.keys)),
            totals=Totals(
                fired=int(self.control[g.FIRED]),
                finals=int(self.control[g.FINALS]),
                kinds=self.fired,
                new=None,
                orbits=self.control[g.ORBIT_STATES : g.ORBIT_FINALS + 1],
            ),
            shown=self.shown,
        )

    def _chunks(self) -> Iterator[Words]:
        """Yield the indices of the rows, neighbours together; by weight, depth after depth."""
        first, depths = self.rows[:: self.words], self.weights.depths
        if not (self.flat or len(depths)):  # rows of numbers are almost sorted, see `distinct`
            for at in range(0, len(first), CHUNK):
                yield at + np.argsort(first[at : at + CHUNK])
            return
        # By depth first: of successors that come soon after each other only the first is kept, with
        # its depth, and within a chunk rows that miss a composite come later.
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
        noted = self._numbers_of(which) - self.base
        if self.weights.on:
            noted = self.weights.depths[which]
        todo, missing, composites = waiting.copy(), [], []
        # The kernel fetches rows in advance unless they are listed.
        listed = len(rows) != len(waiting) * own.row_words
        control[g.TODO], control[g.AT_FRESH] = len(todo) * listed, 0
        control[g.END_FRESH] = len(todo) * (not listed)
        while control[g.TODO] or control[g.AT_FRESH] < control[g.END_FRESH]:
            control[g.MISSES] = control[g.POSTPONED] = control[g.FOUND] = 0
            levels_kernels.expand(
                rows,
                todo,
                own.tables,
                0,
                1,
                g.Outbox(out.ravel(), sizes, order, self.recent),
                g.BY_DEPTH,
                g.Told(postponed, misses, shown, self.fired, control, own.memo),
            )
            own.memo = memos.tended(own.memo, own.counts)
            self._send(out[0], int(sizes[0]), noted)
            sizes[:] = 0
            missing.append(postponed[: control[g.POSTPONED]].copy())
            found = misses[: control[g.MISSES]]
            composites.append(found[found[:, 0] >> g.MISS_SHIFT == g.COMPOSE])
            self.keys.append(found[found[:, 0] == 0, 1])
            for bits, index, place in shown[: control[g.FOUND]]:
                number = int(self._numbers_of(which[index]))
                self.shown.append((int(bits), number, int(place)))
            if control[g.FULL]:
                refuse_crowds(int(control[g.FULL]))
                self.entries = max(2 * self.entries, 2 * int(control[g.FULL]))
                control[g.FULL] = 0
                out, order = self._room(stride)
        return np.concatenate(missing), np.concatenate(composites)

    def _outbox(self, words: int, name: str) -> flat_kernels.FlatOutbox:
        """Return an empty outbox for rows of this size."""
        owners, scratch = self.owners, self.own.scratch
        room = self._parcel + min(2 * ENTRIES, self._parcel)
        rows = scratch.room(f"rows {name}", owners * room * words)
        notes = scratch.room(f"{self.note} notes {name}", owners * room, self.note)
        return flat_kernels.FlatOutbox(rows, notes, np.zeros(owners, np.int64), room, words)

    def _free(self) -> int:
        """Return how many rows there is room for, whoever owns them."""
        return min(outbox.room - int(outbox.sizes.max()) for outbox in self.outboxes)

    @property
    def _parcel(self) -> int:
        """The rows that are sent to an owner at a time."""
        return min(PARCEL, max(PARCELS // self.owners, 1))

    def _room(self, stride: int) -> tuple[Words, Words]:
        """Return room for entries, and for their order."""
        scratch = self.own.scratch
        out = scratch.room("entries", self.entries * stride).reshape(1, -1)
        return out, scratch.room("order", self.entries, np.uint16)

    def _send(self, entries: Words, count: int, noted: Words) -> None:
        """Give successors to their owners; the notes contain the numbers in `noted`."""
        own = self.own
        place_bits = place_bits_of(self.outboxes[0].notes)
        source = flat_kernels.NoteSource(place_bits, noted, self.weights.leads)
        numbers = flat_kernels.Numbers(own.numbering.tables.geo, own.tags, not self.flat)
        stride, packing = own.row_words + 1, own.codec.packing
        while count:
            if self._free() < count:
                for owner, rows, notes, flat in self._taken(self._parcel):
                    self.full.append((owner, rows.copy(), notes.copy(), flat))
            some = min(self._free(), count)
            flat_kernels.dispatch(
                entries[: some * stride], some, own.tables, packing, numbers, source, *self.outboxes
            )
            entries, count = entries[some * stride :], count - some
