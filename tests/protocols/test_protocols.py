"""The handlers of the first protocols beside their papers, and checks of them."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from antecede.checker.model import Message, Protocol, Step
from antecede.protocols import cykas, mfss, unordered
from antecede.protocols.cykas import CYKAS, Ack, Cykas, Eager, Normal, Yct
from antecede.protocols.cykas_as_printed import CYKAS_AS_PRINTED
from antecede.protocols.cykas_secret_mode import CYKAS_SECRET_MODE, CykasSecretMode
from antecede.protocols.cykas_yct_acked import CYKAS_YCT_ACKED
from antecede.protocols.cykas_yct_counted import CYKAS_YCT_COUNTED
from antecede.protocols.cykas_yct_named import CYKAS_YCT_NAMED, YctAck
from antecede.protocols.fifo import FIFO, Numbered
from antecede.protocols.mfss import MFSS, Mfss
from antecede.protocols.mfss_any_ack import MFSS_ANY_ACK
from antecede.protocols.unordered import UNORDERED
from tests.models import CHAIN, EVERY_SAFETY, naive_counts
from tests.protocols.by_hand import At

ALICE, BOB, CAROL = range(3)
FIGURE_3 = "script:[[1,2],[0,2],[0]]"
"""The messages of the Cykas paper's Figure 3, in the order of their causal-sends per actor."""


def from_bob(number: int = 1) -> Message:
    return Message(BOB, number, (ALICE,))


def bits(*ones: int) -> tuple[bool, ...]:
    """Return a bit vector of three with ones at these actors."""
    return tuple(i in ones for i in range(3))


def is_violated_at(counts: Any) -> dict[str, int]:
    violation: dict[str, int] = counts.violation
    return violation


# unordered


def test_unordered_network_sends_at_once_to_every_destination_in_order() -> None:
    alice = At(UNORDERED)
    sends = alice.send(CAROL, BOB)
    packet = unordered.Data(alice.messages[0])
    assert [(CAROL, packet), (BOB, packet)] == sends


def test_unordered_delivers_on_arrival_and_keeps_no_state() -> None:
    alice = At(UNORDERED)
    before = alice.state
    expected = Step(before, deliveries=(from_bob(2),))
    assert expected == alice.receive(BOB, unordered.Data(from_bob(2)))


def test_unordered_violates_causal_and_fifo_delivery() -> None:
    """Two messages to one receiver, delivered in the wrong order: four transitions."""
    counts = naive_counts(UNORDERED, 2, 2, properties=EVERY_SAFETY)
    assert {"causal-delivery": 4, "fifo-delivery": 4} == is_violated_at(counts)


# fifo: sequence numbers per channel


def test_fifo_numbers_messages_per_destination() -> None:
    alice = At(FIFO)
    sends = [send for to in ((BOB,), (CAROL,), (CAROL, BOB)) for send in alice.send(*to)]
    m1, m2, m3 = alice.messages
    assert [
        (BOB, Numbered(m1, 1)),
        (CAROL, Numbered(m2, 1)),
        (CAROL, Numbered(m3, 2)),
        (BOB, Numbered(m3, 2)),
    ] == sends


def test_fifo_receiver_holds_back_a_message_that_overtook() -> None:
    alice = At(FIFO)
    assert () == alice.receive(BOB, Numbered(from_bob(2), 2)).deliveries
    assert () == alice.receive(BOB, Numbered(from_bob(3), 3)).deliveries
    expected = (from_bob(1), from_bob(2), from_bob(3))
    assert expected == alice.receive(BOB, Numbered(from_bob(1), 1)).deliveries
    assert (0, 3, 0) == alice.state.delivered
    assert not FIFO.witnesses["waited"](alice.state)


def test_fifo_receiver_delivers_up_to_the_next_gap_only() -> None:
    alice = At(FIFO)
    alice.receive(BOB, Numbered(from_bob(3), 3))
    assert (from_bob(1),) == alice.receive(BOB, Numbered(from_bob(1), 1)).deliveries
    assert FIFO.witnesses["waited"](alice.state)


