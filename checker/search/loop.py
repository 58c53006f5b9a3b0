"""The one exploration loop, which is the same for every engine.

An explorer works in rounds (breadth-first: one level; depth-first: a batch of states; random: one
walk) and keeps its own visited set and counts. The loop knows bounds, progress, interruption and
when to stop.

Question: Where is the exploration loop, and what ends it early? `explore`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from attrs import define, field, frozen

from antecede.checker.model import Property, Transition, What, When
from antecede.checker.paths.confirm import confirm
from antecede.checker.paths.growth import growth_of
from antecede.checker.paths.path import Path, holds_along, replay
from antecede.checker.search.graph import Explored
from antecede.checker.search.never_seen import judged
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Counts, LimitReached, Result, Verdict, overall
from antecede.checker.semantics.limits import Limit
from antecede.checker.semantics.transition import System
from antecede.checker.support import interrupts
from antecede.checker.support.errors import (
    NO_THREAD,
    CapacityError,
    HandlerError,
    ProtocolError,
    is_refused_thread,
)
from antecede.checker.support.memory import memory_bytes, peak_memory_bytes


@frozen
class Evidence:
    """A run that violates a property or reaches a witness, as its transitions."""

    transitions: tuple[Transition, ...]


@frozen
class Progress:
    """Figures of a search under way.

    Attributes:
        waits_for: the engine for which the search waits, in words.
        levels: see `Explorer.levels`.
        nearest: the bound that is used up most, and its used share; None without such bounds.
    """

    counts: Counts
    frontier: int
    seconds: float
    memory_bytes: int
    waits_for: str = ""
    levels: Sequence[int] = ()
    nearest: tuple[float, str] | None = None


class Stop(Exception):
    """Raised inside a round when a bound is hit; the text says which."""


class Explorer(Protocol):
    """The members that an engine supplies for one search; those with a body are optional."""

    @property
    def exhaustive(self) -> bool:
        """An empty frontier means that every state was explored."""

    @property
    def found(self) -> dict[str, Evidence]:
        """The evidence for each property that is violated or reached, by its name."""

    @property
    def frontier(self) -> int:
        """The work that is left; 0 ends the search."""

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""

    def counts(self) -> Counts:
        """Return what was explored so far."""

    def round(self, tick: Callable[[], None]) -> None:
        """Work through one round, calling `tick` often; it may raise Stop."""

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return evidence of a state with no way back to the states that `prop` wants, or None.

        It is asked when every state was explored, and finds a shortest path; it may raise Stop.
        """

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry; None if it was used and they are unknown."""

    def statistics(self) -> dict[str, Any]:
        """Return further figures, by name."""

    def close(self) -> None:
        """Give back what the search took; it cannot go on afterwards."""

    @property
    def cuts(self) -> Mapping[str, Evidence]:
        """The limits that were reached, by their texts, each with a run; see `semantics.limits`."""
        return {}

    @property
    def seconds_before(self) -> float:
        """Seconds that the search took before it was resumed from a checkpoint."""
        return 0.0

    @property
    def vain_seconds(self) -> float:
        """Seconds that an engine took whose states are not counted; see `search.engine_warmup`."""
        return 0.0

    @property
    def waits_for(self) -> str:
        """The engine for which the search waits, in words; empty: for none."""
        return ""

    @property
    def levels(self) -> Sequence[int]:
        """The numbers of new states per depth, of the current level last.

        It is empty if the search does not expand one depth after the other.
        """
        return ()


class Pausing(Explorer, Protocol):
    """The members that an engine supplies to search an endless workload breadth-first."""

    def so_far(self, tick: Callable[[], None]) -> Explored:
        """Return the graph as far as it is known, between two rounds or where one was stopped.

        It calls `tick` often, which may raise.
        """


def explore(
    system: System,
    explorer: Explorer,
    bounds: Bounds = Bounds(),
    watch: Callable[[Progress], None] = lambda _progress: None,
    *,
    goes_on: bool = False,
) -> Result:
    """Run `explorer` until everything is decided, a bound is hit or the user interrupts.

    Every counterexample is replayed through plain Python before it is returned.

    Args:
        system: the system to explore.
        explorer: supplies the rounds.
        bounds: when to give up.
        watch: called now and then with the progress.
        goes_on: the caller needs the explorer afterwards, and closes it.
    """
    with interrupts.looking():
        try:
            return _explore(system, explorer, bounds, watch)
        finally:
            with interrupts.shielded():
                if not goes_on:
                    explorer.close()


@define(eq=False)
class _Watch:
    """Reports the progress of a search, and ends it at its bounds.

    Attributes:
        began: when the search began.
    """

    explorer: Explorer
    bounds: Bounds
    report: Callable[[Progress], None]
    began: float = field(factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The time in seconds that the search has taken, without exploration in vain.

        Time before a checkpoint is left out, because --max-seconds does not include it.
        """
        return time.monotonic() - self.began - self.explorer.vain_seconds

    @property
    def spent(self) -> float:
        """The time in seconds that the search has taken, with the time before a checkpoint."""
        return self.explorer.seconds_before + self.seconds

    def tick(self, *, searching: bool = True) -> None:
        """Report, and raise Stop if a bound is reached or the user wants it."""
        explorer, bounds = self.explorer, self.bounds
        now, memory = time.monotonic() - self.began, memory_bytes()
        waits_for = explorer.waits_for
        counts = explorer.counts()
        states = counts.unique_states if searching else 0
        self.report(
            Progress(
                counts,
                explorer.frontier,
                self.spent,
                memory,
                waits_for,
                explorer.levels if searching else (),
                bounds.nearest(states, now, 0 if waits_for else memory),
            )
        )
        # The bound on memory is for the engine that is waited for.
        hit = bounds.hit(states, now, 0 if waits_for else memory)
        reason = interrupts.wanted() or hit
        if reason is not None:
            raise Stop(reason)


