"""A search by one engine until another one, which takes long to get ready, can begin it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from antecede.checker.model import Property
from antecede.checker.search.loop import Evidence, Explorer
from antecede.checker.search.result import Counts

PAUSE = 0.05
"""Seconds between two looks at whether the other engine is ready, where there is nothing to do."""


class Ready(Exception):
    """Raised inside a round of the first engine once the other one can begin."""


@define(eq=False)
class EngineWarmup(Explorer):
    """Explores with `first`, and begins the same search again with another engine once it can.

    Small systems are decided by then. States explored in vain, and the seconds that they took, do
    not count.

    Attributes:
        engine: explores now.
        ready: whether the other engine can begin.
        begin: makes it.
        waits_for: the other engine, in words; empty once it explores.
        most_states: explored by the first engine, which needs more memory; then it only waits.
        vain_seconds: spent before the other engine began.
    """

    engine: Explorer
    ready: Callable[[], bool]
    begin: Callable[[], Explorer]
    waits_for: str
    most_states: int = 200_000
    vain_seconds: float = 0.0
    _began: float = field(factory=time.monotonic)

    @property
    def exhaustive(self) -> bool:
        """An empty frontier means that every state was explored."""
        return self.engine.exhaustive

    @property
    def found(self) -> dict[str, Evidence]:
        """What shows each property, by its name."""
        return self.engine.found

    @property
    def frontier(self) -> int:
        """The work that is left; 0 ends the search."""
        return self.engine.frontier

    @property
    def cuts(self) -> Mapping[str, Evidence]:
        """The limits that were reached, by their texts."""
        return self.engine.cuts

    @property
    def seconds_before(self) -> float:
        """Seconds that the search took before it was resumed from a checkpoint."""
        return self.engine.seconds_before

    @property
    def levels(self) -> Sequence[int]:
        """The numbers of new states per depth, if there are levels."""
        return self.engine.levels

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return self.engine.truncated

    def counts(self) -> Counts:
        """Return what was explored so far, by the engine that explores now."""
        return self.engine.counts()

    def round(self, tick: Callable[[], None]) -> None:
        """Work through a round, or through a part of it if the other engine is ready meanwhile."""
        if not self.waits_for:
            self.engine.round(tick)
            return
        try:
            self.engine.round(lambda: self._look(tick))
        except Ready:
            self._change()

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return what shows that some state has no way back to what `prop` wants, or None."""
        return self.engine.lost(prop, tick)

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry; None if it was used and they are unknown."""
        return self.engine.unreduced()

    def statistics(self) -> dict[str, Any]:
        """Return further figures, by name."""
        plainly = (
            {"explored_plainly": "the search code was not compiled yet"} if self.waits_for else {}
        )
        return {**plainly, **self.engine.statistics()}

    def close(self) -> None:
        """Give back what the search took; it cannot go on afterwards."""
        self.engine.close()

    def _look(self, tick: Callable[[], None]) -> None:
        tick()
        full = self.engine.counts().unique_states >= self.most_states
        while full and not self.ready():
            time.sleep(PAUSE)
            tick()
        if self.ready():
            raise Ready

    def _change(self) -> None:
        """Begin again with the other engine."""
        self.engine.close()
        self.engine, self.waits_for = self.begin(), ""
        self.vain_seconds = time.monotonic() - self._began
