"""Explores the system of a question: a finite one in one search, an endless one part by part."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

from attrs import evolve, field, frozen

from antecede.checker import interrupts
from antecede.checker.check.engine import explorer_at_once, kernels_are_compiled, pausing_explorer
from antecede.checker.errors import CapacityError, HandlerError, ProtocolError
from antecede.checker.liveness import starvation
from antecede.checker.memory import nearly_gone, shortage
from antecede.checker.search.loop import (
    Explorer,
    Pausing,
    Progress,
    explore,
    memory_bytes,
    peak_memory_bytes,
)
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Counts, Result, Verdict
from antecede.checker.semantics.transition import EndlessSystem, System

LATE = 1.0
"""Seconds after which a search that has not looked at --max-seconds is told."""

Watch = Callable[[Progress], None]
"""Called now and then with the progress of a search."""


@frozen(eq=False)
class Exploration:
    """How to explore a system.

    Attributes:
        system: the system, by which paths are replayed.
        self_checking: the system whose handlers check themselves as they are called.
        options: how to explore.
        bounds: when to give up.
        watch: called now and then with the progress.
    """

    system: System
    self_checking: System
    options: Options
    bounds: Bounds
    watch: Watch = field(default=lambda _progress: None)

    def run(self) -> Result:
        """Explore the system, and look for fair cycles if its applications never stop."""
        if isinstance(self.system, EndlessSystem):
            return self._endless()
        make = partial(explorer_at_once, self.self_checking, self.options, self.bounds.max_depth)
        return self._search(make, self.bounds)

    def _search(
        self, make: Callable[[], Explorer], bounds: Bounds, *, goes_on: bool = False
    ) -> Result:
        """Explore within some bounds, which also end an explorer that is slow to start.

        Args:
            make: makes the explorer, which may take long.
            bounds: when to give up.
            goes_on: the explorer is needed afterwards.
        """
        with interrupts.watched(_limits(self.options, bounds), nearly_gone):
            try:
                explorer = make()
            except KeyboardInterrupt as end:
                reason = f"{interrupts.reason_of(end)}, before the search began"
                return unstarted(self.system, reason)
            return explore(self.system, explorer, bounds, self.watch, goes_on=goes_on)

    def _endless(self) -> Result:
        """Explore an endless system: one search pauses, and goes on within wider bounds."""
        bounds, began, made = self.bounds, time.monotonic(), list[Pausing]()

        def explorer() -> Pausing:
            if not made:
                made.append(pausing_explorer(self.self_checking, self.options, bounds.max_depth))
            return made[0]

        def part(within: Bounds) -> Result:
            left = bounds.max_seconds and bounds.max_seconds - (time.monotonic() - began)
            within = evolve(within, max_seconds=left and max(left, 0.001))
            result = self._search(explorer, within, goes_on=True)
            if (result.stopped_by or "").startswith("--max-seconds"):
                return evolve(result, stopped_by=bounds.hit(0, math.inf, 0))
            return result

        def tick() -> None:
            # --max-states bounds the part of the graph that is explored, not this pass over it.
            hit = bounds.hit(0, time.monotonic() - began, memory_bytes())
            if (reason := interrupts.wanted() or hit) is not None:
                raise CapacityError(reason)

        try:
            first = starvation.FIRST[self.options.engine]
            return starvation.explored(
                self.system, bounds, part, lambda told: explorer().so_far(told), tick, first
            )
        finally:
            for search in made:
                search.close()


def _limits(options: Options, bounds: Bounds) -> Callable[[], str | None]:
    """Return a function that names a bound that was passed without the search noticing."""
    began, seconds = time.monotonic(), bounds.max_seconds
    if options.engine != "plain" and not kernels_are_compiled():
        seconds = None  # compiling them once takes longer than many a bound

    def passed() -> str | None:
        if seconds is not None and time.monotonic() - began > seconds + LATE:
            return f"--max-seconds {seconds:g} reached"
        if bounds.max_memory is not None and memory_bytes() > bounds.max_memory:
            return f"--max-memory {bounds.max_memory / 1e9:,.1f} GB reached"
        return shortage()

    return passed


def unstarted(system: System, reason: str) -> Result:
    """Return the result of a check that ended before its search began."""
    return Result(
        verdict=Verdict.INCOMPLETE,
        properties={p.name: Verdict.INCOMPLETE for p in system.properties},
        counts=Counts(0, 0, 0, 0),
        seconds=0.0,
        peak_memory_bytes=peak_memory_bytes(),
        stopped_by=reason,
    )


def failed(system: System, error: ProtocolError) -> Result:
    """Return the result of a check whose protocol failed before the first transition."""
    result = evolve(unstarted(system, ""), verdict=Verdict.ERROR, stopped_by=None)
    return evolve(result, error=str(error), failed=isinstance(error, HandlerError))
