"""Hybrid buffering: the handlers beside Algorithms 1 to 3, and what a check says of each.

The checks here are on networks that lose nothing, without the periodic part unless one says so:
packets that are repeated on an `unordered` network pile up without end. What the periodic part is
for is tried by random runs on a network that loses, repeats and reorders.
"""

from __future__ import annotations

import collections
import json
import random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.model import Message, Packet, Protocol, Step
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.history import deliver, oracle_named
from antecede.protocols import hybrid_basic, hybrid_sps
from antecede.protocols.hybrid_basic import (
    HYBRID_BASIC,
    HYBRID_BASIC_AS_PRINTED,
    HYBRID_BASIC_NO_TIMEOUT,
    Ack,
    Hybrid,
    Msg,
    Per,
    Permit,
)
from antecede.protocols.hybrid_multicast import HYBRID_MULTICAST
from antecede.protocols.hybrid_sps import HYBRID_SPS, HYBRID_SPS_AS_PRINTED, HybridSps
from antecede.protocols.sliding import SlidingArray
from tests.conftest import search
from tests.protocols.by_hand import At

ALICE, BOB, CAROL, DAVE = range(4)
UNICAST = (HYBRID_BASIC, HYBRID_SPS)
EVERY = (*UNICAST, HYBRID_MULTICAST)
SAFETY = ("causal-delivery", "integrity")


def by_name(protocols: tuple[Protocol, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("protocol", protocols, ids=lambda protocol: protocol.name)


def once(protocol: Protocol) -> Protocol:
    """Return the protocol without its periodic part."""
    return evolve(protocol, timeout=None)


def all_invariants(protocol: Protocol) -> tuple[str, ...]:
    return tuple(f"invariant:{name}" for name in protocol.invariants)


def violation(result: Result) -> tuple[str | None, int] | None:
    """Return the property that was found violated, and in how many transitions."""
    assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    path = result.counterexample
    return None if path is None else (path.violates, path.length)


def reaction(*sends: tuple[str, int, list[int], list[str]]) -> str:
    """Return a workload of (name, sender, destinations, awaited deliveries)."""
    return "reaction:" + json.dumps(
        [{"name": name, "from": i, "to": to, "after": after} for name, i, to, after in sends]
    )


ALICE_BOB_CAROL = reaction(
    ("m1", ALICE, [CAROL], []), ("m2", ALICE, [BOB], []), ("m3", BOB, [CAROL], ["m2"])
)
"""m1 happened before m3, and both go to Carol."""

AFTER_TWO_TO_BOB = reaction(
    ("m1", ALICE, [BOB], []),
    ("m2", ALICE, [CAROL], []),
    ("m3", ALICE, [BOB], []),
    ("m4", BOB, [CAROL], ["m3"]),
)
"""As above, but Alice's oldest message is to Bob too."""


def msg(
    src: int, mid: int, *, pid: int = 0, per: bool = False, to: int = ALICE, number: int = 0
) -> Msg:
    """Return what travels from `src` for its message `mid`."""
    return Msg(to, mid, pid, per, Message(src, number or mid, (to,)))


def ids(sends: list[tuple[int, Packet]]) -> list[tuple[int, int, int, bool]]:
    """Return (destination, mid, pid, per) of messages that are network-sent."""
    assert all(isinstance(packet, Msg) for _, packet in sends)
    return [(j, m.mid, m.pid, m.per) for j, m in sends]


# Algorithm 1: sending


@by_name(EVERY)
def test_first_message_has_id_1_no_predecessor_and_needs_no_permit(protocol: Protocol) -> None:
    assert [(BOB, 1, 0, False)] == ids(At(protocol).send(BOB))


@by_name(EVERY)
def test_predecessor_is_the_last_message_to_the_same_receiver(protocol: Protocol) -> None:
    alice = At(protocol)
    sends = [ids(alice.send(receiver))[0][:3] for receiver in (BOB, CAROL, BOB, CAROL)]
    assert [(BOB, 1, 0), (CAROL, 2, 0), (BOB, 3, 1), (CAROL, 4, 2)] == sends


@by_name((HYBRID_BASIC, HYBRID_MULTICAST))
def test_message_needs_a_permit_while_any_other_is_unacknowledged(protocol: Protocol) -> None:
    alice = At(protocol)
    assert [(BOB, 1, 0, False)] == ids(alice.send(BOB))
    assert [(BOB, 2, 1, True)] == ids(alice.send(BOB))
    alice.receive(BOB, Ack(1))
    alice.receive(BOB, Ack(2))
    assert [(BOB, 3, 2, False)] == ids(alice.send(BOB))


@by_name(EVERY)
def test_message_waits_for_the_permit_of_what_was_delivered_before(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 2, per=True))
    assert [] == alice.send(CAROL)
    assert [(CAROL, 1, 0, False)] == ids(alice.sends_on(BOB, Permit(2)))


@by_name(EVERY)
def test_message_does_not_wait_for_the_permit_of_what_was_delivered_later(
    protocol: Protocol,
) -> None:
    """Section 5.5.2: this is where Cykas starves."""
    alice = At(protocol, actors=4)
    alice.receive(BOB, msg(BOB, 2, per=True))
    assert [] == alice.send(DAVE)
    alice.receive(CAROL, msg(CAROL, 2, per=True))
    assert [(DAVE, 1, 0, False)] == ids(alice.sends_on(BOB, Permit(2)))


@by_name(EVERY)
def test_message_does_not_wait_after_a_delivery_that_needs_no_permit(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 1))
    assert [(CAROL, 1, 0, False)] == ids(alice.send(CAROL))


