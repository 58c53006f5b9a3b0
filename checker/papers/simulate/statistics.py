"""Statistics of many runs: medians with 95 % intervals, and speedups paired by program.

The interval of a median lies between two of the sorted values, for any distribution, because the
number of values below the median is binomial (David and Nagaraja: Order Statistics, section 7.1).
Fewer than six values have no such interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Any, TypeAlias, TypeVar

from attrs import frozen

from antecede.checker.papers.simulate.scenario import FIELDS, Scenario
from antecede.checker.sweep.kept import Row

K = TypeVar("K")

LEVEL = 0.95

CONTROL_EACH = "control_bytes_each"
THROUGHPUT = "throughput"
"""Measures besides a row's own: control bytes per causal-sent message; and deliveries per second,
up to the last delivery."""

Cell: TypeAlias = tuple[Any, ...]
"""The values of all fields of a scenario: one point of a figure."""


@frozen
class Estimate:
    """The median of several values, with its 95 % confidence interval if it is known.

    Attributes:
        median: the middle value, or the mean of the two middle values.
        low, high: the interval; None with fewer than six values.
    """

    median: float
    low: float | None
    high: float | None
    runs: int


def ranks(count: int) -> tuple[int, int] | None:
    """Return the indices that bound the median's 95 % interval in `count` sorted values."""
    outside, below = 0, -1
    while 2 * (outside + comb(count, below + 1)) <= (1 - LEVEL) * 2**count:
        below += 1
        outside += comb(count, below)
    return (below, count - 1 - below) if below >= 0 else None


def estimate(values: Iterable[float]) -> Estimate | None:
    """Return the median of values and its interval; None if there are no values."""
    listed = sorted(values)
    count = len(listed)
    if not count:
        return None
    bounds = ranks(count)
    low, high = (None, None) if bounds is None else (listed[bounds[0]], listed[bounds[1]])
    median = (listed[(count - 1) // 2] + listed[count // 2]) / 2
    return Estimate(median, low, high, count)


def cell_of(row: Row | Scenario) -> Cell:
    """Return the point of a row or scenario."""
    if isinstance(row, Scenario):
        return tuple(getattr(row, name) for name in FIELDS)
    return tuple(row[name] for name in FIELDS)


def value(row: Row, measure: str) -> float | None:
    """Return a measure of a row."""
    if measure == CONTROL_EACH:
        return float(row["control_bytes"] / row["messages_sent"])
    if measure == THROUGHPUT:
        return float(row["deliveries"] / row["last_delivery_ns"] * 1e9)
    number: float | None = row[measure]
    return number


def medians(rows: Sequence[Row], measure: str) -> dict[tuple[str, Cell], Estimate]:
    """Return, per protocol and point, the median of a measure over the seeds."""
    return _estimates(
        ((row["protocol"], cell_of(row)), measured)
        for row in rows
        if (measured := value(row, measure)) is not None
    )


def speedups(
    rows: Sequence[Row], measure: str, of: str = "cykas", over: str = "mfss"
) -> dict[Cell, Estimate]:
    """Return, per point, the median speedup: the ratio of `over` to `of`.

    Each ratio compares two runs of the same program.
    """
    pairs = _pairs(rows, measure, over)
    return _estimates((cell, base / own) for name, cell, own, base in pairs if name == of and own)


def added(rows: Sequence[Row], measure: str, over: str) -> dict[tuple[str, Cell], Estimate]:
    """Return, per protocol and point, the median difference from `over`.

    Each difference compares two runs of the same program.
    """
    pairs = _pairs(rows, measure, over)
    return _estimates(((name, cell), own - base) for name, cell, own, base in pairs)


def _pairs(
    rows: Sequence[Row], measure: str, over: str
) -> Iterator[tuple[str, Cell, float, float]]:
    """Yield (protocol, point, its value, the value of `over` for the same program) per row."""
    base = {(cell_of(row), row["seed"]): row[measure] for row in rows if row["protocol"] == over}
    for row in rows:
        cell = cell_of(row)
        other = base.get((cell, row["seed"]))
        if other is not None and row[measure] is not None:
            yield row["protocol"], cell, row[measure], other


def _estimates(values: Iterable[tuple[K, float]]) -> dict[K, Estimate]:
    """Return the median of the values of each key."""
    listed: dict[K, list[float]] = defaultdict(list)
    for key, measured in values:
        listed[key].append(measured)
    return {key: found for key, several in listed.items() if (found := estimate(several))}


def varied(scenarios: Iterable[Scenario | Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields that differ between scenarios (or rows), in their order."""
    return tuple(_varied(list(scenarios)))


def _varied(scenarios: Sequence[Any]) -> Iterator[str]:
    for place, name in enumerate(FIELDS):
        if len({cell_of(scenario)[place] for scenario in scenarios}) > 1:
            yield name
