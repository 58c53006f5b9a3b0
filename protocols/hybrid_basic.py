"""Hybrid buffering, the basic algorithm: permits hold back at the sender, FIFO at the receiver.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), sections 5.2 to 5.4, Algorithm 1.

Repair: message ids start at 1. Line 21 starts them at 0, where a last-delivered id of 0 also means
that nothing was delivered; see HYBRID_BASIC_AS_PRINTED below.

Differences: maps from actors are rows in the order of the actors; the receive buffer `rb` of a
sender is a set of messages, because no two of them have the same predecessor. Line 46 acknowledges
`b.mid`, which is not defined there: read as `m.mid`. The loop of line 64 is inside the condition of
line 62, as in the text of section 5.4. A message with several destinations is sent as several
messages, against which section 5.7 warns; `hybrid_multicast` implements multicast correctly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeAlias, TypeVar

from attrs import evolve, frozen

from antecede import Envelope, LocalState, Message, NormalForm, Packet, Predicate, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols.ranks import Rank, ranked
from antecede.protocols.sliding import SlidingArray, SlidingMap

Ids: TypeAlias = tuple[int, ...]
Sends: TypeAlias = tuple[tuple[int, Packet], ...]
M = TypeVar("M")
R = TypeVar("R", bound="Receiving")


@frozen
class Msg:
    """Lines 4-10; in the send buffer `per` is a permit index, elsewhere a flag.

    The payload `pl` is None in the unacked buffer once the message was acknowledged.
    """

    rcv: int
    mid: int
    pid: int
    per: int | bool
    pl: Message | None


@frozen
class Ack:
    """Message `mid` was delivered."""

    mid: int


@frozen
class Permit:
    """A permit for all messages that its sender sent before message `mid` was delivered."""

    mid: int


@frozen
class Per:
    """Lines 11-14: a missing permit."""

    snd: int
    mid: int


@frozen
class Receiving:
    """Lines 25 and 27: a receiver's data for delivery in FIFO order."""

    ld: Ids
    rb: tuple[frozenset[Msg], ...]


@frozen
class Hybrid(Receiving, Generic[M]):
    """Lines 20-27, under the paper's names."""

    ls: Ids
    ck: int
    u: SlidingArray[M]
    p: SlidingMap[Per]
    sb: tuple[M, ...] = ()


def initial(_actor: int, actors: int) -> Hybrid[Msg]:
    """Lines 20-27."""
    return start(actors, first=1)  # repair: line 21 starts at 0


def initial_as_printed(_actor: int, actors: int) -> Hybrid[Msg]:
    """Lines 20-27, as printed."""
    return start(actors, first=0)  # as printed: line 21


def start(actors: int, first: int) -> Hybrid[Any]:
    """Lines 20-27 with message ids from `first`, which is also the start of the unacked buffer."""
    return Hybrid(
        ld=(0,) * actors,
        rb=(frozenset(),) * actors,
        ls=(0,) * actors,
        ck=first,
        u=SlidingArray(first),
        p=SlidingMap(),
    )


def try_send(state: Hybrid[Msg]) -> tuple[Hybrid[Msg], Sends]:
    """Lines 28-36: send from the head of the send buffer while it has its permits."""
    sends: list[tuple[int, Packet]] = []
    while state.sb:
        m, *rest = state.sb
        if state.p.first < m.per:
            break
        m = evolve(m, per=state.u.size > 0)
        state = evolve(state, sb=tuple(rest), u=state.u.add(m))
        sends.append((m.rcv, m))
    return state, tuple(sends)


def causal_send(state: Hybrid[Msg], message: Message) -> Step:
    """Lines 37-43, once per destination."""
    sends: Sends = ()
    for j in message.destinations:
        m = Msg(rcv=j, mid=state.ck, pid=state.ls[j], per=state.p.next, pl=message)
        state = evolve(
            state,
            ls=with_item(state.ls, j, state.ck),
            ck=state.ck + 1,
            sb=(*state.sb, m),
        )
        state, more = try_send(state)
        sends += more
    return Step(state, sends)


def receive(state: Hybrid[Msg], src: int, packet: Msg | Ack | Permit) -> Step:
    """Dispatch to lines 44, 57 and 71."""
    if isinstance(packet, Ack):
        return receive_ack(state, src, packet.mid)
    if isinstance(packet, Permit):
        return receive_permit(state, src, packet.mid)
    return receive_msg(state, src, packet)


