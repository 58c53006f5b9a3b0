"""Component numbers packed into words: columns into local words, composites into rows.

The columns of one actor (its state, workload position, ghost, records, outgoing channels) are
packed into local words. Each distinct combination gets a number, its composite. A row holds the
composites of all actors. Few combinations of columns are reachable, so a row is often a single word
where the columns would need two or three. This is the idea of tree compression (Laarman, van de
Pol, Weber, Parallel Recursive State Compression for Free, SPIN 2011). When a number outgrows its
field, the local words or the rows are repacked. Composites keep their numbers.

Under `full` an actor has two composites in a row: one for its state and its messages in flight or
undelivered, and one for its history.

Question: How is a state stored in a few words of 64 bits?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites import CompositeStore
from antecede.checker.engine.rows.packing import MOST_BITS, Fields, Placement
from antecede.checker.engine.rows.tabulate import Tabulation
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import numbers, wholes


@define(eq=False)
class Layout(CompositeStore):
    """The packing of one system's components into local words and rows, with its composites.

    Attributes:
        tabulation: the tables whose numbers are packed.
        parted: an actor has two parts, its state and its history; otherwise it is one part.
        col_widths: the bits of each column of an actor.
    """

    tabulation: Tabulation
    parted: bool = False
    col_widths: list[int] = field(init=False)
    _placed: Placement = field(init=False)
    _col: Fields = field(init=False)
    _half: Words = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start with narrow columns, and with rows of one word if possible."""
        self.col_widths = self.needed_columns(slack=1)
        self._place_columns()
        symmetry = self.tabulation.symmetry
        perms = [self._of_parts(p) for p in symmetry.group] if symmetry is not None else []
        parts = self.tabulation.components.system.actors * self.each
        self.begin(parts, perms, room=256, each=self.each)

    @property
    def each(self) -> int:
        """The number of parts of an actor."""
        return 2 if self.parted else 1

    def _of_parts(self, permutation: Sequence[int]) -> list[int]:
        """Return the permutation of parts that a permutation of actors implies."""
        return [target * self.each + half for target in permutation for half in range(self.each)]

    def part_of(self, actor: int, column: int) -> int:
        """Return the part that holds a column of an actor."""
        return actor * self.each + int(self._half[column])

    def column_sizes(self, actor: int) -> list[int]:
        """Return, for each column of an actor, how many values it may have: numbers from 0 on."""
        c = self.tabulation.components
        sizes = [
            len(c.states[actor].values),
            len(c.positions[actor].values),
            len(c.knows[actor].values),
            len(c.pending[actor].values),
            c.sequences.get(g.RECORDED << g.ACTOR_BITS | actor, 1),
            c.sequences.get(g.STAMPS << g.ACTOR_BITS | actor, 1),
            c.most_left * (actor == 0) + 1,
            *(len(c.contents[k].values) for k, (src, _) in enumerate(c.channels) if src == actor),
        ]
        return sizes + [1] * (len(self.col_widths) - len(sizes))

    def needed_columns(self, slack: int) -> list[int]:
        """Return the bits that each column needs now, plus `slack` bits for later numbers."""
        c = self.tabulation.components
        sizes = [
            max(len(n.values) for n in c.states),
            max(len(n.values) for n in c.positions),
            max(len(n.values) for n in c.knows),
            max(len(n.values) for n in c.pending),
            max((c.sequences.get(g.RECORDED << g.ACTOR_BITS | i, 1) for i in range(16)), default=1),
            max((c.sequences.get(g.STAMPS << g.ACTOR_BITS | i, 1) for i in range(16)), default=1),
            c.most_left + 1,
        ]
        outgoing: list[int] = []
        for k, (src, _dst) in enumerate(c.channels):
            place = sum(s == src for s, _ in c.channels[:k])
            if place == len(outgoing):
                outgoing.append(1)
            outgoing[place] = max(outgoing[place], len(c.contents[k].values))
        needs = [max(int(size - 1).bit_length(), 1) + slack for size in sizes + outgoing]
        if not c.full:
            needs[g.RECORDED] = needs[g.STAMPS] = 0
        if c.system.network.budget is None and c.system.crashes is None:
            needs[g.LOSSES] = 0
        return needs

    def _place_columns(self) -> None:
        """Give every column its field in the local words of its part."""
        self._placed = Placement.of(self.col_widths, parted=self.parted)
        self._col, self._half = self._placed.fields, self._placed.half
        self.words = self._placed.words

    @property
    def columns_fit(self) -> bool:
        """Every number that the tables hold fits its column."""
        needs = self.needed_columns(slack=0)
        return all(n <= w for n, w in zip(needs, self.col_widths, strict=True))

    def widen_columns(self) -> None:
        """Pack the local words anew, with wider columns; composites keep their numbers."""
        before, needs = self._placed, self.needed_columns(slack=2)
        self.col_widths = [max(n, w) for n, w in zip(needs, self.col_widths, strict=True)]
        self._placed = Placement.of(self.col_widths, parted=self.parted)
        self.repack(before, self._placed)
        self._place_columns()

    def column(self, actor: int, column: int) -> Words:
        """Return the numbers in a column of an actor, by composite of the part with this column."""
        part = self.part_of(actor, column)
        local = self.dec.reshape(len(self.counts), -1, self.words)[part, : self.counts[part]]
        return np.asarray(self._col.read(local, column), np.int64)

    def record(self) -> dict[str, Any]:
        """Return the composites and their packing as data of a checkpoint; see `adopt`."""
        actors, most = len(self.counts), int(self.counts.max())
        return {
            "col_widths": list(self.col_widths),
            "row_widths": list(self.row_widths),
            "counts": self.counts,
            "dec": self.dec.reshape(actors, -1)[:, : most * self.words],
            "orbits": self.orbits.record(most),
        }

    def adopt(self, record: Mapping[str, Any]) -> None:
        """Take over the composites of another run whose tables have the same numbers."""
        parts = len(self.counts)
        self.col_widths = wholes("widths of columns", record["col_widths"], 0, MOST_BITS)
        self.row_widths = wholes("widths in rows", record["row_widths"], 1, MOST_BITS)
        counts = numbers("numbers of composites", record["counts"], np.int64, (parts,), least=1)
        if len(self.row_widths) != parts or not fit(self.needed_columns(slack=0), self.col_widths):
            raise ValueError("the widths of columns do not fit")
        self._place_columns()
        self.place_rows()
        if (counts > self.row_fields.mask + 1).any():
            raise ValueError("the composites do not fit rows")
        self.counts, most = counts.copy(), int(counts.max())
        shape = (parts, most * self.words)
        dec = numbers("composites", record["dec"], np.int64, shape)
        self._check_composites(dec.reshape(parts, most, self.words))
        self.hold(dec, 2 * max(most, 128))
        self.orbits.check(record["orbits"], self.counts)
        self.orbits.adopt(record["orbits"], self.room)

    def _check_composites(self, dec: Words) -> None:
        """Check that the tables have every number in composites, of shape (parts, n, words)."""
        for part, (words, count) in enumerate(zip(dec, self.counts, strict=True)):
            sizes = self.column_sizes(part // self.each)
            self._placed.check(words[:count], part % self.each, sizes)

    def check_rows(self, rows: Words) -> None:
        """Raise ValueError unless all composites in flat rows exist."""
        self.row_fields.check("states", rows.reshape(-1, self.row_words), self.counts.tolist())

    def encode(self, columns: list[list[int]]) -> Words:
        """Return the local words of all actors for their columns, as records for `add`."""
        records = np.zeros((len(self.counts), 1 + self.words), np.int64)
        records[:, 0] = np.arange(len(records))
        for actor, row in enumerate(columns):
            for k, value in enumerate(row):
                self._col.write(records[self.part_of(actor, k), 1:], k, value)
        return records

    def geometry(self) -> Words:
        """Return the geometry array; `rows.geometry` names its elements."""
        t, c = self.tabulation, self.tabulation.components
        system = c.system
        geo = np.full(g.GEOMETRY_SIZE, -1, np.int64)
        geo[: g.BAD] = [
            system.actors,
            self.words * self.each,
            self.row_words,
            len(c.channels),
            c.full,
            c.oracle.forget is not None,
            system.workload.reacts,
            self.stride,
            max(self.orbits.order - 1, 0),
            self.room,
            len(self.col_widths),
            bool(c.internals),
            system.network.lose is not None,
            system.network.budget is not None,
            sum(t.most_choices.values()),
            t.final_states.sought,
            c.oracle.trim is not None,
            c.oracle.number is not None,
            len(self.counts),
            self.words,
            c.oracle.network_send is not None,
            t.final_states.joint,
            c.crash_unit,
            c.system.crashes is not None and c.system.crashes.lost,
        ]
        geo[g.BAD : g.BAD + 8] = t.judgements
        self._placed.in_actor.note(geo, (g.COL_WORD, g.COL_SHIFT, g.COL_MASK))
        self.row_fields.note(geo, (g.ROW_WORD, g.ROW_SHIFT, g.ROW_MASK))
        place = [0] * system.actors
        for k, (src, dst) in enumerate(c.channels):
            geo[g.CHAN_SRC + k] = src
            geo[g.CHAN_DST + k] = dst
            geo[g.CHAN_COL + k] = g.CHANNELS + place[src]
            geo[g.CHAN_OF + src * system.actors + dst] = k
            place[src] += 1
        return geo

    def tables(self) -> g.Tables:
        """Return the arrays that the kernels read."""
        t = self.tabulation
        return g.Tables(
            self.geometry(),
            t.table,
            t.code,
            self.cons,
            self.dec,
            self.orbits.tables(),
            self.one_word,
        )


def fit(needs: Sequence[int], widths: Sequence[int]) -> bool:
    """Return whether columns of these widths have room for numbers that need these bits.

    A column that needs no bits must have none; any other may have more than it needs.
    """
    if len(needs) != len(widths):
        return False
    return all(need == width or 0 < need < width for need, width in zip(needs, widths, strict=True))
