"""Measures, compared with values worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.papers.claims.measures import Measures, PacketKind, Size, measure, size_of
from antecede.checker.search.options import Options
from antecede.checker.support.errors import CapacityError
from antecede.checker.support.registry import protocol_named
from antecede.protocols.rst import all_agree_on_sent


def measured(protocol: str, actors: int, messages: int, **values: Any) -> Measures:
    return measure(system_of(Spec(protocol=protocol, actors=actors, messages=messages, **values)))


@frozen
class Thing:
    number: int
    flags: tuple[bool, ...]
    message: Message | None = None


def test_integers_and_messages_are_counted_however_deep() -> None:
    m = Message(0, 1, (1,))
    assert Size(0, 1) == size_of(m)
    assert Size(3, 1) == size_of(Thing(7, (True, False), m))
    assert Size(4, 0) == size_of({1: (2, None), 3: frozenset({4})})
    assert Size(6, 2) == size_of((Thing(1, (True, True), m), [Thing(2, (False, False), m)]))


def test_fifo_two_by_two_by_hand() -> None:
    """Both messages may be in flight at once; the second may come first and is then held back.

    A packet has its sequence number. A state has two rows of two counters. Nothing else is sent.
    """
    found = measured("fifo", 2, 2)
    assert (2, 2) == (found.messages_per_sender, found.messages_per_pair)
    assert (2, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Numbered": PacketKind(carries=True, integers=1)} == found.packets
    assert 1 == found.buffered
    assert 4 + 1 == found.state_integers  # and the number of the one that is held back
    assert 0 == found.control_packets
    assert () == found.control_kinds
    assert {} == found.final_invariants
    assert 0 == found.overtaken
    assert found.acyclic


def test_mfss_two_by_two_by_hand() -> None:
    """One message in flight, the other in the buffer; the ACK of the other's message beside it.

    The other posts nothing before it has that ACK, so there is never a second one. Each message
    is acknowledged once. At the end nothing waits, and nothing is unacknowledged.
    """
    found = measured("mfss", 2, 2)
    assert (1, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert (2, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Ack": PacketKind(False, 0), "Data": PacketKind(True, 0)} == found.packets
    assert ("Ack",) == found.control_kinds
    assert (1, 1) == (found.buffered, found.state_integers)
    assert 1 == found.control_packets
    assert (0, {"acknowledged": True, "sent": True}) == (found.overtaken, found.final_invariants)
    assert (81, 1) == (found.states, found.final_states)


def test_cykas_three_by_one_by_hand() -> None:
    """One message each is sent normally, at once, because nothing is unacknowledged.

    Its sender may have that and the ACKs of both others in flight, one of these to its receiver.
    A state is three bits, three empty queues and MODE.
    """
    found = measured("cykas", 3, 1)
    assert (1, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert (3, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Ack": PacketKind(False, 0), "Normal": PacketKind(True, 0)} == found.packets
    assert (0, 4) == (found.buffered, found.state_integers)
    assert 1 == found.control_packets
    assert all(found.final_invariants.values())
    assert 216 == found.states


def test_cykas_sends_one_ack_and_one_yct_for_an_eager_send() -> None:
    """Alice's second message is eager: three control packets for two messages, at most."""
    found = measured("cykas", 3, 2, workload="script:[[1,2],[],[]]")
    assert {"Normal", "Eager", "Ack", "Yct"} == set(found.packets)
    assert ("Ack", "Yct") == found.control_kinds
    assert (2, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert Fraction(3, 2) == found.control_packets
    assert 1 == found.overtaken  # Carol's arrives before Bob's


def test_what_is_never_sent_is_seen_at_the_end() -> None:
    found = measured("cykas-as-printed", 2, 2)
    assert {"sent"} == {name for name, respected in found.final_invariants.items() if not respected}


def test_a_joint_predicate_is_about_all_actors_at_the_end() -> None:
    """Broadcasts leave one matrix SENT behind; a message to one receiver is unknown to others."""
    agreeing = evolve(
        protocol_named("rst"), joint_final_invariants={"in-agreement": all_agree_on_sent}
    )
    for workload, agree in (("broadcast", True), ("any", False)):
        spec = Spec(protocol="rst", actors=3, messages=1, workload=workload)
        assert measure(system_of(spec, agreeing)).final_invariants == {"in-agreement": agree}


def test_who_may_repeat_for_ever_has_no_bound_on_control_packets() -> None:
    found = measured("hybrid-basic", 2, 1, network="lossy")
    assert not found.acyclic
    assert found.control_packets is None


def test_as_many_states_as_the_local_engine_finds() -> None:
    spec = Spec(protocol="rst", actors=3, messages=1)
    result = check(spec, Options()).result
    counts, found = result.unreduced or result.counts, measure(system_of(spec))
    assert (counts.unique_states, counts.final_states) == (found.states, found.final_states)


def test_too_many_states_are_refused() -> None:
    with pytest.raises(CapacityError, match="more than 50 states are too many to be measured"):
        measure(system_of(Spec(protocol="mfss", actors=2)), most=50)


def test_a_protocol_that_sends_nothing_has_nothing_to_measure() -> None:
    silent = Protocol(
        name="silent",
        summary="",
        source="",
        initial=lambda _actor, _actors: None,
        causal_send=lambda state, _message: Step(state),
        receive=lambda state, _src, _packet: Step(state),
    )
    found = measure(system_of(Spec(protocol="silent", actors=2), silent))
    assert {} == found.packets
    assert (0, 0, 0) == (found.packet_integers, found.packets_per_sender, found.buffered)