def receive_msg(state: Hybrid[M], j: int, m: Msg) -> Step:
    """Lines 44-56: hold back until the predecessor was delivered; deliver all successors held."""
    if m.mid <= state.ld[j]:
        return Step(state, sends=((j, Ack(m.mid)),))
    state = hold(state, j, m)
    sends: list[tuple[int, Packet]] = []
    deliveries: list[Message] = []
    while (b := next_held(state, j)) is not None:
        state = delivered(state, j, b)
        if b.per:
            state = evolve(state, p=state.p.add(Per(snd=j, mid=b.mid)))
        sends.append((j, Ack(b.mid)))
        deliveries.append(payload(b))
    return Step(state, tuple(sends), tuple(deliveries))


def hold(state: R, j: int, m: Msg) -> R:
    """Line 49: put a message from `j` into the receive buffer."""
    return evolve(state, rb=with_item(state.rb, j, state.rb[j] | {m}))


def next_held(state: Receiving, j: int) -> Msg | None:
    """Lines 50-51: the held message whose predecessor is the last delivered one, or None."""
    return next((b for b in state.rb[j] if b.pid == state.ld[j]), None)


def delivered(state: R, j: int, b: Msg) -> R:
    """Lines 51-52: `b` leaves the receive buffer and becomes the last delivered from `j`."""
    return evolve(
        state,
        rb=with_item(state.rb, j, state.rb[j] - {b}),
        ld=with_item(state.ld, j, b.mid),
    )


def payload(m: Msg) -> Message:
    """Return the message to deliver; a message in transit has its payload."""
    assert m.pl is not None
    return m.pl


def receive_ack(state: Hybrid[Msg], j: int, n: int) -> Step:
    """Lines 57-70."""
    if n < state.u.first:
        return Step(state, sends=((j, Permit(n)),))
    state = evolve(state, u=state.u.replace(n, evolve(state.u[n], pl=None)))
    if n != state.u.first:
        return Step(state)
    u, sends = state.u.remove(), list[tuple[int, Packet]]()
    while u.size > 0:
        m = u.peek
        if m.per:
            sends.append((m.rcv, Permit(m.mid)))
        if m.pl is not None:
            break
        u = u.remove()
    return Step(evolve(state, u=u), tuple(sends))


def receive_permit(state: Hybrid[Msg], j: int, n: int) -> Step:
    """Lines 71-73."""
    state, sends = try_send(evolve(state, p=state.p.remove(Per(snd=j, mid=n))))
    return Step(state, sends)


def timeout(state: Hybrid[Msg]) -> Step | None:
    """Lines 74-79: repeat the unacknowledged messages, and the ACKs of the missing permits."""
    messages = [(m.rcv, m) for m in state.u if m.pl is not None]
    acks = [(p.snd, Ack(p.mid)) for p in state.p]
    return Step(state, sends=(*messages, *acks)) if messages or acks else None


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def waits_for_permits(state: LocalState) -> bool:
    """Section 5.2: the head of the send buffer waits for a missing permit; all others wait, too."""
    indexes = [m.per for m in state.sb]
    return indexes == sorted(indexes) and all(state.p.first < i <= state.p.next for i in indexes)


def permits_are_for_delivered(state: LocalState) -> bool:
    """Lines 53-54: a permit is missing only for a delivered message."""
    return all(p.mid <= state.ld[p.snd] for p in state.p)


def later_messages_need_permits(state: LocalState) -> bool:
    """Line 34: every unacked message but the oldest was sent while another was unacked."""
    return all(m.per for m in list(state.u)[1:])


def ids_are_indexes(state: LocalState) -> bool:
    """Section 5.2: ids number the sent and then the buffered messages; the oldest is unacked."""
    ids = [m.mid for m in (*state.u, *state.sb)]
    oldest_is_unacked = state.u.size == 0 or state.u.peek.pl is not None
    return ids == list(range(state.u.first, state.ck)) and oldest_is_unacked


def is_pipelined(state: LocalState) -> bool:
    """Section 2.3.1: two messages to one receiver are in transit at once."""
    receivers = [m.rcv for m in state.u if m.pl is not None]
    return len(receivers) > len(set(receivers))


INVARIANTS: dict[str, Predicate] = {
    "waits-for-permits": waits_for_permits,
    "permits-are-for-delivered": permits_are_for_delivered,
    "later-need-permits": later_messages_need_permits,
    "ids-are-indexes": ids_are_indexes,
}

WITNESSES: dict[str, Predicate] = {
    "waited": lambda state: bool(state.sb),
    "held-back": lambda state: any(state.rb),
    "permit-missing": lambda state: any(True for _ in state.p),
    "pipelined": is_pipelined,
}

