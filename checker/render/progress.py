"""The figures of a search under way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from antecede.checker.check.spec import Spec
from antecede.checker.render.terminal import SHORTEST, elapsed, rounded
from antecede.checker.render.ticker import Ticker, fitting
from antecede.checker.search.loop import Progress
from antecede.checker.support.amounts import memory

EXACT = 100_000
"""Numbers below this are never rounded."""

SHRINKING = 4
"""An end is estimated if the latest levels, so many, grow smaller and smaller."""


def watching(ticker: Ticker, *, many: bool = False) -> Callable[[Spec, Progress], None]:
    """Return a function that shows the progress of a check; of `many`, it says of which."""

    def watch(spec: Spec, progress: Progress) -> None:
        if progress.counts.total_states <= 1:
            return  # the search is only beginning
        label = f"{spec.label}:" if many else ""
        ticker.show(lambda width: progress_text(progress, width, label))

    return watch


def progress_text(progress: Progress, width: int | None = None, label: str = "") -> str:
    """Return the figures of a search under way in one line, of at most `width` columns.

    Numbers are rounded if they do not fit otherwise, and the least important ones are left out.
    """
    if width is not None and len(label) > width // 2:
        label = f"...{label[len(label) - width // 2 + 3 :]}"
    exact = _parts(progress, "{:,}".format, label)
    whole = "  ".join(text for _, text in exact if text)
    if width is None or len(whole) <= width:
        return whole
    return fitting(_parts(progress, _short, label), width)


def _short(number: int) -> str:
    return f"{number:,}" if number < EXACT else rounded(number)


def _parts(progress: Progress, number: Callable[[int], str], label: str) -> list[tuple[int, str]]:
    """Return the parts of the line with their ranks; see `fitting`."""
    counts, seconds = progress.counts, progress.seconds
    speed = f"{number(int(counts.total_states / seconds))} states/s" if seconds >= SHORTEST else ""
    return [
        (4, f"{progress.waits_for}:" if progress.waits_for else ""),
        (0, f"{label} {place_text(progress)}".strip()),
        (1, f"unique {number(counts.unique_states)}"),
        (8, f"total {number(counts.total_states)}"),
        (5, speed),
        (6, f"to explore {number(progress.frontier)}"),
        (7, memory(progress.memory_bytes)),
        (2, elapsed(seconds)),
        (3, _end(progress)),
    ]


def place_text(progress: Progress) -> str:
    """Return the level that is being expanded, or the greatest depth if there are no levels."""
    if progress.levels:
        return f"level {len(progress.levels):,}"
    return f"greatest depth {progress.counts.depth:,}"


def _end(progress: Progress) -> str:
    """Return how much of a bound is used up, or about when the search ends, if that is known."""
    if progress.nearest is not None:
        share, bound = progress.nearest
        return f"{100 * share:.0f} % of {bound}"
    left = seconds_left(progress.levels, progress.seconds)
    return "" if left is None else f"estimate: {elapsed(left)} left"


def seconds_left(levels: Sequence[int], seconds: float) -> float | None:
    """Return an estimate of the time until all states are expanded, or None.

    There is an estimate only if the latest levels grow smaller, each by a smaller factor than the
    one before. If this goes on, the levels to come are at most a geometric series.

    Args:
        levels: the numbers of new states per level; the last level is being expanded.
        seconds: the time that the search took so far.
    """
    factors = [after / before for before, after in pairwise(levels[-SHRINKING - 1 :])]
    if len(factors) < SHRINKING or factors[0] >= 1 or any(b > a for a, b in pairwise(factors)):
        return None
    return levels[-1] / (1 - factors[-1]) * seconds / sum(levels[:-1])
