"""Rules for the papers' claims about time and sizes: conditions on medians at figures' points.

`RULES` has them by the names that the claims use (`checker/papers/claims/*.toml`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from statistics import StatisticsError, correlation, linear_regression
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.papers.simulate.figures import CYKAS_BASE, HYBRID, KEY_NUMBERS, K
from antecede.checker.papers.simulate.scenario import MS, Scenario
from antecede.checker.papers.simulate.statistics import (
    CONTROL_EACH,
    THROUGHPUT,
    added,
    cell_of,
    medians,
    speedups,
)
from antecede.checker.sweep.kept import Row


class MissingError(Exception):
    """A point that a claim needs has no rows."""


@frozen(eq=False)
class Numbers:
    """Medians at the points of a claim; at most one assumption is changed.

    Attributes:
        rows: rows without errors.
        changed: field -> value in place of the default.
    """

    rows: Sequence[Row]
    changed: Mapping[str, Any] = field(factory=dict)
    _found: dict[tuple[str, ...], Mapping[Any, Any]] = field(factory=dict)
    _moved: list[Scenario] = field(factory=list)

    def speedup(
        self,
        point: Scenario,
        of: str = "cykas",
        over: str = "mfss",
        measure: str = "execution_ns",
    ) -> float:
        """Return the median ratio of `over` to `of`."""
        key = ("speedup", measure, of, over)
        return self._at(key, lambda: speedups(self.rows, measure, of, over), self._cell(point))

    def median(self, protocol: str, point: Scenario, measure: str = "execution_ns") -> float:
        """Return the median of a protocol's measure."""
        key = ("median", measure)
        return self._at(key, lambda: medians(self.rows, measure), (protocol, self._cell(point)))

    def added(self, protocol: str, point: Scenario, measure: str) -> float:
        """Return the median difference between a protocol and delivery without causal order."""
        key = ("added", measure)
        where = (protocol, self._cell(point))
        return self._at(key, lambda: added(self.rows, measure, "unordered"), where)

    @property
    def differs(self) -> bool:
        """The changed assumption changes a point that the rule has read."""
        return bool(self._moved)

    def _cell(self, point: Scenario) -> tuple[Any, ...]:
        moved = evolve(point, **self.changed)
        if moved != point:
            self._moved.append(moved)
        return cell_of(moved)

    def _at(self, key: tuple[str, ...], make: Callable[[], Any], where: Any) -> float:
        if key not in self._found:
            self._found[key] = make()
        if where not in self._found[key]:
            raise MissingError
        median: float = self._found[key][where].median
        return median


Rule: TypeAlias = Callable[[Numbers], tuple[bool, str]]
"""A rule returns whether the numbers agree with a claim, and a text with the numbers."""


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as a list in a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


# Cykas paper, Figure 4


_SIZES, _RATES = (25, 50, 100, 200, 500), (20 * K, 100 * K, 1_000 * K, 10_000 * K)


