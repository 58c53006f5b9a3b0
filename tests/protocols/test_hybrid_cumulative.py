"""hybrid-cumulative sends messages and permits that both printed hybrid algorithms keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.protocols import hybrid_sps
from antecede.protocols.hybrid_basic import HYBRID_BASIC, HYBRID_BASIC_NO_TIMEOUT, Ack, Msg, Permit
from antecede.protocols.hybrid_cumulative import HYBRID_CUMULATIVE
from antecede.protocols.hybrid_sps import HYBRID_SPS
from antecede.protocols.hybrid_sps_told import HYBRID_SPS_TOLD

ALICE, BOB, CAROL = range(3)
PRINTED = (HYBRID_BASIC, HYBRID_SPS)

Sending: TypeAlias = tuple[int, int]
"""An actor that causal-sends, and the destination."""
Receipt: TypeAlias = tuple[int, int, type, int]
"""Sender and receiver of a packet, its class, and the number in it."""
Inputs: TypeAlias = tuple[Sending | Receipt, ...]


def sent_at_the_end(protocol: Protocol, inputs: Inputs) -> list[tuple[int, str]]:
    """Return the packets that the last input makes its actor send: destinations and classes.

    Raises:
        KeyError: no packet in flight is the one to receive.
    """
    states = [protocol.initial(actor, 3) for actor in range(3)]
    flying: dict[Receipt, Any] = {}
    numbers: Counter[int] = Counter()
    step = Step(None)
    for each in inputs:
        if len(each) == 2:
            actor, to = each
            numbers[actor] += 1
            message = Message(actor, numbers[actor], (to,))
            step = protocol.causal_send(states[actor], message)
        else:
            src, actor, _, _ = each
            step = protocol.receive(states[actor], src, flying.pop(each))
        states[actor] = step.state
        flying |= {(actor, to, type(p), p.mid): p for to, p in step.sends}
    return [(to, type(packet).__name__) for to, packet in step.sends]


LATER_PERMIT: Inputs = (
    (ALICE, CAROL),
    (ALICE, BOB),
    (ALICE, BOB),
    (ALICE, BOB, Msg, 2),
    (ALICE, BOB, Msg, 3),
    (BOB, CAROL),
    (ALICE, CAROL, Msg, 1),
    (BOB, ALICE, Ack, 2),
    (BOB, ALICE, Ack, 3),
    (CAROL, ALICE, Ack, 1),
    (ALICE, BOB, Permit, 3),
)
EARLY_PERMIT: Inputs = (
    (ALICE, CAROL),
    (ALICE, BOB),
    (ALICE, CAROL, Msg, 1),
    (CAROL, ALICE, Ack, 1),
    (ALICE, BOB, Permit, 2),
    (ALICE, BOB, Msg, 2),
    (BOB, CAROL),
)
CONSECUTIVE: Inputs = (*LATER_PERMIT[:-1], (ALICE, BOB, Permit, 2))
"""All packets of one channel come in the order in which they were sent."""
NO_FLAG: Inputs = (
    *LATER_PERMIT[:2],
    (ALICE, BOB, Msg, 2),
    (BOB, CAROL),
    (ALICE, CAROL, Msg, 1),
    (BOB, ALICE, Ack, 2),
    (CAROL, ALICE, Ack, 1),
    (ALICE, BOB),
    (ALICE, BOB, Msg, 3),
)


@pytest.mark.parametrize("inputs", [LATER_PERMIT, EARLY_PERMIT, CONSECUTIVE, NO_FLAG])
def test_it_sends_a_message_that_both_printed_algorithms_keep(inputs: Inputs) -> None:
    sends = (CAROL, "Msg")
    assert sends in sent_at_the_end(HYBRID_CUMULATIVE, inputs)
    for printed in PRINTED:
        assert sends not in sent_at_the_end(printed, inputs)


@pytest.mark.parametrize(
    ("protocol", "permits"),
    [(HYBRID_SPS, 2), (HYBRID_BASIC, 1), (hybrid_sps.HYBRID_SPS_AS_PRINTED, 1)],
)
def test_algorithm_2_sends_a_permit_twice_in_one_step(protocol: Protocol, permits: int) -> None:
    inputs = ((ALICE, CAROL), (ALICE, BOB), (ALICE, CAROL, Msg, 1), (CAROL, ALICE, Ack, 1))
    assert [(BOB, "Permit")] * permits == sent_at_the_end(protocol, inputs)


def test_a_later_ack_is_enough_for_a_permit() -> None:
    inputs: Inputs = (
        (ALICE, BOB),
        (ALICE, BOB),
        (ALICE, CAROL),
        (ALICE, BOB, Msg, 1),
        (ALICE, BOB, Msg, 2),
        (BOB, ALICE, Ack, 2),
    )
    assert (CAROL, "Permit") in sent_at_the_end(HYBRID_CUMULATIVE, inputs)
    for printed in PRINTED:
        assert [] == sent_at_the_end(printed, inputs)


def verdict(protocol: Protocol, workload: str, *properties: str, network: str = "") -> Verdict:
    network = network or protocol.network
    spec = Spec(protocol.name, 3, 1, network, workload=workload, properties=properties)
    options = Options(engine="plain")
    report = check(spec, options, Bounds(), protocol=protocol, selfcheck="off")
    return report.result.verdict


CHAIN = "script:[[2,1],[2],[]]"


def test_it_needs_no_timeout_if_nothing_is_lost() -> None:
    """In Algorithm 1, a PERMIT that comes before its message is lost."""
    silent = evolve(HYBRID_CUMULATIVE, name="silent", timeout=None)
    assert Verdict.HOLDS is verdict(silent, CHAIN, "causal-delivery", "all-delivered")
    for network, expected in (("unordered", Verdict.VIOLATED), ("fifo", Verdict.HOLDS)):
        assert expected is verdict(HYBRID_BASIC_NO_TIMEOUT, CHAIN, "all-delivered", network=network)


def permits_at_once(causal_send: Callable[..., Step]) -> Callable[..., Step]:
    def eager(state: Any, message: Message) -> Step:
        step = causal_send(state, message)
        permits = tuple((j, Permit(m.mid)) for j, m in step.sends if isinstance(m, Msg))
        return evolve(step, sends=(*step.sends, *permits))

    return eager


@pytest.mark.parametrize(
    ("protocol", "name"),
    [(HYBRID_CUMULATIVE, "known-is-delivered"), (HYBRID_SPS_TOLD, "told-is-true")],
)
def test_a_permit_that_is_too_early_is_noticed(protocol: Protocol, name: str) -> None:
    workload = "script:[[2,1],[],[]]"
    assert Verdict.HOLDS is verdict(protocol, workload, f"invariant:{name}")
    early = evolve(protocol, name="early", causal_send=permits_at_once(protocol.causal_send))
    assert Verdict.VIOLATED is verdict(early, workload, f"invariant:{name}")


@pytest.mark.parametrize("name", [n for n in HYBRID_SPS_TOLD.invariants if n.startswith("sends")])
def test_a_message_that_is_never_sent_is_noticed_on_fifo_links(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    invariant = f"invariant:{name}"
    assert Verdict.HOLDS is verdict(HYBRID_SPS_TOLD, CHAIN, invariant, network="fifo")
    monkeypatch.setattr(hybrid_sps, "send_interval", lambda state, *_: (state, ()))
    workload = "script:[[1],[],[]]"
    assert Verdict.VIOLATED is verdict(HYBRID_SPS_TOLD, workload, invariant, network="fifo")


def test_a_permit_that_is_never_sent_is_noticed_on_fifo_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = ("script:[[2,1],[],[]]", "invariant:permits-when-a-later-ack-came")
    assert Verdict.HOLDS is verdict(HYBRID_SPS_TOLD, *asked, network="fifo")
    receive_ack = hybrid_sps.receive_ack

    def forgets(state: Any, j: int, n: int) -> Step:
        return Step(state) if state.u.size > 1 else receive_ack(state, j, n)

    monkeypatch.setattr(hybrid_sps, "receive_ack", forgets)
    assert Verdict.VIOLATED is verdict(HYBRID_SPS_TOLD, *asked, network="fifo")
