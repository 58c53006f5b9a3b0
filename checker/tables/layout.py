"""Component numbers packed into words: columns into local words, composites into rows.

The columns of one actor (its state, workload position, ghost, records, outgoing channels) are
packed into local words; each distinct combination gets a number, its composite; a row holds the
composites of all actors. Reachable states use few of the combinations of columns, so a row is often
a single word where the columns would need two or three (this is the idea of tree compression:
Laarman, van de Pol, Weber, Parallel Recursive State Compression for Free, SPIN 2011). Widths grow
on demand: local words are packed anew (composites keep their numbers), or rows are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.errors import CapacityError
from antecede.checker.tables import kernels
from antecede.checker.tables.orbits import Orbits
from antecede.checker.tables.tabulate import Tabulation, Words

WORD_BITS = 63


def pack_widths(widths: list[int]) -> tuple[int, list[int], list[int]]:
    """Assign fields of the given widths to words, first fit in order.

    Returns:
        The number of words, and each field's word and shift.
    """
    words, shifts, used = [], [], [0]
    for width in widths:
        if used[-1] + width > WORD_BITS:
            used.append(0)
        words.append(len(used) - 1)
        shifts.append(used[-1])
        used[-1] += width
    return len(used), words, shifts


def spread(needs: list[int]) -> list[int]:
    """Widen fields evenly so that they fill the words they need anyway."""
    widths = [max(need, 1) for need in needs]
    count = pack_widths(widths)[0]
    while True:
        wider = [min(width + 1, 40) for width in widths]
        if wider == widths or pack_widths(wider)[0] > count:
            break
        widths = wider
    for k in range(len(widths)):
        while widths[k] < 40:
            trial = [*widths[:k], widths[k] + 1, *widths[k + 1 :]]
            if pack_widths(trial)[0] > count:
                break
            widths = trial
            if widths[k] >= max(widths):
                break
    return widths


@define(eq=False)
class Layout:
    """The packing of one system, and its composites.

    Attributes:
        tabulation: whose numbers are packed.
        row_bits: how many bits a composite has in a row at first, at least.
        sweep_line, check_progress: kernels need the composites' progress, to drop states or to
            check that it never decreases.
        col_widths: bits of each local column.
        row_widths: bits of each actor's composite in a row.
        words: local words per actor.
        row_words: words per row.
        row_fields: word, shift and mask of each actor's composite in a row.
        counts: composites per actor.
        cons, dec, progress: as in `kernels.Tables`.
        orbits: of the composites.
        version: grows whenever local words are packed anew or rows are.
    """

    tabulation: Tabulation
    row_bits: int = 4
    sweep_line: bool = False
    check_progress: bool = False
    col_widths: list[int] = field(init=False)
    row_widths: list[int] = field(init=False)
    words: int = 1
    row_words: int = 1
    counts: Words = field(init=False)
    cons: Words = field(init=False)
    dec: Words = field(init=False)
    orbits: Orbits = field(init=False)
    progress: Any = field(init=False)
    _progressed: Words = field(init=False)
    _col: tuple[Words, Words, Words] = field(init=False)
    row_fields: tuple[Words, Words, Words] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start with narrow columns and rows of one word where that is possible."""
        actors = self.tabulation.system.actors
        self.col_widths = self._needed_columns(slack=1)
        self._place_columns()
        self.row_widths = spread([self.row_bits] * actors)
        self._place_rows()
        self.counts = np.zeros(actors, np.int64)
        self.dec = np.zeros(actors * 256 * self.words, np.int64)
        self.cons = self._empty_cons(1024)
        self.progress = np.zeros(actors * 256, np.int32)
        self._progressed = np.zeros(actors, np.int64)
        symmetry = self.tabulation.symmetry
        self.orbits = Orbits(actors, symmetry.group if symmetry is not None else [], room=256)

    def _needed_columns(self, slack: int) -> list[int]:
        """Return the bits that each column needs now, with some to spare."""
        t = self.tabulation
        sizes = [
            max(len(n.values) for n in t.states),
            max(len(n.values) for n in t.positions),
            max(len(n.values) for n in t.knows),
            max(len(n.values) for n in t.pending),
            max((t.sequences.get(kernels.RECORDED << 4 | i, 1) for i in range(16)), default=1),
            max((t.sequences.get(kernels.STAMPS << 4 | i, 1) for i in range(16)), default=1),
            (t.system.network.budget or 0) + 1,
        ]
        outgoing: list[int] = []
        for k, (src, _dst) in enumerate(t.channels):
            place = sum(s == src for s, _ in t.channels[:k])
            if place == len(outgoing):
                outgoing.append(1)
            outgoing[place] = max(outgoing[place], len(t.contents[k].values))
        needs = [max(int(size - 1).bit_length(), 1) + slack for size in sizes + outgoing]
        if not t.full:
            needs[kernels.RECORDED] = needs[kernels.STAMPS] = 0
        if t.system.network.budget is None:
            needs[kernels.LOSSES] = 0
        return needs

    def _place_columns(self) -> None:
        self.words, word, shift = pack_widths(self.col_widths)
        mask = [(1 << width) - 1 for width in self.col_widths]
        self._col = _arrays(word, shift, mask)

    def _place_rows(self) -> None:
        """Give every actor its field, the first one the highest bits of the first word.

        So rows compare as the sequences of their composites do, however wide the fields are: the
        least renaming of a state stays the least when rows are packed anew.
        """
        self.row_words, word, low = pack_widths(self.row_widths)
        used = [
            sum(w for w, at in zip(self.row_widths, word, strict=True) if at == k) for k in word
        ]
        shift = [n - a - w for n, a, w in zip(used, low, self.row_widths, strict=True)]
        mask = [(1 << width) - 1 for width in self.row_widths]
        self.row_fields = _arrays(word, shift, mask)

    def _empty_cons(self, capacity: int) -> Words:
        return np.full(capacity * (self.words + 1), -1, np.int64)

    @property
    def columns_fit(self) -> bool:
        """Every number that the tables hold fits its column."""
        needs = self._needed_columns(slack=0)
        return all(n <= w for n, w in zip(needs, self.col_widths, strict=True))

    def widen_columns(self) -> None:
        """Pack the local words anew, with wider columns; composites keep their numbers."""
        old_col, old_words = self._col, self.words
        needs = self._needed_columns(slack=2)
        self.col_widths = [max(n, w) for n, w in zip(needs, self.col_widths, strict=True)]
        self._place_columns()
        old = self.dec.reshape(-1, old_words)
        new = np.zeros((len(old), self.words), np.int64)
        for k in range(len(self.col_widths)):
            if self.col_widths[k]:
                value = old[:, old_col[0][k]] >> old_col[1][k] & old_col[2][k]
                new[:, self._col[0][k]] |= value << self._col[1][k]
        self.dec = new.ravel()
        self._rebuild_cons(len(self.cons) // (old_words + 1))

    def _rebuild_cons(self, capacity: int) -> None:
        self.cons = self._empty_cons(capacity)
        kernels.index_composites(self.cons, self.dec, self.stride, self.words, self.counts)

    @property
    def stride(self) -> int:
        """Where the next actor's composites begin in `dec`."""
        return len(self.dec) // len(self.counts)

    @property
    def room(self) -> int:
        """How many composites of one actor there is room for."""
        return self.stride // self.words

    def column(self, actor: int, column: int) -> Words:
        """Return what a column of an actor's local words holds, by composite."""
        word, shift, mask = (int(part[column]) for part in self._col)
        local = self.dec.reshape(len(self.counts), -1, self.words)[actor, : self.counts[actor]]
        return local[:, word] >> shift & mask

    def add(self, records: Words) -> bool:
        """Number the local words in `records` (actor, words …).

        Returns:
            Whether all fitted the rows; if not, widen the rows and call again.
        """
        self._reserve(len(records))
        limits = np.array([1 << width for width in self.row_widths], np.int64)
        done = kernels.add_composites(
            self.cons, self.dec, self.stride, self.words, self.counts, records, limits
        )
        return int(done) == len(records)

    def _reserve(self, more: int) -> None:
        """Make room for `more` composites; the index stays at most two thirds full."""
        most = self.room
        if int(self.counts.max()) + more > most:
            most = max(2 * most, int(self.counts.max()) + more)
            larger = np.zeros((len(self.counts), most * self.words), np.int64)
            larger[:, : self.stride] = self.dec.reshape(len(self.counts), -1)
            self.dec = larger.ravel()
            self.orbits.widen(self.room)
        capacity = len(self.cons) // (self.words + 1)
        total = int(self.counts.sum()) + more
        if total * 3 > capacity * 2:
            while total * 3 > capacity * 2:
                capacity *= 2
            self._rebuild_cons(capacity)

    def keep(self, marks: Any) -> Words:
        """Forget composites; those that are kept are numbered anew, in the same order.

        Args:
            marks: which ones to keep, and with them their renamings; of composite g of actor i at
                i * (its length // actors) + g.

        Returns:
            The new numbers, at the places of the old ones.
        """
        actors, words = len(self.counts), self.words
        marks, old = self.orbits.closed(marks.reshape(actors, -1)), self.dec.reshape(actors, -1)
        numbers = np.cumsum(marks, axis=1, dtype=np.int64) - 1
        orbits = self.orbits.kept(marks, numbers)
        self.counts = marks.sum(axis=1, dtype=np.int64)
        most = 2 * max(int(self.counts.max()), 128)
        self.dec = np.zeros(actors * most * words, np.int64)
        for actor, kept in enumerate(marks):
            rows = old[actor].reshape(-1, words)[: len(kept)][kept]
            at = actor * most * words
            self.dec[at : at + len(rows) * words] = rows.ravel()
        self._begin_anew(most)
        self.orbits.adopt(orbits, most)
        return numbers.ravel()

    def record(self) -> dict[str, Any]:
        """Return, as data, the composites and how they are packed; see `adopt`."""
        actors, most = len(self.counts), int(self.counts.max())
        return {
            "col_widths": list(self.col_widths),
            "row_widths": list(self.row_widths),
            "counts": self.counts,
            "dec": self.dec.reshape(actors, -1)[:, : most * self.words],
            "orbits": self.orbits.record(most),
        }

    def adopt(self, record: Mapping[str, Any]) -> None:
        """Take over the composites of another run, whose tables have the same numbers."""
        self.col_widths, self.row_widths = list(record["col_widths"]), list(record["row_widths"])
        self._place_columns()
        self._place_rows()
        self.counts, saved, actors = record["counts"], record["dec"], len(self.counts)
        if saved.shape != (actors, int(self.counts.max()) * self.words):
            raise ValueError("the composites do not fit their number")
        most = 2 * max(int(self.counts.max()), 128)
        self.dec = np.zeros((actors, most * self.words), np.int64)
        self.dec[:, : saved.shape[1]] = saved
        self.dec = self.dec.ravel()
        self._begin_anew(most)
        self.orbits.adopt(record["orbits"], most)

    def _begin_anew(self, most: int) -> None:
        """Derive from the composites what is derived from them; there is room for `most`."""
        actors = len(self.counts)
        self.progress, self._progressed = np.zeros(actors * most, np.int32), 0 * self.counts
        self.orbits.forget(most)
        capacity = 1024
        while int(self.counts.sum()) * 3 > capacity:
            capacity *= 2
        self._rebuild_cons(capacity)

    def wider_rows(self) -> tuple[Words, Words, Words]:
        """Widen the fields of rows that are full; return how rows were packed before."""
        before = self.row_fields
        needs = [max(int(count).bit_length() + 1, 4) for count in self.counts]
        if max(needs) > 40:
            raise CapacityError("more than 2^40 combinations of one actor's components")
        self.row_widths = spread(needs)
        self._place_rows()
        return before

    def encode(self, columns: list[list[int]]) -> Words:
        """Return the local words of all actors for their columns, as records for `add`."""
        records = np.zeros((len(columns), 1 + self.words), np.int64)
        for actor, row in enumerate(columns):
            records[actor, 0] = actor
            for k, value in enumerate(row):
                records[actor, 1 + self._col[0][k]] |= value << int(self._col[1][k])
        return records

    def row_of(self, composites: list[int]) -> Words:
        """Return the row of a state given as one composite per actor."""
        row = np.zeros(self.row_words, np.int64)
        for actor, number in enumerate(composites):
            row[self.row_fields[0][actor]] |= number << int(self.row_fields[1][actor])
        return row

    def composites(self, rows: Words) -> list[Words]:
        """Return, per actor, the composites in flat rows."""
        shaped = rows.reshape(-1, self.row_words)
        return [
            shaped[:, word] >> shift & mask
            for word, shift, mask in zip(*self.row_fields, strict=True)
        ]

    def geometry(self) -> Words:
        """Return the geometry array; see `checker.tables.kernels` for its places."""
        t, system = self.tabulation, self.tabulation.system
        geo = np.full(kernels.GEOMETRY_SIZE, -1, np.int64)
        geo[: kernels.BAD] = [
            system.actors,
            self.words,
            self.row_words,
            len(t.channels),
            t.full,
            t.oracle.forget is not None,
            system.workload.reacts,
            self.stride,
            max(self.orbits.order - 1, 0),
            self.room,
            len(self.col_widths),
            self.sweep_line,
            self.check_progress,
            bool(t.internals),
            system.network.lose is not None,
            system.network.budget is not None,
            sum(t.most_choices.values()),
            t.sought_endings,
            t.oracle.trim is not None,
            t.oracle.number is not None,
        ]
        geo[kernels.BAD : kernels.BAD + 8] = t.judgements
        starts = (kernels.COL_WORD, kernels.COL_SHIFT, kernels.COL_MASK)
        for start, values in zip(starts, self._col, strict=True):
            geo[start : start + len(values)] = values
        starts = (kernels.ROW_WORD, kernels.ROW_SHIFT, kernels.ROW_MASK)
        for start, values in zip(starts, self.row_fields, strict=True):
            geo[start : start + len(values)] = values
        place = [0] * system.actors
        for k, (src, dst) in enumerate(t.channels):
            geo[kernels.CHAN_SRC + k] = src
            geo[kernels.CHAN_DST + k] = dst
            geo[kernels.CHAN_COL + k] = kernels.CHANNELS + place[src]
            geo[kernels.CHAN_OF + src * system.actors + dst] = k
            place[src] += 1
        return geo

    def tables(self) -> kernels.Tables:
        """Return what the kernels read."""
        t = self.tabulation
        return kernels.Tables(
            self.geometry(),
            t.table,
            t.code,
            self.cons,
            self.dec,
            self.orbits.tables(),
            self._progress(),
        )

    def _progress(self) -> Any:
        """Return the progress of every composite, if it is wanted."""
        most = self.room
        if not (self.sweep_line or self.check_progress):
            return self.progress
        if len(self.progress) != most * len(self.counts):
            larger = np.zeros((len(self.counts), most), np.int32)
            larger[:, : len(self.progress) // len(self.counts)] = self.progress.reshape(
                len(self.counts), -1
            )
            self.progress = larger.ravel()
        for actor, count in enumerate(self.counts):
            new = slice(int(self._progressed[actor]), int(count))
            at = actor * self.stride
            words = self.dec[at : at + self.stride].reshape(-1, self.words)[new]
            values = self.tabulation.progress(
                actor,
                self._column(words, kernels.POSITION),
                self._column(words, kernels.PENDING),
            )
            self.progress[actor * most + new.start : actor * most + new.stop] = values
        self._progressed[:] = self.counts
        return self.progress

    def _column(self, words: Any, column: int) -> Words:
        """Return one column of local words, of shape (n, words)."""
        word, shift, mask = (int(field[column]) for field in self._col)
        return np.asarray(words[:, word] >> shift & mask, np.int64)


def repack(rows: Words, old: tuple[Words, ...], new: tuple[Words, ...], words: int) -> Words:
    """Return rows packed as `new` says; `rows` has shape (n, old words)."""
    packed = np.zeros((len(rows), words), np.int64)
    for actor in range(len(old[0])):
        value = rows[:, old[0][actor]] >> old[1][actor] & old[2][actor]
        packed[:, new[0][actor]] |= value << new[1][actor]
    return packed


def _arrays(*columns: list[int]) -> Any:
    return tuple(np.array(column, np.int64) for column in columns)