def test_fifo_senders_do_not_wait_for_each_other() -> None:
    alice = At(FIFO)
    alice.receive(BOB, Numbered(from_bob(2), 2))
    carols = Message(CAROL, 1, (ALICE,))
    assert (carols,) == alice.receive(CAROL, Numbered(carols, 1)).deliveries


def test_fifo_keeps_channel_order_and_everything_else_with_two_actors() -> None:
    assert {} == is_violated_at(naive_counts(FIFO, 2, 2, properties=EVERY_SAFETY))


def test_fifo_is_overtaken_by_a_chain_through_a_third_actor() -> None:
    counts = naive_counts(FIFO, 3, 2, workload=CHAIN, properties=EVERY_SAFETY)
    assert {"causal-delivery": 6} == is_violated_at(counts)


# mfss: Mattern and Fünfrocken, section 3.2


def test_mfss_transmits_at_once_from_an_empty_output_buffer() -> None:
    alice = At(MFSS)
    assert [(BOB, unordered.Data(Message(ALICE, 1, (BOB,))))] == alice.send(BOB)
    assert Mfss(OB=(), unacknowledged=(BOB,)) == alice.state


def test_mfss_keeps_messages_to_anybody_while_one_is_unacknowledged() -> None:
    alice = At(MFSS)
    alice.send(BOB)
    assert [] == alice.send(CAROL)
    assert [] == alice.send(BOB)
    assert Mfss(OB=tuple(alice.messages[1:]), unacknowledged=(BOB,)) == alice.state
    assert MFSS.witnesses["waited"](alice.state)


def test_mfss_acknowledgement_lets_exactly_one_message_go_in_order() -> None:
    alice = At(MFSS)
    for to in (BOB, CAROL, BOB):
        alice.send(to)
    _, m2, m3 = alice.messages
    assert [(CAROL, unordered.Data(m2))] == alice.sends_on(BOB, mfss.Ack())
    assert Mfss(OB=(m3,), unacknowledged=(CAROL,)) == alice.state
    assert [(BOB, unordered.Data(m3))] == alice.sends_on(CAROL, mfss.Ack())
    assert [] == alice.sends_on(BOB, mfss.Ack())
    assert Mfss() == alice.state


def test_mfss_waits_for_an_acknowledgement_from_the_receiver_of_the_message() -> None:
    alice, careless = At(MFSS), At(MFSS_ANY_ACK)
    for each in (alice, careless):
        each.send(BOB)
        each.send(CAROL)
    before = alice.state
    assert [] == alice.sends_on(CAROL, mfss.Ack())
    assert before == alice.state
    assert [(CAROL, unordered.Data(careless.messages[1]))] == careless.sends_on(CAROL, mfss.Ack())


def test_mfss_acknowledges_and_delivers_even_while_it_waits_itself() -> None:
    alice = At(MFSS)
    alice.send(CAROL)
    before = alice.state
    expected = Step(before, sends=((BOB, mfss.Ack()),), deliveries=(from_bob(),))
    assert expected == alice.receive(BOB, unordered.Data(from_bob()))


# cykas: Algorithms 1 and 2


def test_cykas_sends_normally_when_nothing_is_unacknowledged() -> None:
    alice = At(CYKAS)
    assert [(CAROL, Normal(Message(ALICE, 1, (CAROL,))))] == alice.send(CAROL)
    assert Cykas(UNACK=bits(CAROL), EAGER_SENT=((), (), ())) == alice.state


def test_cykas_sends_eagerly_beside_an_unacknowledged_message_as_in_figure_2() -> None:
    """Section 2.2.1: after sending m2 to Bob, EAGER_SENT is {Bob: <[001]>}."""
    alice = At(CYKAS)
    alice.send(CAROL)
    assert [(BOB, Eager(Message(ALICE, 2, (BOB,))))] == alice.send(BOB)
    assert ((), (bits(CAROL),), ()) == alice.state.EAGER_SENT
    assert bits(BOB, CAROL) == alice.state.UNACK
    assert CYKAS.witnesses["eager-send"](alice.state)