def _explore(
    system: System, explorer: Explorer, bounds: Bounds, report: Callable[[Progress], None]
) -> Result:
    watch = _Watch(explorer, bounds, report)
    stopped_by: str | None = None
    error: ProtocolError | None = None
    recovered: set[str] = set()
    try:
        while explorer.frontier and not decided(system, explorer):
            watch.tick()
            explorer.round(watch.tick)
        recovered = _look_back(system, explorer, partial(watch.tick, searching=False))
    except Stop as stop:
        stopped_by = str(stop)
    except KeyboardInterrupt as interruption:
        stopped_by = interrupts.reason_of(interruption)
    except MemoryError:
        stopped_by = "out of memory"
    except CapacityError as limit:
        stopped_by = str(limit)
    except ProtocolError as problem:
        error = problem
    except RuntimeError as failure:
        if not is_refused_thread(failure):
            raise
        stopped_by = NO_THREAD
    if stopped_by is None and explorer.truncated:
        stopped_by = f"--max-depth {bounds.max_depth} reached"
    if stopped_by is None and explorer.cuts:
        stopped_by = LimitReached(f"--bound {','.join(explorer.cuts)} reached")
    return _result(system, explorer, stopped_by, error, watch.spent, recovered)


def _look_back(system: System, explorer: Explorer, tick: Callable[[], None]) -> set[str]:
    """Judge all properties of ways back, each in every state.

    Returns:
        The names of those that hold. Where not every state was explored, none is judged.
    """
    asked = [prop for prop in system.properties if prop.when is When.ALWAYS_POSSIBLE]
    whole = explorer.exhaustive and not (explorer.frontier or explorer.truncated or explorer.cuts)
    if not asked or not whole:
        return set()
    found = {prop.name: explorer.lost(prop, tick) for prop in asked}
    explorer.found.update({name: run for name, run in found.items() if run is not None})
    return {name for name, run in found.items() if run is None}


def decided(system: System, explorer: Explorer) -> bool:
    """Return whether the verdict cannot change any more: a violation, or all witnesses found."""
    if any(not p.sought and p.name in explorer.found for p in system.properties):
        return True
    return all(p.name in explorer.found for p in system.properties)


def _result(
    system: System,
    explorer: Explorer,
    stopped_by: str | None,
    error: ProtocolError | None,
    seconds: float,
    recovered: Collection[str],
) -> Result:
    cuts = explorer.cuts
    complete = not (explorer.frontier or stopped_by or error or cuts)
    complete = complete and explorer.exhaustive
    counts, statistics = explorer.counts(), explorer.statistics()
    if any(prop.what is What.PARTLY_DELIVERED for prop in system.properties):
        statistics = {**statistics, "most_receivers": system.workload.fan_out}
    verdicts = {
        p.name: _verdict(p, explorer, complete=complete, recovered=p.name in recovered)
        or judged(p, counts, statistics)
        for p in system.properties
    }
    shown = [
        (len(explorer.found[p.name].transitions), rank, p)
        for rank, p in enumerate(system.properties)
        if not p.sought and p.name in explorer.found
    ]
    counterexample = None
    if shown:
        prop = min(shown, key=lambda entry: entry[:2])[2]
        counterexample = confirm(system, explorer.found[prop.name].transitions, prop)
    if not complete and stopped_by is None and counterexample is None and error is None:
        stopped_by = "the search visited only some of the states"
    verdict = Verdict.ERROR if error else overall(verdicts)
    return Result(
        verdict=verdict,
        properties=verdicts,
        counts=counts,
        seconds=seconds,
        peak_memory_bytes=peak_memory_bytes(),
        stopped_by=stopped_by,
        counterexample=counterexample,
        error=None if error is None else str(error),
        failed=isinstance(error, HandlerError),
        shown=_runs(system, explorer.found),
        grown=tuple(
            growth_of(system, limit, cuts[limit.text].transitions)
            for limit in system.limits
            if limit.text in cuts and isinstance(limit, Limit)
        ),
        unreduced=explorer.unreduced(),
        statistics=statistics,
    )


def _runs(system: System, found: Mapping[str, Evidence]) -> dict[str, Path]:
    """Return a run for each witness; a search without traces knows none but the empty one."""
    shown = [p for p in system.properties if p.sought and p.name in found]
    paths = ((p, replay(system, found[p.name].transitions)) for p in shown)
    return {p.name: path for p, path in paths if not holds_along(path, p)}


def _verdict(
    prop: Property, explorer: Explorer, *, complete: bool, recovered: bool
) -> Verdict | None:
    """Return the verdict on a property; None if all was explored and nothing violates it."""
    if prop.name in explorer.found:
        return Verdict.HOLDS if prop.sought else Verdict.VIOLATED
    if recovered:
        return None
    if not complete or prop.later:
        return Verdict.INCOMPLETE
    return Verdict.VIOLATED if prop.sought else None