@by_name((HYBRID_BASIC, HYBRID_MULTICAST))
def test_buffered_messages_are_sent_in_causal_send_order(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 2, per=True))
    assert [[], []] == [alice.send(CAROL), alice.send(BOB)]
    sends = ids(alice.sends_on(BOB, Permit(2)))
    assert [(CAROL, 1, 0, False), (BOB, 2, 0, True)] == sends


@by_name(EVERY)
def test_permit_that_is_not_missing_changes_nothing(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.send(CAROL)
    before = alice.state
    assert [] == alice.sends_on(BOB, Permit(7))
    assert [] == alice.sends_on(CAROL, Permit(2))
    assert before == alice.state


# Algorithm 1: receiving messages


@by_name(EVERY)
def test_delivered_message_is_acknowledged(protocol: Protocol) -> None:
    alice = At(protocol)
    packet = msg(BOB, 3)
    step = alice.receive(BOB, packet)
    assert ((packet.pl,), ((BOB, Ack(3)),)) == (step.deliveries, step.sends)


@by_name(EVERY)
def test_receiver_holds_back_a_message_that_overtook_its_predecessor(protocol: Protocol) -> None:
    alice = At(protocol)
    first, second = msg(BOB, 1), msg(BOB, 4, pid=1)
    assert [] == alice.sends_on(BOB, second)
    step = alice.receive(BOB, first)
    assert (first.pl, second.pl) == step.deliveries
    assert ((BOB, Ack(1)), (BOB, Ack(4))) == step.sends


@by_name(EVERY)
def test_receiver_holds_back_per_sender(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 4, pid=1))
    packet = msg(CAROL, 1)
    assert (packet.pl,) == alice.receive(CAROL, packet).deliveries


@by_name(EVERY)
def test_held_message_that_comes_again_changes_nothing(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 4, pid=1))
    before = alice.state
    assert [] == alice.sends_on(BOB, msg(BOB, 4, pid=1))
    assert before == alice.state


@by_name(EVERY)
def test_delivered_message_that_comes_again_is_acknowledged_again(protocol: Protocol) -> None:
    """Line 46: its ACK may have been lost."""
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 2, per=True))
    before = alice.state
    assert [(BOB, Ack(2))] == alice.sends_on(BOB, msg(BOB, 2, per=True))
    assert before == alice.state


# Algorithm 1: receiving ACKs


def test_permit_is_sent_when_all_before_are_acknowledged() -> None:
    alice = At(HYBRID_BASIC)
    for receiver in (BOB, CAROL, BOB):
        alice.send(receiver)
    assert [] == alice.sends_on(CAROL, Ack(2))
    assert [(CAROL, Permit(2)), (BOB, Permit(3))] == alice.sends_on(BOB, Ack(1))
    assert [] == alice.sends_on(BOB, Ack(3))


@by_name(EVERY)
def test_ack_of_a_message_that_is_done_with_is_answered_by_a_permit(protocol: Protocol) -> None:
    """Line 59: the permit may have been lost."""
    alice = At(protocol)
    alice.send(BOB)
    alice.receive(BOB, Ack(1))
    before = alice.state
    assert [(BOB, Permit(1))] == alice.sends_on(BOB, Ack(1))
    assert before == alice.state


