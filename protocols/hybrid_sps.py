"""Hybrid buffering, SPS-optimal: permits only for messages to another receiver.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 5.6, Algorithm 2 and Figure 4.

Repairs: message ids, and with them the indexes into the unified buffer, start at 1, as in
`hybrid_basic`. A causal-send advances `m2` and `u2` past the new message if they would otherwise
point at it by accident. Lines 84-85 do so for `p2` when a permit is added, but no printed line does
it for a message. Without this repair, the two stay where they start and soon lie below the window.
Then line 98 passes an index outside the buffer to line 29, and line 33 flags every message after
the first. See HYBRID_SPS_AS_PRINTED below.

Differences, besides those of `hybrid_basic`: the fields `per` and `perm` are one. Lines 29 and 46
compare the permit index of a message with `p`. A sent message no longer has an index, because line
33 makes `per` a flag; it passes, as its index did when it was sent. Line 74 acknowledges `b.mid`,
read as `m.mid`. Lines 86-87 are in the loop, not in the condition of line 84, as in Algorithm 1.
Lines 55-62 are in the condition of line 53. A message has one destination.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from antecede import Message, Packet, Predicate, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols.hybrid_basic import (
    Ack,
    Ids,
    Msg,
    Per,
    Permit,
    Receiving,
    Sends,
    delivered,
    hold,
    is_pipelined,
    next_held,
    payload,
    permits_are_for_delivered,
)
from antecede.protocols.sliding import IndexableSlidingMap, SlidingArray


@frozen
class Entry(Msg):
    """The Msg record of Algorithm 2, in the unified buffer: `per` is a flag once it is `sent`."""

    sent: bool = False

    @property
    def in_transit(self) -> Msg:
        """The packet for this message."""
        return Msg(self.rcv, self.mid, self.pid, self.per, self.pl)


@frozen
class HybridSps(Receiving):
    """Lines 1-11, under the paper's names, with the indexes of Figure 4.

    Attributes:
        ls: the number of the last message sent to each receiver.
        ck: the number of the next message.
        u: the unified buffer of unacknowledged or not yet network-sent messages, by number.
        p: the missing permits.
        p2: in `p`, the first permit from another sender than the first permit's sender.
        m1: in `u`, the first message that is not yet network-sent.
        m2: in `u`, the first message that depends on the permit at `p2`; none from there on has
            been network-sent.
        u2: in `u`, the first unacknowledged message to another receiver than the first message's.
    """

    ls: Ids
    ck: int
    u: SlidingArray[Entry]
    p: IndexableSlidingMap[Per]
    p2: int
    m1: int
    m2: int
    u2: int


def initial(_actor: int, actors: int) -> HybridSps:
    """Lines 1-11."""
    first = 1  # repair: lines 2 and 9-11 start at 0
    return HybridSps(
        ld=(0,) * actors,
        rb=(frozenset(),) * actors,
        ls=(0,) * actors,
        ck=first,
        u=SlidingArray(first),
        p=IndexableSlidingMap(),
        p2=0,
        m1=first,
        m2=first,
        u2=first,
    )


def causal_send(state: HybridSps, message: Message) -> Step:
    """Lines 12-18."""
    state = with_new_last(buffered(state, message))  # repair: as lines 84-85, for m2 and u2
    state, sends = send_interval(state, state.u.next - 1, state.p2)
    return Step(state, sends)


def causal_send_as_printed(state: HybridSps, message: Message) -> Step:
    """Lines 12-18 as printed: `m2` and `u2` are not advanced."""
    state = buffered(state, message)
    state, sends = send_interval(state, state.u.next - 1, state.p2)
    return Step(state, sends)


def buffered(state: HybridSps, message: Message) -> HybridSps:
    """Lines 13-17: number the message and add it to the unified buffer."""
    j = message.receiver
    m = Entry(rcv=j, mid=state.ck, pid=state.ls[j], per=state.p.next, pl=message)
    return evolve(state, ls=with_item(state.ls, j, state.ck), ck=state.ck + 1, u=state.u.add(m))


def with_new_last(state: HybridSps) -> HybridSps:
    """Repair: keep lines 10 and 11 true for `m2` and `u2` when the last message is new."""
    k = state.u.next - 1
    m = state.u[k]
    if state.m2 == k and m.per <= state.p2:
        state = evolve(state, m2=k + 1)
    if state.u2 == k and m.rcv == state.u.peek.rcv:
        state = evolve(state, u2=k + 1)
    return state


def send_interval(state: HybridSps, k: int, p: int) -> tuple[HybridSps, Sends]:
    """Lines 25-37: send messages from `k` up to a message that depends on permit `p`."""
    p1, s = state.p.first, first_sender(state)
    sends: list[tuple[int, Packet]] = []
    while k < state.u.next and depends_on_none_from(state.u[k], p):
        m = state.u[k]
        if not m.sent and (m.per <= p1 or m.rcv == s):
            per = state.u2 < k or m.rcv != state.u.peek.rcv
            m = evolve(m, sent=True, per=per)
            state = evolve(state, u=state.u.replace(k, m))
            sends.append((m.rcv, m.in_transit))
        k += 1
    while state.m1 < state.u.next and state.u[state.m1].sent:
        state = evolve(state, m1=state.m1 + 1)
    return state, tuple(sends)


def first_sender(state: HybridSps) -> int | None:
    """Lines 27 and 42: the sender of the first missing permit; None if no permit is missing."""
    return state.p.peek.snd if state.p.first < state.p.next else None


def depends_on_none_from(m: Entry, p: int) -> bool:
    """Lines 29 and 46: `m` waits for no permit at index `p` or later."""
    return m.sent or m.per <= p


def update_p2_m2(state: HybridSps) -> HybridSps:
    """Lines 38-47: the permit at `p2` is no longer the first one from a second sender."""
    s = first_sender(state)
    if s is None:
        return state
    while state.p2 < state.p.next and is_gone_or_from(state.p[state.p2], s):
        state = evolve(state, p2=state.p2 + 1)
    while state.m2 < state.u.next and depends_on_none_from(state.u[state.m2], state.p2):
        state = evolve(state, m2=state.m2 + 1)
    return state


def is_gone_or_from(permit: Per | None, s: int) -> bool:
    """Line 44."""
    return permit is None or permit.snd == s


def receive(state: HybridSps, src: int, packet: Msg | Ack | Permit) -> Step:
    """Dispatch to lines 48, 72 and 88."""
    if isinstance(packet, Ack):
        return receive_ack(state, src, packet.mid)
    if isinstance(packet, Permit):
        return receive_permit(state, src, packet.mid)
    return receive_msg(state, src, packet)


def receive_ack(state: HybridSps, j: int, n: int) -> Step:
    """Lines 48-71."""
    if n < state.u.first:
        return Step(state, sends=((j, Permit(n)),))
    state = evolve(state, u=state.u.replace(n, evolve(state.u[n], pl=None)))
    sends: Sends = ()
    if n == state.u.first:
        state, sends = acked_first(state, j)
        n = state.u.first
    if n == state.u2 < state.u.next:
        state, more = acked_u2(state)
        sends += more
    return Step(state, sends)


def acked_first(state: HybridSps, j: int) -> tuple[HybridSps, Sends]:
    """Lines 54-61: drop acknowledged messages; send permits to receivers other than `j`."""
    u, sends = state.u.remove(), list[tuple[int, Packet]]()
    while u.size > 0:
        m = u.peek
        if m.sent and m.per and m.rcv != j:
            sends.append((m.rcv, Permit(m.mid)))
        if m.pl is not None:
            break
        u = u.remove()
    return evolve(state, u=u), tuple(sends)


def acked_u2(state: HybridSps) -> tuple[HybridSps, Sends]:
    """Lines 64-71: advance `u2`; send permits to the receiver of the first message."""
    r = state.u.peek.rcv
    sends: list[tuple[int, Packet]] = []
    while state.u2 < state.u.next:
        m = state.u[state.u2]
        if m.pl is not None and m.rcv != r:
            break
        if m.sent and m.per and m.rcv == r:
            sends.append((m.rcv, Permit(m.mid)))
        state = evolve(state, u2=state.u2 + 1)
    return state, tuple(sends)


def receive_msg(state: HybridSps, j: int, m: Msg) -> Step:
    """Lines 72-87."""
    if m.mid <= state.ld[j]:
        return Step(state, sends=((j, Ack(m.mid)),))
    state = hold(state, j, m)
    sends: list[tuple[int, Packet]] = []
    deliveries: list[Message] = []
    while (r := next_held(state, j)) is not None:
        state = delivered(state, j, r)
        if r.per:
            state = with_missing(state, Per(snd=j, mid=r.mid))
        sends.append((j, Ack(r.mid)))
        deliveries.append(payload(r))
    return Step(state, tuple(sends), tuple(deliveries))


def with_missing(state: HybridSps, permit: Per) -> HybridSps:
    """Lines 82-85."""
    k = state.p.next
    state = evolve(state, p=state.p.add(permit))
    if state.p2 == k and permit.snd == state.p.peek.snd:
        state = evolve(state, p2=k + 1)
    return state


def receive_permit(state: HybridSps, j: int, n: int) -> Step:
    """Lines 88-100."""
    permit = Per(snd=j, mid=n)
    k = state.p.index(permit)
    if k is None:
        return Step(state)
    p1 = state.p.first
    state = evolve(state, p=state.p.remove(permit))
    sends: Sends = ()
    if k == p1:
        k = state.p.first
        state, sends = send_interval(state, state.m1, k)
    if k == state.p2:
        m2 = state.m2
        state = update_p2_m2(state)
        state, more = send_interval(state, m2, state.p2)
        sends += more
    return Step(state, sends)


def timeout(state: HybridSps) -> Step | None:
    """Lines 19-24."""
    messages = [(m.rcv, m.in_transit) for m in state.u if m.sent and m.pl is not None]
    acks = [(p.snd, Ack(p.mid)) for p in state.p]
    return Step(state, sends=(*messages, *acks)) if messages or acks else None


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def _first(indexes: Iterable[int], otherwise: int) -> int:
    return next(iter(indexes), otherwise)


def m1_is_first_buffered(state: HybridSps) -> bool:
    """Line 9 and Figure 4: `m1` is the first message that is not yet network-sent."""
    return state.m1 == _first((m.mid for m in state.u if not m.sent), state.u.next)


def m2_is_first_needing_p2(state: HybridSps) -> bool:
    """Line 10 and Figure 4: `m2` is the first message that depends on the permit at `p2`."""
    needing = (m.mid for m in state.u if not depends_on_none_from(m, state.p2))
    return state.m2 == _first(needing, state.u.next)


def p2_is_first_of_another_sender(state: HybridSps) -> bool:
    """Line 8 and Figure 4: `p2` is the first permit from another sender than the first one."""
    s = first_sender(state)
    others = (state.p.index(p) for p in state.p if p.snd != s)
    return state.p2 == next(others, state.p.next)


def u2_is_first_of_another_receiver(state: HybridSps) -> bool:
    """Line 11 and Figure 4: `u2` is the first unacked message to another receiver."""
    others = (m.mid for m in state.u if m.pl is not None and m.rcv != state.u.peek.rcv)
    return state.u2 == _first(others, state.u.next)


def indexes_lie_in_window(state: HybridSps) -> bool:
    """Figure 4: every index into the unified buffer is inside the buffer's window."""
    return all(state.u.first <= index <= state.u.next for index in (state.m1, state.m2, state.u2))


