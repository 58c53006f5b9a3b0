"""The run that leads to a failing handler: found by the same engine, shown like a violation."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import evolve

from antecede.checker.paths.minimise import minimise
from antecede.checker.paths.path import Path, for_replay, replay
from antecede.checker.search.loop import Explorer, Progress, explore
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.failing import deferring, failure_in, only_failures
from antecede.checker.semantics.transition import System

AT_FIRST = 200_000
"""States among which a shortest run is looked for after a search that finds long ones."""


def run_to_failure(
    system: System,
    searches: tuple[Callable[[System], Explorer], ...],
    bounds: Bounds,
    watch: Callable[[Progress], None],
) -> Path | None:
    """Return the run that leads to a failing handler of `system`, the last step being the failure.

    It costs as much time as another search that ends there.

    Args:
        system: one of its handlers fails.
        searches: how to explore, in this order: breadth-first finds a shortest run.
            All but the last give up after `AT_FIRST` states.
        bounds: when to give up altogether.
        watch: called now and then with the progress.

    Returns:
        The path, on a system that takes the failing transition; None if a bound was hit.
    """
    until = None if bounds.max_seconds is None else time.monotonic() + bounds.max_seconds
    for number, search in enumerate(searches, 1):
        seconds = None if until is None else max(until - time.monotonic(), 0.0)
        most = None if number == len(searches) else AT_FIRST
        now = evolve(bounds, max_states=most, max_seconds=seconds)
        sought = only_failures(system)
        path = explore(sought, search(sought), now, watch).counterexample
        if path is not None:
            failing = _told(system, path)
            return failing if number == 1 else minimise(failing)
    return None


def _told(system: System, path: Path) -> Path:
    """Return the path on a system whose marks say what went wrong."""
    told = for_replay(deferring(system, told=True))  # in the path messages are numbered already
    replayed = replay(told, [step.transition for step in path.steps])
    failure = failure_in(replayed.last.actors)
    return evolve(replayed, violates=path.violates if failure is None else failure.violates)