@by_name(EVERY)
def test_acknowledged_messages_are_collected_up_to_the_oldest_unacknowledged(
    protocol: Protocol,
) -> None:
    alice = At(protocol)
    for receiver in (BOB, CAROL, BOB):
        alice.send(receiver)
    alice.receive(CAROL, Ack(2))
    assert (1, 3) == (alice.state.u.first, alice.state.u.size)
    alice.receive(BOB, Ack(1))
    assert (3, 1) == (alice.state.u.first, alice.state.u.size)
    alice.receive(BOB, Ack(3))
    assert (4, 0) == (alice.state.u.first, alice.state.u.size)


# Algorithm 1: the periodic part


@by_name(EVERY)
def test_nothing_is_repeated_when_nothing_is_missing(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 1))
    alice.send(CAROL)
    alice.receive(CAROL, Ack(1))
    assert [] == alice.repeats()


@by_name(EVERY)
def test_unacknowledged_messages_and_acks_of_missing_permits_are_repeated(
    protocol: Protocol,
) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 3, per=True))
    alice.receive(CAROL, msg(CAROL, 5))
    assert [(BOB, Ack(3))] == alice.repeats()
    alice.receive(BOB, Permit(3))
    sends = [*alice.send(BOB), *alice.send(CAROL), *alice.send(BOB)]
    alice.receive(CAROL, Ack(2))
    assert [sends[0], sends[2]] == alice.repeats()


@by_name(EVERY)
def test_message_that_waits_in_its_buffer_is_not_repeated(protocol: Protocol) -> None:
    alice = At(protocol)
    alice.receive(BOB, msg(BOB, 3, per=True))
    alice.send(CAROL)
    assert [(BOB, Ack(3))] == alice.repeats()


# Algorithm 1 as printed


def test_as_printed_the_first_message_is_taken_for_a_duplicate() -> None:
    alice, bob = At(HYBRID_BASIC_AS_PRINTED), At(HYBRID_BASIC_AS_PRINTED, BOB)
    ((_, first),) = alice.send(BOB)
    ((_, second),) = alice.send(BOB)
    assert [(ALICE, Ack(0))] == bob.sends_on(ALICE, first)
    assert (second.pl,) == bob.receive(ALICE, second).deliveries


# Algorithm 2


def test_sps_needs_no_permit_among_messages_to_one_receiver() -> None:
    """Section 5.6, point 1."""
    alice = At(HYBRID_SPS)
    flags = [ids(alice.send(receiver))[0][3] for receiver in (BOB, BOB, CAROL, BOB)]
    assert [False, False, True, True] == flags


def test_sps_sends_a_permit_when_all_before_to_others_are_acknowledged() -> None:
    """Section 5.6, point 2: Bob's first message is still unacknowledged."""
    alice = At(HYBRID_SPS)
    for receiver in (BOB, CAROL, BOB):
        alice.send(receiver)
    assert [(BOB, Permit(3))] == alice.sends_on(CAROL, Ack(2))


def test_sps_sends_to_the_only_sender_whose_permits_are_missing() -> None:
    """Section 5.6, point 3."""
    alice = At(HYBRID_SPS)
    alice.receive(BOB, msg(BOB, 2, per=True))
    assert [] == alice.send(CAROL)
    assert [(BOB, 2, 0, True)] == ids(alice.send(BOB))


def test_sps_counts_a_buffered_message_as_unacknowledged() -> None:
    alice = At(HYBRID_SPS, actors=4)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.send(CAROL)
    alice.send(DAVE)
    assert [(BOB, 3, 0, True)] == ids(alice.send(BOB))


def test_sps_sends_to_the_remaining_sender_when_another_permit_arrives() -> None:
    """Lines 97-100: the permit at p2 arrives."""
    alice = At(HYBRID_SPS, actors=4)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.receive(CAROL, msg(CAROL, 2, per=True))
    assert [[], [], []] == [alice.send(receiver) for receiver in (DAVE, BOB, CAROL)]
    assert [(BOB, 2)] == [send[:2] for send in ids(alice.sends_on(CAROL, Permit(2)))]
    assert [(DAVE, 1), (CAROL, 3)] == [s[:2] for s in ids(alice.sends_on(BOB, Permit(2)))]


