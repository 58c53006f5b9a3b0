"""Packets of real code: their contents, and changes of them by sender or receiver."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, frozen

from antecede import Message, check
from antecede.checker.adapters.packets import PickledPacket, as_value, content
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
    packet = as_value(form(FIRST))
    assert isinstance(packet, PickledPacket)
    assert [FIRST] == list(messages_in(packet))
    assert packet == as_value(form(FIRST))
    assert packet != as_value(form(SECOND))


@frozen
class Note:
    inside: Any


def test_a_packet_is_judged_by_its_content_although_its_class_is_known() -> None:
    for _ in range(2):
        assert Note(FIRST) == as_value(Note(FIRST))
        assert isinstance(as_value(Note([FIRST])), PickledPacket)
        assert isinstance(as_value(Letter(FIRST)), PickledPacket)


def test_a_packet_that_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(ProtocolError, match="cannot be sent"):
        as_value([lambda: None])


def test_equal_packets_are_equal_whichever_of_their_values_are_one_object() -> None:
    text = "".join(["replica", " 0"])
    twin = "".join(["replica", " ", "0"])
    assert text is not twin
    assert as_value([text, (text, FIRST), FIRST]) == as_value(
        [text, (twin, Message(0, 1, (1,))), FIRST]
    )
    one = as_value([Note(frozenset(range(0, 90, 9))), Note(frozenset(map(str, range(9))))])
    reverse = [Note(frozenset(range(81, -1, -9))), Note(frozenset(map(str, range(8, -1, -1))))]
    assert one == as_value(reverse)
    assert [Note(frozenset(range(0, 90, 9))), Note(frozenset(map(str, range(9))))] == one.opened()


def test_a_list_that_a_packet_holds_twice_arrives_as_one_list() -> None:
    shared: list[Any] = [FIRST]
    twice, equal = as_value([shared, shared]), as_value([shared, [FIRST]])
    assert twice != equal
    first, second = twice.opened()
    assert first is second


@pytest.mark.parametrize("form", [Letter, Box])
def test_a_packet_may_hold_itself(form: Any) -> None:
    ring = form(None)
    ring.inside = [Slim(ring)]
    opened = as_value(ring).opened()
    assert opened is opened.inside[0].inside


def test_the_content_of_an_object_does_not_depend_on_whether_it_has_slots() -> None:
    slim: Any = {"Slim": {"inside": FIRST}}
    box: Any = {"Box": {"inside": (slim,)}}
    assert slim == content(Slim(FIRST))
    assert box == content(Box([Slim(FIRST)]))


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
    assert_holds(
        protocol(Sends),
        actors=2,
        messages=1,
        clock_at="network-send",
        engine="plain",
        properties=("integrity", "all-delivered"),
    )


class Shares(Sends):
    """Its packets have one message twice, and receivers keep them."""

    def causal_send(self, out: Out, message: Message) -> None:
        for to in message.destinations:
            out.send(to, (message, message))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        self.got.append(packet)
        out.deliver(packet[0])


def test_a_packet_may_be_kept_whatever_its_parts_share() -> None:
    assert_holds(
        protocol(Shares),
        actors=2,
        messages=1,
        engine="plain",
        properties=("integrity", "all-delivered"),
    )


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


class Names:
    """It sends texts beside messages: at first its own, then those that it received."""

    def __init__(self, actor: int, actors: int) -> None:
        self.name, self.known = f"replica {actor}", dict[Any, Any]()

    def causal_send(self, out: Out, message: Message) -> None:
        self.known[len(self.known), message.sender] = (self.name, message)
        for to in message.destinations:
            out.send(to, sorted(self.known.items()))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        for name, (sender, message) in packet:
            if name not in self.known:
                self.known[name] = (sender, message)
                out.deliver(message)

    def key(self) -> Any:
        return self.name, tuple(sorted(self.known))


def test_equal_packets_of_objects_with_equal_keys_are_no_difference() -> None:
    """One object has the same text object in two packets, and the other has two equal texts."""
    script = "script:[[[1,2],[1,2]],[[0,2]],[]]"
    names = check(protocol(Names), actors=3, workload=script, engine="plain")
    assert ("HOLDS", 265) == (names.verdict, names.counts.unique_states)


class Unsorted(Names):
    """It sends dictionaries, whose keys are in the order in which it learnt them."""

    def causal_send(self, out: Out, message: Message) -> None:
        self.known[message.sender, message.number] = message
        for to in message.destinations:
            out.send(to, dict(self.known))

    def receive(self, out: Out, src: int, packet: Any) -> None:
        for name, message in packet.items():
            if name not in self.known:
                self.known[name] = message
                out.deliver(message)


def test_an_order_of_keys_that_a_receiver_can_see_is_named() -> None:
    result = check(protocol(Unsorted), actors=3, workload="broadcast", engine="plain")
    text = " ".join(str(result).split())
    assert "are equal, but the keys of their dictionaries are in another order" in text
    assert "known has equal keys in another order" in text
