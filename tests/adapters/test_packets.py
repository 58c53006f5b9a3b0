"""Packets of real code: their contents, and changes of them by sender or receiver."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, frozen

from antecede import Message
from antecede.checker.adapters.packets import Parcel, as_value
from antecede.checker.semantics.values import messages_in
from antecede.checker.support.errors import ProtocolError
from antecede.testing import assert_holds, assert_violated
from antecede.testing.adapter import Out, protocol

FIRST, SECOND = Message(0, 1, (1,)), Message(0, 2, (1,))


class Slim:
    __slots__ = ("inside",)

    def __init__(self, inside: Any) -> None:
        self.inside = inside


class Box:
    def __init__(self, inside: Any) -> None:
        self.inside = inside


@define
class Letter:
    inside: Any


FORMS = [
    lambda message: {"message": message},
    lambda message: [0, [message]],
    Box,
    Letter,
    Slim,
    lambda message: {"slim": Slim([message])},
]


@pytest.mark.parametrize("form", FORMS)
def test_the_messages_of_a_packet_are_seen_whatever_holds_them(form: Any) -> None:
    parcel = as_value(form(FIRST))
    assert isinstance(parcel, Parcel)
    assert [FIRST] == list(messages_in(parcel))
    assert parcel == as_value(form(FIRST))
    assert parcel != as_value(form(SECOND))


@frozen
class Note:
    inside: Any


def test_a_packet_is_judged_by_its_content_although_its_class_is_known() -> None:
    for _ in range(2):
        assert Note(FIRST) == as_value(Note(FIRST))
        assert isinstance(as_value(Note([FIRST])), Parcel)
        assert isinstance(as_value(Letter(FIRST)), Parcel)


def test_a_packet_that_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(ProtocolError, match="cannot be sent"):
        as_value([lambda: None])


class Sends:
    """It sends its messages in slots."""

    def __init__(self, actor: int, actors: int) -> None:
        self.got: list[Any] = []

    def causal_send(self, out: Out, message: Message) -> None:
        for to in message.destinations:
            out.send(to, Slim(message))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        out.deliver(packet.inside)


def test_a_message_in_slots_is_network_sent_where_clocks_are_taken_then() -> None:
    """It was taken for a packet without a sender, and its delivery for a second delivery."""
    assert_holds(protocol(Sends), actors=2, messages=1, clock_at="network-send", engine="plain")


class Shares(Sends):
    """Its packets have one message twice, and receivers keep them."""

    def causal_send(self, out: Out, message: Message) -> None:
        for to in message.destinations:
            out.send(to, (message, message))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.got.append(packet)
        out.deliver(packet[0])


def test_a_packet_may_be_kept_whatever_its_parts_share() -> None:
    assert_holds(protocol(Shares), actors=2, messages=1, engine="plain")


class Reuses(Sends):
    """It sends one dictionary again and again, and receivers empty it."""

    def __init__(self, actor: int, actors: int) -> None:
        super().__init__(actor, actors)
        self.packet: dict[str, Any] = {}

    def causal_send(self, out: Out, message: Message) -> None:
        for to in message.destinations:
            self.packet["message"] = message
            out.send(to, self.packet)
            self.packet.clear()

    def receive(self, out: Out, src: int, packet: Any) -> None:
        out.deliver(packet.pop("message"))


def test_what_is_changed_after_it_was_sent_arrives_as_it_was_sent() -> None:
    one = assert_violated(
        protocol(Reuses), actors=3, messages=1, workload="broadcast", engine="plain"
    )
    other = assert_violated("unordered", actors=3, messages=1, workload="broadcast", engine="plain")
    assert other.counts == one.counts