def test_sps_sends_to_the_second_sender_when_the_first_permit_arrives() -> None:
    """Lines 94-100: the permit at p2 becomes the first."""
    alice = At(HYBRID_SPS, actors=4)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.receive(CAROL, msg(CAROL, 2, per=True))
    assert [[], [], []] == [alice.send(receiver) for receiver in (DAVE, BOB, CAROL)]
    assert [(CAROL, 3)] == [send[:2] for send in ids(alice.sends_on(BOB, Permit(2)))]


def test_sps_as_printed_leaves_its_indexes_behind() -> None:
    alice = At(HYBRID_SPS_AS_PRINTED)
    assert [False, True] == [ids(alice.send(BOB))[0][3] for _ in range(2)]
    assert [] == alice.sends_on(BOB, Ack(1))
    assert [] == alice.sends_on(BOB, Ack(2))
    assert (3, 1, 1) == (alice.state.u.first, alice.state.m2, alice.state.u2)
    assert [(BOB, 3, 2, True)] == ids(alice.send(BOB))


def test_sps_as_printed_reads_a_message_that_its_buffer_dropped() -> None:
    alice = At(HYBRID_SPS_AS_PRINTED)
    alice.send(BOB)
    alice.receive(BOB, Ack(1))
    alice.receive(BOB, msg(BOB, 2, per=True))
    with pytest.raises(IndexError, match="index 1 is outside the window"):
        alice.receive(BOB, Permit(2))


# Algorithm 3


def test_multicast_takes_one_id_and_a_predecessor_per_receiver() -> None:
    alice = At(HYBRID_MULTICAST)
    alice.send(CAROL)
    assert [(BOB, 2, 0, True), (CAROL, 2, 1, True)] == ids(alice.send(BOB, CAROL))


def test_multicast_to_several_receivers_needs_a_permit_even_alone() -> None:
    assert [True, True] == [send[3] for send in ids(At(HYBRID_MULTICAST).send(BOB, CAROL))]


def test_multicast_sends_its_permits_when_every_receiver_acknowledged() -> None:
    alice = At(HYBRID_MULTICAST)
    alice.send(BOB, CAROL)
    assert [] == alice.sends_on(CAROL, Ack(1))
    assert [] == alice.sends_on(CAROL, Ack(1))
    assert [(BOB, Permit(1)), (CAROL, Permit(1))] == alice.sends_on(BOB, Ack(1))


def test_multicast_waits_for_the_acks_of_the_message_itself() -> None:
    """Section 5.7: unlike in Algorithm 1, so no permit overtakes its message."""
    alice = At(HYBRID_MULTICAST)
    alice.send(BOB)
    alice.send(CAROL)
    assert [] == alice.sends_on(BOB, Ack(1))
    assert [(CAROL, Permit(2))] == alice.sends_on(CAROL, Ack(2))


def test_multicast_repeats_to_receivers_that_have_not_acknowledged() -> None:
    alice = At(HYBRID_MULTICAST)
    sends = alice.send(BOB, CAROL)
    alice.receive(BOB, Ack(1))
    assert [sends[1]] == alice.repeats()


# checks on reliable networks


@by_name(EVERY)
@pytest.mark.parametrize("messages", [1, 2])
def test_two_actors_hold_on_fifo_links_without_repeating(protocol: Protocol, messages: int) -> None:
    assert Verdict.HOLDS == search(once(protocol), 2, messages, network="fifo").verdict


@by_name(EVERY)
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize("workload", [ALICE_BOB_CAROL, AFTER_TWO_TO_BOB])
def test_chains_to_carol_are_delivered_in_causal_order(
    protocol: Protocol, network: str, workload: str
) -> None:
    properties = (*SAFETY, *all_invariants(protocol))
    result = search(once(protocol), 3, workload=workload, network=network, properties=properties)
    assert Verdict.HOLDS == result.verdict


@by_name(EVERY)
@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_invariants_hold_for_two_actors_with_two_messages(protocol: Protocol, network: str) -> None:
    properties = all_invariants(protocol)
    assert Verdict.HOLDS == search(once(protocol), network=network, properties=properties).verdict


def test_no_timeout_loses_a_permit_that_overtakes_its_message() -> None:
    assert None is violation(search(HYBRID_BASIC_NO_TIMEOUT, 2, 1, network="unordered"))
    found = search(HYBRID_BASIC_NO_TIMEOUT, 2, 2, network="unordered")
    assert ("all-delivered", 9) == violation(found)


