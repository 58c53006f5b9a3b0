"""Spans inside of spans: what intervals say is what a walk up the parents says."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede.checker.logs.audit import audit
from antecede.checker.logs.readers.nesting import Nesting, in_known_order


def drawn(draw: random.Random, spans: int, circles: bool) -> dict[int, int]:
    """Return the parents of some spans; with `circles`, some are inside of themselves."""
    return {
        key: draw.randrange(spans if circles else key)
        for key in range(1, spans)
        if draw.random() < 0.8
    }


def above(parents: dict[int, int], key: int) -> Iterator[int]:
    """Yield the spans that a span is inside of; a span inside of itself is inside of none."""

    def walk(start: int) -> list[int]:
        seen = [start]
        while seen[-1] in parents and parents[seen[-1]] not in seen:
            seen.append(parents[seen[-1]])
        return seen

    def on_circle(start: int) -> bool:
        return parents.get(walk(start)[-1]) == start

    while key in parents and not on_circle(key):
        yield (key := parents[key])


@pytest.mark.parametrize("circles", [False, True])
def test_intervals_say_what_a_walk_says(circles: bool) -> None:
    for seed in range(150):
        draw = random.Random(seed)
        parents = drawn(draw, draw.choice([2, 5, 30]), circles)
        nesting = Nesting(parents, range(30))
        keys = draw.sample(range(30), draw.randrange(1, 30))
        expected = {key: next((a for a in above(parents, key) if a in keys), None) for key in keys}
        assert expected == nesting.nearest(keys)
        times = {key: draw.randrange(20) for key in keys}
        asked = {key: draw.randrange(20) for key in range(30)}
        assert {
            key: min(
                (t for k, t in times.items() if t >= least and key in above(parents, k)),
                default=float("inf"),
            )
            for key, least in asked.items()
        } == dict(nesting.first_inside(times, asked))


def test_an_order_may_leave_out_what_follows_from_others() -> None:
    assert [[1], [2, 3], [4]] == in_known_order({1: {*()}, 2: {1}, 3: {1}, 4: {2, 3}})
    assert [[1, 3, 2]] == in_known_order({1: {*()}, 2: {1}, 3: {*()}})
    assert [[3, 1, 2]] == in_known_order({1: {2}, 2: {1}, 3: {*()}})


def nested(depth: int, attributes: list[dict[str, object]], equal: bool) -> str:
    """Return spans, each inside of the one before, that get a message from one producer."""
    about = [{"key": "service.name", "value": {"stringValue": "a"}}]
    producer = {"traceId": "f" * 32, "spanId": "f" * 16, "kind": 4, "startTimeUnixNano": "1"}
    spans = [
        {
            "traceId": "f" * 32,
            "spanId": f"{number:016x}",
            "parentSpanId": f"{number - 1:016x}" if number else "",
            "kind": 5,
            "startTimeUnixNano": str(5 if equal else 5 + number),
            "endTimeUnixNano": str(9 * depth - number),
            "attributes": attributes,
            "links": [{"traceId": "f" * 32, "spanId": "f" * 16}],
        }
        for number in range(depth)
    ]
    scopes = [{"spans": [producer, *spans]}]
    return json.dumps(
        {"resourceSpans": [{"resource": {"attributes": about}, "scopeSpans": scopes}]}
    )


RECEIVES = [{"key": "messaging.operation.type", "value": {"stringValue": "receive"}}]
GROUP = [{"key": "messaging.consumer.group.name", "value": {"stringValue": "g"}}]


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("attributes", [[], RECEIVES, GROUP])
def test_the_depth_of_a_trace_costs_nothing(
    attributes: list[dict[str, object]], equal: bool, tmp_path: Path
) -> None:
    """A walk up the parents of each span takes minutes, which the budget of a test excludes."""
    (tmp_path / "log").write_text(nested(5_000, attributes, equal))
    found = audit([str(tmp_path / "log")])
    assert (1, 1) == (found.causal_sends, found.deliveries)
