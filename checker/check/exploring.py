"""Explores the system of a question: a finite one in one search, an endless one part by part."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.check.engine import explorer_at_once, pausing_explorer
from antecede.checker.check.spec import Spec
from antecede.checker.liveness import starvation
from antecede.checker.search.loop import Explorer, Pausing, Progress, explore
from antecede.checker.search.options import Bounds, Options, most_memory_text
from antecede.checker.search.result import Counts, Result, Verdict
from antecede.checker.semantics.transition import EndlessSystem, System, channel_bytes
from antecede.checker.support import interrupts
from antecede.checker.support.errors import CapacityError, HandlerError, ProtocolError
from antecede.checker.support.memory import (
    memory_bytes,
    peak_memory_bytes,
    shortage,
    usable_memory_bytes,
)

LATE = 0.5
"""Seconds after which a search that has not looked at --max-seconds is told."""

FORGETTING = 1 << 13
"""Bytes of memory per visited state from which on levels are forgotten.

A search restarts with weighted levels at 64 times as many states (`WORTH_RESTARTING`). These take
about a quarter of the memory.
"""

Watch = Callable[[Progress], None]
"""Called now and then with the progress of a search."""


Around = Callable[[System], System]
"""Takes a system, and returns one that behaves alike, for example one that records its calls."""


def as_it_is(system: System) -> System:
    """Return the system itself."""
    return system


@frozen(eq=False)
class Task:
    """A question with everything that exploring it needs.

    Attributes:
        system: the system that the spec describes.
        selfcheck: which calls of handlers to check for determinism and purity.
        statistics: what to add to the result's statistics.
        is_named: the spec names the protocol, so that another process can import it.
        around: returns the system to explore in the place of the one with self-checking handlers.
    """

    spec: Spec
    system: System
    options: Options
    bounds: Bounds
    selfcheck: str
    watch: Watch
    statistics: dict[str, Any] = field(factory=dict)
    around: Around = as_it_is
    is_named: bool = True

    @property
    def asked(self) -> tuple[str, ...]:
        """The properties and bounds that the spec names."""
        limits = (f"--bound {limit.text}" for limit in self.system.limits)
        return (*self.spec.properties, *limits)

    def without(self, name: str) -> Task:
        """Return the task without one of the system's properties."""
        left = tuple(prop for prop in self.system.properties if prop.name != name)
        return evolve(self, system=evolve(self.system, properties=left))


def searched(task: Task, self_checking: System) -> Result:
    """Explore the system of a task, and look for fair cycles if its applications never stop.

    The handlers of `self_checking` check themselves; paths are replayed by the system of the task.
    """
    if isinstance(task.system, EndlessSystem):
        return _endless(task, self_checking)
    options = sparing(task.options, task.bounds)
    make = partial(explorer_at_once, self_checking, options, task.bounds.max_depth)
    return _search(task, make, task.bounds)


def sparing(options: Options, bounds: Bounds) -> Options:
    """Return the options of a search that forgets levels earlier if it may use little memory."""
    if options.forget_from is None:
        return options
    most = min(usable_memory_bytes(), bounds.max_memory or math.inf)
    return evolve(options, forget_from=min(options.forget_from, int(most) // FORGETTING))


def _search(
    task: Task, make: Callable[[], Explorer], bounds: Bounds, *, goes_on: bool = False
) -> Result:
    """Explore within some bounds. `limited` ends an explorer that is slow to start.

    `make` makes the explorer, which may take long. `goes_on` says that it is needed afterwards.
    """

    def not_begun(reason: str) -> Result:
        return unstarted(task.system, f"{reason}, before the search began")

    most = bounds.max_memory
    if most is not None and channel_bytes(task.system.actors) > most:
        actors = task.system.actors
        return not_begun(f"{most_memory_text(most)}: the channels between {actors:,} actors do")
    try:
        explorer = make()
    except KeyboardInterrupt as end:
        return not_begun(interrupts.reason_of(end))
    return explore(task.system, explorer, bounds, task.watch, goes_on=goes_on)


@contextmanager
def limited(bounds: Bounds, began: float | None = None) -> Iterator[None]:
    """Apply --max-seconds and --max-memory to this block; see `interrupts.limited`.

    Args:
        bounds: the limits.
        began: the start of --max-seconds, on the monotonic clock; by default now.

    Raises:
        Ended: it did not poll in time.
    """
    since = time.monotonic() if began is None else began
    until = math.inf if bounds.max_seconds is None else since + bounds.max_seconds
    reasons = (bounds.hit(0, math.inf, 0) or "", bounds.hit(0, 0.0, bounds.max_memory or 0) or "")
    limit = interrupts.Limit(_limits(bounds, since), until, bounds.max_memory or 0, reasons)
    with interrupts.limited(limit):
        yield


def _endless(task: Task, self_checking: System) -> Result:
    """Explore an endless system: one search pauses, and goes on within wider bounds."""
    assert isinstance(task.system, EndlessSystem)
    bounds, began, made = task.bounds, time.monotonic(), list[Pausing]()

    def explorer() -> Pausing:
        if not made:
            made.append(pausing_explorer(self_checking, task.options, bounds.max_depth))
        return made[0]

    def part(wider: Bounds) -> Result:
        left = bounds.max_seconds and bounds.max_seconds - (time.monotonic() - began)
        wider = evolve(wider, max_seconds=left and max(left, 0.001))
        result = _search(task, explorer, wider, goes_on=True)
        if (result.stopped_by or "").startswith("--max-seconds"):
            return evolve(result, stopped_by=bounds.hit(0, math.inf, 0))
        return result

    def tick() -> None:
        # --max-states bounds the part of the graph that is explored, not this pass over it.
        hit = bounds.hit(0, time.monotonic() - began, memory_bytes())
        if (reason := interrupts.wanted() or hit) is not None:
            raise CapacityError(reason)

    try:
        first = starvation.FIRST[task.options.engine]
        return starvation.explored(
            task.system, bounds, part, lambda told: explorer().so_far(told), tick, first
        )
    finally:
        for search in made:
            search.close()


def _limits(bounds: Bounds, began: float) -> Callable[[], str | None]:
    """Return a function that names a bound that was passed without the search noticing."""

    def passed() -> str | None:
        seconds = time.monotonic() - began - LATE
        return bounds.hit(0, seconds, memory_bytes()) or shortage()

    return passed


@contextmanager
def starting(bounds: Bounds) -> Iterator[None]:
    """Apply the bounds while a file is imported or a program is started.

    Raises:
        CapacityError: that takes too long, or too much memory.
    """
    try:
        with limited(bounds):
            yield
    except interrupts.Ended as end:
        if interrupts.is_interruption(str(end)):
            raise
        raise CapacityError(f"{interrupts.reason_of(end)}, before the search began") from None


def until(seconds: float | None, now: Callable[[], float] = time.monotonic) -> Callable[[], None]:
    """Return a function that raises CapacityError when this number of seconds is over."""
    began = now()

    def tick() -> None:
        if seconds is not None and now() - began >= seconds:
            raise CapacityError(f"--max-seconds {seconds:g} reached")

    return tick


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