def test_no_timeout_is_safe_on_a_network_that_reorders() -> None:
    found = search(HYBRID_BASIC_NO_TIMEOUT, 2, 2, network="unordered", properties=SAFETY)
    assert None is violation(found)


def test_as_printed_never_delivers_the_first_message() -> None:
    result = search(once(HYBRID_BASIC_AS_PRINTED), 2, 1)
    assert ("all-delivered", 6) == violation(result)


@pytest.mark.parametrize("witness", sorted(HYBRID_BASIC.witnesses))
def test_basic_shows_each_witness_with_two_actors(witness: str) -> None:
    properties = (f"witness:{witness}",)
    result = search(HYBRID_BASIC_NO_TIMEOUT, 2, 2, network="unordered", properties=properties)
    assert Verdict.HOLDS == result.verdict


@pytest.mark.parametrize("witness", sorted(HYBRID_SPS.witnesses))
def test_sps_shows_each_witness_with_three_actors(witness: str) -> None:
    workload = reaction(
        ("m1", ALICE, [CAROL], []),
        ("m2", ALICE, [BOB], []),
        ("m3", ALICE, [BOB], []),
        ("m4", BOB, [CAROL], ["m3"]),
        ("m5", BOB, [ALICE], []),
    )
    properties = (f"witness:{witness}",)
    result = search(once(HYBRID_SPS), 3, workload=workload, properties=properties)
    assert Verdict.HOLDS == result.verdict


def test_two_actors_never_need_a_permit_under_sps_but_do_as_printed() -> None:
    properties = ("witness:permit-missing",)
    sps = search(once(HYBRID_SPS), properties=properties)
    as_printed = search(once(HYBRID_SPS_AS_PRINTED), properties=properties)
    basic = search(HYBRID_BASIC_NO_TIMEOUT, properties=properties)
    assert Verdict.VIOLATED == sps.verdict
    assert [Verdict.HOLDS, Verdict.HOLDS] == [as_printed.verdict, basic.verdict]


def test_sps_as_printed_has_indexes_outside_its_window_after_one_ack() -> None:
    protocol = once(HYBRID_SPS_AS_PRINTED)
    result = search(protocol, 2, 1, properties=("invariant:indexes-in-window",))
    assert ("invariant:indexes-in-window", 3) == violation(result)


def test_sps_as_printed_loses_a_permit_on_fifo_links() -> None:
    """The second message to Bob is flagged, and nothing but its repeated ACK brings a permit."""
    workload = reaction(
        ("m1", ALICE, [BOB], []), ("m2", ALICE, [BOB], []), ("m3", BOB, [CAROL], ["m2"])
    )
    values: dict[str, Any] = {"workload": workload, "network": "fifo"}
    assert ("all-delivered", 7) == violation(search(once(HYBRID_SPS_AS_PRINTED), 3, **values))
    assert None is violation(search(once(HYBRID_SPS), 3, **values))


def test_sps_holds_for_three_actors_with_one_message() -> None:
    assert Verdict.HOLDS == search(once(HYBRID_SPS), 3, 1).verdict


@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_multicast_holds_for_a_broadcast_of_three(network: str) -> None:
    """Without repeating, on a network that reorders too: no permit overtakes its message."""
    result = search(once(HYBRID_MULTICAST), 3, 1, workload="broadcast", network=network)
    assert Verdict.HOLDS == result.verdict


def test_multicast_by_unicast_violates_causal_delivery() -> None:
    """Section 5.7: what Bob sends on the first copy overtakes Carol's copy."""
    result = search(HYBRID_BASIC_NO_TIMEOUT, 3, 1, workload="broadcast", network="fifo")
    assert ("causal-delivery", 5) == violation(result)


# seeded bugs: the checks above can fail


def with_handler(protocol: Protocol, **handlers: Any) -> Protocol:
    return evolve(once(protocol), name="broken", **handlers)


def never_asks_for_permits(state: Hybrid[Msg], message: Message) -> Step:
    step = hybrid_basic.causal_send(state, message)
    sends = tuple((j, evolve(m, per=False)) for j, m in step.sends)
    return Step(step.state, sends)


def grants_unasked(state: Hybrid[Msg], src: int, packet: Packet) -> Step:
    if isinstance(packet, Msg):
        packet = evolve(packet, per=False)
    return hybrid_basic.receive(state, src, packet)


