"""Statistics of many runs: medians with 95 % intervals, and speedups paired by program.

The interval of a median lies between two of the sorted values, for any distribution, because the
number of values below the median is binomial (David and Nagaraja: Order Statistics, section 7.1).
Fewer than six values have no such interval.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Any, TypeAlias

from attrs import frozen

from antecede.checker.simulate.scenario import FIELDS, Scenario
from antecede.checker.sweep.kept import Row

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
    values: dict[tuple[str, Cell], list[float]] = defaultdict(list)
    for row in rows:
        measured = value(row, measure)
        if measured is not None:
            values[row["protocol"], cell_of(row)].append(measured)
    return {key: found for key, listed in values.items() if (found := estimate(listed))}


def speedups(
    rows: Sequence[Row], measure: str, of: str = "cykas", over: str = "mfss"
) -> dict[Cell, Estimate]:
    """Return, per point, the median speedup: the ratio of `over` to `of`.

    Each ratio compares two runs of the same program.
    """
    return {
        cell: found
        for cell, ratios in _ratios(rows, measure, of, over).items()
        if (found := estimate(ratios.values()))
    }


def _ratios(rows: Sequence[Row], measure: str, of: str, over: str) -> dict[Cell, dict[int, float]]:
    """Return, per point and seed, the ratio of `over` to `of`."""
    pairs: dict[tuple[Cell, int], dict[str, Any]] = defaultdict(dict)
    for row in rows:
        if row["protocol"] in (of, over) and row[measure] is not None:
            pairs[cell_of(row), row["seed"]][row["protocol"]] = row[measure]
    ratios: dict[Cell, dict[int, float]] = defaultdict(dict)
    for (cell, seed), pair in pairs.items():
        if len(pair) == 2 and pair[of]:
            ratios[cell][seed] = pair[over] / pair[of]
    return ratios


def added(rows: Sequence[Row], measure: str, over: str) -> dict[tuple[str, Cell], Estimate]:
    """Return, per protocol and point, the median difference from `over`.

    Each difference compares two runs of the same program.
    """
    base = {(cell_of(row), row["seed"]): row[measure] for row in rows if row["protocol"] == over}
    differences: dict[tuple[str, Cell], list[float]] = defaultdict(list)
    for row in rows:
        cell = cell_of(row)
        other = base.get((cell, row["seed"]))
        if other is not None and row[measure] is not None:
            differences[row["protocol"], cell].append(row[measure] - other)
    return {key: made for key, values in differences.items() if (made := estimate(values))}


def varied(scenarios: Iterable[Scenario | Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields that differ between scenarios (or rows), in their order."""
    return tuple(_varied(list(scenarios)))


def _varied(scenarios: Sequence[Any]) -> Iterator[str]:
    for place, name in enumerate(FIELDS):
        if len({cell_of(scenario)[place] for scenario in scenarios}) > 1:
            yield name
