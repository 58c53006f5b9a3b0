"""Levels that are sums of weights of transitions, see `checker.local.breadth`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from antecede.checker.local.course import Course
from antecede.checker.local.expansion import Expansion
from antecede.checker.local.granted import ByDepthError
from antecede.checker.local.owners import MOST_DEPTH, PIECE, Level, Owner, forget_last
from antecede.checker.model import Property
from antecede.checker.search.loop import Explorer, Found, decided
from antecede.checker.semantics.transition import System
from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arena
from antecede.checker.tables.grading import Weights
from antecede.checker.tables.misses import Repacking
from antecede.checker.tables.tabulate import Words


def leads(weights: Weights, kinds: Iterable[str]) -> Words:
    """Return how far each kind of transition leads, for the kernels; nothing without weights."""
    return np.array([weights.get(kind, 1) - 1 for kind in kinds if weights], np.int64)


def count_depths(course: Course, counted: Words) -> None:
    """Count states of a level that is complete.

    Args:
        course: how far the search has come.
        counted: how many states have each depth.

    Raises:
        ByDepthError: there are too many depths.
    """
    levels = course.levels
    levels += [0] * (len(counted) - 1 - len(levels))
    for depth in np.flatnonzero(counted):
        levels[depth - 1] += int(counted[depth])
    if len(levels) > MOST_DEPTH:
        raise ByDepthError("depths need more than two bytes")


def note_shown(system: System, explorer: Explorer, shown: Iterable[Property]) -> None:
    """Take note of what was shown; begin again by depth if that decides the search.

    Then the search by depth is over sooner, its path is a shortest one and its counts exact. A
    witness alone decides nothing; that there is one is all that is known of it then.

    Raises:
        ByDepthError: the search is decided.
    """
    for prop in shown:
        explorer.found.setdefault(prop.name, Found(()))
    if decided(system, explorer):
        raise ByDepthError("what is shown has its shortest run by depth")


class WeighedExpansion(Expansion):
    """Expands levels that are sums of weights.

    Those that a transition can lead to are open at the same time. States are kept with the least
    depth that they have so far.
    """

    def _depths_of(self, name: str) -> Arena | None:
        return self.arenas.make(np.uint16, name)

    @property
    def _well_graded(self) -> bool:
        return self.supply.tabulation.grading.allows(self.course.weights)

    def _weighing(self, owner: Owner, level: Level) -> kernels.Weighing:
        far = leads(self.course.weights, self.supply.tabulation.kinds)
        return kernels.Weighing(far, level.known_depths, owner.recent_depths)

    def read_depths(self) -> None:
        """Write to the open levels the least depths that their states have so far."""
        for lead in range(self.course.open_levels):
            self.each(partial(self._read_depths_ahead, lead=lead))

    def _read_depths_ahead(self, finder: Owner, lead: int) -> None:
        following = finder.ahead[lead].following
        for owner in self.owners:
            owner.ahead[lead].visited.read_depths(
                following.rows.array, owner.number, len(self.owners), following.known_depths
            )

    def _fill_visited(self) -> None:
        """Make the visited sets of the open levels anew, whose depths were read."""
        for owner in self.owners:
            for ahead in owner.ahead:
                old, ahead.visited = ahead.visited, self._visited()
                ahead.visited.dropped = old.dropped
                old.close()
        self.each(self._refill)

    def _refill(self, owner: Owner) -> None:
        for lead, ahead in enumerate(owner.ahead):
            for finder in self.owners:
                level = finder.ahead[lead].following
                rows = level.rows.array[: level.count * ahead.visited.width]
                threads, depths = len(self.owners), level.known_depths
                ahead.visited.add(rows, owner.number, threads, depths)

    def _repack(self, repacking: Repacking) -> None:
        self.read_depths()
        super()._repack(repacking)

    def _repack_visited(self, _repacking: Repacking) -> None:
        self._fill_visited()

    def _keep_composites(self) -> None:
        self.read_depths()
        super()._keep_composites()
        self._fill_visited()

    def _advance(self) -> None:
        """Go on to the next sum of weights that some state has, and forget this one."""
        for _ in range(self.course.open_levels):
            found = sum(owner.following.count for owner in self.owners)
            self.each(partial(self._read_depths_ahead, lead=0))
            for owner in self.owners:
                first, *others = owner.ahead
                owner.level, first.following = first.following, owner.level
                first.following.count = 0
                owner.ahead = [*others, first]
            # Levels rarely grow by more; where one does, the set grows as usual.
            expected = 3 * found // (2 * len(self.owners))
            self.each(partial(forget_last, expected=expected))
            self._count_depths()
            if found:
                return

    def _count_depths(self) -> None:
        """Count the states of the current level by depth."""
        for owner in self.owners:
            depths = owner.level.known_depths
            for start in range(0, len(depths), PIECE):
                count_depths(self.course, np.bincount(depths[start : start + PIECE]))
