"""What the papers say of time, beside what came out: CONFIRMED, REFUTED, or DEPENDS ON.

A claim is a rule on medians at some points of its figure. It is decided under the default
assumptions, and again under each alternative that there are rows of for all its points; where one
of them turns the ruling, the claim DEPENDS ON that assumption.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.errors import InputError
from antecede.checker.simulate.experiment import kept_in
from antecede.checker.simulate.figures import CYKAS_BASE, HYBRID, K
from antecede.checker.simulate.keynumbers import KEY_NUMBERS
from antecede.checker.simulate.scenario import FIELDS, MS, Scenario, written
from antecede.checker.simulate.statistics import (
    CONTROL_EACH,
    THROUGHPUT,
    added,
    cell_of,
    medians,
    speedups,
)
from antecede.checker.sweep.kept import Row


class Ruling(StrEnum):
    """What runs say of a claim."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    DEPENDS = "DEPENDS ON"
    UNDECIDED = "UNDECIDED"


class MissingError(Exception):
    """There are no rows of a point that a claim needs."""


@frozen(eq=False)
class Numbers:
    """Medians at the points of a claim, under one assumption changed or none.

    Attributes:
        rows: of runs that came out right.
        changed: field -> value, in place of the default.
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
        """Return how many times less `of` takes than `over`."""
        key = ("speedup", measure, of, over)
        return self._at(key, lambda: speedups(self.rows, measure, of, over), self._cell(point))

    def median(self, protocol: str, point: Scenario, measure: str = "execution_ns") -> float:
        """Return a protocol's median."""
        found = ("median", measure)
        return self._at(found, lambda: medians(self.rows, measure), (protocol, self._cell(point)))

    def added(self, protocol: str, point: Scenario, measure: str) -> float:
        """Return how much more a protocol takes than delivery without causal order."""
        found = ("added", measure)
        where = (protocol, self._cell(point))
        return self._at(found, lambda: added(self.rows, measure, "unordered"), where)

    @property
    def differs(self) -> bool:
        """Whether the changed assumption made another of some point that was asked for."""
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


@frozen(eq=False)
class TimedClaim:
    """A claim about time, bytes or buffers.

    Attributes:
        key: unique.
        place: where in the paper.
        text: what it says, in our words.
        figure: whose grid has its points.
        rule: numbers -> whether they agree with it, and what they are.
        note: how it was read.
        narrow: the rule at fewer points, by which assumptions are tried; None: the same.
    """

    key: str
    place: str
    text: str
    figure: str
    rule: Rule
    note: str = ""
    narrow: Rule | None = None


@frozen
class Decided:
    """A claim with its ruling.

    Attributes:
        usual: the ruling under the defaults alone.
        found: the numbers under the defaults.
        turned: the alternatives that turn the ruling, each with its numbers.
        tried: how many alternatives there were rows of.
    """

    claim: TimedClaim
    ruling: Ruling
    usual: Ruling
    found: str
    turned: tuple[str, ...] = ()
    tried: int = 0


def decide(claim: TimedClaim, rows: Sequence[Row]) -> Decided:
    """Decide a claim by rows; UNDECIDED if there are none of some point under the defaults."""
    try:
        holds, found = claim.rule(Numbers(rows))
    except MissingError:
        text = "there are no runs of some of its points"
        return Decided(claim, Ruling.UNDECIDED, Ruling.UNDECIDED, text)
    rule, turned, tried = claim.narrow or claim.rule, [], 0
    usually, _ = rule(Numbers(rows))
    for name, value in alternatives():
        changed = Numbers(rows, {name: value})
        try:
            other, numbers = rule(changed)
        except MissingError:
            continue
        if not changed.differs:
            continue
        tried += 1
        if other != usually:
            turned.append(f"{name.replace('_', ' ')} {written(name, value)}: {numbers}")
    usual = Ruling.CONFIRMED if holds else Ruling.REFUTED
    return Decided(claim, Ruling.DEPENDS if turned else usual, usual, found, tuple(turned), tried)


def alternatives() -> Iterable[tuple[str, Any]]:
    """Return each assumption with each of its other values."""
    return ((name, value) for name, about in FIELDS.items() for value in about.metadata["others"])


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers for a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


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


# Table 1 of the hybrid paper

_TRIP = 2 * 5


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
    found = [
        _trips(numbers, p, "load", interval=i)
        for p in ("hybrid-basic", "hybrid-sps")
        for i in intervals
    ]
    return max(
        found
    ) <= 3, f"99th percentile: {listed(found[:4], 1)} round trips; SPS-optimal: " + (
        listed(found[4:], 1)
    )


def _mf_adds_the_buffer(numbers: Numbers) -> tuple[bool, str]:
    found = [_trips(numbers, "mfss", "load", interval=i) for i in (20 * MS, 50 * MS, 100 * MS)]
    point = _of("load", "requests", interval=20 * MS)
    held = numbers.median("mfss", point, "sender_buffer")
    return found[0] > 10 and 0.3 <= found[0] / held <= 3, (
        f"99th percentile: {listed(found, 0)} round trips every 20, 50 and 100 ms; at most "
        f"{held:.0f} messages are held back every 20 ms"
    )


