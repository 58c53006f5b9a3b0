"""The schedule of the proof in docs/classes.md: MFSS generates all of the class 1-n."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from antecede import Message, Protocol
from antecede.checker.papers.computations.computation import computations
from antecede.checker.sweep.smallest import scripts
from antecede.protocols.mfss import MFSS
from antecede.protocols.unordered import UNORDERED, Data
from tests.papers.computations import naive

ACTORS = 3


def succeeds(order: list[Any], protocol: Protocol) -> bool:
    """Do the events of a linear order; after a delivery, its sender gets the acknowledgement.

    False if a message that is next to be delivered is not in flight.
    """
    states = [protocol.initial(actor, ACTORS) for actor in range(ACTORS)]
    receiver = {message: actor for message, delivered, actor in order if delivered}
    flying: dict[Any, Any] = {}
    numbers: dict[Any, int] = {}
    own = [0] * ACTORS

    def does(actor: int, step: Any) -> None:
        states[actor] = step.state
        for to, packet in step.sends:
            if isinstance(packet, Data):
                flying[packet.message.sender, packet.message.number] = packet
            else:
                does(to, protocol.receive(states[to], actor, packet))

    for message, delivered, actor in order:
        if not delivered:
            own[actor] += 1
            numbers[message] = own[actor]
            sent = Message(actor, own[actor], (receiver[message],))
            does(actor, protocol.causal_send(states[actor], sent))
            continue
        sender = next(who for what, got, who in order if what == message and not got)
        packet = flying.pop((sender, numbers[message]), None)
        if packet is None:
            return False
        step = protocol.receive(states[actor], sender, packet)
        assert [packet.message] == list(step.deliveries)
        does(actor, step)
    return True


def is_1_n(order: list[Any]) -> bool:
    return all(kept for same_sender, _, kept in naive.pairs(order) if same_sender)


def orders(messages: int) -> list[list[Any]]:
    """Return all linear orders of all computations with so many messages."""
    every = (one for script in scripts(ACTORS, messages) for one in computations(script))
    return [order for one in every for order in naive.linear_orders(one)]


@pytest.mark.parametrize("messages", [1, 2, 3])
def test_the_schedule_succeeds_exactly_for_the_orders_of_class_1_n(messages: int) -> None:
    every = orders(messages)
    assert [is_1_n(order) for order in every] == [succeeds(order, MFSS) for order in every]
    assert messages == 1 or {True, False} == set(map(is_1_n, every))


def test_a_sender_that_waits_for_nothing_delivers_in_other_orders_too() -> None:
    assert not all(is_1_n(order) for order in orders(2) if succeeds(order, UNORDERED))


def test_a_sender_that_stays_silent_after_an_acknowledgement_delivers_too_few() -> None:
    def forgets(state: Any, src: int, packet: Any) -> Any:
        step = MFSS.receive(state, src, packet)
        return step if isinstance(packet, Data) else evolve(step, sends=())

    forgetful = evolve(MFSS, receive=forgets)
    assert not all(succeeds(order, forgetful) for order in orders(2) if is_1_n(order))