def test_cykas_does_not_send_twice_to_a_receiver_without_its_ack() -> None:
    """Algorithm 2, line 7."""
    alice = At(CYKAS)
    alice.send(BOB)
    assert [] == alice.send(BOB)
    assert (alice.messages[1],) == alice.state.OB
    assert CYKAS.witnesses["waited"](alice.state)


def test_cykas_head_of_the_output_buffer_blocks_what_is_behind_it() -> None:
    alice = At(CYKAS)
    alice.send(BOB)
    alice.send(BOB)
    assert [] == alice.send(CAROL)
    assert tuple(alice.messages[1:]) == alice.state.OB


def test_cykas_sends_nothing_in_secret_mode() -> None:
    """Algorithm 2, line 2."""
    alice = At(CYKAS)
    alice.receive(BOB, Eager(from_bob()))
    assert [] == alice.send(BOB)
    assert [] == alice.send(CAROL)
    assert CYKAS.witnesses["secret-mode"](alice.state)


# cykas: Algorithm 3


def test_cykas_acknowledges_and_delivers_a_normal_send_without_entering_secret_mode() -> None:
    alice = At(CYKAS)
    step = alice.receive(BOB, Normal(from_bob()))
    assert ((from_bob(),), ((BOB, Ack()),), 0) == (step.deliveries, step.sends, step.state.MODE)


def test_cykas_delivers_an_eager_send_at_once_and_counts_it_in_mode() -> None:
    alice = At(CYKAS)
    step = alice.receive(BOB, Eager(from_bob()))
    assert ((from_bob(),), ((BOB, Ack()),), 1) == (step.deliveries, step.sends, step.state.MODE)
    alice.receive(CAROL, Eager(Message(CAROL, 1, (ALICE,))))
    assert 2 == alice.state.MODE


# cykas: Algorithm 4


def test_cykas_tells_after_the_last_ack_that_the_eager_send_waited_for() -> None:
    alice = At(CYKAS)
    alice.send(CAROL)
    alice.send(BOB)
    assert [] == alice.sends_on(BOB, Ack())
    assert [(BOB, Yct())] == alice.sends_on(CAROL, Ack())
    assert CYKAS.initial(ALICE, 3) == alice.state


def test_cykas_does_not_tell_before_the_eager_send_itself_is_acknowledged() -> None:
    """TRY_SEND_YCT, line 14: UNACK of the receiver."""
    alice = At(CYKAS)
    alice.send(CAROL)
    alice.send(BOB)
    assert [] == alice.sends_on(CAROL, Ack())
    assert ((), (bits(),), ()) == alice.state.EAGER_SENT
    assert [(BOB, Yct())] == alice.sends_on(BOB, Ack())


def test_cykas_ack_clears_its_bit_in_every_queue() -> None:
    """Algorithm 4, lines 3 to 6."""
    state = Cykas(
        UNACK=(True, True, True, True),
        EAGER_SENT=((), ((True, False, False, True),), ((False, True, False, True),), ()),
    )
    after = cykas.receive(state, 3, Ack()).state
    assert ((), ((True, False, False, False),), ((False, True, False, False),), ()) == (
        after.EAGER_SENT
    )
    assert (True, True, True, False) == after.UNACK


def test_cykas_tells_once_per_eager_send_and_the_oldest_first() -> None:
    """TRY_SEND_YCT stops at the first bit vector that still waits."""
    waits = Cykas(UNACK=bits(BOB, CAROL), EAGER_SENT=((), (bits(CAROL), bits(), bits(CAROL)), ()))
    step = cykas.receive(waits, BOB, Ack())
    assert () == step.sends
    assert ((BOB, Yct()),) * 3 == cykas.receive(step.state, CAROL, Ack()).sends
    later = evolve(waits, EAGER_SENT=((), (bits(), bits(CAROL), bits()), ()))
    step = cykas.receive(later, BOB, Ack())
    assert ((BOB, Yct()),) == step.sends
    assert ((), (bits(CAROL), bits()), ()) == step.state.EAGER_SENT


