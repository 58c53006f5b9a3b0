"""MFSS, the buffer protocol of Mattern and Fünfrocken: one unacknowledged message per sender.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery. Theory and Practice in Distributed Systems, LNCS 938, 1995, section 3. Called MFSS in
Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery, section 2.1.

Differences: the input buffer IB is not a part of the protocol. A receiver takes messages from IB in
the order of their arrival, so `get` and `deliver` are one event; for programs with selective
receives, the workload `program` models IB as a queue (docs/model.md). An ACK does not name the
message that it acknowledges: OB waits for an ACK from one receiver, to which one message is
unacknowledged. The state has a list of such receivers, so that a check decides the invariant that
it is one at most. The paper assumes a reliable network and does not say what OB does with an ACK
for which it does not wait. Here, it ignores the ACK. Only a network that duplicates packets brings
one. `protocols/mfss_any_ack.py` is the variant that takes an ACK from any actor.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Protocol, Step
from antecede.protocols.unordered import Data


@frozen
class Mfss:
    """The output buffer OB, and the receivers of the posted messages without an acknowledgement."""

    OB: tuple[Message, ...] = ()
    unacknowledged: tuple[int, ...] = ()


@frozen
class Ack:
    """The input buffer's acknowledgement."""


def initial(_actor: int, _actors: int) -> Mfss:
    """Return an empty output buffer."""
    return Mfss()


def causal_send(state: Mfss, message: Message) -> Step:
    """Section 3.2, insert-request: enqueue m in the output buffer, post if possible."""
    return _post(evolve(state, OB=(*state.OB, message)))


def receive(state: Mfss, src: int, packet: Data | Ack) -> Step:
    """Section 3.2: acknowledge and deliver a message; on an acknowledgement post the next."""
    if isinstance(packet, Data):
        return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))
    if src not in state.unacknowledged:  # not the acknowledgement "from IB_j"
        return Step(state)
    at = state.unacknowledged.index(src)
    left = (*state.unacknowledged[:at], *state.unacknowledged[at + 1 :])
    return _post(evolve(state, unacknowledged=left))


def _post(state: Mfss) -> Step:
    """Section 3.2, posting messages: transmit the head of OB, then wait for its acknowledgement."""
    if state.unacknowledged or not state.OB:
        return Step(state)
    head, *rest = state.OB
    after = Mfss(OB=tuple(rest), unacknowledged=(*state.unacknowledged, head.receiver))
    return Step(after, sends=((head.receiver, Data(head)),))


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def at_most_one_is_unacknowledged(state: Mfss) -> bool:
    """Lemma 2: the next message is posted only after the previous one was acknowledged."""
    return len(state.unacknowledged) <= 1


def buffer_waits_for_an_ack(state: Mfss) -> bool:
    """Section 3.3, liveness: a message waits only for a missing acknowledgement."""
    return not state.OB or bool(state.unacknowledged)


def buffer_is_in_sending_order(state: Mfss) -> bool:
    """Lemma 3: OB is a FIFO buffer, so messages are posted in the order of their sends."""
    numbers = [m.number for m in state.OB]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) if numbers else True


INVARIANTS = {
    "one-unacknowledged": at_most_one_is_unacknowledged,
    "buffer-waits-for-an-ack": buffer_waits_for_an_ack,
    "buffer-in-sending-order": buffer_is_in_sending_order,
}
FINAL_INVARIANTS = {
    "acknowledged": lambda state: not state.unacknowledged,
    "sent": lambda state: not state.OB,  # section 3.3, liveness
}

MFSS = Protocol(
    name="mfss",
    summary="sender-side: one unacknowledged message per sender",
    source="Mattern and Fünfrocken 1995; Cykas paper, section 2.1",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    invariants=INVARIANTS,
    final_invariants=FINAL_INVARIANTS,
    witnesses={"waited": lambda state: bool(state.OB)},
)
