"""The numbers of the combinations of one actor's columns, and their fields in rows.

Both compiled engines number composites in this way. In the local engine, states are rows of these
numbers, so composites either stay or are renumbered together with all rows; see
`checker.engine.rows.layout.Layout`. A Spark worker needs composites only for the rows that it is
processing, and may forget all of them; see `checker.engine.spark.worker_composites`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import composites_kernels, renaming_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.orbits import Orbits
from antecede.checker.engine.rows.packing import (
    MOST_BITS,
    Fields,
    Placement,
    pack_widths,
    spread,
    wider,
)
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.support.errors import CapacityError

MISSES = 1 << 13
"""The most missing entries that a kernel records before Python must fill them."""

ROW_BITS = 4
"""The least bits of a composite in a row; fields fill their words anyway."""


@define(eq=False)
class CompositeStore:
    """The composites of one process: it finds, adds and renames them, and grows as needed.

    Attributes:
        words: the number of local words per part of an actor.
        counts: per part, the number of composites.
        row_widths: per part, the bits of its composite in a row.
        row_words: the number of words per row.
        row_fields: the fields of the parts' composites in a row.
        cons, dec: as in `g.Tables`.
        orbits: the orbits of the composites.
    """

    words: int = field(init=False)
    counts: Words = field(init=False)
    row_widths: list[int] = field(init=False)
    row_words: int = field(init=False)
    row_fields: Fields = field(init=False)
    cons: Words = field(init=False)
    dec: Words = field(init=False)
    orbits: Orbits = field(init=False)

    def begin(self, parts: int, perms: Sequence[Sequence[int]], room: int, each: int = 1) -> None:
        """Start without composites, with room for some of each part; `words` must be set.

        Args:
            perms, each: as in `Orbits`.
        """
        self.orbits, self.counts = Orbits(parts, perms, room, each), np.zeros(parts, np.int64)
        self.row_widths = spread([ROW_BITS] * parts)
        self.place_rows()
        self.hold(np.zeros((parts, 0), np.int64), room)

    def hold(self, dec: Words, room: int) -> None:
        """Take over `counts` composites in place of all others; none has an orbit yet.

        `dec` has a row per part: the local words of its composites, in the order of their numbers.
        """
        actors = len(self.counts)
        self.dec = wider(dec, room * self.words, 0)
        self.orbits.forget(room)
        capacity = 1024
        while max(int(self.counts.sum()) * 3, actors * room) > capacity:
            capacity *= 2
        self.index(capacity)

    def index(self, capacity: int) -> None:
        """Rebuild `cons` with `capacity` slots."""
        self.cons = np.full(capacity * (self.words + 1), -1, np.int64)
        composites_kernels.index_composites(
            self.cons, self.dec, self.stride, self.words, self.counts
        )

    def place_rows(self) -> None:
        """Give every part its field; the first part gets the highest bits of the first word."""
        self.row_words, word, low = pack_widths(self.row_widths)
        used = [
            sum(w for w, at in zip(self.row_widths, word, strict=True) if at == k) for k in word
        ]
        # Rows then compare like the sequences of their composites, with fields of any width: the
        # least renaming of a state stays the least when rows are repacked.
        shift = [n - a - w for n, a, w in zip(used, low, self.row_widths, strict=True)]
        self.row_fields = Fields.of(self.row_widths, word, shift)

    @property
    def one_word(self) -> bool | None:
        """True if rows have one word and actors one part, otherwise None; see `g.Tables`."""
        return True if self.row_words == 1 and self.orbits.each == 1 else None

    @property
    def stride(self) -> int:
        """The distance in `dec` between the first words of two neighbouring parts."""
        return len(self.dec) // len(self.counts)

    @property
    def room(self) -> int:
        """The number of composites of one part that there is room for."""
        return self.stride // self.words

    @property
    def limits(self) -> Words:
        """The numbers of composites that there is room for: per part, and over all in `cons`."""
        slots = len(self.cons) // (self.words + 1)
        return np.append(np.minimum(self.row_fields.mask + 1, self.room), slots * 2 // 3)

    def misses(self) -> Words:
        """Return an empty array for misses; its records have as many words as kernels need now."""
        return np.empty((MISSES, 1 + self.words), np.int64)

    def add(self, records: Words) -> bool:
        """Number the local words in `records` (part, words …); false if rows are too narrow."""
        self.reserve(len(records))
        done = composites_kernels.add_composites(
            self.cons,
            self.dec,
            self.stride,
            self.words,
            self.counts,
            records,
            self.row_fields.mask + 1,
        )
        return int(done) == len(records)

    def records(self, since: Words | None = None) -> Words:
        """Return the local words of composites, as records for `add`, part by part.

        The first `since` composites of each part are left out.
        """
        first = 0 * self.counts if since is None else since
        return self.records_of(map(slice, first.tolist(), self.counts.tolist()))

    def records_of(self, chosen: Iterable[Any]) -> Words:
        """Return records of some composites: for each part, the ones at these indices."""
        dec = self.dec.reshape(len(self.counts), -1, self.words)
        parts = [np.insert(dec[part, which], 0, part, axis=1) for part, which in enumerate(chosen)]
        return np.concatenate(parts)

    def repack(self, before: Placement, after: Placement) -> None:
        """Pack the local words anew, with wider columns; composites keep their numbers."""
        slots, each = len(self.cons) // (self.words + 1), int(after.half.max()) + 1
        old = self.dec.reshape(-1, each, self.room, self.words)
        dec = np.empty((*old.shape[:3], after.words), np.int64)
        for half in range(each):
            fields, wide = before.in_part(half), after.in_part(half)
            dec[:, half] = fields.packed_as(wide, old[:, half], after.words)
        self.dec, self.words = dec.ravel(), after.words
        self.index(slots)

    def reserve(self, more: int) -> None:
        """Make room for `more` composites; the index stays at most two thirds full."""
        most = int(self.counts.max()) + more
        if most > self.room:
            most = max(2 * self.room, most)
            self.dec = wider(self.dec.reshape(len(self.counts), -1), most * self.words, 0)
            self.orbits.widen(most)
        capacity = len(self.cons) // (self.words + 1)
        total = int(self.counts.sum()) + more
        if total * 3 > capacity * 2:
            while total * 3 > capacity * 2:
                capacity *= 2
            self.index(capacity)

    def wider_rows(self) -> None:
        """Widen the fields of rows, with room for as many composites again, before a repacking."""
        needs = [max(int(count).bit_length() + 1, ROW_BITS) for count in self.counts]
        if max(needs) > MOST_BITS:
            raise CapacityError(f"more than 2^{MOST_BITS} combinations of one actor's components")
        self.row_widths = spread(needs)
        self.place_rows()

    def rename_since(
        self, since: Words, tables: Callable[[], g.Tables], fill: Callable[[Words], None]
    ) -> None:
        """Make composites of all renamings of the new composites, those from `since` on."""
        while self.orbits.order and (since < self.counts).any():
            upto = self.counts.copy()
            self.orbits.reserve(int((upto - since).sum()))
            self._relate(since, upto, tables, fill)
            since = upto

    def _relate(
        self,
        since: Words,
        upto: Words,
        tables: Callable[[], g.Tables],
        fill: Callable[[Words], None],
    ) -> None:
        """Rename the composites in `since` … `upto`; repeat until no entry is missing."""
        control = np.zeros(g.CONTROL_SIZE, np.int64)
        while True:
            control[g.MISSES] = 0
            misses = self.misses()
            renaming_kernels.relate_composites(tables(), since, upto, misses, control)
            if not control[g.MISSES]:
                return
            fill(misses[: control[g.MISSES]])

    def keep(self, used: Any) -> Words:
        """Forget all composites but the used ones and their renamings; return the new numbers.

        The order stays. Composite g of part i is at i * (length // parts) + g, in both arrays.
        """
        actors, words = len(self.counts), self.words
        used = self.orbits.closed(used.reshape(actors, -1))
        old = self.dec.reshape(actors, -1, words)
        numbers = np.cumsum(used, axis=1, dtype=np.int64) - 1
        orbits = self.orbits.kept(used, numbers)
        self.counts = used.sum(axis=1, dtype=np.int64)
        most = int(self.counts.max())
        dec = np.zeros((actors, most, words), np.int64)
        for actor, kept in enumerate(used):
            dec[actor, : self.counts[actor]] = old[actor, : len(kept)][kept]
        self.hold(dec.reshape(actors, -1), 2 * max(most, 128))
        self.orbits.adopt(orbits, self.room)
        return numbers.ravel()

    def row_of(self, composites: list[int]) -> Words:
        """Return the row of a state, given as one composite per part."""
        row = np.zeros(self.row_words, np.int64)
        for actor, number in enumerate(composites):
            self.row_fields.write(row, actor, number)
        return row

    def composites(self, rows: Words) -> list[Words]:
        """Return, per part, the composites in flat rows."""
        shaped = rows.reshape(-1, self.row_words)
        return [self.row_fields.read(shaped, actor) for actor in range(len(self.counts))]
