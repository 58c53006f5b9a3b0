"""Weighted levels on threads: levels are sums of weights, see `tabulated.tabulated_search`.

Several levels are open at the same time, because a transition can skip levels.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.grading import open_levels
from antecede.checker.engine.rows.table_filler import Repacking
from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.threads.expansion import Expansion
from antecede.checker.engine.threads.shard import PIECE, Level, Shard, forget_last


class WeightedExpansion(Expansion):
    """Expands weighted levels; each state is kept with its least depth so far."""

    def _depths_of(self, name: str) -> Arena | None:
        return self.arenas.make(np.uint16, name)

    @property
    def _well_graded(self) -> bool:
        return self.filler.tabulation.grading.allows(self.weights)

    def _weighing(self, shard: Shard, level: Level) -> g.Weighing:
        leads = self.filler.leads(self.weights)
        return g.Weighing(leads, level.known_depths, shard.recent_depths)

    def read_depths(self) -> None:
        """Write to the open levels the least depths that their states have so far."""
        for lead in range(open_levels(self.weights)):
            self.each(partial(self._read_depths_ahead, lead=lead))

    def _read_depths_ahead(self, finder: Shard, lead: int) -> None:
        following = finder.ahead[lead].following
        for shard in self.shards:
            shard.ahead[lead].visited.read_depths(
                following.rows.array, shard.number, len(self.shards), following.known_depths
            )

    def _fill_visited(self) -> None:
        """Make the visited sets of the open levels anew, whose depths were read."""
        for shard in self.shards:
            for ahead in shard.ahead:
                old, ahead.visited = ahead.visited, self._visited()
                ahead.visited.dropped = old.dropped
                old.close()
        self.each(self._refill)

    def _refill(self, shard: Shard) -> None:
        for lead, ahead in enumerate(shard.ahead):
            for finder in self.shards:
                level = finder.ahead[lead].following
                rows = level.rows.array[: level.count * ahead.visited.width]
                threads, depths = len(self.shards), level.known_depths
                ahead.visited.add(rows, shard.number, threads, depths)

    def _repack(self, repacking: Repacking) -> None:
        self.read_depths()
        super()._repack(repacking)

    def _repack_visited(self, _repacking: Repacking) -> None:
        self._fill_visited()

    def _keep_composites(self) -> None:
        self.read_depths()
        super()._keep_composites()
        self._fill_visited()

    def _advance(self) -> dict[int, int]:
        """Go on to the next sum of weights that some state has, and forget this one."""
        for _ in range(open_levels(self.weights)):
            before = sum(shard.level.count for shard in self.shards)
            states = sum(shard.following.count for shard in self.shards)
            self.each(partial(self._read_depths_ahead, lead=0))
            for shard in self.shards:
                first, *others = shard.ahead
                shard.level, first.following = first.following, shard.level
                first.following.clear()
                shard.ahead = [*others, first]
            # Levels rarely grow faster than before; where one does, the set grows as usual.
            growth = min(max(states / max(before, 1), 1.0), 1.5)
            expected = int(growth * states) // len(self.shards)
            self.each(partial(forget_last, expected=expected))
            if states:
                return self._depths()
        return {}

    def _depths(self) -> dict[int, int]:
        """Return how many states of the current level have each depth."""
        counted = Counter[int]()
        for shard in self.shards:
            depths = shard.level.known_depths
            for start in range(0, len(depths), PIECE):
                states = np.bincount(depths[start : start + PIECE])
                counted.update({int(depth): int(states[depth]) for depth in np.flatnonzero(states)})
        return dict(counted)
