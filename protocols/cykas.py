"""Cykas: sender-side causal delivery with eager sends that the receiver must keep secret.

Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery (the Cykas paper), section 2.2, Algorithms 1 to 5.

Repair: in Algorithm 4, TRY_SEND_MESSAGE (line 8) runs once after the loop over EAGER_SENT, not in
it; see `cykas_as_printed`. Differences: EAGER_SENT is a row per receiver, in the order of the
actors, instead of a map; an ACK carries no message, because Algorithm 4 reads only its sender.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from attrs import evolve, frozen

from antecede import Message, Packet, Protocol, Step
from antecede.checker.model import with_item

Bits: TypeAlias = tuple[bool, ...]
Sends: TypeAlias = tuple[tuple[int, Packet], ...]


@frozen
class Sent:
    """Section 2.2.1, the local data structures that an ACK changes, under the paper's names."""

    UNACK: Bits
    EAGER_SENT: tuple[tuple[Bits, ...], ...]


S = TypeVar("S", bound=Sent)


@frozen
class Cykas(Sent):
    """Section 2.2.1, all local data structures."""

    OB: tuple[Message, ...] = ()
    MODE: int = 0

    def may_send(self, _receiver: int) -> bool:
        """Algorithm 2, line 2: no send in secret mode. The secret-mode variant has its own rule."""
        return self.MODE == 0


@frozen
class Normal:
    """Normal Send: delivered on arrival, no restriction."""

    message: Message


@frozen
class Eager:
    """Eager Send: delivered on arrival, puts the receiver in secret mode."""

    message: Message


@frozen
class Ack:
    """Acknowledges a Normal Send or an Eager Send."""


@frozen
class Yct:
    """You can tell: the receiver need no longer keep one Eager Send secret."""


def initial(_actor: int, actors: int) -> Cykas:
    """Section 2.2.1: empty buffers, nothing unacknowledged, normal mode."""
    return Cykas(UNACK=(False,) * actors, EAGER_SENT=((),) * actors)


def application_send(state: Cykas, message: Message) -> Step:
    """Algorithm 1."""
    state, sends = try_send_message(evolve(state, OB=(*state.OB, message)))
    return Step(state, sends)


def try_send_message(state: Cykas) -> tuple[Cykas, Sends]:
    """Algorithm 2: send from the head of OB as long as possible."""
    sends: list[tuple[int, Packet]] = []
    while state.OB:
        m, *rest = state.OB
        j = m.receiver
        if not state.may_send(j) or state.UNACK[j]:
            break
        if not any(state.UNACK):
            sends.append((j, Normal(m)))
        else:
            sends.append((j, Eager(m)))
            queue = (*state.EAGER_SENT[j], state.UNACK)
            state = evolve(state, EAGER_SENT=with_item(state.EAGER_SENT, j, queue))
        state = evolve(state, OB=tuple(rest), UNACK=with_item(state.UNACK, j, True))
    return state, tuple(sends)


def receive(state: Cykas, src: int, packet: Packet) -> Step:
    """Dispatch to Algorithms 3, 4 and 5."""
    if isinstance(packet, Ack):
        return receive_ack(state, src)
    if isinstance(packet, Yct):
        return receive_yct(state)
    return receive_deliver(state, src, packet)


def receive_deliver(state: Cykas, src: int, packet: Normal | Eager) -> Step:
    """Algorithm 3."""
    if isinstance(packet, Eager):
        state = evolve(state, MODE=state.MODE + 1)
    return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))


def receive_ack(state: Cykas, i: int) -> Step:
    """Algorithm 4, with line 8 after the loop."""
    state = acknowledged(state, i)
    ycts: Sends = ()
    for es_receiver in range(len(state.EAGER_SENT)):
        state, more = try_send_yct(state, es_receiver)
        ycts += more
    state, sends = try_send_message(state)  # repair: line 8, after the loop
    return Step(state, ycts + sends)


def acknowledged(state: S, i: int) -> S:
    """Algorithm 4, lines 2 and 4-6, for all receivers at once.

    The loop clears bit i of each queue before that queue's TRY_SEND_YCT, which reads no other
    queue. So clearing bit i of every queue first has the same result.
    """
    queues = tuple(
        tuple(with_item(bitvec, i, False) for bitvec in queue) for queue in state.EAGER_SENT
    )
    return evolve(state, UNACK=with_item(state.UNACK, i, False), EAGER_SENT=queues)


