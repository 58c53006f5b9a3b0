"""The driver's tables, and the additions to them that workers are sent.

The tables have the results of the protocol's functions. Only the driver calls these functions, and
it sends what is new since the version that the workers have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components, call_of
from antecede.checker.engine.rows.grading import NotGradedError, Weights
from antecede.checker.engine.rows.layout import Layout
from antecede.checker.engine.rows.table_filler import TableFiller, wrapping
from antecede.checker.engine.spark.codec import Codec, repacked, widened
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.numbering import MOST_NUMBERED
from antecede.checker.engine.spark.rows import BlockExpansion
from antecede.checker.engine.spark.worker_composites import TableUpdate, WorkerComposites
from antecede.checker.engine.storage.arrays import Words

FEW = 4
"""One of so many successors is enough to tell what the next level will miss."""


@define(eq=False)
class SharedTables:
    """The driver's tables; workers are sent the additions since the last time.

    Attributes:
        sc: the Spark context.
        filler: the tables.
        weights: the weights of kinds of transitions that decide which states are forgotten; a new
            entry must not contradict them; None: no states are forgotten.
        columns, composites: as in `ClusterState`, of a search that is resumed.
        own: the driver's own composites.
        unnumbered: records of composites that get numbers when the tables grow next, and the codec
            of their columns.
    """

    sc: Any
    filler: TableFiller
    weights: Weights | None
    columns: tuple[int, ...] = ()
    composites: Words | None = None
    own: WorkerComposites = field(factory=WorkerComposites)
    unnumbered: list[tuple[Words, Codec]] = field(factory=list)
    _sent: list[Any] = field(factory=list)
    _unsent: list[TableUpdate] = field(factory=list)
    _code_sent: int = 0
    _renamed: dict[int, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Broadcast all that is in the tables."""
        tabulation = self.filler.tabulation
        table = tabulation.table.reshape(-1, 2)
        table = table[table[:, 0] != -1]
        tabulation.filled = [(table[:, 0].copy(), table[:, 1].copy())]
        layout = self.filler.layout
        columns, records = self.columns or tuple(layout.col_widths), self.composites
        if not self.columns:
            records = layout.records()
        self.own.numbered = records is not None
        if records is not None:
            codec = Codec.of(self.filler.system.actors, columns, parted=layout.parted)
            self.unnumbered.append((records, codec))
        self._grow()

    def _grow(self) -> None:
        """Broadcast what was added to the tables since the last time."""
        tabulation, layout = self.filler.tabulation, self.filler.layout
        self._rename_values()
        if not layout.columns_fit:
            layout.widen_columns()
        filled, tabulation.filled = tabulation.filled or [], []
        growth = TableUpdate(
            version=self.own.version + 1,
            geo=layout.geometry(),
            col_widths=tuple(layout.col_widths),
            keys=np.concatenate([NOTHING, *(keys for keys, _ in filled)]),
            values=np.concatenate([NOTHING, *(values for _, values in filled)]),
            code=tabulation.code[self._code_sent : tabulation.used_code].copy(),
            perms=layout.orbits.perms,
            numbers=self._widths(layout),
            composites=np.zeros((0, 1 + layout.words), np.int64),
        )
        self._code_sent = tabulation.used_code
        self.own.learn(growth)
        self._unsent.append(self._numbering(growth))

    @property
    def growths(self) -> list[Any]:
        """All additions to the tables so far, as broadcasts of several `TableUpdate`s each."""
        if self._unsent:
            self._sent.append(self.sc.broadcast(self._unsent))
            self._unsent = []
        return list(self._sent)

    def _widths(self, layout: Layout) -> tuple[int, ...]:
        """Return the widths of the numbers in rows, or nothing if there are too many of them."""
        if self.own.version >= 0:
            return self.own.form.numbers
        return tuple(layout.row_widths) if self.own.numbered else ()

    def _numbering(self, growth: TableUpdate) -> TableUpdate:
        """Return what was added to the tables, with the composites that get numbers with it."""
        own, some = self.own, [growth.composites]
        some += [repacked(records, codec, own.codec) for records, codec in self.unnumbered]
        self.unnumbered, records = [], np.concatenate(some)
        if own.numbered and int(own.numbering.counts.sum()) + len(records) > MOST_NUMBERED:
            own.numbered = False
        if not own.numbered:
            return evolve(growth, numbers=())
        composites = own.give_numbers(records)
        return evolve(growth, numbers=own.form.numbers, composites=composites)

    def number(self) -> None:
        """Give numbers to the composites that tasks reported, and send them to the workers.

        The driver met others when it expanded rows. Those of stragglers need a number now; the
        next levels will need the rest, so that fewer of their rows travel flat.
        """
        self.unnumbered.append((self.own.wanted(), self.own.codec))
        if any(len(records) for records, _ in self.unnumbered):
            self._grow()

    def _rename_values(self) -> None:
        """Fill the renamings of all values of components, so that no worker misses one."""
        tabulation = self.filler.tabulation
        actors, permutations = self.filler.system.actors, 0
        if tabulation.symmetry is not None:
            permutations = len(tabulation.symmetry.group) - 1
        while permutations:
            keys = [NOTHING]
            for where, upto in _columns(self.filler.components, actors):
                since = self._renamed.get(where, 0)
                self._renamed[where] = upto
                numbers = np.arange(since, upto)
                keys += [call_of(g.RENAME, p, numbers, where) for p in range(permutations)]
            missing = np.concatenate(keys)
            if not len(missing):
                return
            tabulation.fill(missing)

    def learn(self, keys: Words, flat: Words) -> Words:
        """Fill missing table entries, and those that some flat rows will miss next.

        The rows are packed as the tables are now. The driver expands them, and returns some
        successors, as flat rows.
        """
        following = NOTHING
        with wrapping():
            while True:
                if len(keys):
                    self.filler.tabulation.fill(keys)
                    grading = self.filler.tabulation.grading
                    if self.weights is not None and not grading.allows(self.weights):
                        raise NotGradedError(str(grading.reason))
                    before = self.own.codec
                    self._grow()
                    flat, following = (
                        widened(rows, before, self.own.codec) for rows in (flat, following)
                    )
                todo = np.arange(len(flat) // self.own.codec.words)
                trial = BlockExpansion(self.own, flat, True, todo, 1, 0)
                some = [rows.reshape(-1, trial.words)[::FEW] for _, rows, *_ in trial.parcels()]
                following = np.concatenate([following, *(rows.ravel() for rows in some)])
                tried = trial.done()
                keys, flat = tried.keys, tried.waiting
                if not len(keys):
                    return following


def _columns(components: Components, actors: int) -> Iterator[tuple[int, int]]:
    """Yield the columns that renamings are about, and how many values each has.

    A column is given as in the keys of RENAME; see `g.ACTOR_BITS`.
    """
    for actor in range(actors):
        found = {
            g.STATE: components.states[actor],
            g.POSITION: components.positions[actor],
            g.KNOWS: components.knows[actor],
            g.PENDING: components.pending[actor],
        }
        outgoing = (k for k, (src, _) in enumerate(components.channels) if src == actor)
        for place, channel in enumerate(outgoing):
            found[g.CHANNELS + place] = components.contents[channel]
        for column, interner in found.items():
            yield column << g.ACTOR_BITS | actor, len(interner.values)
        for column in (g.RECORDED, g.STAMPS) if components.full else ():
            where = column << g.ACTOR_BITS | actor
            yield where, components.sequences.get(where, 1)
