"""Network kinds: the contents of channels, and the packets that they hand over."""

from __future__ import annotations

from collections import Counter
from functools import reduce

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from antecede.checker.model import Message, Packet
from antecede.checker.semantics.network import NETWORKS, Channel, Network, network_named
from antecede.checker.support.errors import InputError

UNORDERED = network_named("unordered")
FIFO = network_named("fifo")
DUPLICATING = network_named("duplicating")


@frozen
class Data:
    """A packet with a message."""

    message: Message


@frozen
class Ack:
    """A packet without fields."""


@frozen
class Numbered:
    """A packet whose text sorts otherwise than its number: 10 before 9."""

    number: int


PACKETS: tuple[Packet, ...] = (
    Data(Message(0, 1, (1,))),
    Data(Message(0, 2, (1,))),
    Ack(),
    Numbered(9),
    Numbered(10),
    None,
    ("PERMIT", 3),
)

packets = st.lists(st.sampled_from(PACKETS), max_size=6)


def holding(network: Network, content: list[Packet]) -> Channel:
    """Network-send all of `content`, in order."""
    empty: Channel = ()
    return reduce(network.put, content, empty)


@given(packets.flatmap(lambda content: st.tuples(st.just(content), st.permutations(content))))
def test_unordered_channel_does_not_tell_the_order_of_network_sends(
    orders: tuple[list[Packet], list[Packet]],
) -> None:
    first, second = orders
    assert holding(UNORDERED, first) == holding(UNORDERED, second)


@given(packets)
def test_unordered_channel_hands_over_each_different_packet_once(content: list[Packet]) -> None:
    handed_over = [packet for packet, _ in UNORDERED.take(holding(UNORDERED, content))]
    assert Counter(set(content)) == Counter(handed_over)


@given(packets)
def test_unordered_channel_loses_one_envelope_per_reception(content: list[Packet]) -> None:
    channel = holding(UNORDERED, content)
    for packet, rest in UNORDERED.take(channel):
        assert Counter(content) - Counter([packet]) == Counter(rest)
        assert channel == UNORDERED.put(rest, packet)


@given(packets)
def test_fifo_channel_hands_over_the_oldest_packet_alone(content: list[Packet]) -> None:
    expected = ((content[0], tuple(content[1:])),) if content else ()
    assert expected == FIFO.take(holding(FIFO, content))


@given(packets)
def test_fifo_channel_keeps_the_order_of_network_sends(content: list[Packet]) -> None:
    assert tuple(content) == holding(FIFO, content)


def test_equal_envelopes_are_one_transition_and_two_receptions() -> None:
    two = holding(UNORDERED, [Ack(), Ack()])
    assert ((Ack(), (Ack(),)),) == UNORDERED.take(two)
    assert ((Ack(), ()),) == UNORDERED.take((Ack(),))


@given(packets)
def test_duplicating_channel_is_a_set_that_reception_leaves_as_it_was(
    content: list[Packet],
) -> None:
    channel = holding(DUPLICATING, content)
    assert Counter(set(content)) == Counter(channel)
    assert {(packet, channel) for packet in content} == set(DUPLICATING.take(channel))


@given(packets)
def test_duplicating_fifo_channel_keeps_or_drops_its_head(content: list[Packet]) -> None:
    channel = holding(network_named("fifo+duplicating"), content)
    assert tuple(content) == channel
    head = ((channel[0], channel), (channel[0], channel[1:])) if content else ()
    assert head == network_named("fifo+duplicating").take(channel)


@given(packets)
def test_loss_can_hit_any_envelope_of_a_channel_even_on_fifo(content: list[Packet]) -> None:
    """And each different remainder is listed once."""
    for name in ("lossy", "fifo+lossy:2"):
        network = network_named(name)
        channel = holding(network, content)
        assert network.lose is not None
        lost = network.lose(channel)
        remainders = [channel[:at] + channel[at + 1 :] for at in range(len(channel))]
        assert Counter(set(remainders)) == Counter(rest for _, rest in lost)
        for packet, rest in lost:
            assert Counter(channel) == Counter((packet, *rest))


