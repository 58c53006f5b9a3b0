"""Reliable broadcast: a receiver passes a message on before it delivers it.

The broadcast that V. Hadzilacos and S. Toueg (A modular approach to fault-tolerant broadcasts and
related problems. Technical Report TR 94-1425, Cornell University, 1994) build from
sending to one actor. If the sender crashes after some of its packets, whoever got one sends the
message to the others. It keeps no causal order.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Protocol, Step


@frozen
class Member:
    """A member of the group: its number, and the messages that it has delivered."""

    me: int
    got: frozenset[Message] = frozenset()


def causal_send(state: Member, message: Message) -> Step:
    """Send the message to all others."""
    return Step(state, sends=tuple((to, message) for to in message.destinations))


def receive(state: Member, src: int, message: Message) -> Step:
    """Deliver a new message, and pass it on to the others."""
    if message in state.got:
        return Step(state)
    others = (to for to in message.destinations if to not in (state.me, src))
    return Step(
        evolve(state, got=state.got | {message}),
        sends=tuple((to, message) for to in others),
        deliveries=(message,),
    )


RELIABLE = Protocol(
    name="reliable-broadcast",
    summary="passes a message on before it delivers it",
    source="Hadzilacos and Toueg 1994",
    initial=lambda actor, _actors: Member(actor),
    causal_send=causal_send,
    receive=receive,
)