def test_cykas_ack_frees_the_output_buffer_though_nothing_was_sent_eagerly() -> None:
    """The repair: line 8 of Algorithm 4 after the loop."""
    alice = At(CYKAS)
    alice.send(BOB)
    alice.send(BOB)
    assert [(BOB, Normal(alice.messages[1]))] == alice.sends_on(BOB, Ack())


def test_cykas_ack_sends_all_that_can_go_now_after_telling() -> None:
    alice = At(CYKAS)
    for to in (CAROL, BOB, CAROL, BOB):
        alice.send(to)
    _, _, m3, m4 = alice.messages
    assert [] == alice.sends_on(BOB, Ack())
    sends = alice.sends_on(CAROL, Ack())
    assert [(BOB, Yct()), (CAROL, Normal(m3)), (BOB, Eager(m4))] == sends
    assert () == alice.state.OB


def test_cykas_sends_eagerly_on_an_ack_while_another_is_missing() -> None:
    alice = At(CYKAS)
    for to in (CAROL, BOB, BOB):
        alice.send(to)
    assert [(BOB, Eager(alice.messages[2]))] == alice.sends_on(BOB, Ack())
    assert ((), (bits(CAROL), bits(CAROL)), ()) == alice.state.EAGER_SENT


# cykas: Algorithm 5


def test_cykas_sends_again_when_the_last_eager_sender_has_told() -> None:
    alice = At(CYKAS)
    alice.receive(BOB, Eager(from_bob()))
    alice.receive(CAROL, Eager(Message(CAROL, 1, (ALICE,))))
    alice.send(CAROL)
    assert [] == alice.sends_on(BOB, Yct())
    assert 1 == alice.state.MODE
    assert [(CAROL, Normal(alice.messages[0]))] == alice.sends_on(CAROL, Yct())
    assert 0 == alice.state.MODE


# cykas-as-printed


def test_as_printed_ack_never_frees_the_output_buffer_without_an_eager_send() -> None:
    alice = At(CYKAS_AS_PRINTED)
    alice.send(BOB)
    alice.send(BOB)
    assert [] == alice.sends_on(BOB, Ack())
    assert (alice.messages[1],) == alice.state.OB


def test_as_printed_ack_frees_the_output_buffer_once_there_was_an_eager_send() -> None:
    """The receiver of an eager send keeps its entry in EAGER_SENT, with an empty queue."""
    alice = At(CYKAS_AS_PRINTED)
    for to in (CAROL, BOB):
        alice.send(to)
    for src in (BOB, CAROL):
        alice.sends_on(src, Ack())
    assert bits(BOB) == alice.state.entries
    assert ((), (), ()) == alice.state.EAGER_SENT
    alice.send(CAROL)
    assert [] == alice.send(CAROL)
    assert [(CAROL, Normal(alice.messages[3]))] == alice.sends_on(CAROL, Ack())


def test_as_printed_differs_in_algorithm_4_alone() -> None:
    printed, repaired = At(CYKAS_AS_PRINTED), At(CYKAS)
    for to in (CAROL, BOB, BOB):
        assert repaired.send(to) == printed.send(to)
    for packet in (Normal(from_bob()), Eager(from_bob(2))):
        expected, actual = repaired.receive(BOB, packet), printed.receive(BOB, packet)
        assert (expected.sends, expected.deliveries) == (actual.sends, actual.deliveries)
    assert repaired.state == Cykas(
        printed.state.UNACK, printed.state.EAGER_SENT, printed.state.OB, printed.state.MODE
    )


def test_as_printed_a_yct_frees_the_output_buffer() -> None:
    alice = At(CYKAS_AS_PRINTED)
    alice.receive(BOB, Eager(from_bob()))
    alice.send(CAROL)
    assert [(CAROL, Normal(alice.messages[0]))] == alice.sends_on(BOB, Yct())


