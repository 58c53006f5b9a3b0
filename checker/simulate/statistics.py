"""What many runs say: medians with 95 % intervals, and speedups paired by program.

The interval of a median is between two of the sorted values, whatever their distribution: the
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
"""Measures beside a row's own: bytes without payload per message that is causal-sent; and
deliveries per second, up to the last one."""

Cell: TypeAlias = tuple[Any, ...]
"""The values of all fields of a scenario: one point of a figure."""


@frozen
class Estimate:
    """The median of several values, with its 95 % confidence interval if that is known.

    Attributes:
        median: the middle value, or the mean of both.
        low, high: None with fewer than six values.
        runs: how many values.
    """

    median: float
    low: float | None
    high: float | None
    runs: int


def ranks(count: int) -> tuple[int, int] | None:
    """Return which of `count` sorted values, from 0, bound the 95 % interval of the median."""
    outside, below = 0, -1
    while 2 * (outside + comb(count, below + 1)) <= (1 - LEVEL) * 2**count:
        below += 1
        outside += comb(count, below)
    return (below, count - 1 - below) if below >= 0 else None


def estimate(values: Iterable[float]) -> Estimate | None:
    """Return the median of values and its interval; None of nothing."""
    listed = sorted(values)
    count = len(listed)
    if not count:
        return None
    bounds = ranks(count)
    low, high = (None, None) if bounds is None else (listed[bounds[0]], listed[bounds[1]])
    median = (listed[(count - 1) // 2] + listed[count // 2]) / 2
    return Estimate(median, low, high, count)


def cell_of(row: Row | Scenario) -> Cell:
    """Return the point that a row, or a scenario, belongs to."""
    if isinstance(row, Scenario):
        return tuple(getattr(row, name) for name in FIELDS)
    return tuple(row[name] for name in FIELDS)


def value(row: Row, measure: str) -> float | None:
    """Return a measure of a row."""
    if measure == CONTROL_EACH:
        return float(row["control_bytes"] / row["messages_sent"])
    if measure == THROUGHPUT:
        return float(row["deliveries"] / row["last_delivery_ns"] * 1e9)
    found: float | None = row[measure]
    return found


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
    """Return, per point, the median of how many times less `of` takes than `over`.

    Each ratio is of two runs of the same program.
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
    found: dict[Cell, dict[int, float]] = defaultdict(dict)
    for (cell, seed), pair in pairs.items():
        if len(pair) == 2 and pair[of]:
            found[cell][seed] = pair[over] / pair[of]
    return found


def added(rows: Sequence[Row], measure: str, over: str) -> dict[tuple[str, Cell], Estimate]:
    """Return, per protocol and point, the median of how much more it takes than `over`.

    Each difference is of two runs of the same program.
    """
    base = {(cell_of(row), row["seed"]): row[measure] for row in rows if row["protocol"] == over}
    found: dict[tuple[str, Cell], list[float]] = defaultdict(list)
    for row in rows:
        cell = cell_of(row)
        other = base.get((cell, row["seed"]))
        if other is not None and row[measure] is not None:
            found[row["protocol"], cell].append(row[measure] - other)
    return {key: made for key, values in found.items() if (made := estimate(values))}


def varied(scenarios: Iterable[Scenario | Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the fields that are not the same in all scenarios (or rows), in their order."""
    return tuple(_varied(list(scenarios)))


def _varied(scenarios: Sequence[Any]) -> Iterator[str]:
    for place, name in enumerate(FIELDS):
        if len({cell_of(scenario)[place] for scenario in scenarios}) > 1:
            yield name
