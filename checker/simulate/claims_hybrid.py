"""What the hybrid paper's Table 1 says of latency, throughput and space, as rules on medians."""

from __future__ import annotations

from typing import Any

from antecede.checker.simulate.claims import Numbers, Rule, TimedClaim, listed
from antecede.checker.simulate.figures import HYBRID
from antecede.checker.simulate.scenario import MS, Scenario
from antecede.checker.simulate.statistics import CONTROL_EACH, THROUGHPUT

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
"""In the order of the table."""
