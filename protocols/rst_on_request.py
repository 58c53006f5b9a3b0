"""RST that delivers a message only when the application asks for one that it accepts.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery (1995), section 4.2, use the matrix protocol in this way. Messages stay in the mail room
until the application reaches a receive statement that accepts them. Of these, a deliverable message
is handed over, regardless of earlier arrivals.

A `program` workload defines the requests. Without one, the application always asks for any message,
so the protocol equals `protocols.rst`.

Differences: if several messages could be handed over, the first by sender is.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Protocol, Request, Step
from antecede.protocols import rst
from antecede.protocols.rst import RST, Mail, Rst, Stamped, after_delivery, deliverable

Requests: TypeAlias = tuple[tuple[Request, ...], ...]


@frozen
class OnRequest:
    """The state of RST, and the numbers of messages that the application sent and received."""

    rst: Rst
    sent: int = 0
    received: int = 0


def on_request(requests: Requests) -> Protocol:
    """Return the protocol for applications that make the given requests."""

    def hand_over(state: OnRequest) -> Step:
        """Deliver as long as the application asks for a deliverable message."""
        deliveries: tuple[Message, ...] = ()
        while held := _asked_for(state, requests[state.rst.me]):
            rest = tuple(other for other in state.rst.held_back if other != held)
            updated = after_delivery(evolve(state.rst, held_back=rest), held)
            state = evolve(state, rst=updated, received=state.received + 1)
            deliveries = (*deliveries, held.packet.message)
        return Step(state, deliveries=deliveries)

    def causal_send(state: OnRequest, message: Message) -> Step:
        step = rst.causal_send(state.rst, message)
        after = hand_over(evolve(state, rst=step.state, sent=state.sent + 1))
        return evolve(after, sends=step.sends)

    def receive(state: OnRequest, src: int, packet: Stamped) -> Step:
        step = rst.receive(state.rst, src, packet, may_deliver=lambda _state, _held: False)
        return hand_over(evolve(state, rst=step.state))

    return evolve(
        RST_ON_REQUEST,
        initial=lambda actor, actors: OnRequest(rst.initial(actor, actors)),
        causal_send=causal_send,
        receive=receive,
        invariants={},
        witnesses={"waited": lambda state: bool(state.rst.held_back)},
    )


def _asked_for(state: OnRequest, requests: tuple[Request, ...]) -> Mail | None:
    """Return a message for the application's next receive, if the application has reached it."""
    for request in requests[state.received : state.received + 1]:
        for held in state.rst.held_back if request.after <= state.sent else ():
            message = held.packet.message
            if request.takes((message.sender, message.number)) and deliverable(state.rst, held):
                return held
    return None


RST_ON_REQUEST = evolve(
    RST,
    name="rst-on-request",
    summary="rst that delivers only what a program's receives ask for",
    source="Mattern and Fünfrocken 1995, section 4.2",
    on_request=on_request,
)