@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
def test_as_printed_two_actors_with_two_messages_can_end_with_one_undelivered(history: str) -> None:
    """Two causal-sends each, and each actor's first message received and acknowledged."""
    counts = naive_counts(CYKAS_AS_PRINTED, 2, 2, history=history)
    assert {"all-delivered": 8} == is_violated_at(counts)


# cykas-secret-mode: section 2.3


def carol_in_secret_mode(*senders: int) -> At:
    """Carol after Eager Sends of these actors, in order."""
    carol = At(CYKAS_SECRET_MODE, CAROL)
    for sender in senders:
        carol.receive(sender, Eager(Message(sender, 1, (CAROL,))))
    return carol


def test_secret_mode_may_send_to_the_eager_sender() -> None:
    carol = carol_in_secret_mode(BOB)
    assert [(BOB, Normal(Message(CAROL, 1, (BOB,))))] == carol.send(BOB)


def test_secret_mode_may_not_send_to_anybody_else() -> None:
    assert [] == carol_in_secret_mode(BOB).send(ALICE)


def test_secret_mode_may_send_to_the_latest_eager_sender_only() -> None:
    assert [] == carol_in_secret_mode(BOB, ALICE).send(BOB)
    carol = carol_in_secret_mode(BOB, ALICE)
    assert [(ALICE, Normal(Message(CAROL, 1, (ALICE,))))] == carol.send(ALICE)


def test_secret_mode_an_eager_send_alone_does_not_free_the_output_buffer() -> None:
    """Algorithm 3 does not call TRY_SEND_MESSAGE."""
    carol = carol_in_secret_mode(BOB)
    carol.send(ALICE)
    step = carol.receive(ALICE, Eager(Message(ALICE, 1, (CAROL,))))
    assert ((ALICE, Ack()),) == step.sends


def test_secret_mode_a_normal_send_does_not_change_the_confidant() -> None:
    carol = carol_in_secret_mode(BOB)
    carol.receive(ALICE, Normal(Message(ALICE, 1, (CAROL,))))
    assert BOB == carol.state.confidant


def test_secret_mode_confidence_lasts_until_the_last_yct() -> None:
    carol = carol_in_secret_mode(BOB, ALICE)
    carol.receive(ALICE, Yct())
    assert (1, ALICE) == (carol.state.MODE, carol.state.confidant)
    carol.receive(BOB, Yct())
    assert CYKAS_SECRET_MODE.initial(CAROL, 3) == carol.state
    assert CykasSecretMode(bits(), ((), (), ())) == carol.state


def test_secret_mode_outside_of_it_sends_as_cykas_does() -> None:
    variant, original = At(CYKAS_SECRET_MODE), At(CYKAS)
    for to in (CAROL, BOB, CAROL):
        assert original.send(to) == variant.send(to)
    for src in (BOB, CAROL):
        assert original.sends_on(src, Ack()) == variant.sends_on(src, Ack())


def test_secret_mode_plays_figure_3_to_the_violation() -> None:
    """Nine transitions: five causal-sends, and four receptions.

    Those of es1 and es2 at Carol, then of ns3 and ns1 at Alice, in the wrong order.
    """
    alice, bob, carol = (At(CYKAS_SECRET_MODE, actor) for actor in (ALICE, BOB, CAROL))
    (_, ns1), (_, es1) = bob.send(ALICE) + bob.send(CAROL)
    (_, ns2), (_, es2) = alice.send(BOB) + alice.send(CAROL)
    assert [Normal, Eager] * 2 == [type(packet) for packet in (ns1, es1, ns2, es2)]
    carol.receive(BOB, es1)
    carol.receive(ALICE, es2)
    ((to, ns3),) = carol.send(ALICE)
    assert (ALICE, Normal(carol.messages[0])) == (to, ns3)
    assert (carol.messages[0],) == alice.receive(CAROL, ns3).deliveries
    assert (bob.messages[0],) == alice.receive(BOB, ns1).deliveries


