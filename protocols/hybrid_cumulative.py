"""Hybrid buffering, the basic algorithm, in which every packet counts for the earlier ones, too.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 5.4, Algorithm 1. The changes are
ours.

Algorithm 1 takes from a PERMIT or an ACK only what it says about one message. But both are also
about earlier messages, because an actor numbers its messages in the order in which it sends them,
and a receiver delivers those of one sender in this order. Here, an actor uses all that it is told:

* A PERMIT for message n says that all messages of its sender before n are delivered. So it is also
  a permit for each earlier message, and for message n itself if it arrives before that message.
* An ACK of message n also acknowledges the earlier messages to the same receiver, which delivered
  them before n.
* A message without a flag was sent when none of its sender was unacknowledged. So it is a permit
  for all earlier ones.
* A PERMIT for n is sent to the receiver of n, which delivers n before any later message. So if it
  delivers message n + 1, all before n + 1 are delivered, and n + 1 needs no permit of its own.

What differs from `protocols.hybrid_basic`: the receiver notes in `known`, per sender, up to where
all messages to others are delivered, and does not wait for a permit that would say no more. The
packets are the same, and none is new. A message may also be sent when a message arrives, not only
on a PERMIT.

There is no normal form: that of `hybrid_basic` replaces ids by their ranks, which can make two ids
consecutive that are not.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import LocalState, Message, Packet, Predicate, Step
from antecede.checker.model import with_item
from antecede.protocols import hybrid_basic
from antecede.protocols.hybrid_basic import (
    HYBRID_BASIC,
    Ack,
    Hybrid,
    Ids,
    Msg,
    Per,
    Permit,
    delivered,
    hold,
    next_held,
    payload,
    try_send,
)


@frozen
class HybridCumulative(Hybrid[Msg]):
    """Lines 20-27, and what the other actors told.

    Attributes:
        known: per sender, a number; all of its messages to others before this one are delivered.
    """

    known: Ids = ()


def initial(actor: int, actors: int) -> HybridCumulative:
    """Lines 20-27: before the first message of an actor, there is none."""
    start = hybrid_basic.initial(actor, actors)
    return HybridCumulative(
        start.ld, start.rb, start.ls, start.ck, start.u, start.p, known=(start.ck,) * actors
    )


def learned(state: HybridCumulative, j: int, n: int) -> HybridCumulative:
    """All messages of `j` before `n`, a message to this actor, are delivered."""
    known = max(state.known[j], n + 1)
    for permit in state.p:
        if permit.snd == j and permit.mid <= known:
            state = evolve(state, p=state.p.remove(permit))
            known = max(known, permit.mid + 1)
    return evolve(state, known=with_item(state.known, j, known))


def receive(state: HybridCumulative, src: int, packet: Msg | Ack | Permit) -> Step:
    """Dispatch to lines 44, 57 and 71."""
    if isinstance(packet, Ack):
        return receive_ack(state, src, packet.mid)
    if isinstance(packet, Permit):
        return receive_permit(state, src, packet.mid)
    return receive_msg(state, src, packet)


def receive_msg(state: HybridCumulative, j: int, m: Msg) -> Step:
    """Lines 44-56; what the delivered messages tell may release messages of the send buffer."""
    if m.mid <= state.ld[j]:
        return Step(state, sends=((j, Ack(m.mid)),))
    state = hold(state, j, m)
    acks: list[tuple[int, Packet]] = []
    deliveries: list[Message] = []
    while (b := next_held(state, j)) is not None:
        state = delivered(state, j, b)
        if b.per and b.mid > state.known[j]:
            state = evolve(state, p=state.p.add(Per(snd=j, mid=b.mid)))
        else:
            state = learned(state, j, b.mid)
        acks.append((j, Ack(b.mid)))
        deliveries.append(payload(b))
    after, sends = try_send(state)
    return Step(after, (*acks, *sends), tuple(deliveries))


def receive_ack(state: HybridCumulative, j: int, n: int) -> Step:
    """Lines 57-70; all messages to `j` up to `n` are delivered."""
    if n < state.u.first:
        return Step(state, sends=((j, Permit(n)),))
    u, sends = state.u, list[tuple[int, Packet]]()
    for mid in range(u.first, n + 1):
        if u[mid].rcv == j:
            u = u.replace(mid, evolve(u[mid], pl=None))
    if u.peek.pl is not None:
        return Step(evolve(state, u=u))
    u = u.remove()
    while u.size > 0:
        m = u.peek
        if m.per:
            sends.append((m.rcv, Permit(m.mid)))
        if m.pl is not None:
            break
        u = u.remove()
    return Step(evolve(state, u=u), tuple(sends))


def receive_permit(state: HybridCumulative, j: int, n: int) -> Step:
    """Lines 71-73."""
    after, sends = try_send(learned(state, j, n))
    return Step(after, sends)


# The algorithm ends here. Below: invariants for the checker.


def misses_only_the_unknown(state: LocalState) -> bool:
    """A permit is missing only if it would say more than is known."""
    return all(p.mid > state.known[p.snd] for p in state.p)


def known_is_delivered(states: tuple[HybridCumulative, ...]) -> bool:
    """Each message to another actor before the number in `known` is delivered."""
    return all(
        m.mid <= states[m.rcv].ld[j]
        for j, sender in enumerate(states)
        for m in (*sender.u, *sender.sb)
        for i, state in enumerate(states)
        if i != m.rcv and m.mid < state.known[j]
    )


INVARIANTS: dict[str, Predicate] = {
    **hybrid_basic.INVARIANTS,
    "misses-only-the-unknown": misses_only_the_unknown,
}

HYBRID_CUMULATIVE = evolve(
    HYBRID_BASIC,
    name="hybrid-cumulative",
    summary="hybrid-basic in which PERMITs and ACKs count for earlier messages, too",
    source="hybrid paper, Algorithm 1, with cumulative PERMITs and ACKs (ours)",
    initial=initial,
    receive=receive,
    invariants=INVARIANTS,
    joint_invariants={"known-is-delivered": known_is_delivered},
    normal=None,
)
