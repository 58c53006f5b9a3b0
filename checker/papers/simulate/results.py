"""The results of a run, in whole numbers: nanoseconds, bytes, counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from antecede.checker.papers.simulate.network import Network
from antecede.checker.papers.simulate.run import Run
from antecede.checker.papers.simulate.scenario import Scenario

RESULTS: Mapping[str, str] = {
    "execution_ns": "until all communication is complete: the last packet is received",
    "finish_ns": "until the last job is done, too",
    "last_delivery_ns": "until the last delivery",
    "job_start_ns": "when jobs start, from the start of the run; mean",
    "job_wait_ns": "from the delivery of a message to the start of its job; mean",
    "job_latency_ns": "from the causal-send of a message to the start of its job; mean",
    "latency_mean_ns": "from causal-send to delivery",
    "latency_p50_ns": "half of the deliveries take at most that",
    "latency_p90_ns": "nine in ten",
    "latency_p99_ns": "99 in a hundred",
    "latency_max_ns": "all of them",
    "idle_latency_ns": "time of a message without control data on an idle network",
    "sender_wait_ns": "from causal-send to network-send; mean",
    "receiver_wait_ns": "from receive to delivery; mean",
    "messages_sent": "causal-sends",
    "deliveries": "messages delivered, at each destination",
    "packets": "packets network-sent",
    "control_packets": "packets without a message",
    "bytes": "of all packets",
    "control_bytes": "of all packets, without the payloads",
    "sender_buffer": "the most messages that one process had causal-sent and not network-sent",
    "receiver_buffer": "the most messages that one process had received and not delivered",
    "events": "causal-sends, receives and timeouts",
    "violations": "deliveries that violate causality; only controls have any",
}
"""The measures by name, each with its description: a whole number, or None if there is nothing to
measure."""


def results(run: Run) -> dict[str, Any]:
    """Return the results of a run, as columns of its row."""
    sent, left, at = run.causal_sent, run.network_sent, run.received
    delivered, plan = run.delivered, run.plan
    latencies = sorted(when - sent[index] for (index, _), when in delivered.items())
    starts = run.job_started
    first = {index: delivered[index, plan[index].destinations[0]] for index in starts}
    found = {
        "execution_ns": run.last_receive,
        "finish_ns": run.finished,
        "last_delivery_ns": max(delivered.values(), default=0),
        "job_start_ns": mean(starts.values()),
        "job_wait_ns": mean(when - first[index] for index, when in starts.items()),
        "job_latency_ns": mean(when - sent[index] for index, when in starts.items()),
        "latency_mean_ns": mean(latencies),
        **{f"latency_p{p}_ns": percentile(latencies, p) for p in (50, 90, 99)},
        "latency_max_ns": latencies[-1] if latencies else None,
        "idle_latency_ns": idle_latency(run.scenario),
        "sender_wait_ns": mean(b - a for a, b in zip(sent, left, strict=True)),
        "receiver_wait_ns": mean(when - at[key] for key, when in delivered.items()),
        "messages_sent": len(plan),
        "deliveries": len(latencies),
    }
    return found | {name: getattr(run, name) for name in RESULTS if name not in found}


def idle_latency(scenario: Scenario) -> int:
    """Return the latency in nanoseconds of a message without control data on an idle network."""
    network = Network(scenario, Random(0))
    size = scenario.header + scenario.payload
    hops = 2 if network.receives_in_turn else 1
    return hops * network.transmission(size) + scenario.delay


def mean(values: Iterable[int]) -> int | None:
    """Return the mean as a whole number, halves rounded up; None if there are no values."""
    listed = list(values)
    return (2 * sum(listed) + len(listed)) // (2 * len(listed)) if listed else None


def percentile(values: Sequence[int], percent: int) -> int | None:
    """Return the least of sorted values that at least `percent` percent of them do not exceed."""
    return values[-(-len(values) * percent // 100) - 1] if values else None
