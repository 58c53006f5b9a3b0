"""Real code under test: everything that can happen up to bounds, random walks beyond."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from antecede.checker.check import CheckReport, check
from antecede.checker.report.terminal import wrapped
from antecede.checker.report.text import check_text
from antecede.checker.search.loop import Progress
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.spec import Spec

MOST_STATES = 20_000
"""States that are looked at breadth-first where no bound is given."""


def bounded(bounds: Bounds) -> Bounds:
    """Return the bounds, or a bound where there is none: real code is slow."""
    given = (bounds.max_states, bounds.max_depth, bounds.max_seconds, bounds.max_memory)
    return bounds if any(given) else evolve(bounds, max_states=MOST_STATES)


def run(
    spec: Spec,
    options: Options,
    bounds: Bounds,
    *,
    selfcheck: str = "on",
    walks: bool = True,
    watch: Callable[[Progress], None] = lambda _progress: None,
) -> tuple[CheckReport, ...]:
    """Check an adapter breadth-first and, where that ends at a bound, by random walks.

    Args:
        spec: what to check.
        options: how to explore, and how many walks.
        bounds: of the breadth-first search; time and memory are those of the walks, too.
        selfcheck: which calls to check for determinism.
        walks: whether to walk at all.
        watch: called now and then with the progress.

    Returns:
        A report, or two; the counterexample of a walk is shortened.

    Raises:
        InputError: something asked for cannot be used, or the adapter lacks something.
    """
    first = check(evolve(spec, search="breadth"), options, bounds, selfcheck=selfcheck, watch=watch)
    ended = first.result.verdict is not Verdict.INCOMPLETE or first.interrupted
    if ended or not walks or first.system.workload.buffer is not None:
        return (first,)
    left = evolve(bounds, max_states=None, max_depth=None)
    second = check(
        evolve(spec, search="random"),
        options,
        left,
        selfcheck=selfcheck,
        minimised=True,
        watch=watch,
    )
    return first, second


def text(reports: tuple[CheckReport, ...]) -> str:
    """Return what was found, for people."""
    if len(reports) == 1:
        return check_text(reports[0])
    states, depth = reports[0].result.counts.unique_states, reports[0].result.counts.depth
    found = (
        f"Breadth-first, nothing is violated in the {states:,} states up to depth {depth:,} that "
        f"were looked at ({reports[0].result.stopped_by}). Random walks beyond:"
    )
    return f"{wrapped(found)}\n\n{check_text(reports[1])}"
