"""Random walks on the tables.

A walk takes a random transition in each state until it reaches a final state. The states that walks
meet are counted once.

Question: How do random walks work on threads? Beside it `depth` and `graph`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.table_filler import Repacking
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.threads import stepwise_kernels
from antecede.checker.engine.threads.stepwise import Stepwise
from antecede.checker.engine.visited.sets_kernels import STATES
from antecede.checker.engine.visited.visited import Visited


@define(eq=False)
class LocalRandomWalks(Stepwise):
    """Random walks from the initial state; each transition is equally likely.

    A round is a few walks.

    The seed fixes the walks, however the tables are filled and laid out.
    `checker.search.plain.RandomWalks` takes other walks with this seed.

    Attributes:
        final_states: the final states met; `visited` has them, too.
        rows, places, generator: as for `stepwise_kernels.wander`.
    """

    walks: int = 1000
    seed: int = 0
    exhaustive: bool = False
    final_states: Visited = field(init=False)
    rows: Words = field(init=False)
    places: Words = field(factory=lambda: np.empty(1 << 10, np.int64))
    generator: np.ndarray[Any, np.dtype[np.uint64]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make ready for the first walk."""
        super().__attrs_post_init__()
        self.final_states = self._new_visited()
        self.generator = np.array([self.seed % (1 << 64)], np.uint64)
        self.control[g.WALKS] = self.walks
        self.rows = np.zeros(1 << 10, np.int64)
        row = self.filler.initial_row()
        self.rows[: len(row)] = row

    @property
    def frontier(self) -> int:
        """The number of walks that are not finished yet."""
        return int(self.control[g.WALKS] + self.control[g.ENTERING])

    def _total(self) -> int:
        return int(self.control[g.TOTAL])

    def _step(self) -> int:
        figures, final_figures = self.visited.figures(), self.final_states.figures()
        try:
            return int(
                stepwise_kernels.wander(
                    self.rows,
                    self.places,
                    self.generator,
                    self.filler.tables,
                    self.memo,
                    self.composites,
                    g.Met(
                        g.RowSet(self.visited.slots, figures),
                        g.RowSet(self.final_states.slots, final_figures),
                    ),
                    self.told,
                )
            )
        finally:  # Ctrl-C shows as soon as the kernel returns.
            self.visited.states = int(figures[STATES])
            self.final_states.states = int(final_figures[STATES])

    def _places(self) -> list[int]:
        return list(map(int, self.places[: self.control[g.LENGTH]]))

    def _grow(self) -> None:
        full = [v for v in (self.visited, self.final_states) if v.states >= v.limit]
        # If none is, a run of slots reached the end of one of them.
        for visited in full or (self.visited, self.final_states):
            visited.grow()

    def _extend(self) -> None:
        if self.control[g.LENGTH] == len(self.places):
            self.places = np.concatenate([self.places, self.places])
        else:
            self.rows = np.concatenate([self.rows, self.rows])

    def _repack(self, repacking: Repacking) -> None:
        super()._repack(repacking)
        self.final_states = self._repacked_set(self.final_states, repacking)
        old = self.rows[: 2 * (repacking.old_words + 1)].reshape(2, -1)
        rows = repacking.apply(old[:, :-1].ravel()).reshape(2, -1)
        new = np.column_stack([rows, old[:, -1]])
        self.rows = np.resize(new, max(len(self.rows), new.size))