def try_send_yct(state: S, receiver: int) -> tuple[S, Sends]:
    """Algorithm 4, TRY_SEND_YCT: tell `receiver` as often as its oldest eager sends allow."""
    sends: list[tuple[int, Packet]] = []
    queue = state.EAGER_SENT[receiver]
    while queue and not any(queue[0]) and not state.UNACK[receiver]:
        sends.append((receiver, Yct()))
        queue = queue[1:]
    return evolve(state, EAGER_SENT=with_item(state.EAGER_SENT, receiver, queue)), tuple(sends)


def receive_yct(state: Cykas) -> Step:
    """Algorithm 5."""
    state, sends = try_send_message(evolve(state, MODE=state.MODE - 1))
    return Step(state, sends)


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def at_most_one_is_unacknowledged_per_receiver(state: Sent) -> bool:
    """Proposition 3.1, second key aspect: nothing is sent to a receiver that has yet to ACK.

    The two key aspects leave only this trace in a state. UNACK has one bit per receiver, but an
    Eager Send to a receiver with its bit set would keep that bit in its own bit vector.
    """
    return not any(bits[j] for j, queue in enumerate(state.EAGER_SENT) for bits in queue)


def eager_sends_wait_for_unacknowledged(state: Sent) -> bool:
    """Algorithm 4, lines 4-6: an Eager Send waits for no ACK that has arrived."""
    return all(
        unacknowledged or not waiting
        for queue in state.EAGER_SENT
        for bits in queue
        for waiting, unacknowledged in zip(bits, state.UNACK, strict=True)
    )


def eager_sends_are_told_at_once(state: Sent) -> bool:
    """Lemma 3.4: a YCT is held back only by missing ACKs, and sent when they arrive."""
    return all(
        not queue or any(queue[0]) or state.UNACK[j] for j, queue in enumerate(state.EAGER_SENT)
    )


def mode_counts(state: Cykas) -> bool:
    """Section 2.2.1 and Lemma 3.5: MODE is nonnegative, because no YCT comes twice."""
    return state.MODE >= 0


def buffer_waits_for_ack_or_yct(state: Cykas) -> bool:
    """Proposition 3.2: the head of OB waits only in secret mode or for its receiver's ACK."""
    return not state.OB or state.MODE > 0 or state.UNACK[state.OB[0].receiver]


def buffer_is_in_sending_order(state: Cykas) -> bool:
    """Section 2.2.1: OB is a FIFO queue."""
    numbers = [m.number for m in state.OB]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


INVARIANTS = {
    "one-unacknowledged-per-receiver": at_most_one_is_unacknowledged_per_receiver,
    "eager-sends-wait-for-unacknowledged": eager_sends_wait_for_unacknowledged,
    "eager-sends-told-at-once": eager_sends_are_told_at_once,
    "mode-counts": mode_counts,
    "buffer-waits-for-ack-or-yct": buffer_waits_for_ack_or_yct,
    "buffer-in-sending-order": buffer_is_in_sending_order,
}
FINAL_INVARIANTS = {
    "acknowledged": lambda state: not any(state.UNACK),  # Lemma 3.3
    "told": lambda state: not any(state.EAGER_SENT),  # Lemma 3.4
    "normal-mode": lambda state: state.MODE == 0,  # Lemma 3.5
    "sent": lambda state: not state.OB,  # Proposition 3.2
}
MEASURES = {
    "mode": lambda state: state.MODE,
    "eager-sent": lambda state: sum(map(len, state.EAGER_SENT)),
}
WITNESSES = {
    "waited": lambda state: bool(state.OB),
    "eager-send": lambda state: any(state.EAGER_SENT),
    "secret-mode": lambda state: state.MODE > 0,
}

CYKAS = Protocol(
    name="cykas",
    summary="sender-side with eager sends and secret mode",
    source="Cykas paper, Algorithms 1-5; line 8 of Algorithm 4 after the loop",
    initial=initial,
    causal_send=application_send,
    receive=receive,
    invariants=INVARIANTS,
    final_invariants=FINAL_INVARIANTS,
    witnesses=WITNESSES,
    measures=MEASURES,
)