def _throughput_falls(protocol: str) -> Rule:
    def rule(numbers: Numbers) -> tuple[bool, str]:
        near, far = (
            numbers.median(protocol, _of("distance", "requests", delay=delay), THROUGHPUT)
            for delay in (1 * MS, 20 * MS)
        )
        return near / far > 5, f"{near:,.0f} per second at 1 ms, {far:,.0f} at 20 ms"

    return rule


def _throughput_scales(numbers: Numbers) -> tuple[bool, str]:
    holds, texts = True, []
    for protocol in ("hybrid-basic", "hybrid-sps", "unordered"):
        falls, text = _throughput_falls(protocol)(numbers)
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
    found = [
        numbers.added(p, _of("load", "random", interval=50 * MS), "latency_p99_ns") / MS
        for p in ("rst", "ks", "newtop-null")
    ]
    rst, ks, newtop = found
    return max(rst, ks) < 0.2 * _TRIP and newtop > 0.2 * _TRIP, (
        f"99th percentile: RST {rst:.1f} ms, KS {ks:.1f} ms (their bytes), Newtop {newtop:.1f} ms"
    )


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
    TimedClaim(
        "hybrid-latency",
        "Hybrid paper, Table 1",
        "Hybrid buffering adds some round trips to the latency, O(r).",
        "hybrid",
        _hybrid_adds_a_trip,
        "Requests, from every 10 ms to every 100 ms; at most 3 round trips.",
    ),
    TimedClaim(
        "hybrid-latency-mf",
        "Hybrid paper, Table 1 and section 3.2",
        "MF adds a round trip for every message in its buffer, O(br).",
        "hybrid",
        _mf_adds_the_buffer,
        "Requests; within a factor of three.",
    ),
    TimedClaim(
        "hybrid-latency-receivers",
        "Hybrid paper, Table 1",
        "RST and KS add no latency of their own; Newtop does.",
        "hybrid",
        _receivers_add_nothing,
        "Random receivers every 50 ms.",
    ),
    TimedClaim(
        "hybrid-throughput-mf",
        "Hybrid paper, Table 1",
        "MF's throughput is limited by the round trip.",
        "hybrid",
        _throughput_falls("mfss"),
        "Requests all at once; more than five times less where the delay is twenty times as long.",
    ),
    TimedClaim(
        "hybrid-throughput-cykas",
        "Hybrid paper, Table 1",
        "Cykas' throughput is limited by the round trip, too.",
        "hybrid",
        _throughput_falls("cykas"),
        "As for MF.",
    ),
    TimedClaim(
        "hybrid-throughput",
        "Hybrid paper, Table 1",
        "That of hybrid buffering is not.",
        "hybrid",
        _throughput_scales,
        "Less than five times less, as without causal order.",
    ),
    TimedClaim(
        "hybrid-space",
        "Hybrid paper, Table 1",
        "Control data does not grow with the number of processes; RST's grows with its square.",
        "hybrid",
        _bytes_stay,
        "All that is not payload, ACKs and PERMITs included.",
    ),
)
"""In the order of the papers."""


def decided_by(files: Sequence[str]) -> list[Decided]:
    """Decide all claims by the rows of files; a run that several have counts once.

    Raises:
        InputError: a file cannot be read, or holds something else.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for name in files:
        if not Path(name).is_file():
            raise InputError(
                f"there is no file {name!r}; make rows with antecede simulate --figure"
            )
        kept = kept_in(Path(name))
        rows |= {kept.key(row): row for row in kept.rows() if row["error"] is None}
    _check_one_code(rows.values())
    return [decide(claim, list(rows.values())) for claim in CLAIMS]


def _check_one_code(rows: Iterable[Row]) -> None:
    """Refuse rows that different versions of a protocol's code made, for they do not compare."""
    codes: dict[str, set[str]] = {}
    for row in rows:
        codes.setdefault(row["protocol"], set()).add(row["sources"])
    mixed = [name for name, found in codes.items() if len(found) > 1]
    if mixed:
        raise InputError(
            f"rows of {mixed[0]} are from different versions of its code; give files of one version"
        )


def lines(decided: Sequence[Decided]) -> str:
    """Return a line for each claim, for a terminal."""
    return "\n".join(
        f"{found.ruling:<10}  {found.claim.place}: {found.claim.text} {found.found}"
        + "".join(f"\n{'':<12}turned by {turn}" for turn in found.turned)
        for found in decided
    )


def markdown(decided: Sequence[Decided]) -> str:
    """Return a table of claims, as Markdown."""
    lines = ["| Place | Claim | Ruling | What came out |", "| --- | --- | --- | --- |"]
    for found in decided:
        claim = found.claim
        note = f"<br>*{claim.note}*" if claim.note else ""
        ruling = str(found.ruling)
        if found.ruling is Ruling.DEPENDS:
            names = dict.fromkeys(turn.partition(":")[0] for turn in found.turned)
            ruling = f"{found.usual}, but DEPENDS ON {', '.join(names)}"
        turned = "".join(f"<br>With {turn}" for turn in found.turned)
        tried = f" ({found.tried} alternatives tried)" if found.tried else ""
        lines.append(
            f"| {claim.place} | {claim.text}{note} | {ruling} | {found.found}{tried}{turned} |"
        )
    return "\n".join(lines) + "\n"


def section(decided: Sequence[Decided]) -> str:
    """Return the claims as a section of a page; nothing if there are none."""
    if not decided:
        return ""
    return f"\n## Times and sizes, by `antecede simulate`\n\n{markdown(decided)}"