@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
def test_secret_mode_shortest_violation_in_the_run_of_figure_3(history: str) -> None:
    counts = naive_counts(CYKAS_SECRET_MODE, 3, 2, workload=FIGURE_3, history=history)
    assert {"causal-delivery": 9} == is_violated_at(counts)


@pytest.mark.integration
def test_secret_mode_no_shorter_violation_with_two_messages_per_actor() -> None:
    assert {"causal-delivery": 9} == is_violated_at(naive_counts(CYKAS_SECRET_MODE, 3, 2))


@pytest.mark.parametrize("protocol", [MFSS, CYKAS], ids=lambda protocol: protocol.name)
def test_sound_protocols_survive_the_run_of_figure_3(protocol: Protocol) -> None:
    counts = naive_counts(protocol, 3, 2, workload=FIGURE_3, properties=EVERY_SAFETY)
    assert {} == is_violated_at(counts)


@pytest.mark.parametrize("protocol", [MFSS, CYKAS], ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(("actors", "messages"), [(2, 2), (2, 3), (3, 1)])
def test_sound_protocols_hold_within_small_bounds(
    protocol: Protocol, network: str, actors: int, messages: int
) -> None:
    counts = naive_counts(protocol, actors, messages, network=network, properties=EVERY_SAFETY)
    assert {} == is_violated_at(counts)


# cykas-yct-acked and its repairs: section 2.1 acknowledges YCTs, Algorithm 5 does not


def alice_who_told(protocol: Protocol) -> At:
    """Alice after a YCT to Bob, with two more messages for him."""
    alice = At(protocol)
    for to in (CAROL, BOB, BOB, BOB):
        alice.send(to)
    alice.sends_on(CAROL, Ack())
    alice.sends_on(BOB, Ack())
    return alice


@pytest.mark.parametrize(
    ("protocol", "ack"),
    [(CYKAS_YCT_ACKED, Ack()), (CYKAS_YCT_COUNTED, Ack()), (CYKAS_YCT_NAMED, YctAck())],
)
def test_a_yct_is_acknowledged_before_it_frees_the_output_buffer(
    protocol: Protocol, ack: Ack | YctAck
) -> None:
    alice = At(protocol)
    alice.receive(BOB, Eager(from_bob()))
    alice.send(CAROL)
    assert [(BOB, ack), (CAROL, Normal(alice.messages[0]))] == alice.sends_on(BOB, Yct())


def test_the_ack_of_a_yct_clears_the_bit_of_a_message_in_flight() -> None:
    alice = alice_who_told(CYKAS_YCT_ACKED)
    assert bits(BOB) == alice.state.UNACK
    assert [(BOB, Normal(alice.messages[3]))] == alice.sends_on(BOB, Ack())


def test_a_counted_yct_sets_unack_until_its_ack_comes() -> None:
    alice = alice_who_told(CYKAS_YCT_COUNTED)
    assert (bits(BOB), 2) == (alice.state.UNACK, len(alice.state.OB))
    assert [(BOB, Normal(alice.messages[2]))] == alice.sends_on(BOB, Ack())
    assert [(BOB, Normal(alice.messages[3]))] == alice.sends_on(BOB, Ack())


def test_counted_ycts_go_one_by_one() -> None:
    waits = Cykas(UNACK=bits(CAROL), EAGER_SENT=((), (bits(CAROL), bits(CAROL)), ()))
    step = CYKAS_YCT_COUNTED.receive(waits, CAROL, Ack())
    assert ((BOB, Yct()),) == step.sends
    step = CYKAS_YCT_COUNTED.receive(step.state, BOB, Ack())
    assert ((BOB, Yct()),) == step.sends
    step = CYKAS_YCT_COUNTED.receive(step.state, BOB, Ack())
    assert (CYKAS.initial(ALICE, 3), ()) == (step.state, step.sends)


def test_the_ack_of_a_yct_that_names_it_changes_nothing() -> None:
    alice = alice_who_told(CYKAS_YCT_NAMED)
    before = alice.state
    assert [] == alice.sends_on(BOB, YctAck())
    assert before == alice.state
    assert bits(BOB) == alice.state.UNACK