def sends_what_sps_allows(state: HybridSps) -> bool:
    """Definition 4.1: the unsent messages are exactly those that miss another sender's permit."""
    missing = [(index, p.snd) for p in state.p if (index := state.p.index(p)) is not None]
    return all(
        m.sent or any(index < m.per and snd != m.rcv for index, snd in missing) for m in state.u
    )


def is_overtaken_at_its_sender(state: HybridSps) -> bool:
    """Section 5.6: a later message was network-sent before an earlier one."""
    return any(m.sent and m.mid > state.m1 for m in state.u)


INVARIANTS: dict[str, Predicate] = {
    "m1": m1_is_first_buffered,
    "m2": m2_is_first_needing_p2,
    "p2": p2_is_first_of_another_sender,
    "u2": u2_is_first_of_another_receiver,
    "indexes-in-window": indexes_lie_in_window,
    "sends-what-sps-allows": sends_what_sps_allows,
    "permits-are-for-delivered": permits_are_for_delivered,
}

WITNESSES: dict[str, Predicate] = {
    "waited": lambda state: any(not m.sent for m in state.u),
    "held-back": lambda state: any(state.rb),
    "permit-missing": lambda state: any(True for _ in state.p),
    "pipelined": is_pipelined,
    "overtaken-at-its-sender": is_overtaken_at_its_sender,
}

HYBRID_SPS = Protocol(
    name="hybrid-sps",
    summary="hybrid buffering that waits only for permits of other senders (SPS-optimal)",
    source="hybrid paper, Algorithm 2; m2 and u2 kept at a causal-send",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    timeout=timeout,
    invariants=INVARIANTS,
    witnesses=WITNESSES,
)

HYBRID_SPS_AS_PRINTED = evolve(
    HYBRID_SPS,
    name="hybrid-sps-as-printed",
    summary="hybrid-sps whose causal-send leaves m2 and u2 behind, as printed",
    source="hybrid paper, Algorithm 2 as printed, with message ids from 1",
    causal_send=causal_send_as_printed,
)
