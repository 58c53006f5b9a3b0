"""What the Cykas paper says of its Figures 4 to 6, as rules on medians."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from antecede.checker.simulate.claims import Numbers, Rule, TimedClaim, listed
from antecede.checker.simulate.figures import CYKAS_BASE, K
from antecede.checker.simulate.keynumbers import KEY_NUMBERS
from antecede.checker.simulate.scenario import MS, Scenario

# Figure 4

_SIZES, _RATES = (25, 50, 100, 200, 500), (20 * K, 100 * K, 1_000 * K, 10_000 * K)


def _point_4(actors: int, bandwidth: int) -> Scenario:
    return evolve(CYKAS_BASE, interval=0, actors=actors, bandwidth=bandwidth)


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the line through points on logarithmic axes, by least squares."""
    xs, ys = ([math.log(point[k]) for point in points] for k in (0, 1))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


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
    """Return the processes per kB/s from which on RST is slower than `other`.

    Between two points of the grid, on logarithmic axes; or the grid's least ratio and True, if RST
    is slower even there.
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
        found = [crossing(numbers, n, other) for n in _SIZES]
        agree = agree and all(
            ratio >= 0.01 if below else 0.01 <= ratio <= 0.04 for ratio, below in found
        )
        shown = ", ".join(f"{'below ' if below else ''}{ratio:.3f}" for ratio, below in found)
        texts.append(f"RST meets {other} at {shown}")
    return agree, f"{'; '.join(texts)} (25, 50, 100, 200, 500 processes)"


def _crossing_100(numbers: Numbers) -> tuple[bool, str]:
    ratio = numbers.speedup(KEY_NUMBERS["crossover"].scenario, "mfss", "rst")
    return 0.5 <= ratio <= 2, f"RST takes {ratio:.2f} times as long as MFSS"


# Figure 5

_INTERVALS, _LENGTHS = (1, 10, 100, 1_000), (0.5, 5, 12.5, 25, 50)


def _point_5(interval: float, length: float) -> Scenario:
    return evolve(
        CYKAS_BASE, job_share=0.1, interval=int(interval * MS), job_length=int(length * MS)
    )


def _nearly_always_faster(numbers: Numbers) -> tuple[bool, str]:
    found = [numbers.speedup(_point_5(i, j)) for i in _INTERVALS for j in _LENGTHS]
    faster, slower = sum(f > 1.005 for f in found), sum(f < 0.995 for f in found)
    text = f"faster at {faster} of {len(found)} points, slower at {slower}, else within 0.5 %"
    return slower <= 2, f"{text}; least {min(found):.3f}, greatest {max(found):.3f}"


def _rises_and_falls(numbers: Numbers) -> tuple[bool, str]:
    short, middle, long = (numbers.speedup(_point_5(10, j)) for j in (0.5, 12.5, 50))
    return short < middle > long > 1, f"{listed((short, middle, long))} for 0.5, 12.5 and 50 ms"


def _largest_where_frequent(numbers: Numbers) -> tuple[bool, str]:
    often, less = (numbers.speedup(_point_5(i, 12.5)) for i in (1, 10))
    return often > less, f"{often:.2f} every 1 ms, {less:.2f} every 10 ms, with jobs of 12.5 ms"


def _like_mfss_where_rare(numbers: Numbers) -> tuple[bool, str]:
    found = [numbers.speedup(_point_5(i, j)) for i in (100, 1_000) for j in _LENGTHS]
    return all(f < 1.05 for f in found), f"at most {max(found):.3f} every 100 ms or 1 s"


def _start_follows(numbers: Numbers) -> tuple[bool, str]:
    pairs = [
        (
            numbers.speedup(_point_5(i, j)),
            numbers.speedup(_point_5(i, j), measure="job_start_ns"),
        )
        for i in (1, 10)
        for j in _LENGTHS
    ]
    correlation = [_correlation(pairs[at : at + 5]) for at in (0, 5)]
    return all(c > 0.5 for c in correlation), (
        f"correlation {listed(correlation)} over job lengths, every 1 ms and every 10 ms"
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    xs, ys = zip(*pairs, strict=True)
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((a - x) * (b - y) for a, b in pairs)
    spread = math.sqrt(sum((a - x) ** 2 for a in xs) * sum((b - y) ** 2 for b in ys))
    return both / spread if spread else 0.0


# Figure 6


def _point_6(hotspots: float, job_share: float) -> Scenario:
    return evolve(
        CYKAS_BASE, job_lengths="normal", hotspots=hotspots, job_share=job_share, job_length=25 * MS
    )


def _uniform(job_share: float) -> Rule:
    def rule(numbers: Numbers) -> tuple[bool, str]:
        found = numbers.speedup(_point_6(0.0, job_share))
        return 1.2 <= found <= 1.4, f"{found:.2f}"

    return rule


def _hotspots(numbers: Numbers) -> tuple[bool, str]:
    found = [numbers.speedup(_point_6(share, 0.0)) for share in (0.05, 0.1, 0.2)]
    return all(f < 1 for f in found), f"{listed(found)} at 5, 10 and 20 %"


def _hotspots_at_10(numbers: Numbers) -> tuple[bool, str]:
    found = numbers.speedup(_point_6(0.1, 0.0))
    return found < 1, f"{found:.2f} at 10 %"


def _hotspots_with_jobs(numbers: Numbers) -> tuple[bool, str]:
    none, *found = (numbers.speedup(_point_6(share, 0.1)) for share in (0.0, 0.05, 0.1, 0.2))
    return all(1 < f < none for f in found), (
        f"{listed(found)} at 5, 10 and 20 %, {none:.2f} without hotspots"
    )


def _hotspots_with_jobs_at_10(numbers: Numbers) -> tuple[bool, str]:
    found = numbers.speedup(_point_6(0.1, 0.1))
    return found > 1, f"{found:.2f} at 10 %"


CLAIMS: tuple[TimedClaim, ...] = (
    TimedClaim(
        "figure-4-processes",
        "Section 5.2, Figure 4",
        "RST's execution time grows with the square of the ratio, as processes are added.",
        "cykas-4",
        _grows_with_processes,
        "At a fixed bandwidth; at 10 MB/s the delay weighs in.",
    ),
    TimedClaim(
        "figure-4-bandwidth",
        "Section 5.2, Figure 4",
        "And as bandwidth is taken away.",
        "cykas-4",
        _grows_with_bandwidth,
        "With a fixed number of processes a matrix takes longer in proportion: the exponent is 1.",
    ),
    TimedClaim(
        "figure-4-crossover-100",
        "Section 5.2, the example",
        "With 100 processes, RST meets the sender-side protocols near 5000 kB/s.",
        "tornado-4",
        _crossing_100,
        "Within a factor of two.",
    ),
    TimedClaim(
        "figure-4-crossover",
        "Section 5.2, Figure 4",
        "They meet near 0.02 processes per kB/s, whatever the number of processes.",
        "cykas-4",
        _one_crossing,
        "Within a factor of two. A matrix takes n² · 4 bytes: its ratio times n is what stays.",
    ),
    TimedClaim(
        "figure-5-faster",
        "Section 5.3, Figure 5",
        "Cykas is nearly always faster than MFSS.",
        "cykas-5",
        _nearly_always_faster,
    ),
    TimedClaim(
        "figure-5-shape",
        "Section 5.3, Figure 5",
        "As jobs become longer, the speedup rises, then falls, and stays above 1.",
        "cykas-5",
        _rises_and_falls,
        "Every 10 ms.",
    ),
    TimedClaim(
        "figure-5-frequent",
        "Section 5.3, Figure 5",
        "It is largest where communication is most frequent.",
        "cykas-5",
        _largest_where_frequent,
    ),
    TimedClaim(
        "figure-5-rare",
        "Section 5.3",
        "Where communication is rare, Cykas behaves like MFSS.",
        "cykas-5",
        _like_mfss_where_rare,
    ),
    TimedClaim(
        "figure-5-start",
        "Section 5.3, Figure 5",
        "The speedup of the average job start time follows nearly the same trend.",
        "cykas-5",
        _start_follows,
        "Job start time is read as the time from the start of the run.",
    ),
    TimedClaim(
        "figure-6-uniform",
        "Section 5.4, Figure 6",
        "Without hotspots and without jobs, Cykas is about 1.3 times as fast.",
        "cykas-6",
        _uniform(0.0),
        "From 1.2 to 1.4.",
    ),
    TimedClaim(
        "figure-6-uniform-jobs",
        "Section 5.4, Figure 6",
        "Without hotspots and with jobs, too.",
        "cykas-6",
        _uniform(0.1),
        "From 1.2 to 1.4.",
    ),
    TimedClaim(
        "figure-6-hotspots",
        "Section 5.4, Figure 6",
        "With hotspots and without jobs, Cykas is slower than MFSS.",
        "cykas-6",
        _hotspots,
        narrow=_hotspots_at_10,
    ),
    TimedClaim(
        "figure-6-hotspots-jobs",
        "Section 5.4, Figure 6",
        "With hotspots and jobs it is faster, but less than without hotspots.",
        "cykas-6",
        _hotspots_with_jobs,
        narrow=_hotspots_with_jobs_at_10,
    ),
)
"""In the order of the paper."""