def is_blind_to_other_receivers(state: HybridSps, message: Message) -> Step:
    """Line 33 without its first half."""
    step = hybrid_sps.causal_send(evolve(state, u2=state.u.next + 1), message)
    return evolve(step, state=evolve(step.state, u2=state.u2))


def delivers_in_any_order(state: Hybrid[Msg], src: int, packet: Packet) -> Step:
    if isinstance(packet, Msg):
        packet = evolve(packet, pid=state.ld[src])
    return hybrid_basic.receive(state, src, packet)


def sends_no_permits(state: Hybrid[Msg], src: int, packet: Packet) -> Step:
    step = hybrid_basic.receive(state, src, packet)
    return evolve(step, sends=tuple(s for s in step.sends if not isinstance(s[1], Permit)))


@pytest.mark.parametrize(
    ("protocol", "workload", "network", "violates"),
    [
        (
            with_handler(HYBRID_BASIC, causal_send=never_asks_for_permits),
            ALICE_BOB_CAROL,
            "fifo",
            "causal-delivery",
        ),
        (
            with_handler(HYBRID_SPS, causal_send=is_blind_to_other_receivers),
            AFTER_TWO_TO_BOB,
            "fifo",
            "causal-delivery",
        ),
        (
            with_handler(HYBRID_BASIC, receive=delivers_in_any_order),
            "script:[[1,1],[]]",
            "unordered",
            "all-delivered",
        ),
        (
            with_handler(HYBRID_BASIC, receive=sends_no_permits),
            ALICE_BOB_CAROL,
            "fifo",
            "all-delivered",
        ),
    ],
    ids=["never-asks-for-permits", "blind-to-other-receivers", "any-order", "no-permits"],
)
def test_checks_find_a_seeded_bug(
    protocol: Protocol, workload: str, network: str, violates: str
) -> None:
    actors = 2 if workload.startswith("script") else 3
    found = violation(search(protocol, actors, workload=workload, network=network))
    assert found is not None
    assert violates == found[0]


def basic_state(**changes: Any) -> Hybrid[Msg]:
    """Return Alice's state with one message unacknowledged and one that waits for Bob's permit."""
    alice = At(HYBRID_BASIC)
    alice.send(CAROL)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.send(CAROL)
    state: Hybrid[Msg] = evolve(alice.state, **changes)
    return state


def sps_state(**changes: Any) -> HybridSps:
    """Return Alice's state as Figure 4 has it, with different values for its four indexes."""
    alice = At(HYBRID_SPS, actors=4)
    alice.send(BOB)
    alice.send(CAROL)
    alice.receive(BOB, msg(BOB, 2, per=True))
    alice.send(DAVE)
    alice.receive(CAROL, msg(CAROL, 2, per=True))
    alice.send(DAVE)
    state: HybridSps = evolve(alice.state, **changes)
    return state


def test_states_before_they_are_broken_satisfy_every_invariant() -> None:
    for name, holds in HYBRID_BASIC.invariants.items():
        assert holds(basic_state()), name
    for name, holds in HYBRID_SPS.invariants.items():
        assert holds(sps_state()), name
    indexes = sps_state()
    assert (1, 3, 4, 2) == (indexes.p2, indexes.m1, indexes.m2, indexes.u2)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("waits-for-permits", {"p": HYBRID_BASIC.initial(ALICE, 3).p}),
        ("permits-are-for-delivered", {"ld": (0, 1, 0)}),
        (
            "later-need-permits",
            {"u": SlidingArray(1, (msg(ALICE, 1, to=BOB), msg(ALICE, 2, to=BOB)))},
        ),
        ("ids-are-indexes", {"ck": 7}),
    ],
)
def test_invariants_of_basic_can_fail(name: str, changes: dict[str, Any]) -> None:
    assert not HYBRID_BASIC.invariants[name](basic_state(**changes))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("m1", {"m1": 2}),
        ("m2", {"m2": 3}),
        ("p2", {"p2": 2}),
        ("u2", {"u2": 1}),
        ("indexes-in-window", {"u2": 0}),
        ("sends-what-sps-allows", {"p": HYBRID_SPS.initial(ALICE, 4).p.add(Per(DAVE, 2))}),
        ("permits-are-for-delivered", {"ld": (0, 0, 0, 0)}),
    ],
)
def test_invariants_of_sps_can_fail(name: str, changes: dict[str, Any]) -> None:
    assert not HYBRID_SPS.invariants[name](sps_state(**changes))


