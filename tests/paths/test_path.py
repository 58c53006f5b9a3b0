"""Paths: replay through plain Python, and the chain that explains a violation."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import CausalSend, Message, Receive
from antecede.checker.paths import path as path_module
from antecede.checker.paths.confirm import confirm
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import (
    Path,
    holds_along,
    key_text,
    replay,
    replay_keys,
    transition_key,
)
from antecede.checker.paths.violation import Violation, wrong_order
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import ReplayError
from antecede.checker.support.registry import property_named
from antecede.protocols.unordered import Data
from tests.conftest import counterexample
from tests.runs import walk

CAUSAL = property_named("causal-delivery")
INTEGRITY = property_named("integrity")
ALL_DELIVERED = property_named("all-delivered")

M1 = Message(0, 1, (2,))
M2 = Message(0, 2, (1,))
M3 = Message(1, 1, (2,))
ALICE_BOB_CAROL = (
    CausalSend(0, (2,)),
    CausalSend(0, (1,)),
    Receive(0, 1, Data(M2)),
    CausalSend(1, (2,)),
    Receive(1, 2, Data(M3)),
    Receive(0, 2, Data(M1)),
)


def system(protocol: str = "unordered", workload: str = "script:[[2,1],[2],[]]") -> System:
    return system_of(Spec(protocol=protocol, actors=3, workload=workload))


def test_replay_gives_every_step_its_message_deliveries_and_clocks() -> None:
    path = replay(system(), ALICE_BOB_CAROL)
    assert 6 == path.length
    assert (M1, M2, M3) == path.messages
    assert [0, 0, 1, 1, 2, 2] == [step.actor for step in path.steps]
    assert [1, 2, 3, 4, 5, 6] == [step.number for step in path.steps]
    assert [(), (), (M2,), (), (M3,), (M1,)] == [
        tuple(d.message for d in step.deliveries) for step in path.steps
    ]
    assert ((2, 0, 0), (2, 1, 0), (0, 0, 0)) == path.steps[3].clocks
    assert ((2, 0, 0), (2, 1, 0), (2, 1, 0)) == path.steps[5].clocks


def test_replay_judges_whatever_history_the_search_used() -> None:
    for history in ("knowledge", "clocks", "full"):
        found = system_of(Spec(protocol="unordered", actors=2, messages=2, history=history))
        path = counterexample("unordered", 2, 2, history=history)
        again = replay(found, [step.transition for step in path.steps])
        assert not holds_along(again, CAUSAL)
        assert holds_along(again, INTEGRITY)


def test_replay_names_the_step_that_is_not_enabled_and_what_is_instead() -> None:
    with pytest.raises(ReplayError) as caught:
        replay(system(), [CausalSend(0, (2,)), CausalSend(0, (2,))])
    assert "step 2, causal-send by 0 to [2], is not enabled there" in str(caught.value)
    assert "of its kind, causal-send by 0 to [1] is" in str(caught.value)


def test_replay_says_that_nothing_of_the_kind_is_enabled() -> None:
    with pytest.raises(ReplayError, match=r"step 1, receive by 1 from 0 of .*, none is"):
        replay(system(), [Receive(0, 1, Data(M2))])


def test_a_path_is_replayed_from_its_keys() -> None:
    keys = [transition_key(t) for t in ALICE_BOB_CAROL]
    assert replay_keys(system(), keys).messages == replay(system(), ALICE_BOB_CAROL).messages


def test_a_key_can_be_made_from_what_a_file_holds() -> None:
    send, *_, receive = ALICE_BOB_CAROL
    packet = "Data(message=Message(sender=0,number=1,destinations=(2)))"
    assert key_text("causal-send", 0, destinations=[2]) == transition_key(send)
    assert key_text("receive", 2, src=0, packet=packet) == transition_key(receive)


def test_keys_tell_packets_apart() -> None:
    one, other = Receive(0, 2, Data(M1)), Receive(0, 2, Data(Message(0, 2, (2,))))
    assert transition_key(one) != transition_key(other)


def test_the_violation_is_that_of_the_message_which_was_overtaken() -> None:
    path = evolve(replay(system(), ALICE_BOB_CAROL), violates="causal-delivery")
    violation = wrong_order(path)
    assert Violation(actor=2, first=M1, second=M3, chain=(M1, M2, M3)) == violation


def test_a_path_before_the_overtaken_message_arrives_violates_nothing() -> None:
    path = evolve(replay(system(), ALICE_BOB_CAROL[:-1]), violates="causal-delivery")
    assert wrong_order(path) is None
    assert holds_along(path, CAUSAL)


def test_a_chain_of_two_is_that_of_one_sender() -> None:
    path = counterexample("unordered", 2, 2)
    violation = wrong_order(path)
    assert violation is not None
    assert violation.chain == (violation.first, violation.second)
    assert violation.first.sender == violation.second.sender


def test_the_chain_follows_deliveries_and_leaves_other_messages_out() -> None:
    path = counterexample("cykas-secret-mode", 3, 2, workload="script:[[1,2],[0,2],[0]]")
    violation = wrong_order(path)
    assert violation is not None
    first, second, third = violation.chain
    assert [1, 1, 2] == [first.sender, second.sender, third.sender]
    assert 5 == len(path.messages)


def test_confirm_names_the_property_that_is_violated() -> None:
    path = confirm(system(), ALICE_BOB_CAROL, CAUSAL)
    assert "causal-delivery" == path.violates


def test_confirm_refuses_a_path_that_violates_nothing() -> None:
    with pytest.raises(ReplayError, match="a bug of the engine"):
        confirm(system(), ALICE_BOB_CAROL[:-1], CAUSAL)


def test_a_counterexample_reads_actor_by_actor_whatever_the_order_it_was_found_in() -> None:
    m4 = Message(2, 1, (0,))
    plan = system(workload="script:[[2,1],[2],[0]]")
    mixed = (CausalSend(2, (0,)), *ALICE_BOB_CAROL)
    found = [step.transition for step in confirm(plan, mixed, CAUSAL).steps]
    assert [*ALICE_BOB_CAROL[:4], CausalSend(2, (0,)), *ALICE_BOB_CAROL[4:]] == found
    late = (*ALICE_BOB_CAROL[:2], CausalSend(2, (0,)), *ALICE_BOB_CAROL[2:])
    assert found == [step.transition for step in confirm(plan, late, CAUSAL).steps]
    assert m4 in confirm(plan, late, CAUSAL).messages


def test_a_reception_stays_behind_the_network_send_it_needs() -> None:
    path = counterexample("cykas-as-printed", 2, 2)
    kinds = [(step.actor, step.transition.kind) for step in path.steps]
    alice, bob = 0, 1
    send, receive = "causal-send", "receive"
    assert [
        *((alice, send), (alice, send), (bob, send), (bob, send)),
        *((bob, receive), (alice, receive), (alice, receive), (bob, receive)),
    ] == kinds


def test_a_final_property_is_judged_at_final_states_only() -> None:
    run = counterexample("cykas-as-printed", 2, 2)
    transitions = [step.transition for step in run.steps]
    fresh = system_of(Spec(protocol="cykas-as-printed", actors=2, messages=2))

    def replayed(length: int) -> Path:
        return replay(fresh, transitions[:length])

    assert not holds_along(replayed(8), ALL_DELIVERED)
    assert holds_along(replayed(7), ALL_DELIVERED)


@pytest.mark.parametrize(
    ("protocol", "values"),
    [
        ("hybrid-basic", {"network": "duplicating+lossy"}),
        ("cykas", {"network": "lossy:1", "sends": "split"}),
        ("rst-self", {"workload": "self"}),
    ],
)
def test_a_key_is_looked_for_among_few_and_found_wherever_it_is_enabled(
    protocol: str, values: dict[str, Any]
) -> None:
    """Of a thousand actors a million sends are enabled, and the key names who it is about."""
    system = system_of(Spec(protocol=protocol, actors=2, messages=1, **values))
    todo, kinds = [initial_state(system)], set()
    for state in todo:
        for transition in enabled(system, state):
            key = transition_key(transition)
            assert transition in path_module._likely(system, state, key), key
            kinds.add(transition.kind)
            if len(todo) < 300:
                todo.append(successor(system, state, transition).state)
    assert {"receive"} < kinds


def test_a_trace_of_hundreds_of_actors_is_replayed() -> None:
    system = system_of(Spec(protocol="unordered", actors=402, messages=1))
    keys = ["causal-send by 300 to [401]", "causal-send by 300 to [401]"]
    with pytest.raises(ReplayError, match=r"^step 2, "):
        path_module.replay_keys(system, keys)
    assert () == path_module._likely(system, initial_state(system), "causal-send by 402 to [0]")
    assert () == path_module._likely(system, initial_state(system), "nonsense")


@pytest.mark.parametrize("seed", range(12))
def test_what_is_in_flight_at_the_end_is_what_the_network_holds(seed: int) -> None:
    """Where equal packets in flight are one, a send of another copy is no packet of its own."""
    path = walk("hybrid-basic", seed=seed, most=40, actors=3, messages=1)
    held = Counter(
        (src, dst, packet)
        for (src, dst), channel in zip(path.system.pairs, path.last.channels, strict=True)
        for packet in channel
    )
    flights = [f for f in flights_of(path).every if not f.gone]
    assert held == Counter((f.src, f.dst, f.packet) for f in flights)
