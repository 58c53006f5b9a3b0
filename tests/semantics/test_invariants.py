"""What protocols declare of one actor's state: each invariant holds, and fails on a seeded bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.model import Message, Packet, Protocol, Step, with_item
from antecede.checker.search.result import Verdict
from antecede.protocols import cykas, mfss, mfss_fifo, rst
from antecede.protocols.cykas import CYKAS, Cykas, Eager
from antecede.protocols.cykas_as_printed import CYKAS_AS_PRINTED
from antecede.protocols.hybrid_basic import HYBRID_BASIC
from antecede.protocols.mfss import MFSS, Mfss
from antecede.protocols.mfss_fifo import MFSS_FIFO, MfssFifo
from antecede.protocols.rst_no_deliv import RST_GHOST_DELIV
from antecede.protocols.rst_no_step_2 import RST_NO_STEP_2
from antecede.protocols.unordered import Data
from tests.conftest import search

Change = tuple[Any, str, Callable[..., Any]]
"""A module, one of its functions, and what takes its place."""


def invariants(protocol: Protocol) -> tuple[str, ...]:
    return tuple(f"invariant:{name}" for name in protocol.invariants)


@pytest.mark.parametrize(
    ("protocol", "network"),
    [
        (MFSS, "unordered"),
        (MFSS, "duplicating"),
        (MFSS_FIFO, "fifo"),
        (CYKAS, "unordered"),
        (RST_GHOST_DELIV, "unordered"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_declared_invariant_holds(protocol: Protocol, network: str) -> None:
    workload = "any" if network == "duplicating" else "script:[[1,2,1],[2,0],[0]]"
    actors = 2 if network == "duplicating" else 3
    found = search(
        protocol, actors, network=network, workload=workload, properties=invariants(protocol)
    )
    assert Verdict.HOLDS == found.verdict


# Seeded bugs


def posts_without_waiting(state: Mfss) -> Step:
    head, *rest = state.OB
    after = Mfss(tuple(rest), (*state.unacknowledged, head.receiver))
    return Step(after, sends=((head.receiver, Data(head)),))


def posts_never(state: Any) -> Step:
    return Step(state)


def inserts_in_front(state: Mfss, message: Message) -> Step:
    return mfss._post(evolve(state, OB=(message, *state.OB)))


def forgets_the_receiver(state: MfssFifo, src: int, packet: Packet) -> Step:
    step = mfss_fifo.receive(state, src, packet)
    return evolve(step, state=evolve(step.state, receiver=None))


def sends_whatever_is_unacknowledged(state: Cykas) -> tuple[Cykas, cykas.Sends]:
    """Algorithm 2 without line 7."""
    sends: cykas.Sends = ()
    for m in state.OB:
        j = m.receiver
        packet: Packet = cykas.Normal(m)
        if any(state.UNACK):
            queue = (*state.EAGER_SENT[j], state.UNACK)
            packet, state = (
                Eager(m),
                evolve(state, EAGER_SENT=with_item(state.EAGER_SENT, j, queue)),
            )
        sends += ((j, packet),)
        state = evolve(state, UNACK=with_item(state.UNACK, j, True))
    return evolve(state, OB=()), sends


def clears_unack_only(state: Cykas, i: int) -> Cykas:
    """Algorithm 4 without lines 4 to 6."""
    return evolve(state, UNACK=with_item(state.UNACK, i, False))


def tells_never(state: Cykas, _receiver: int) -> tuple[Cykas, cykas.Sends]:
    return state, ()


def counts_no_eager_send(state: Cykas, src: int, packet: cykas.Normal | Eager) -> Step:
    """Algorithm 3 without line 1."""
    return Step(state, sends=((src, cykas.Ack()),), deliveries=(packet.message,))


def inserts_in_front_of_OB(state: Cykas, message: Message) -> Step:
    state, sends = cykas.try_send_message(evolve(state, OB=(message, *state.OB)))
    return Step(state, sends)


def counts_nothing(state: rst.Rst, _j: int) -> rst.Rst:
    return state


@frozen
class Bug:
    """A protocol, one function of a module that is replaced, and the handlers it reaches it by."""

    protocol: Protocol
    invariant: str
    change: Change | None = None
    handlers: dict[str, Any] | None = None
    workload: str = "script:[[1,2,1],[2,0],[0]]"
    network: str = "unordered"


BUGS = [
    Bug(MFSS, "one-unacknowledged", (mfss, "_post", posts_without_waiting)),
    Bug(MFSS, "buffer-waits-for-an-ack", (mfss, "_post", posts_never)),
    Bug(MFSS, "buffer-in-sending-order", None, {"causal_send": inserts_in_front}),
    Bug(MFSS_FIFO, "buffer-waits-for-another-receiver", (mfss_fifo, "_post", posts_never)),
    Bug(MFSS_FIFO, "receiver-of-the-unacknowledged", None, {"receive": forgets_the_receiver}),
    Bug(
        CYKAS,
        "one-unacknowledged-per-receiver",
        (cykas, "try_send_message", sends_whatever_is_unacknowledged),
    ),
    Bug(CYKAS, "eager-sends-wait-for-unacknowledged", (cykas, "acknowledged", clears_unack_only)),
    Bug(CYKAS, "eager-sends-told-at-once", (cykas, "try_send_yct", tells_never)),
    Bug(CYKAS, "mode-counts", (cykas, "receive_deliver", counts_no_eager_send)),
    Bug(CYKAS_AS_PRINTED, "buffer-waits-for-ack-or-yct", workload="script:[[1,1],[],[]]"),
    Bug(CYKAS, "buffer-in-sending-order", None, {"causal_send": inserts_in_front_of_OB}),
    Bug(RST_GHOST_DELIV, "deliv-is-column-of-sent", (rst, "count_received", counts_nothing)),
    Bug(RST_NO_STEP_2, "deliv-is-column-of-sent"),
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.protocol.name}-{bug.invariant}")
def test_an_invariant_fails_on_a_seeded_bug(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    if bug.change is not None:
        monkeypatch.setattr(*bug.change)
    protocol = evolve(bug.protocol, **(bug.handlers or {}))
    name = f"invariant:{bug.invariant}"
    found = search(protocol, 3, workload=bug.workload, network=bug.network, properties=(name,))
    assert Verdict.VIOLATED == found.properties[name]


def test_every_invariant_of_these_protocols_has_a_seeded_bug() -> None:
    declared = {name for p in (MFSS, MFSS_FIFO, CYKAS, RST_GHOST_DELIV) for name in p.invariants}
    assert declared == {bug.invariant for bug in BUGS}


def test_later_messages_of_hybrid_need_permits_unless_nobody_asks() -> None:
    def asks_never(state: Any, message: Message) -> Step:
        step = HYBRID_BASIC.causal_send(state, message)
        u = step.state.u
        for m in u:
            u = u.replace(m.mid, evolve(m, per=False))
        sends = tuple((j, evolve(m, per=False)) for j, m in step.sends)
        return evolve(step, state=evolve(step.state, u=u), sends=sends)

    name = "invariant:later-need-permits"
    how: dict[str, Any] = {"workload": "script:[[1,1],[0]]", "properties": (name,)}
    assert Verdict.HOLDS == search(HYBRID_BASIC, 2, 2, **how).verdict
    broken = evolve(HYBRID_BASIC, causal_send=asks_never)
    assert Verdict.VIOLATED == search(broken, 2, 2, **how).verdict
