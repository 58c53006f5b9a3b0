"""Networks that relate the packets of several channels, counted by hand and naively."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from antecede import check
from antecede.checker.model import Protocol
from antecede.checker.semantics import network, ordering
from antecede.checker.semantics.ordering import ORDERINGS
from antecede.checker.support.errors import InputError
from antecede.protocols.mfss import MFSS
from antecede.protocols.unordered import UNORDERED
from tests.models import naive_counts
from tests.naive import Counts

TWO_TO_ONE = "script:[[2],[2],[]]"
CHAIN = (
    'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)


def counted(protocol: Protocol, name: str, **values: Any) -> Counts:
    """Return the counts of a check in plain Python."""
    asked: dict[str, Any] = {"actors": 3, "network": name, "selfcheck": "off", **values}
    result = check(protocol, **asked)
    counts, run = result.counts, result.counterexample
    return Counts(
        counts.unique_states,
        counts.total_states,
        counts.depth,
        counts.final_states,
        {} if run is None else {str(run.violates): run.length},
    )


@pytest.mark.parametrize(
    ("name", "workload", "expected"),
    [
        # docs/model.md derives these counts.
        ("mailbox", TWO_TO_ONE, (10, 13, 5, 1)),
        ("causal", TWO_TO_ONE, (9, 13, 5, 1)),
        ("causal", CHAIN, (10, 13, 7, 1)),
        ("instant", CHAIN, (7, 7, 7, 1)),
        # m1 and m2 are queued before m3, and m1 is before m3 in the queue of actor 2.
        ("mailbox", CHAIN, (10, 13, 7, 1)),
    ],
)
def test_small_systems_have_the_states_that_are_counted_by_hand(
    name: str, workload: str, expected: tuple[int, int, int, int]
) -> None:
    assert Counts(*expected, {}) == counted(UNORDERED, name, workload=workload)


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("history", ["knowledge", "full"])
@pytest.mark.parametrize(
    ("protocol", "actors", "messages"), [(UNORDERED, 3, 1), (UNORDERED, 2, 2), (MFSS, 2, 2)]
)
def test_naive_checker_counts_the_same(
    name: str, history: str, protocol: Protocol, actors: int, messages: int
) -> None:
    expected = naive_counts(protocol, actors, messages, network=name, history=history)
    actual = counted(protocol, name, actors=actors, messages=messages, history=history)
    assert expected == actual


@pytest.mark.parametrize(("name", "length"), [("fifo", 6), ("causal", 0), ("mailbox", 0)])
def test_causal_and_mailbox_keep_an_effect_behind_its_cause(name: str, length: int) -> None:
    """A mailbox does, because a packet joins the queue of its receiver when it is sent."""
    found = counted(UNORDERED, name, workload=CHAIN)
    assert ({"causal-delivery": length} if length else {}) == found.violation


def test_causal_network_that_forgets_the_past_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: a receiver does not learn the past of the packet that it receives."""

    def forgetting(order: Any, src: int, dst: int) -> Any:
        after = ordering.CAUSAL.received(order, src, dst)
        channel = src * len(order.knows) + dst
        own = order.knows[dst]
        own = (*own[:channel], max(own[channel] - 1, 0), *own[channel + 1 :])
        return after._replace(knows=(*after.knows[:dst], own, *after.knows[dst + 1 :]))

    wrong = evolve(ordering.CAUSAL, received=forgetting)
    monkeypatch.setattr(network, "ORDERINGS", {**ORDERINGS, "causal": wrong})
    assert {"causal-delivery": 6} == counted(UNORDERED, "causal", workload=CHAIN).violation


def test_report_says_why_the_search_was_in_plain_python() -> None:
    report = str(check("mfss", actors=2, network="mailbox"))
    assert "Explored in plain Python: the network mailbox relates packets of several" in report


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"workload": "endless:1"}, "needs the network unordered or fifo"),
        ({"engine": "spark"}, "which the tables of the spark engine do not know"),
        ({"engine": "local", "checkpoint": "somewhere"}, "--checkpoint"),
    ],
)
def test_what_these_networks_cannot_do_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        check("mfss", network="causal", **values)
    assert said in str(caught.value) or "checkpoint" in str(caught.value)
