"""Cykas without starvation: its handlers by hand, the naive judge, and what each line is for."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.checker.check.spec import load_spec
from antecede.checker.model import Message
from antecede.protocols.cykas import CYKAS, Ack, Eager, Normal, Yct
from antecede.protocols.cykas_fair import CYKAS_FAIR, CykasFair
from tests.conftest import ROOT
from tests.models import EVERY_SAFETY, naive_counts
from tests.protocols.by_hand import At

ALICE, BOB, CAROL = range(3)
SMALL = ROOT / "specs" / "small"


def eager_to_alice(sender: int, number: int = 1) -> Eager:
    return Eager(Message(sender, number, (ALICE,)))


# The handlers, one by one


def test_a_message_waits_for_an_eager_send_that_was_delivered_before_its_application_send() -> None:
    alice = At(CYKAS_FAIR)
    alice.receive(BOB, eager_to_alice(BOB))
    assert [] == alice.send(CAROL)
    assert ((alice.messages[0], (0, 1, 0)),) == alice.state.OB
    assert [(CAROL, Normal(alice.messages[0]))] == alice.sends_on(BOB, Yct())


def test_a_message_does_not_wait_for_an_eager_send_that_was_delivered_later() -> None:
    """Cykas keeps the message until Carol tells, although it does not depend on her message."""
    for protocol, freed in ((CYKAS_FAIR, True), (CYKAS, False)):
        alice = At(protocol)
        alice.receive(BOB, eager_to_alice(BOB))
        alice.send(CAROL)
        alice.receive(CAROL, eager_to_alice(CAROL))
        sends = [(CAROL, Normal(alice.messages[0]))] if freed else []
        assert sends == alice.sends_on(BOB, Yct())


def test_the_ycts_of_one_sender_are_counted() -> None:
    """The first YCT may be of an older Eager Send than the message waits for."""
    alice = At(CYKAS_FAIR)
    for number in (1, 2):
        alice.receive(BOB, eager_to_alice(BOB, number))
    alice.send(CAROL)
    assert (0, 2, 0) == alice.state.AWAIT
    assert [] == alice.sends_on(BOB, Yct())
    assert [(CAROL, Normal(alice.messages[0]))] == alice.sends_on(BOB, Yct())


def test_a_yct_lowers_the_counts_of_its_sender_only() -> None:
    alice = At(CYKAS_FAIR)
    for sender in (BOB, CAROL):
        alice.receive(sender, eager_to_alice(sender))
    alice.send(CAROL)
    assert [] == alice.sends_on(CAROL, Yct())
    assert ((alice.messages[0], (0, 1, 0)),) == alice.state.OB
    assert (0, 1, 0) == alice.state.AWAIT


def test_a_yct_lowers_no_count_below_zero() -> None:
    """Alice's first message does not wait for Bob, and is not held back by his YCT."""
    alice = At(CYKAS_FAIR)
    for _ in range(2):
        alice.send(CAROL)
    alice.receive(BOB, eager_to_alice(BOB))
    assert [] == alice.sends_on(BOB, Yct())
    assert ((alice.messages[1], (0, 0, 0)),) == alice.state.OB
    assert [(CAROL, Normal(alice.messages[1]))] == alice.sends_on(CAROL, Ack())


def test_the_head_of_the_buffer_holds_back_what_is_behind_it() -> None:
    alice = At(CYKAS_FAIR)
    alice.receive(BOB, eager_to_alice(BOB))
    alice.send(CAROL)
    assert [] == alice.send(BOB)
    sends = alice.sends_on(BOB, Yct())
    assert [(CAROL, Normal(alice.messages[0])), (BOB, Eager(alice.messages[1]))] == sends


def test_without_eager_sends_received_it_sends_as_cykas_does() -> None:
    fair, original = At(CYKAS_FAIR), At(CYKAS)
    for to in (CAROL, BOB, CAROL, BOB):
        assert original.send(to) == fair.send(to)
    for src in (BOB, CAROL, CAROL, BOB):
        assert original.sends_on(src, Ack()) == fair.sends_on(src, Ack())
        assert original.state.EAGER_SENT == fair.state.EAGER_SENT
    assert CYKAS_FAIR.initial(ALICE, 3) == fair.state


@pytest.mark.parametrize(
    ("invariant", "values"),
    [
        ("copies-grow-along-the-buffer", {"OB": (((0, 1, 0), 1),)}),
        ("copies-grow-along-the-buffer", {"OB": (((0, 0, 1), 1), ((0, 0, 0), 2))}),
        ("buffer-waits-for-ack-or-yct", {"OB": (((0, 0, 0), 1),)}),
        ("buffer-in-sending-order", {"OB": (((0, 0, 0), 1), ((0, 0, 0), 3))}),
    ],
)
def test_an_invariant_is_false_of_a_wrong_state(invariant: str, values: dict[str, Any]) -> None:
    buffer = tuple((Message(ALICE, number, (BOB,)), copy) for copy, number in values["OB"])
    state = CykasFair(UNACK=(False,) * 3, EAGER_SENT=((),) * 3, OB=buffer, AWAIT=(0, 0, 1))
    assert not CYKAS_FAIR.invariants[invariant](state)


# The naive judge


@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
@pytest.mark.parametrize("name", ["cykas-fair-2x2", "cykas-fair-figure3"])
def test_the_naive_judge_counts_what_the_specs_say(name: str, history: str) -> None:
    spec = load_spec(SMALL / f"{name}.toml")
    found = naive_counts(
        CYKAS_FAIR, spec.actors, spec.messages, workload=spec.workload, history=history
    )
    assert tuple(spec.expect.counts[history].values()) == found[:4]
    assert {} == found.violation


@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(("actors", "messages"), [(2, 2), (2, 3), (3, 1)])
def test_the_naive_judge_finds_no_violation(network: str, actors: int, messages: int) -> None:
    counts = naive_counts(CYKAS_FAIR, actors, messages, network=network, properties=EVERY_SAFETY)
    assert {} == counts.violation


@pytest.mark.slow
def test_the_naive_judge_counts_three_actors_with_two_messages() -> None:
    found = naive_counts(CYKAS_FAIR, 3, 2)
    assert ({}, 57_537, 239_959) == (found.violation, found.unique, found.total)
