"""Algorithm 2 of the hybrid paper with ghost bits for flags and permits that SPS does not demand.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 5.6. Points 1 and 2 of the section say
when a message needs a permit, and when its permit may be sent: as soon as no earlier message to
another receiver lacks its ACK. Each actor notes which of its messages lack their ACK, because
Algorithm 2 forgets acknowledged messages. The ghost bits record a flag that differs from point 1, a
permit that comes before point 2 allows it, and a permit that is not sent at once. They decide
nothing. Everything else is as in `protocols.hybrid_sps`.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Step
from antecede.protocols import hybrid_sps
from antecede.protocols.hybrid_basic import Ack, Msg, Permit
from antecede.protocols.hybrid_sps import HYBRID_SPS, HybridSps

Ids: TypeAlias = frozenset[tuple[int, int]]
"""Numbers of own messages, each with its receiver."""


@frozen
class HybridSpsGhost(HybridSps):
    """Lines 1-11, and what the actor knows of its own messages.

    Attributes:
        unacked: the causal-sent messages that lack their ACK.
        unpermitted: the flagged messages whose permit was not sent.
        wrong_flag: a flag differed from point 1.
        early: a permit was sent before point 2 allows it.
        late: a permit was not sent in the step in which point 2 allowed it.
    """

    unacked: Ids = frozenset()
    unpermitted: Ids = frozenset()
    wrong_flag: bool = False
    early: bool = False
    late: bool = False


def initial(actor: int, actors: int) -> HybridSpsGhost:
    """Lines 1-11: as in Algorithm 2."""
    start = hybrid_sps.initial(actor, actors)
    return HybridSpsGhost(*(getattr(start, field) for field in HybridSps.__match_args__))


def causal_send(state: HybridSpsGhost, message: Message) -> Step:
    """Lines 12-18."""
    unacked = state.unacked | {(state.ck, message.receiver)}
    return noted(evolve(state, unacked=unacked), hybrid_sps.causal_send(state, message))


def receive(state: HybridSpsGhost, src: int, packet: Msg | Ack | Permit) -> Step:
    """Lines 48-100."""
    step = hybrid_sps.receive(state, src, packet)
    if isinstance(packet, Ack):
        state = evolve(state, unacked=state.unacked - {(packet.mid, src)})
    return noted(state, step)


def noted(state: HybridSpsGhost, step: Step) -> Step:
    """Return the step with the ghost bits; `state` has the ghost bits of before."""
    sent = [(rcv, m) for rcv, m in step.sends if isinstance(m, Msg)]
    flagged = {(m.mid, rcv) for rcv, m in sent if m.per}
    permits = {(p.mid, rcv) for rcv, p in step.sends if isinstance(p, Permit)}
    unpermitted = (state.unpermitted | flagged) - permits
    return evolve(
        step,
        state=evolve(
            step.state,
            unacked=state.unacked,
            unpermitted=unpermitted,
            wrong_flag=state.wrong_flag
            or any(m.per != needs_permit(state, m.mid, rcv) for rcv, m in sent),
            early=state.early or any(needs_permit(state, *one) for one in permits),
            late=state.late or not all(needs_permit(state, *one) for one in unpermitted),
        ),
    )


def needs_permit(state: HybridSpsGhost, mid: int, rcv: int) -> bool:
    """Return whether an earlier message to another receiver lacks its ACK."""
    return any(number < mid and j != rcv for number, j in state.unacked)


# The algorithms end here. Below: the invariants for the checker.

HYBRID_SPS_GHOST = evolve(
    HYBRID_SPS,
    name="hybrid-sps-ghost",
    summary="hybrid-sps with bits beside it for flags and permits that SPS does not demand",
    source="hybrid paper, section 5.6, points 1 and 2",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    invariants={
        "flags-what-sps-demands": lambda state: not state.wrong_flag,
        "permits-after-acks": lambda state: not state.early,
        "permits-at-once": lambda state: not state.late,
    },
)
