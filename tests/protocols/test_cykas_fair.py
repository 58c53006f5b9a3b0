"""Cykas without starvation: its handlers by hand, the naive judge, and what each line is for."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.model import Message, Protocol
from antecede.checker.search.result import Result, Verdict
from antecede.protocols.cykas import CYKAS, Ack, Eager, Normal, Yct
from antecede.protocols.cykas_fair import CYKAS_FAIR, CykasFair
from antecede.protocols.cykas_fair_bounded import CYKAS_FAIR_BOUNDED, CykasFairBounded
from tests import naive_endless
from tests.conftest import ROOT
from tests.models import EVERY_SAFETY, naive_counts
from tests.mutants.mutant import Mutant, mutated
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


@pytest.mark.integration
@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
@pytest.mark.parametrize("name", ["cykas-fair-2x2", "cykas-fair-figure3"])
def test_the_naive_judge_counts_what_the_specs_say(name: str, history: str) -> None:
    spec = load_spec(SMALL / f"{name}.toml")
    found = naive_counts(
        CYKAS_FAIR, spec.actors, spec.messages, workload=spec.workload, history=history
    )
    assert tuple(spec.expect.counts[history].values()) == found[:4]
    assert {} == found.violation


@pytest.mark.parametrize("protocol", [CYKAS_FAIR, CYKAS_FAIR_BOUNDED], ids=lambda one: one.name)
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(("actors", "messages"), [(2, 2), (2, 3), (3, 1)])
def test_the_naive_judge_finds_no_violation(
    protocol: Protocol, network: str, actors: int, messages: int
) -> None:
    counts = naive_counts(protocol, actors, messages, network=network, properties=EVERY_SAFETY)
    assert {} == counts.violation


@pytest.mark.slow
def test_the_naive_judge_counts_three_actors_with_two_messages() -> None:
    found = naive_counts(CYKAS_FAIR, 3, 2)
    assert ({}, 57_537, 239_959) == (found.violation, found.unique, found.total)


# Starvation: Alice writes to both others, and Carol to Alice, forever

BUSY = "endless:1:[[1,2],[],[0]]"
ROWS: naive_endless.Rows = [[(1,), (2,)], [], [(0,)]]
CYKAS_AGAIN = Mutant(
    name="waits-for-later-ycts",
    breaks="waits for every missing YCT, as Cykas does",
    old="if any(awaited) or not state.may_send(j):",
    new="if any(state.AWAIT) or not state.may_send(j):",
    file="cykas_fair.py",
)


def busy(protocol: Protocol, workload: str = BUSY, **values: Any) -> Result:
    spec = Spec(protocol.name, workload=workload, properties=("no-starvation",), **values)
    return check(spec, protocol=protocol, selfcheck="off").result


@pytest.mark.integration
def test_within_the_same_bounds_cykas_starves_and_this_protocol_does_not() -> None:
    starved = busy(CYKAS, bound=("mode=3", "eager-sent=2")).counterexample
    assert starved is not None
    assert starved.loop is not None
    assert (5, 7) == (starved.loop.after, starved.length - starved.loop.after)
    found = busy(CYKAS_FAIR, bound=("awaited=3", "eager-sent=2"))
    assert "--bound eager-sent=2,awaited=3 reached" == found.stopped_by
    assert (Verdict.INCOMPLETE, 3_729) == (found.verdict, found.counts.unique_states)


@pytest.mark.integration
def test_it_starves_as_cykas_does_if_messages_wait_for_all_missing_ycts() -> None:
    starved = busy(evolve(mutated("cykas-fair", CYKAS_AGAIN), name="cykas-fair")).counterexample
    assert starved is not None
    assert starved.loop is not None
    assert 7 == starved.length - starved.loop.after


def test_its_states_have_no_bound_while_an_ack_is_late() -> None:
    """Alice writes to Bob again and again while the ACK of Carol is late."""
    alone = "endless:1:[[1,2],[],[]]"
    (growth,) = busy(CYKAS_FAIR, alone, network="fifo", bound=("eager-sent=3",)).grown
    assert ([3, 6, 9], 9) == ([*growth.steps], growth.path.length)


# cykas-fair-bounded


def test_a_second_eager_send_waits_until_the_yct_of_the_first_is_sent() -> None:
    for protocol, sends in ((CYKAS_FAIR, 1), (CYKAS_FAIR_BOUNDED, 0)):
        alice = At(protocol)
        for to in (CAROL, BOB, BOB):
            alice.send(to)
        assert sends == len(alice.sends_on(BOB, Ack()))


def test_two_untold_eager_sends_break_an_invariant() -> None:
    bits = (False, False, True)
    state = CykasFairBounded(UNACK=bits, EAGER_SENT=((), (bits, bits), ()), OB=(), AWAIT=(0, 2, 0))
    broken = [name for name, true in CYKAS_FAIR_BOUNDED.invariants.items() if not true(state)]
    assert ["one-eager-send-per-receiver", "one-yct-per-sender"] == broken


def test_the_naive_judge_sees_nothing_starve_for_ever() -> None:
    counts, graph = naive_endless.explore(CYKAS_FAIR_BOUNDED, ROWS, 1, "fifo")
    assert {} == counts.violation
    assert not naive_endless.starves(graph, lossy=False)
    result = busy(CYKAS_FAIR_BOUNDED, network="fifo")
    assert Verdict.HOLDS is result.verdict
    assert counts.unique == result.counts.unique_states
