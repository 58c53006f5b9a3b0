"""Short campaigns of spans, and that they would notice what was once wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs.judge import orders
from antecede.checker.logs.judge.orders import late
from antecede.checker.logs.readers import spans
from antecede.checker.logs.readers.nesting import Nesting
from antecede.checker.logs.readers.spans import Key, Span, Spans
from tests.campaigns.spans import compare_spans

Patch = pytest.MonkeyPatch


def test_audits_of_random_spans_are_right_in_all_orders(tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == [each for n in range(60) for each in compare_spans(f"ci/{n}", tmp_path, tally)]
    for word in ("HOLDS", "VIOLATED", "UNDECIDED"):
        assert tally[f"spans with all orders of tests/naive_audit.py: {word}"]


def no_traces(patch: Patch) -> None:
    """Compare span ids without their traces."""
    take, read = Spans._take, spans._id

    def shorter(self: Spans, *given: Any) -> None:
        patch.setattr(spans, "_id", lambda text: "" if len(text) == 32 else read(text))
        take(self, *given)

    patch.setattr(Spans, "_take", shorter)


def every_span(patch: Patch) -> None:
    """Count each consumer span as a delivery."""
    patch.setattr(Spans, "_once", lambda _self, delivered: delivered)


def one_order(patch: Patch) -> None:
    """Take one of the possible orders for the only one."""
    patch.setattr("antecede.checker.logs.executions.in_every_order", lambda found, _moments: found)


def only_certain(patch: Patch) -> None:
    """Let nothing be late that is not late in all orders."""
    patch.setattr(orders, "late", lambda each, **_how: late(each, certain=True))


def only_possible(patch: Patch) -> None:
    """Let everything be late that is late in some order."""
    patch.setattr(orders, "late", lambda each, **_how: late(each, certain=False))


def batches_deliver_the_rest(patch: Patch) -> None:
    """Let a receiving span deliver the messages of its batch that no other span processes."""

    def only_processed(deliveries: Iterable[Sequence[Span]]) -> Collection[Key]:
        processed, kept = set[Key](), set[Key]()
        for spans_of in deliveries:
            receiving = {span.key for span in spans_of if span.operation == "receive"}
            (processed if len(receiving) < len(spans_of) else kept).update(receiving)
        return processed - kept

    patch.setattr(spans, "_handing_over", only_processed)


def stops_at_a_circle(patch: Patch) -> None:
    """Judge no delivery behind one that cannot happen."""
    patch.setattr(orders._Search, "_leave_out_circles", lambda _self: [])


SEEDED: dict[str, Callable[[Patch], None]] = {
    "span ids without traces": no_traces,
    "each span is a delivery": every_span,
    "a batch delivers what is not processed": batches_deliver_the_rest,
    "groups are one actor": lambda patch: patch.setattr(Spans, "_divide", lambda *_: None),
    "one order is taken": one_order,
    "only certain orders": only_certain,
    "all possible orders": only_possible,
    "impossible deliveries end the search": stops_at_a_circle,
    "a receiving call delivers at its start": lambda patch: patch.setattr(
        spans, "_time", lambda span, _name: int(span["startTimeUnixNano"])
    ),
    "spans inside another one have no order": lambda patch: patch.setattr(
        Nesting, "nearest", lambda _self, keys: dict.fromkeys(keys)
    ),
}


@pytest.mark.parametrize("name", list(SEEDED))
def test_a_seeded_bug_is_found_and_written_down(
    name: str, monkeypatch: Patch, tmp_path: Path
) -> None:
    SEEDED[name](monkeypatch)
    seeds = (f"seeded/{number}" for number in range(400))
    said = next(filter(None, (compare_spans(s, tmp_path, Counter()) for s in seeds)), None)
    (file,) = tmp_path.glob("spans-seeded-*.jsonl")
    assert said is not None
    assert str(file) in said[0]
