"""Hybrid buffering for multicast: one message to a set of receivers.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 5.7, Algorithm 3. The parts that it
does not print come from Algorithm 1, as in `protocols.hybrid_basic`.

Repair: message ids start at 1, as in `hybrid_basic`.

Differences: line 18 omits the predecessor id. A message to several receivers has one per receiver,
so `pid` is a row beside `rcv`, and the Msg of Algorithm 1 travels with the predecessor for its
receiver. Lines 21-23 come after the loop of line 19, so that a message takes one id. Line 39 is in
the loop of line 32, and that loop is in the condition of line 31. The sets `rcv` and `unack` are
kept in the order of the actors.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import LocalState, Message, Packet, Predicate, Protocol, Step
from antecede.protocols import hybrid_basic
from antecede.protocols.hybrid_basic import (
    Ack,
    Hybrid,
    Ids,
    Msg,
    Per,
    Permit,
    Sends,
    receive_msg,
    start,
)


@frozen
class Multi:
    """Lines 2-6: a message in the send buffer or the unacked buffer."""

    rcv: tuple[int, ...]
    unack: tuple[int, ...]
    mid: int
    pid: Ids
    per: int | bool
    pl: Message | None

    def copy_for(self, j: int) -> Msg:
        """Return the packet for receiver `j`."""
        return Msg(j, self.mid, self.pid[self.rcv.index(j)], self.per, self.pl)


HybridMulticast: TypeAlias = Hybrid[Multi]
"""The state of Algorithm 1 with the message record of Algorithm 3."""


def initial(_actor: int, actors: int) -> HybridMulticast:
    """Algorithm 1, lines 20-27."""
    return start(actors, first=1)  # repair: line 21 of Algorithm 1 starts at 0


def try_send(state: HybridMulticast) -> tuple[HybridMulticast, Sends]:
    """Lines 7-16: a message to several receivers always needs a permit."""
    sends: Sends = ()
    while state.sb:
        m, *rest = state.sb
        if state.p.first < m.per:
            break
        m = evolve(m, per=state.u.size > 0 or len(m.rcv) > 1)
        state = evolve(state, sb=tuple(rest), u=state.u.add(m))
        sends += tuple((j, m.copy_for(j)) for j in m.rcv)
    return state, sends


def causal_send(state: HybridMulticast, message: Message) -> Step:
    """Lines 17-23."""
    J = message.destinations
    m = Multi(
        rcv=J,
        unack=J,
        mid=state.ck,
        pid=tuple(state.ls[j] for j in J),
        per=state.p.next,
        pl=message,
    )
    ls = tuple(state.ck if j in J else last for j, last in enumerate(state.ls))
    state, sends = try_send(evolve(state, ls=ls, ck=state.ck + 1, sb=(*state.sb, m)))
    return Step(state, sends)


def receive(state: HybridMulticast, src: int, packet: Msg | Ack | Permit) -> Step:
    """Dispatch to line 24 and to lines 44 and 71 of Algorithm 1."""
    if isinstance(packet, Ack):
        return receive_ack(state, src, packet.mid)
    if isinstance(packet, Permit):
        return receive_permit(state, src, packet.mid)
    return receive_msg(state, src, packet)


def receive_ack(state: HybridMulticast, j: int, n: int) -> Step:
    """Lines 24-39."""
    if n < state.u.first:
        return Step(state, sends=((j, Permit(n)),))
    state = evolve(state, u=state.u.replace(n, acked(state.u[n], j)))
    if n != state.u.first:
        return Step(state)
    u, sends = state.u, list[tuple[int, Packet]]()
    while u.size > 0:
        m = u.peek
        if m.pl is not None:
            break
        if m.per:
            sends += [(k, Permit(m.mid)) for k in m.rcv]
        u = u.remove()
    return Step(evolve(state, u=u), tuple(sends))


def acked(m: Multi, j: int) -> Multi:
    """Lines 28-30."""
    unack = tuple(k for k in m.unack if k != j)
    return evolve(m, unack=unack, pl=m.pl if unack else None)


def receive_permit(state: HybridMulticast, j: int, n: int) -> Step:
    """Algorithm 1, lines 71-73."""
    state, sends = try_send(evolve(state, p=state.p.remove(Per(snd=j, mid=n))))
    return Step(state, sends)


def timeout(state: HybridMulticast) -> Step | None:
    """Lines 40-45."""
    messages = [(j, m.copy_for(j)) for m in state.u for j in m.unack]
    acks = [(p.snd, Ack(p.mid)) for p in state.p]
    return Step(state, sends=(*messages, *acks)) if messages or acks else None


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def is_pipelined(state: LocalState) -> bool:
    """Section 2.3.1: two messages to one receiver are in transit at once."""
    receivers = [j for m in state.u for j in m.unack]
    return len(receivers) > len(set(receivers))


WITNESSES: dict[str, Predicate] = {**hybrid_basic.WITNESSES, "pipelined": is_pipelined}

HYBRID_MULTICAST = Protocol(
    name="hybrid-multicast",
    summary="hybrid-basic for messages to a set of receivers",
    source="hybrid paper, Algorithm 3; message ids from 1",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    timeout=timeout,
    invariants=hybrid_basic.INVARIANTS,
    witnesses=WITNESSES,
)
