"""`enabled` and `successor` against the reference checker, and the effects of transitions."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings

from antecede.checker.model import (
    CausalSend,
    Delivery,
    Lose,
    Message,
    Property,
    Protocol,
    Receive,
    Step,
    Timeout,
    Transition,
    What,
)
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.semantics.history import HISTORIES, oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import (
    System,
    enabled,
    initial_state,
    next_message,
    successor,
)
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import ProtocolError
from antecede.properties import DEFAULT
from antecede.properties.all_delivered import ALL_DELIVERED
from antecede.properties.causal_delivery import CAUSAL_DELIVERY
from antecede.properties.fifo_delivery import FIFO_DELIVERY
from antecede.properties.integrity import INTEGRITY
from antecede.protocols import mfss, unordered
from antecede.protocols.cykas import CYKAS
from antecede.protocols.cykas_as_printed import CYKAS_AS_PRINTED
from antecede.protocols.cykas_secret_mode import CYKAS_SECRET_MODE
from antecede.protocols.fifo import FIFO
from antecede.protocols.mfss import MFSS
from antecede.protocols.unordered import UNORDERED
from tests.models import (
    CHAIN,
    DELIVERS_ONCE,
    DIRECT,
    EVERY_SAFETY,
    FORGES,
    MODELS,
    PING_PONG,
    RESENDS,
    SENDS_TWICE,
    UNRELIABLE,
    Ack,
    Data,
    Model,
    naive_counts,
    toy,
)
from tests.naive import Counts
from tests.random_systems import RandomSystem, random_systems

PROPERTIES = {
    prop.name: prop for prop in (CAUSAL_DELIVERY, FIFO_DELIVERY, INTEGRITY, ALL_DELIVERED)
}
ENCODINGS = tuple(HISTORIES)
LARGEST = 20_000
"""No system here has as many states."""


def system_for(
    protocol: Protocol,
    actors: int,
    messages: int,
    *,
    workload: str = "any",
    network: str = "unordered",
    history: str = "knowledge",
    properties: tuple[str, ...] = DEFAULT,
    clock_at: str = "causal-send",
) -> System:
    plan = workload_from(workload, actors, messages)
    order = "fifo-delivery" in properties
    return System(
        protocol=protocol,
        actors=actors,
        messages=plan.most,
        network=network_named(network, retransmits=protocol.timeout is not None),
        workload=plan,
        oracle=oracle_named(
            history,
            actors,
            plan.most,
            self_sends=plan.self_sends,
            track_order=order,
            clock_at=clock_at,
        ),
        properties=tuple(PROPERTIES[name] for name in properties),
    )


def explored(system: System) -> Counts:
    """Search breadth-first by levels, with nothing but the transitions of the checker."""
    level = [initial_state(system)]
    seen, total, finals, depth = set(level), 1, 0, 0
    violation: dict[str, int] = {}
    while level and not violation:
        depth, states, level = depth + 1, level, []
        for state in states:
            transitions = enabled(system, state)
            finals += not transitions
            total += len(transitions)
            for prop in system.properties:
                if not transitions and prop.final and not _all_at_final(prop, state):
                    violation[prop.name] = depth - 1
            for transition in transitions:
                outcome = successor(system, state, transition)
                for prop in system.properties:
                    if prop.what is What.DELIVERY and not all(
                        map(prop.predicate, outcome.deliveries)
                    ):
                        violation[prop.name] = depth
                if outcome.state not in seen:
                    seen.add(outcome.state)
                    level.append(outcome.state)
            assert len(seen) < LARGEST, "this search would never end"
    return Counts(len(seen), total, depth + bool(level), finals, violation)


def _all_at_final(prop: Property, state: Any) -> bool:
    return all(prop.predicate(tuple(p.message for p in ghost.pending)) for ghost in state.history)


@pytest.mark.parametrize(
    ("model", "history"),
    [(model, history) for model in (*MODELS, *UNRELIABLE) for history in model.histories],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_toy_system_counts_what_its_comment_derives(model: Model, history: str) -> None:
    system = system_for(
        model.protocol,
        model.actors,
        model.messages,
        workload=model.workload,
        network=model.network,
        history=history,
        properties=model.properties,
    )
    assert model.counts == explored(system)


FIGURE_3 = "script:[[1,2],[0,2],[0]]"
BROADCASTS = (
    'reaction:[{"name":"a","from":0,"to":[1,2]},{"name":"b","from":1,"to":[0,2],"after":["a"]}]'
)
AWAITS_THE_SECOND = (
    'reaction:[{"name":"m1","from":0,"to":[1]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)

SYSTEMS = [
    (MFSS, 3, 1, "any"),
    (MFSS, 2, 2, "any"),
    (CYKAS, 3, 1, "any"),
    (CYKAS, 2, 2, "any"),
    (CYKAS, 3, 2, "script:[[1,2],[2],[]]"),
    (CYKAS_AS_PRINTED, 2, 2, "any"),
    (CYKAS_SECRET_MODE, 3, 2, "script:[[1,2],[2,0],[]]"),
    (FIFO, 2, 2, "any"),
    (FIFO, 3, 2, CHAIN),
    (FIFO, 3, 1, "broadcast"),
    (FIFO, 3, 1, BROADCASTS),
    (UNORDERED, 2, 2, "any"),
    (UNORDERED, 3, 2, CHAIN),
    (UNORDERED, 3, 1, "broadcast"),
    (UNORDERED, 2, 1, PING_PONG),
    (FORGES, 3, 2, AWAITS_THE_SECOND),
    (UNORDERED, 3, 1, "multicast"),
    (FIFO, 2, 2, "multicast"),
]


@pytest.mark.parametrize("properties", [EVERY_SAFETY, ()], ids=["all-properties", "none"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize("history", ENCODINGS)
@pytest.mark.parametrize(
    ("protocol", "actors", "messages", "workload"),
    SYSTEMS,
    ids=[
        f"{protocol.name}-{workload.partition(':')[0]}-{n}x{m}"
        for protocol, n, m, workload in SYSTEMS
    ],
)
def test_protocol_counts_as_the_reference_checker_does(
    protocol: Protocol,
    actors: int,
    messages: int,
    workload: str,
    history: str,
    network: str,
    properties: tuple[str, ...],
) -> None:
    how: dict[str, Any] = {
        "workload": workload,
        "network": network,
        "history": history,
        "properties": properties,
    }
    expected = naive_counts(protocol, actors, messages, **how)
    assert expected == explored(system_for(protocol, actors, messages, **how))


@pytest.mark.parametrize("history", ["knowledge", "clocks"])
def test_run_of_figure_3_counts_as_the_reference_checker_does(history: str) -> None:
    """To its causal violation: the deepest of the small state spaces."""
    expected = naive_counts(CYKAS_SECRET_MODE, 3, 2, workload=FIGURE_3, history=history)
    system = system_for(CYKAS_SECRET_MODE, 3, 2, workload=FIGURE_3, history=history)
    assert {"causal-delivery": 9} == expected.violation
    assert expected == explored(system)


@pytest.mark.smoke
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(random_systems())
def test_random_system_counts_as_the_reference_checker_does(drawn: RandomSystem) -> None:
    """Under every encoding, to the first violation and to the end.

    The encodings agree on verdicts and lengths; each tells no less apart than the one before.
    """
    judged: list[Counts] = []
    whole: list[Counts] = []
    for history in ("knowledge", "clocks", "full"):
        for properties, results in ((EVERY_SAFETY, judged), ((), whole)):
            how: dict[str, Any] = {
                "workload": drawn.workload,
                "network": drawn.network,
                "history": history,
                "properties": properties,
            }
            expected = naive_counts(drawn.protocol, drawn.actors, drawn.messages, **how)
            system = system_for(drawn.protocol, drawn.actors, drawn.messages, **how)
            assert expected == explored(system), history
            results.append(expected)
    assert judged[0].violation == judged[1].violation == judged[2].violation
    assert whole[0].unique <= whole[1].unique <= whole[2].unique
    assert whole[0].depth <= whole[1].depth <= whole[2].depth


@pytest.mark.integration
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(("protocol", "actors", "messages"), [(UNORDERED, 2, 2), (MFSS, 3, 1)])
def test_self_addressed_messages_count_as_the_reference_checker_does(
    protocol: Protocol, actors: int, messages: int, network: str
) -> None:
    """Of its own messages, an actor keeps what it heard of only as long as it awaits them."""
    for properties in (EVERY_SAFETY, ()):
        actual = {}
        for history in ENCODINGS:
            how: dict[str, Any] = {
                "workload": "self",
                "network": network,
                "history": history,
                "properties": properties,
            }
            expected = naive_counts(protocol, actors, messages, **how)
            actual[history] = explored(system_for(protocol, actors, messages, **how))
            assert expected == actual[history]
        assert actual["knowledge"].unique <= actual["clocks"].unique <= actual["full"].unique


def test_enabled_lists_causal_sends_by_actor_then_receives_by_channel() -> None:
    system = system_for(DIRECT, 3, 2)
    state = initial_state(system)
    for actor, to in ((2, 0), (1, 2), (0, 2), (0, 1)):
        state = successor(system, state, CausalSend(actor, (to,))).state
    m = {(s, n): Message(s, n, (d,)) for s, n, d in ((0, 1, 2), (0, 2, 1), (1, 1, 2), (2, 1, 0))}
    assert (
        CausalSend(1, (0,)),
        CausalSend(1, (2,)),
        CausalSend(2, (0,)),
        CausalSend(2, (1,)),
        Receive(0, 1, Data(m[0, 2])),
        Receive(0, 2, Data(m[0, 1])),
        Receive(1, 2, Data(m[1, 1])),
        Receive(2, 0, Data(m[2, 1])),
    ) == enabled(system, state)


def test_causal_send_creates_the_next_message_and_moves_its_actor_only() -> None:
    system = system_for(MFSS, 2, 2)
    start = initial_state(system)
    first = CausalSend(0, (1,))
    message = Message(0, 1, (1,))
    assert message == next_message(system, start, first)
    outcome = successor(system, start, first)
    assert ((1, unordered.Data(message)),) == outcome.step.sends
    assert () == outcome.deliveries
    assert (1, 0) == outcome.state.workload
    assert (mfss.Mfss(unacknowledged=(1,)), mfss.Mfss()) == outcome.state.actors
    assert ((), (unordered.Data(message),), (), ()) == outcome.state.channels
    assert Message(0, 2, (1,)) == next_message(system, outcome.state, first)


def test_receive_takes_the_envelope_delivers_and_sends() -> None:
    system = system_for(MFSS, 2, 1)
    message = Message(0, 1, (1,))
    sent = successor(system, initial_state(system), CausalSend(0, (1,))).state
    outcome = successor(system, sent, Receive(0, 1, unordered.Data(message)))
    assert ((), (), (mfss.Ack(),), ()) == outcome.state.channels
    assert (
        Delivery(1, message, expected=True, causally_late=False, fifo_late=False),
    ) == outcome.deliveries
    assert initial_state(system).history == outcome.state.history


def test_sends_of_one_step_enter_a_fifo_network_in_order() -> None:
    m1, m2 = Message(0, 1, (1,)), Message(0, 2, (1,))
    both = toy("both", causal_send=lambda state, _m: Step(state, ((1, Data(m2)), (1, Data(m1)))))
    system = system_for(both, 2, 1, network="fifo")
    outcome = successor(system, initial_state(system), CausalSend(0, (1,)))
    assert (Data(m2), Data(m1)) == outcome.state.channels[1]


def test_deliveries_of_one_step_are_judged_in_order() -> None:
    m1, m2 = Message(0, 1, (1,)), Message(0, 2, (1,))
    swapped = toy("swapped", receive=lambda state, *_: Step(state, deliveries=(m2, m1, m1)))
    system = system_for(swapped, 2, 2)
    state = initial_state(system)
    for _ in (m1, m2):
        state = successor(system, state, CausalSend(0, (1,))).state
    judged = successor(system, state, Receive(0, 1, Data(m1))).deliveries
    assert [m2, m1, m1] == [d.message for d in judged]
    assert [(True, False), (True, True), (False, False)] == [
        (d.expected, d.causally_late) for d in judged
    ]


def test_unexpected_delivery_does_not_move_a_reaction() -> None:
    """The first message arrives and the second, not sent yet, is delivered in its place."""
    system = system_for(FORGES, 3, 2, workload=AWAITS_THE_SECOND)
    sent = successor(system, initial_state(system), CausalSend(0, (1,))).state
    outcome = successor(system, sent, Receive(0, 1, Data(Message(0, 1, (1,)))))
    assert [(Message(0, 2, (1,)), False)] == [(d.message, d.expected) for d in outcome.deliveries]
    assert sent.workload == outcome.state.workload


def test_delivery_moves_the_reaction_that_waits_for_it() -> None:
    system = system_for(DIRECT, 2, 1, workload=PING_PONG)
    sent = successor(system, initial_state(system), CausalSend(0, (1,))).state
    (receive,) = enabled(system, sent)
    delivered = successor(system, sent, receive).state
    assert (CausalSend(1, (0,)),) == enabled(system, delivered)


def test_equal_envelopes_are_received_one_at_a_time() -> None:
    system = system_for(SENDS_TWICE, 2, 1, workload="script:[[1],[]]")
    sent = successor(system, initial_state(system), CausalSend(0, (1,))).state
    packet = Data(Message(0, 1, (1,)))
    assert (Receive(0, 1, packet),) == enabled(system, sent)
    assert (packet,) == successor(system, sent, Receive(0, 1, packet)).state.channels[1]


def test_timeouts_and_losses_are_listed_last_by_actor_and_by_channel() -> None:
    system = system_for(RESENDS, 2, 1, network="lossy")
    state = initial_state(system)
    for actor in (0, 1):
        state = successor(system, state, CausalSend(actor, (1 - actor,))).state
    m, n = Data(Message(0, 1, (1,))), Data(Message(1, 1, (0,)))
    assert (Receive(0, 1, m), Receive(1, 0, n), Lose(0, 1, m), Lose(1, 0, n)) == enabled(
        system, state
    )
    lost = successor(system, state, Lose(1, 0, n)).state
    assert (Receive(0, 1, m), Timeout(1), Lose(0, 1, m)) == enabled(system, lost)


def test_timeout_sends_only_what_is_not_in_flight_to_that_destination() -> None:
    two = (Data(Message(0, 1, (1,))), Data(Message(0, 1, (2,))))
    chatty = evolve(
        RESENDS,
        causal_send=lambda state, _message: Step(state, sends=((1, two[0]),)),
        timeout=lambda state: Step(state, sends=((1, two[0]), (1, two[1]), (2, two[0]))),
    )
    system = system_for(chatty, 3, 1)
    state = successor(system, initial_state(system), CausalSend(0, (1,))).state
    outcome = successor(system, state, Timeout(0))
    assert ((1, two[1]), (2, two[0])) == outcome.step.sends
    assert Timeout(0) not in enabled(system, outcome.state)


def test_timeout_that_only_changes_the_state_is_a_transition() -> None:
    counts = evolve(RESENDS, timeout=lambda state: Step(evolve(state, actors=7)))
    system = system_for(counts, 2, 1)
    start = initial_state(system)
    assert Timeout(1) in enabled(system, start)
    after = successor(system, start, Timeout(1)).state
    assert [Timeout(0)] == [t for t in enabled(system, after) if isinstance(t, Timeout)]


def test_loss_takes_one_envelope_and_one_of_the_budget() -> None:
    system = system_for(DIRECT, 2, 2, network="lossy:1")
    state = initial_state(system)
    assert 1 == state.losses
    for _ in range(2):
        state = successor(system, state, CausalSend(0, (1,))).state
    first = Data(Message(0, 1, (1,)))
    after = successor(system, state, Lose(0, 1, first)).state
    assert (Data(Message(0, 2, (1,))),) == after.channels[1]
    assert 0 == after.losses
    assert not any(isinstance(t, Lose) for t in enabled(system, after))
    assert state.history == after.history


def test_losses_without_a_budget_leave_no_count_in_the_state() -> None:
    system = system_for(DIRECT, 2, 2, network="lossy")
    state = successor(system, initial_state(system), CausalSend(0, (1,))).state
    lose = Lose(0, 1, Data(Message(0, 1, (1,))))
    assert 0 == successor(system, state, lose).state.losses


def test_duplicated_envelope_stays_in_flight() -> None:
    system = system_for(DELIVERS_ONCE, 2, 1, workload="script:[[1],[]]", network="duplicating")
    state = successor(system, initial_state(system), CausalSend(0, (1,))).state
    packet = Data(Message(0, 1, (1,)))
    assert (Receive(0, 1, packet, stays=True),) == enabled(system, state)
    after = successor(system, state, Receive(0, 1, packet, stays=True)).state
    assert state.channels == after.channels
    assert () == enabled(system, after)


def test_head_of_a_duplicating_fifo_channel_stays_or_leaves() -> None:
    system = system_for(DIRECT, 2, 1, workload="script:[[1],[]]", network="fifo+duplicating")
    state = successor(system, initial_state(system), CausalSend(0, (1,))).state
    packet = Data(Message(0, 1, (1,)))
    stays, leaves = Receive(0, 1, packet, stays=True), Receive(0, 1, packet)
    assert (stays, leaves) == enabled(system, state)
    assert state.channels == successor(system, state, stays).state.channels
    assert () == successor(system, state, leaves).state.channels[1]


def test_acknowledged_message_is_not_resent() -> None:
    system = system_for(RESENDS, 2, 1, workload="script:[[1],[]]")
    state = initial_state(system)
    packet = Data(Message(0, 1, (1,)))
    transition: Transition
    for transition in (CausalSend(0, (1,)), Receive(0, 1, packet)):
        state = successor(system, state, transition).state
    assert (Receive(1, 0, Ack()), Timeout(0)) == enabled(system, state)
    assert () == enabled(system, successor(system, state, Receive(1, 0, Ack())).state)


def _raise(*_args: Any) -> Step:
    raise ZeroDivisionError("nobody divides here")


def test_error_in_causal_send_names_protocol_error_place_and_arguments() -> None:
    system = system_for(toy("raises", causal_send=_raise), 2, 1)
    with pytest.raises(ProtocolError) as caught:
        successor(system, initial_state(system), CausalSend(0, (1,)))
    text = str(caught.value)
    assert text.startswith("causal_send of protocol 'toy-raises' raised ZeroDivisionError: nobody")
    assert "test_transition.py" in text
    assert "causal_send(Toy(actor=0, actors=2, held=()), Message(sender=0, number=1," in text


def test_error_in_receive_names_protocol_error_and_arguments() -> None:
    system = system_for(toy("raises", receive=_raise), 2, 1)
    sent = successor(system, initial_state(system), CausalSend(0, (1,))).state
    with pytest.raises(ProtocolError) as caught:
        successor(system, sent, Receive(0, 1, Data(Message(0, 1, (1,)))))
    text = str(caught.value)
    assert text.startswith("receive of protocol 'toy-raises' raised ZeroDivisionError: nobody")
    assert "receive(Toy(actor=1, actors=2, held=()), 0, Data(message=" in text


def test_error_in_timeout_names_protocol_and_arguments() -> None:
    system = system_for(evolve(RESENDS, timeout=_raise), 2, 1)
    with pytest.raises(ProtocolError) as caught:
        enabled(system, initial_state(system))
    text = str(caught.value)
    assert text.startswith("timeout of protocol 'toy-resends' raised ZeroDivisionError: nobody")
    assert "timeout(Toy(actor=0, actors=2, held=()))" in text


def test_error_in_initial_names_protocol_and_arguments() -> None:
    protocol = Protocol(
        name="broken",
        summary="",
        source="",
        initial=_raise,
        causal_send=DIRECT.causal_send,
        receive=DIRECT.receive,
    )
    with pytest.raises(ProtocolError) as caught:
        CheckedHandlers(protocol, 2).initial(1)
    assert "initial of protocol 'broken' raised ZeroDivisionError" in str(caught.value)
    assert "initial(1, 2)" in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "None; it must return a Step"),
        (Step(0, sends=((2, "packet"),)), "the send (2, 'packet'); give (destination, packet)"),
        (Step(0, sends=((-1, "packet"),)), "the send (-1, 'packet'); give (destination, packet)"),
        (Step(0, sends=("packet",)), "the send 'packet', which is no (destination, packet) pair"),  # type: ignore[arg-type]
        (Step(0, sends=(1, "packet")), "the send 1, which is no (destination, packet) pair; a"),  # type: ignore[arg-type]
        (Step(0, sends=[(1, "packet")]), "sends=[(1, 'packet')]; give a tuple of (dest"),  # type: ignore[arg-type]
        (
            Step(0, deliveries=Message(0, 1, (1,))),  # type: ignore[arg-type]
            "deliveries=Message(sender=0, number=1, destinations=(1,)), a message; give a tuple of "
            "messages. A single one needs a comma after it: deliveries=(message,)",
        ),
        (Step(0, deliveries=("text",)), "the delivery 'text', which is no Message"),  # type: ignore[arg-type]
    ],
)
def test_unusable_step_is_refused_with_what_would_do(returned: Any, said: str) -> None:
    system = system_for(toy("odd", causal_send=lambda _state, _message: returned), 2, 1)
    with pytest.raises(ProtocolError) as caught:
        successor(system, initial_state(system), CausalSend(0, (1,)))
    assert f"causal_send of protocol 'toy-odd' returned {said}" in str(caught.value)