@pytest.mark.parametrize("name", ["unordered", "fifo", "lossy"])
def test_equal_packets_of_a_protocol_that_retransmits_are_one(name: str) -> None:
    network = network_named(name, retransmits=True)
    assert (Ack(), None) == holding(network, [Ack(), None, Ack()])


@pytest.mark.parametrize(
    ("text", "duplicates", "loses", "budget"),
    [
        ("unordered", False, False, None),
        ("fifo", False, False, None),
        ("duplicating", True, False, None),
        ("unordered+duplicating", True, False, None),
        ("fifo+duplicating+lossy", True, True, None),
        ("lossy", False, True, None),
        ("fifo+lossy:12", False, True, 12),
        ("duplicating+lossy:1", True, True, 1),
    ],
)
def test_text_of_a_network_says_whether_it_duplicates_and_loses(
    text: str, duplicates: bool, loses: bool, budget: int | None
) -> None:
    network = network_named(text)
    assert text == network.name
    assert (duplicates, loses, budget) == (
        network.duplicates,
        network.lose is not None,
        network.budget,
    )


@pytest.mark.parametrize("text", ["lossy:0", "fifo+lossy:", "lossy:-1", "lossy:few", "lossy:²"])
def test_budget_that_is_no_number_of_losses_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError) as caught:
        network_named(text)
    assert f"the number of losses of the network {text!r}" in str(caught.value)
    assert "lossy:2" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fifo+",
        "lossy+lossy",
        "duplicating:2",
        "fifo+unordered",
    ],
)
def test_text_that_is_no_network_is_refused_with_the_choices(text: str) -> None:
    with pytest.raises(InputError) as caught:
        network_named(text)
    assert f"unknown network {text!r}" in str(caught.value)
    assert all(name in str(caught.value) for name in NETWORKS)
    assert str(caught.value).endswith("join several with +, as in fifo+lossy:1")


@pytest.mark.parametrize("text", ["mailbox+lossy:1", "duplicating+causal", "fifo+instant"])
def test_network_that_relates_channels_stands_alone(text: str) -> None:
    with pytest.raises(InputError) as caught:
        network_named(text)
    assert f"the network {text!r} joins" in str(caught.value)
    assert "With + you can join" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("lossy+fifo", "fifo+lossy"),
        ("lossy:2+fifo", "fifo+lossy:2"),
        ("lossy+duplicating", "duplicating+lossy"),
        ("lossy:1+duplicating+unordered", "unordered+duplicating+lossy:1"),
    ],
)
def test_words_in_any_order_are_the_same_network(text: str, meant: str) -> None:
    assert meant == network_named(text).name
    assert meant == network_named(meant).name


@pytest.mark.parametrize("name", NETWORKS)
def test_empty_channel_hands_over_nothing(name: str) -> None:
    assert () == network_named(name).take(())


@pytest.mark.parametrize("name", ["unordered", "fifo"])
def test_network_bears_the_name_it_was_asked_for_by(name: str) -> None:
    assert name == network_named(name).name


def test_unknown_network_is_named_with_the_nearest_and_the_choices() -> None:
    with pytest.raises(InputError) as caught:
        network_named("unorderd")
    text = str(caught.value)
    assert text.startswith("unknown network 'unorderd'; did you mean 'unordered'? available: ")
    assert all(name in text for name in NETWORKS)


@pytest.mark.parametrize(
    ("name", "retransmits", "merges"),
    [
        ("unordered", False, False),
        ("unordered", True, True),
        ("fifo+lossy:1", True, True),
        ("fifo+duplicating", False, False),
        ("fifo+duplicating", True, True),
        ("duplicating", True, False),
        ("duplicating+lossy", False, True),
    ],
)
def test_a_network_says_whether_equal_packets_are_one_and_may_leave(
    name: str, retransmits: bool, merges: bool
) -> None:
    network = network_named(name, retransmits=retransmits)
    assert merges is network.merges
    channel = network.put(network.put((), Ack()), Ack())
    rests = [rest for _, rest in network.take(channel)]
    rests += [] if network.lose is None else [rest for _, rest in network.lose(channel)]
    assert merges is (len(channel) == 1 and () in rests)
