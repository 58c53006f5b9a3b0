"""Violations in the ordering of events of prefect (`pip install 'antecede[prefect]'`)."""

from __future__ import annotations

import asyncio
import importlib.util

import pytest

from antecede import Message
from antecede.testing import assert_holds, assert_violated
from antecede.testing.adapter import Out, protocol

if importlib.util.find_spec("prefect") is None:
    pytest.skip("needs prefect: pip install 'antecede[prefect]'", allow_module_level=True)

from tests.adapters.prefect_ordering import Event, Latest, Own


def test_events_that_follow_their_emitters_latest_are_in_order_even_if_they_come_twice() -> None:
    """Exactly what `follows` promises, and acknowledged messages that come again are dropped."""
    assert_holds(
        protocol(Own),
        actors=2,
        messages=2,
        workload="broadcast",
        network="duplicating",
        properties=("fifo-delivery", "integrity", "all-delivered"),
        engine="plain",
    )


@pytest.mark.parametrize(
    ("kind", "actors", "messages", "violates", "length"),
    [
        (Own, 3, 1, "causal-delivery", 5),
        (Latest, 3, 1, "causal-delivery", 7),
        (Latest, 2, 2, "fifo-delivery", 6),
    ],
)
def test_one_event_to_follow_is_not_a_past(
    kind: type, actors: int, messages: int, violates: str, length: int
) -> None:
    """Whichever one it is, what the emitter knew otherwise can be overtaken."""
    assert_violated(
        protocol(kind),
        actors=actors,
        messages=messages,
        workload="broadcast",
        properties=(violates,),
        engine="plain",
        length=length,
    )


def test_of_a_long_chain_that_comes_in_reverse_only_the_first_are_processed() -> None:
    """Twenty followers deep prefect stops; the others wait for its sweep after 15 minutes."""
    messages = [Message(0, number, (1,)) for number in range(1, 25)]
    node, out = Own(1, 2), Out()
    for at in reversed(range(len(messages))):
        asyncio.run(node.handle(Event(messages[at], messages[at - 1] if at else None), out))
    assert tuple(messages[:21]) == out.deliveries
