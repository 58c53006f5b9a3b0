"""Cykas without starvation: a message waits only for the YCTs that were missing when it was sent.

Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery (the Cykas paper), section 2.2, Algorithms 1 to 5. The change
is ours. P. S. Almeida's paper on hybrid buffering, section 4.3, names what it repairs.

In Cykas, a process with an Eager Send whose YCT is missing sends nothing. So an Eager Send that is
delivered after an application-send delays the message, too, although it did not happen before the
message. If such Eager Sends keep coming, the message waits forever. Here it waits only for the
YCTs of the Eager Sends that were delivered before its application-send, and these do not grow in
number.

What differs from `protocols.cykas`: AWAIT counts the missing YCTs per sender, where MODE counts
them all. Each message in OB has a copy of AWAIT from its application-send, as each Eager Send in
EAGER_SENT has a copy of UNACK. The packets are the same.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Packet, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols import cykas
from antecede.protocols.cykas import Ack, Eager, Normal, Sends, Sent, Yct

Counts: TypeAlias = tuple[int, ...]


@frozen
class CykasFair(Sent):
    """Section 2.2.1, with AWAIT in place of MODE.

    Attributes:
        OB: unsent messages, each with the number of YCTs that it waits for, per sender.
        AWAIT: per sender, the number of its delivered Eager Sends whose YCT is missing.
    """

    OB: tuple[tuple[Message, Counts], ...]
    AWAIT: Counts

    def may_send(self, receiver: int) -> bool:
        """Algorithm 2, line 7: the receiver's ACK is not missing. A variant has its own rule."""
        return not self.UNACK[receiver]


def initial(_actor: int, actors: int) -> CykasFair:
    """Section 2.2.1: empty buffers, nothing unacknowledged, no YCT missing."""
    return CykasFair(UNACK=(False,) * actors, EAGER_SENT=((),) * actors, OB=(), AWAIT=(0,) * actors)


def application_send(state: CykasFair, message: Message) -> Step:
    """Algorithm 1; the message gets a copy of AWAIT."""
    state, sends = try_send_message(evolve(state, OB=(*state.OB, (message, state.AWAIT))))
    return Step(state, sends)


def try_send_message(state: CykasFair) -> tuple[CykasFair, Sends]:
    """Algorithm 2; line 2 asks what the message at the head of OB waits for, not the process."""
    sends: list[tuple[int, Packet]] = []
    while state.OB:
        (m, awaited), *rest = state.OB
        j = m.receiver
        if any(awaited) or not state.may_send(j):
            break
        if not any(state.UNACK):
            sends.append((j, Normal(m)))
        else:
            sends.append((j, Eager(m)))
            queue = (*state.EAGER_SENT[j], state.UNACK)
            state = evolve(state, EAGER_SENT=with_item(state.EAGER_SENT, j, queue))
        state = evolve(state, OB=tuple(rest), UNACK=with_item(state.UNACK, j, True))
    return state, tuple(sends)


def receive(state: CykasFair, src: int, packet: Packet) -> Step:
    """Dispatch to Algorithms 3, 4 and 5."""
    if isinstance(packet, Ack):
        return receive_ack(state, src)
    if isinstance(packet, Yct):
        return receive_yct(state, src)
    return receive_deliver(state, src, packet)


def receive_deliver(state: CykasFair, src: int, packet: Normal | Eager) -> Step:
    """Algorithm 3; an Eager Send adds one to AWAIT, and to no copy of it."""
    if isinstance(packet, Eager):
        state = evolve(state, AWAIT=with_item(state.AWAIT, src, state.AWAIT[src] + 1))
    return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))


def receive_ack(state: CykasFair, i: int) -> Step:
    """Algorithm 4, with line 8 after the loop, as in `protocols.cykas`."""
    state = cykas.acknowledged(state, i)
    ycts: Sends = ()
    for es_receiver in range(len(state.EAGER_SENT)):
        state, more = cykas.try_send_yct(state, es_receiver)
        ycts += more
    state, sends = try_send_message(state)
    return Step(state, ycts + sends)


def receive_yct(state: CykasFair, i: int) -> Step:
    """Algorithm 5; the YCT takes one from AWAIT, and from each copy that counts YCTs of i.

    A YCT does not name its Eager Send. The sender tells in the order of its Eager Sends, so any YCT
    of i shows that the oldest one may be told.
    """
    buffer = tuple((m, one_less(awaited, i)) for m, awaited in state.OB)
    state, sends = try_send_message(evolve(state, OB=buffer, AWAIT=one_less(state.AWAIT, i)))
    return Step(state, sends)


def one_less(counts: Counts, i: int) -> Counts:
    """Return the counts with one less for i, and none below zero."""
    return with_item(counts, i, max(counts[i] - 1, 0))


# The algorithms end here. Below: invariants, witnesses and measures for the checker.


def copies_grow_along_the_buffer(state: CykasFair) -> bool:
    """A message waits for no YCT that the messages behind it do not wait for; AWAIT has them all.

    So OB could be a queue of messages and of marks, one mark per missing YCT and at the place where
    its Eager Send was delivered, in place of the counts.
    """
    copies = [awaited for _, awaited in state.OB]
    pairs = zip(copies, [*copies[1:], state.AWAIT], strict=True) if copies else ()
    return all(a <= b for before, after in pairs for a, b in zip(before, after, strict=True))


def buffer_waits_for_ack_or_yct(state: CykasFair) -> bool:
    """Proposition 3.2: the head of OB waits only for its receiver's ACK or for its own YCTs."""
    if not state.OB:
        return True
    message, awaited = state.OB[0]
    return any(awaited) or state.UNACK[message.receiver]


def buffer_is_in_sending_order(state: CykasFair) -> bool:
    """Section 2.2.1: OB is a FIFO queue."""
    numbers = [m.number for m, _ in state.OB]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


INVARIANTS = {
    "one-unacknowledged-per-receiver": cykas.at_most_one_is_unacknowledged_per_receiver,
    "eager-sends-wait-for-unacknowledged": cykas.eager_sends_wait_for_unacknowledged,
    "eager-sends-told-at-once": cykas.eager_sends_are_told_at_once,
    "copies-grow-along-the-buffer": copies_grow_along_the_buffer,
    "buffer-waits-for-ack-or-yct": buffer_waits_for_ack_or_yct,
    "buffer-in-sending-order": buffer_is_in_sending_order,
}
FINAL_INVARIANTS = {
    "acknowledged": lambda state: not any(state.UNACK),  # Lemma 3.3
    "told": lambda state: not any(state.EAGER_SENT),  # Lemma 3.4
    "nothing-awaited": lambda state: not any(state.AWAIT),  # Lemma 3.5
    "sent": lambda state: not state.OB,  # Proposition 3.2
}
MEASURES = {
    "awaited": lambda state: sum(state.AWAIT),
    "eager-sent": lambda state: sum(map(len, state.EAGER_SENT)),
}
WITNESSES = {
    "waited": lambda state: bool(state.OB),
    "eager-send": lambda state: any(state.EAGER_SENT),
    "awaits-yct": lambda state: any(any(awaited) for _, awaited in state.OB),
}

CYKAS_FAIR = Protocol(
    name="cykas-fair",
    summary="cykas without starvation: a message waits only for earlier YCTs",
    source="Cykas paper, Algorithms 1-5, with AWAIT in place of MODE (ours)",
    initial=initial,
    causal_send=application_send,
    receive=receive,
    invariants=INVARIANTS,
    final_invariants=FINAL_INVARIANTS,
    witnesses=WITNESSES,
    measures=MEASURES,
)