MEASURES = {
    "unacked": lambda state: state.u.size,
    "missing-permits": lambda state: sum(1 for _ in state.p),
}


def normal(states: tuple[Hybrid[Msg], ...], flying: tuple[Envelope, ...]) -> NormalForm:
    """Replace message ids by ranks, and count permit indexes from the first missing permit.

    Ids are compared only with ids of the same sender. The ids of the window from the oldest unacked
    message to the next one are all in use, so their ranks are consecutive, like the ids.
    """
    ranks = [ranked(_ids_of(actor, states, flying)) for actor in range(len(states))]

    def state(actor: int, local: Hybrid[Msg]) -> Hybrid[Msg]:
        mine, first = ranks[actor], local.p.first
        return evolve(
            local,
            ld=tuple(rank(mid) for rank, mid in zip(ranks, local.ld, strict=True)),
            rb=tuple(
                frozenset(_by_rank(rank, m) for m in held)
                for rank, held in zip(ranks, local.rb, strict=True)
            ),
            ls=tuple(map(mine, local.ls)),
            ck=mine(local.ck),
            u=SlidingArray(mine(local.u.first), tuple(_by_rank(mine, m) for m in local.u)),
            p=SlidingMap(0, tuple(p and Per(p.snd, ranks[p.snd](p.mid)) for p in local.p.slots)),
            sb=tuple(evolve(_by_rank(mine, m), per=m.per - first) for m in local.sb),
        )

    def packet(envelope: Envelope) -> Packet:
        if isinstance(envelope.packet, Msg):
            return _by_rank(ranks[envelope.src], envelope.packet)
        return evolve(envelope.packet, mid=ranks[_owner_of(envelope)](envelope.packet.mid))

    return NormalForm(state, packet)


def _by_rank(rank: Rank, m: Msg) -> Msg:
    return evolve(m, mid=rank(m.mid), pid=rank(m.pid))


def _owner_of(envelope: Envelope) -> int:
    """Return the actor whose message an ACK or a PERMIT is about."""
    return envelope.dst if isinstance(envelope.packet, Ack) else envelope.src


def _ids_of(
    actor: int, states: tuple[Hybrid[Msg], ...], flying: tuple[Envelope, ...]
) -> Iterator[int]:
    """Yield the ids of one actor's messages in all states and packets."""
    own = states[actor]
    yield from (*own.ls, own.ck, own.u.first)
    for m in (*own.u, *own.sb):
        yield from (m.mid, m.pid)
    for other in states:
        yield other.ld[actor]
        yield from (p.mid for p in other.p if p.snd == actor)
        for m in other.rb[actor]:
            yield from (m.mid, m.pid)
    for envelope in flying:
        packet = envelope.packet
        if isinstance(packet, Ack | Permit):
            yield from (packet.mid,) * (_owner_of(envelope) == actor)
        elif envelope.src == actor:
            yield from (packet.mid, packet.pid)


HYBRID_BASIC = Protocol(
    name="hybrid-basic",
    summary="hybrid buffering: permits at the sender, FIFO at the receiver; any network",
    source="hybrid paper, Algorithm 1; message ids from 1",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    timeout=timeout,
    invariants=INVARIANTS,
    witnesses=WITNESSES,
    measures=MEASURES,
    normal=normal,
)

HYBRID_BASIC_AS_PRINTED = evolve(
    HYBRID_BASIC,
    name="hybrid-basic-as-printed",
    summary="hybrid-basic with message ids from 0, as printed",
    source="hybrid paper, Algorithm 1, line 21 as printed; lines 46, 62-64 as in hybrid-basic",
    initial=initial_as_printed,
    normal=None,
)
"""The first message has id 0, which is also the last delivered id before anything was delivered.

Section 5.4: a key without a value maps to zero. Line 45 therefore takes this message for a
duplicate: it is acknowledged and never delivered.
"""

HYBRID_BASIC_NO_TIMEOUT = evolve(
    HYBRID_BASIC,
    name="hybrid-basic-no-timeout",
    summary="hybrid-basic that never repeats a packet: needs links that keep the order",
    source="hybrid paper, Algorithm 1 without lines 74-79",
    timeout=None,
    network="fifo",
    normal=None,
)
"""The periodic part is meant for losses, but a network that only reorders needs it, too.

A PERMIT may overtake its message, because line 67 sends it while the message may still be in
transit. It then finds no missing permit to remove, and is not sent again.
"""
