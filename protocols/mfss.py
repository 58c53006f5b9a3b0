"""MFSS, the buffer protocol of Mattern and Fünfrocken: one unacknowledged message per sender.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery. Theory and Practice in Distributed Systems, LNCS 938, 1995, section 3. Called MFSS in
Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery, section 2.1.

Differences: the input buffer IB is not modelled, for a non-selective receiver takes messages from
it in the order of their arrival, so `get` and `deliver` are one event; and an ACK does not name the
message it acknowledges, for at most one is unacknowledged.
"""

from __future__ import annotations

from attrs import evolve, frozen

from checker.model import Message, Protocol, Step


@frozen
class Mfss:
    """The output buffer OB, and whether its last posted message is still unacknowledged."""

    OB: tuple[Message, ...] = ()
    awaiting_ack: bool = False


@frozen
class Data:
    """A message without control data."""

    message: Message


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
    if isinstance(packet, Ack):
        return _post(evolve(state, awaiting_ack=False))
    return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))


def _post(state: Mfss) -> Step:
    """Section 3.2, posting messages: transmit the head of OB, then wait for its acknowledgement."""
    if state.awaiting_ack or not state.OB:
        return Step(state)
    head, *rest = state.OB
    return Step(Mfss(OB=tuple(rest), awaiting_ack=True), sends=((head.receiver, Data(head)),))


MFSS = Protocol(
    name="mfss",
    summary="sender-side: one unacknowledged message per sender",
    source="Mattern and Fünfrocken 1995; Cykas paper, section 2.1",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    witnesses={"waited": lambda state: bool(state.OB)},
)
