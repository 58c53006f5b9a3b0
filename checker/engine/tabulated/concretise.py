"""Turns a run of representatives into a run in original names.

A representative stands for all renamings of a state, so a run of representatives changes names from
state to state. A counterexample must keep its names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import renaming_kernels
from antecede.checker.engine.rows.symmetry import NotSymmetricError
from antecede.checker.engine.rows.table_filler import Repacking, TableFiller, wrapping
from antecede.checker.engine.rows.tabulate import MOST_KINDS
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.successors import memo_kernels
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.model import Property, Transition, When
from antecede.checker.paths.path import holds_along, replay
from antecede.checker.paths.places import transitions_at


@define(eq=False)
class Concretiser:
    """Finds a run in original names that follows a run of representatives.

    Attributes:
        filler: the tables of the search.
        fill: fills missing entries, and packs the rows of the search anew.
        kept: (depth, representative) -> the renaming of it with which the search continued.
    """

    filler: TableFiller
    fill: Callable[[Words], Repacking | None]
    kept: Callable[[int, Words], Words]

    def run(self, places: list[int], prop: Property) -> tuple[Transition, ...]:
        """Return a run in original names that follows the representatives at these places.

        Wherever the representatives go, some transition of the real state leads to a state with the
        same representative. The last one must show the property, too.

        Raises:
            NotSymmetricError: no real state follows the representatives.
        """
        system = self.filler.system
        real = representative = self.filler.initial_row()
        path: list[int] = []
        choices: list[int] = []
        for depth, place in enumerate(places, 2):
            reals, representatives, real, representative = self._both(real, representative)
            representative = representatives[place]
            choices = [
                k for k, row in enumerate(reals) if (self._represented(row) == representative).all()
            ]
            if not choices:
                raise NotSymmetricError("a run of representatives is no run of the system")
            path.append(choices[0])
            real = reals[choices[0]]
            representative = self.kept(depth, representative)
        if prop.when is When.ALWAYS_POSSIBLE:
            # Either every state with this representative has a way back, or none has one.
            return transitions_at(system, path)
        for choice in choices:
            transitions = transitions_at(system, [*path[:-1], choice])
            if not holds_along(replay(system, transitions), prop):
                return transitions
        return transitions_at(system, path)

    def _both(self, real: Words, representative: Words) -> tuple[Any, Any, Words, Words]:
        """Return the successors of a real row and of its representative, and both, packed alike."""
        while True:
            first, missed = self._successors_of(real, reduced=False)
            second, more = self._successors_of(representative, reduced=True)
            missed = np.concatenate([missed, more])
            if not len(missed):
                return first, second, real, representative
            repacking = self.fill(missed)
            if repacking is not None:
                real, representative = repacking.apply(real), repacking.apply(representative)

    def _successors_of(self, row: Words, *, reduced: bool) -> tuple[Any, Words]:
        """Return the successors of one row, of shape (n, row words), and their misses."""
        tables = self.filler.tables
        if not reduced:
            tables = tables._replace(geo=tables.geo.copy())
            tables.geo[g.PERMUTATIONS] = 0
        control = np.zeros(g.CONTROL_SIZE, np.int64)
        control[g.END_FRESH] = 1
        sizes, misses = np.zeros(1, np.int64), self.filler.misses()
        room, stride = g.MOST_TRANSITIONS, self.filler.layout.row_words + 1
        out, order = np.empty((1, room * stride), np.int64), np.empty(room, np.uint16)
        with wrapping():
            levels_kernels.expand(
                row,
                np.empty(1, np.int64),
                tables,
                0,
                1,
                g.Outbox(out.ravel(), sizes, order, np.empty(0, np.int64)),
                g.BY_DEPTH,
                g.Told(
                    postponed=np.empty(1, np.int64),
                    misses=misses,
                    shown=np.empty((64, 3), np.int64),
                    fired=np.zeros(MOST_KINDS, np.int64),
                    control=control,
                    memo=memo_kernels.NO_MEMO,
                ),
            )
        entries = out[0, : int(sizes[0]) * stride].reshape(-1, stride)
        return entries[:, :-1].copy(), misses[: control[g.MISSES]]

    def _represented(self, row: Words) -> Words:
        """Return the representative of a row."""
        renamed, tables = row.copy(), self.filler.tables
        renaming_kernels.stand_in(renamed, tables.geo, tables.renamings, tables.dec)
        return renamed