# a network that loses, repeats and reorders


class Faulty:
    """A run of a protocol on a network that may do anything to packets for a limited time."""

    def __init__(self, protocol: Protocol, actors: int, messages: int, luck: random.Random) -> None:
        self.protocol, self.actors, self.luck = protocol, actors, luck
        self.left = [luck.randint(0, messages) for _ in range(actors)]
        self.sent = [0] * actors
        self.locals: list[Any] = [protocol.initial(i, actors) for i in range(actors)]
        self.flying: dict[tuple[int, int, Packet], None] = {}
        self.oracle = oracle_named("knowledge", actors, messages)
        self.ghosts = tuple(self.oracle.initial(i) for i in range(actors))
        self.late = {
            (i, j): 10 ** luck.uniform(-2, 0) for i in range(actors) for j in range(actors)
        }

    def run(self) -> None:
        """Let the application send and the network do its worst; then let everything arrive."""
        while any(self.left):
            self.event()
        while self.flying or self.everyone_repeats():
            self.arrive(keep=0.0, lose=0.0)

    def event(self) -> None:
        kind = self.luck.random()
        if kind < 0.3:
            self.causal_send(self.luck.choice([i for i, n in enumerate(self.left) if n]))
        elif kind < 0.35:
            self.everyone_repeats()
        elif self.flying:
            self.arrive(keep=0.2, lose=0.2)

    def causal_send(self, i: int) -> None:
        others = [j for j in range(self.actors) if j != i]
        multicasts = self.protocol is HYBRID_MULTICAST
        count = self.luck.randint(1, len(others)) if multicasts else 1
        self.sent[i], self.left[i] = self.sent[i] + 1, self.left[i] - 1
        message = Message(i, self.sent[i], tuple(sorted(self.luck.sample(others, count))))
        ghost = self.oracle.causal_send(self.ghosts[i], message)
        self.ghosts = (*self.ghosts[:i], ghost, *self.ghosts[i + 1 :])
        self.take(i, self.protocol.causal_send(self.locals[i], message))

    def everyone_repeats(self) -> bool:
        assert self.protocol.timeout is not None
        for i, local in enumerate(self.locals):
            step = self.protocol.timeout(local)
            if step is not None:
                self.take(i, step)
        return bool(self.flying)

    def arrive(self, keep: float, lose: float) -> None:
        envelopes = list(self.flying)
        (envelope,) = self.luck.choices(envelopes, [self.late[e[:2]] for e in envelopes])
        src, dst, packet = envelope
        if self.luck.random() >= keep:
            del self.flying[envelope]
        if self.luck.random() >= lose:
            self.take(dst, self.protocol.receive(self.locals[dst], src, packet))

    def take(self, i: int, step: Step) -> None:
        self.locals[i] = step.state
        for name, holds in self.protocol.invariants.items():
            assert holds(step.state), name
        self.flying |= {(i, j, packet): None for j, packet in step.sends}
        for message in step.deliveries:
            self.ghosts, delivery = deliver(self.oracle, self.ghosts, i, message)
            assert delivery.expected
            assert not delivery.causally_late

    @property
    def undelivered(self) -> list[Message]:
        return [entry.message for ghost in self.ghosts for entry in ghost.pending]


@by_name(EVERY)
@settings(max_examples=40)
@given(luck=st.randoms(use_true_random=False), actors=st.integers(2, 5))
def test_everything_is_delivered_in_causal_order_whatever_the_network_does(
    protocol: Protocol, luck: random.Random, actors: int
) -> None:
    run = Faulty(protocol, actors, 4, luck)
    run.run()
    assert [] == run.undelivered


def test_random_runs_lose_messages_of_a_protocol_that_repeats_nothing() -> None:
    silent = evolve(HYBRID_BASIC, timeout=lambda _state: None)
    runs = [Faulty(silent, 3, 4, random.Random(seed)) for seed in range(10)]
    for run in runs:
        run.run()
    assert any(run.undelivered for run in runs)


def test_random_runs_find_a_protocol_that_never_asks_for_permits() -> None:
    careless = evolve(HYBRID_BASIC, causal_send=never_asks_for_permits, receive=grants_unasked)
    runs = [Faulty(careless, 3, 4, random.Random(seed)) for seed in range(100)]
    with pytest.raises(AssertionError, match="causally_late"):
        collections.deque(map(Faulty.run, runs), maxlen=0)