def _point_4(actors: int, bandwidth: int) -> Scenario:
    return evolve(CYKAS_BASE, interval=0, actors=actors, bandwidth=bandwidth)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the line through points on logarithmic axes, by least squares."""
    xs, ys = ([math.log(point[k]) for point in points] for k in (0, 1))
    return linear_regression(xs, ys).slope


def _grows_with_processes(numbers: Numbers) -> tuple[bool, str]:
    slopes = [
        _slope([(n, numbers.median("rst", _point_4(n, rate))) for n in _SIZES])
        for rate in _RATES[:3]
    ]
    return all(1.8 <= s <= 2.2 for s in slopes), (
        f"exponents {listed(slopes)} at 20, 100 and 1000 kB/s"
    )


def _grows_with_bandwidth(numbers: Numbers) -> tuple[bool, str]:
    slopes = [
        _slope([(1 / rate, numbers.median("rst", _point_4(n, rate))) for rate in _RATES])
        for n in _SIZES
    ]
    return all(1.8 <= s <= 2.2 for s in slopes), (
        f"exponents {listed(slopes)} for 25, 50, 100, 200 and 500 processes"
    )


def crossing(numbers: Numbers, actors: int, other: str) -> tuple[float, bool]:
    """Return the ratio of processes per kB/s above which RST is slower than `other`.

    The ratio is interpolated between two points of the grid, on logarithmic axes. If RST is slower
    even at the grid's least ratio, the result is this ratio and True.
    """
    points = [
        (
            actors / (rate / K),
            numbers.median("rst", _point_4(actors, rate))
            / numbers.median(other, _point_4(actors, rate)),
        )
        for rate in reversed(_RATES)
    ]
    for (x, before), (after_x, after) in pairwise(points):
        if before <= 1 < after:
            share = math.log(1 / before) / math.log(after / before)
            return math.exp(math.log(x) + share * math.log(after_x / x)), False
    return points[0][0], True


def _one_crossing(numbers: Numbers) -> tuple[bool, str]:
    texts, agree = [], True
    for other in ("mfss", "cykas"):
        crossings = [crossing(numbers, n, other) for n in _SIZES]
        agree = agree and all(
            ratio >= 0.01 if below else 0.01 <= ratio <= 0.04 for ratio, below in crossings
        )
        listing = ", ".join(f"{'below ' if below else ''}{ratio:.3f}" for ratio, below in crossings)
        texts.append(f"RST meets {other} at {listing}")
    return agree, f"{'; '.join(texts)} (25, 50, 100, 200, 500 processes)"


def _crossing_100(numbers: Numbers) -> tuple[bool, str]:
    ratio = numbers.speedup(KEY_NUMBERS["crossover"].scenario, "mfss", "rst")
    return 0.5 <= ratio <= 2, f"RST takes {ratio:.2f} times as long as MFSS"


# Cykas paper, Figure 5

_INTERVALS, _LENGTHS = (1, 10, 100, 1_000), (0.5, 5, 12.5, 25, 50)


def _point_5(interval: float, length: float) -> Scenario:
    return evolve(
        CYKAS_BASE, job_share=0.1, interval=int(interval * MS), job_length=int(length * MS)
    )


def _nearly_always_faster(numbers: Numbers) -> tuple[bool, str]:
    ratios = [numbers.speedup(_point_5(i, j)) for i in _INTERVALS for j in _LENGTHS]
    faster, slower = sum(f > 1.005 for f in ratios), sum(f < 0.995 for f in ratios)
    text = f"faster at {faster} of {len(ratios)} points, slower at {slower}, else within 0.5 %"
    return slower <= 2, f"{text}; least {min(ratios):.3f}, greatest {max(ratios):.3f}"


def _rises_and_falls(numbers: Numbers) -> tuple[bool, str]:
    short, middle, long = (numbers.speedup(_point_5(10, j)) for j in (0.5, 12.5, 50))
    return short < middle > long > 1, f"{listed((short, middle, long))} for 0.5, 12.5 and 50 ms"


def _largest_where_frequent(actors: int, numbers: Numbers) -> tuple[bool, str]:
    often, less = (numbers.speedup(evolve(_point_5(i, 12.5), actors=actors)) for i in (1, 10))
    return often > less, f"{often:.2f} every 1 ms, {less:.2f} every 10 ms, with jobs of 12.5 ms"


def _like_mfss_where_rare(numbers: Numbers) -> tuple[bool, str]:
    ratios = [numbers.speedup(_point_5(i, j)) for i in (100, 1_000) for j in _LENGTHS]
    return all(f < 1.05 for f in ratios), f"at most {max(ratios):.3f} every 100 ms or 1 s"


def _start_follows(numbers: Numbers) -> tuple[bool, str]:
    pairs = [
        (
            numbers.speedup(_point_5(i, j)),
            numbers.speedup(_point_5(i, j), measure="job_start_ns"),
        )
        for i in (1, 10)
        for j in _LENGTHS
    ]
    correlations = [_correlation(pairs[first : first + 5]) for first in (0, 5)]
    return all(c > 0.5 for c in correlations), (
        f"correlation {listed(correlations)} over job lengths, every 1 ms and every 10 ms"
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    xs, ys = zip(*pairs, strict=True)
    try:
        return correlation(xs, ys)
    except StatisticsError:  # one of them is constant
        return 0.0


# Cykas paper, Figure 6


def _point_6(hotspots: float, job_share: float) -> Scenario:
    return evolve(
        CYKAS_BASE, job_lengths="normal", hotspots=hotspots, job_share=job_share, job_length=25 * MS
    )


def _uniform(job_share: float, numbers: Numbers) -> tuple[bool, str]:
    ratio = numbers.speedup(_point_6(0.0, job_share))
    return 1.2 <= ratio <= 1.4, f"{ratio:.2f}"


def _hotspots(numbers: Numbers) -> tuple[bool, str]:
    ratios = [numbers.speedup(_point_6(share, 0.0)) for share in (0.05, 0.1, 0.2)]
    return all(f < 1 for f in ratios), f"{listed(ratios)} at 5, 10 and 20 %"


def _hotspots_at_10(numbers: Numbers) -> tuple[bool, str]:
    ratio = numbers.speedup(_point_6(0.1, 0.0))
    return ratio < 1, f"{ratio:.2f} at 10 %"


def _hotspots_with_jobs(numbers: Numbers) -> tuple[bool, str]:
    none, *ratios = (numbers.speedup(_point_6(share, 0.1)) for share in (0.0, 0.05, 0.1, 0.2))
    return all(1 < f < none for f in ratios), (
        f"{listed(ratios)} at 5, 10 and 20 %, {none:.2f} without hotspots"
    )


def _hotspots_with_jobs_at_10(numbers: Numbers) -> tuple[bool, str]:
    ratio = numbers.speedup(_point_6(0.1, 0.1))
    return ratio > 1, f"{ratio:.2f} at 10 %"


# Hybrid paper, Table 1

_TRIP = 2 * 5
"""Milliseconds of a round trip."""


def _of(part: str, workload: str, **values: Any) -> Scenario:
    return next(
        s
        for s in HYBRID[part].scenarios(quick=False)
        if s.workload == workload and all(getattr(s, k) == v for k, v in values.items())
    )


def _trips(numbers: Numbers, protocol: str, part: str, **values: Any) -> float:
    point = _of(part, "requests", **values)
    return numbers.added(protocol, point, "latency_p99_ns") / MS / _TRIP


def _hybrid_adds_a_trip(numbers: Numbers) -> tuple[bool, str]:
    intervals = (10 * MS, 20 * MS, 50 * MS, 100 * MS)
    trips = [
        _trips(numbers, p, "load", interval=i)
        for p in ("hybrid-basic", "hybrid-sps")
        for i in intervals
    ]
    return max(
        trips
    ) <= 3, f"99th percentile: {listed(trips[:4], 1)} round trips; SPS-optimal: " + (
        listed(trips[4:], 1)
    )


def _mf_adds_the_buffer(numbers: Numbers) -> tuple[bool, str]:
    trips = [_trips(numbers, "mfss", "load", interval=i) for i in (20 * MS, 50 * MS, 100 * MS)]
    point = _of("load", "requests", interval=20 * MS)
    held = numbers.median("mfss", point, "sender_buffer")
    return trips[0] > 10 and 0.3 <= trips[0] / held <= 3, (
        f"99th percentile: {listed(trips, 0)} round trips every 20, 50 and 100 ms; at most "
        f"{held:.0f} messages are held back every 20 ms"
    )


def _throughput_falls(protocol: str, numbers: Numbers) -> tuple[bool, str]:
    near, far = (
        numbers.median(protocol, _of("distance", "requests", delay=delay), THROUGHPUT)
        for delay in (1 * MS, 20 * MS)
    )
    return near / far > 5, f"{near:,.0f} deliveries per second at 1 ms, {far:,.0f} at 20 ms"


def _throughput_scales(numbers: Numbers) -> tuple[bool, str]:
    holds, texts = True, []
    for protocol in ("hybrid-basic", "hybrid-sps", "unordered"):
        falls, text = _throughput_falls(protocol, numbers)
        holds = holds and not falls
        texts.append(f"{protocol} {text}")
    return holds, "; ".join(texts)


def _bytes_stay(numbers: Numbers) -> tuple[bool, str]:
    few, many = (
        [
            numbers.median(p, _of("size", "random", actors=n), CONTROL_EACH)
            for p in ("hybrid-basic", "hybrid-sps", "rst", "ks")
        ]
        for n in (8, 32)
    )
    constant = all(b <= 1.2 * a for a, b in zip(few[:2], many[:2], strict=True))
    text = "; ".join(
        f"{p} {a:.0f} and {b:.0f}"
        for p, a, b in zip(("hybrid-basic", "hybrid-sps", "rst", "ks"), few, many, strict=True)
    )
    return constant and many[2] > 8 * few[2], f"bytes for 8 and 32 processes: {text}"


def _receivers_add_nothing(numbers: Numbers) -> tuple[bool, str]:
    milliseconds = [
        numbers.added(p, _of("load", "random", interval=50 * MS), "latency_p99_ns") / MS
        for p in ("rst", "ks", "newtop-null")
    ]
    rst, ks, newtop = milliseconds
    return max(rst, ks) < 0.2 * _TRIP and newtop > 0.2 * _TRIP, (
        f"99th percentile: RST {rst:.1f} ms, KS {ks:.1f} ms (their bytes), Newtop {newtop:.1f} ms"
    )


RULES: Mapping[str, Rule] = {
    "grows_with_processes": _grows_with_processes,
    "grows_with_bandwidth": _grows_with_bandwidth,
    "crossing_100": _crossing_100,
    "one_crossing": _one_crossing,
    "nearly_always_faster": _nearly_always_faster,
    "rises_and_falls": _rises_and_falls,
    "largest_where_frequent": partial(_largest_where_frequent, 100),
    "largest_where_frequent_with_50": partial(_largest_where_frequent, 50),
    "like_mfss_where_rare": _like_mfss_where_rare,
    "start_follows": _start_follows,
    "uniform": partial(_uniform, 0.0),
    "uniform_with_jobs": partial(_uniform, 0.1),
    "hotspots": _hotspots,
    "hotspots_at_10": _hotspots_at_10,
    "hotspots_with_jobs": _hotspots_with_jobs,
    "hotspots_with_jobs_at_10": _hotspots_with_jobs_at_10,
    "hybrid_adds_a_trip": _hybrid_adds_a_trip,
    "mf_adds_the_buffer": _mf_adds_the_buffer,
    "receivers_add_nothing": _receivers_add_nothing,
    "throughput_of_mf_falls": partial(_throughput_falls, "mfss"),
    "throughput_of_cykas_falls": partial(_throughput_falls, "cykas"),
    "throughput_scales": _throughput_scales,
    "bytes_stay": _bytes_stay,
}
"""Name -> rule."""
