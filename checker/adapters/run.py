"""Real code under test: an exhaustive search up to bounds, then random walks."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from attrs import evolve

from antecede.checker.check.pipeline import Extras, check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.render.terminal import wrapped
from antecede.checker.render.text import check_text
from antecede.checker.search.loop import Progress
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import EndlessSystem

MOST_STATES = 20_000
"""The default bound of the breadth-first search, in states."""


LEAST_STEPS, TIMES_DEPTH = 100, 10
"""A walk ends after this many transitions, or after so many times the depth of the first search.

Some objects have a timeout that never ends. Repeating all calls of a long walk takes long.
"""


def bounded(bounds: Bounds) -> Bounds:
    """Return the bounds, with a default bound if there is none, because real code is slow."""
    limits = (bounds.max_states, bounds.max_depth, bounds.max_seconds, bounds.max_memory)
    return bounds if any(limits) else evolve(bounds, max_states=MOST_STATES)


def run(
    spec: Spec,
    options: Options,
    bounds: Bounds,
    *,
    selfcheck: str = "on",
    walks: bool = True,
    watch: Callable[[Progress], None] = lambda _progress: None,
    began: float | None = None,
) -> tuple[CheckReport, ...]:
    """Check an adapter breadth-first and, if a bound ends this search, by random walks.

    Args:
        options: options of the search, and the number of walks.
        bounds: bounds of both; if walks follow, the breadth-first search gets half of the time.
        selfcheck: the calls to check for determinism.
        began: the start of --max-seconds, on the monotonic clock; by default now.

    Returns:
        One report or two; the counterexample of a walk is shortened.

    Raises:
        InputError: an argument cannot be used, or the adapter lacks a method.
    """
    walks = walks and not isinstance(spec.system, EndlessSystem)
    bounds = bounds.over(spec.bounds)
    began = time.monotonic() if began is None else began
    seconds = bounds.max_seconds
    half = evolve(bounds, max_seconds=seconds and seconds / 2)
    first = check(
        evolve(spec, search="breadth"),
        options,
        half if walks else bounds,
        selfcheck=selfcheck,
        watch=watch,
        began=began,
    )
    if first.result.verdict is not Verdict.INCOMPLETE or first.interrupted or not walks:
        return (first,)
    seconds_left = seconds and seconds - (time.monotonic() - began)
    limit = f"--max-seconds {seconds or 0:g}"
    if seconds_left is not None and seconds_left <= 0:  # the search noticed its end late
        return (_told(first, limit),)
    second = check(
        evolve(spec, search="random"),
        options,
        evolve(bounds, max_states=None, max_depth=1 + _steps(first), max_seconds=seconds_left),
        selfcheck=selfcheck,
        extras=Extras(minimise=True),
        watch=watch,
    )
    return _told(first, f"half of {limit}"), _told(second, limit)


def _steps(first: CheckReport) -> int:
    """Return the greatest length of a walk after a search."""
    return max(LEAST_STEPS, TIMES_DEPTH * first.result.counts.depth)


def _told(report: CheckReport, bound: str) -> CheckReport:
    """Return a report that names the given time limit if a share of the time ran out."""
    stopped_by = re.sub(r"^--max-seconds \S+", bound, report.result.stopped_by or "")
    if report.spec.search == "random" and stopped_by.startswith("--max-depth"):
        stopped_by = "the walks visited only some of the states"
    return evolve(report, result=evolve(report.result, stopped_by=stopped_by or None))


def text(reports: tuple[CheckReport, ...]) -> str:
    """Return the reports as text."""
    if len(reports) == 1:
        return check_text(reports[0])
    states, depth = reports[0].result.counts.unique_states, reports[0].result.counts.depth
    sentence = (
        f"Breadth-first, nothing is violated in the {states:,} states up to depth {depth:,} that "
        f"were looked at ({reports[0].result.stopped_by}). Random walks beyond, of at most "
        f"{_steps(reports[0]):,} transitions each:"
    )
    return f"{wrapped(sentence)}\n\n{check_text(reports[1])}"
