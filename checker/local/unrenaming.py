"""Runs of representatives in original names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from antecede.checker.local.expansion import Expansion
from antecede.checker.model import Property, Transition, Where
from antecede.checker.paths.path import holds_along, replay
from antecede.checker.paths.places import transitions_at
from antecede.checker.tables import kernels
from antecede.checker.tables.misses import Supply, wrapping
from antecede.checker.tables.symmetry import NotSymmetricError
from antecede.checker.tables.tabulate import Words


@define(eq=False)
class Unrenaming:
    """Follows representatives with real states.

    Attributes:
        expansion: whose representatives; what is missing is filled in its tables.
    """

    expansion: Expansion

    @property
    def _supply(self) -> Supply:
        return self.expansion.supply

    def run(
        self,
        places: list[int],
        prop: Property,
        kept: Callable[[int, Words], Words] = lambda _number, row: row,
    ) -> tuple[Transition, ...]:
        """Return a path in original names that follows the representatives at these places.

        Wherever the representatives go, some transition of the real state leads to a state with the
        same representative. The last one must show the property, too.

        Args:
            places: of the transitions, in those of the representatives.
            prop: what the path must violate.
            kept: (number of a transition, representative after it) -> the renaming of it that the
                search went on from, if that is another one.
        """
        real = representative = self._supply.initial_row()
        path: list[int] = []
        choices: list[int] = []
        for number, place in enumerate(places, 1):
            reals, representatives, real, representative = self._both(real, representative)
            representative = representatives[place]
            choices = [
                k for k, row in enumerate(reals) if (self._represented(row) == representative).all()
            ]
            if not choices:
                raise NotSymmetricError("a run of representatives is no run of the system")
            path.append(choices[0])
            real = reals[choices[0]]
            representative = kept(number, representative)
        if prop.where is Where.FROM_EVERYWHERE_ON:
            # From states with one representative either each has a way back or none.
            return transitions_at(self._supply.system, path)
        for choice in choices:
            transitions = transitions_at(self._supply.system, [*path[:-1], choice])
            if not holds_along(replay(self._supply.system, transitions), prop):
                return transitions
        return transitions_at(self._supply.system, path)

    def _both(self, real: Words, representative: Words) -> tuple[Any, Any, Words, Words]:
        """Return the successors of a real row and of its representative, and both, packed alike."""
        while True:
            first, missed = self._successors_of(real, reduced=False)
            second, more = self._successors_of(representative, reduced=True)
            missed = np.concatenate([missed, more])
            if not len(missed):
                return first, second, real, representative
            repacking = self.expansion.fill_missed(missed)
            if repacking is not None:
                real, representative = repacking.apply(real), repacking.apply(representative)

    def _successors_of(self, row: Words, *, reduced: bool) -> tuple[Any, Words]:
        """Return the successors of one row, of shape (n, row words), and what they missed."""
        tables = self._supply.tables
        if not reduced:
            tables = tables._replace(geo=tables.geo.copy())
            tables.geo[kernels.PERMUTATIONS] = 0
        owner = self.expansion.owners[0]
        control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        control[kernels.END_FRESH] = 1
        sizes, misses = np.zeros(1, np.int64), self._supply.misses()
        stride = self._supply.layout.row_words + 1
        out = np.empty((1, owner.out.shape[1]), np.int64)
        with wrapping():
            kernels.expand(
                row,
                np.empty(1, np.int64),
                tables,
                0,
                1,
                kernels.Outbox(
                    out, sizes, np.empty(out.shape[1], np.uint16), np.empty(0, np.int64)
                ),
                kernels.BY_DEPTH,
                kernels.Told(
                    postponed=np.empty(1, np.int64),
                    misses=misses,
                    shown=np.empty((64, 3), np.int64),
                    fired=np.zeros_like(owner.fired),
                    control=control,
                ),
            )
        entries = out[0, : int(sizes[0]) * stride].reshape(-1, stride)
        return entries[:, :-1].copy(), misses[: control[kernels.MISSES]]

    def _represented(self, row: Words) -> Words:
        """Return the representative of a row."""
        renamed, tables = row.copy(), self._supply.tables
        kernels.stand_in(renamed, tables.geo, tables.renamings)
        return renamed
