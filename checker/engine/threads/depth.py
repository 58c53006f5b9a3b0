"""Depth-first search on the tables.

It visits what `checker.search.plain.DepthFirst` visits, in the same order: the counts and the
counterexample are the same.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.table_filler import Repacking
from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.threads import stepwise_kernels
from antecede.checker.engine.threads.stepwise import Stepwise
from antecede.checker.engine.visited.sets_kernels import STATES
from antecede.checker.support.errors import ProtocolError

FIRST_ROOM = 1 << 14
"""At first the stack and its frames have room for this many words."""


@define(eq=False)
class LocalDepthFirst(Stepwise):
    """Depth-first search on one core; a round takes a batch of transitions.

    Attributes:
        stack, frames: the current path, as for `stepwise_kernels.descend`.
        stack_room, frames_room: the words of these arrays that may be used.
    """

    exhaustive: bool = True
    stack: Arena = field(init=False)
    frames: Arena = field(init=False)
    stack_room: int = FIRST_ROOM
    frames_room: int = FIRST_ROOM

    def __attrs_post_init__(self) -> None:
        """Put the initial state on the stack."""
        super().__attrs_post_init__()
        self.stack = self.arenas.make(np.int64, "successors on the path")
        self.frames = self.arenas.make(np.int64, "states on the path")
        self.stack.ensure(self.stack_room)
        self.frames.ensure(self.frames_room)
        row = self.filler.initial_row()
        self.stack.array[: len(row)] = row
        self.frames.array[:2] = 1
        self.control[g.FRAMES] = self.control[g.ENTERING] = 1
        if self.found:
            # The search is decided and no round will come, but the state may be final as well.
            with suppress(ProtocolError):
                self._work(0, lambda: None)

    @property
    def frontier(self) -> int:
        """The number of states on the current path."""
        return int(self.control[g.FRAMES] - 1 + self.control[g.ENTERING])

    def _total(self) -> int:
        return 1 + int(self.control[g.FIRED])

    def _step(self) -> int:
        figures = self.visited.figures()
        try:
            return int(
                stepwise_kernels.descend(
                    self.stack.array[: self.stack_room],
                    self.frames.array[: self.frames_room],
                    self.filler.tables,
                    self.memo,
                    self.composites,
                    g.RowSet(self.visited.slots, figures),
                    self.told,
                )
            )
        finally:  # Ctrl-C shows as soon as the kernel returns.
            self.visited.states = int(figures[STATES])

    def _places(self) -> list[int]:
        """Return the places of the transitions taken; the top frame may have taken none yet."""
        frames = self.frames.array[: 2 * self.control[g.FRAMES]].reshape(-1, 2)
        taken = frames[1:, 0] - frames[:-1, 1]
        return [int(count) - 1 for count in taken if count]

    def _extend(self) -> None:
        if 2 * int(self.control[g.FRAMES]) + 2 > self.frames_room:
            self.frames_room *= 2
            self.frames.ensure(self.frames_room)
        else:
            self.stack_room *= 2
            self.stack.ensure(self.stack_room)

    def _repack(self, repacking: Repacking) -> None:
        super()._repack(repacking)
        entries = int(self.frames.array[2 * int(self.control[g.FRAMES]) - 1])
        old = self.stack.array[: entries * (repacking.old_words + 1)].reshape(entries, -1)
        rows = repacking.apply(old[:, :-1].ravel()).reshape(entries, -1)
        new = np.column_stack([rows, old[:, -1]])
        self.stack_room = max(self.stack_room, new.size)
        self.stack.ensure(self.stack_room)
        self.stack.array[: new.size] = new.ravel()
