"""Control: no protocol at all. A message is network-sent at once and delivered on arrival.

Violates causal delivery and FIFO delivery on a network that reorders. Every protocol must improve
on it.
"""

from __future__ import annotations

from attrs import frozen

from antecede import Message, Protocol, Step


@frozen
class Nothing:
    """The protocol keeps no state."""


@frozen
class Data:
    """A message without control data."""

    message: Message


def initial(_actor: int, _actors: int) -> Nothing:
    """Return the empty state."""
    return Nothing()


def causal_send(state: Nothing, message: Message) -> Step:
    """Network-send at once."""
    return Step(state, sends=tuple((d, Data(message)) for d in message.destinations))


def receive(state: Nothing, _src: int, packet: Data) -> Step:
    """Deliver on arrival."""
    return Step(state, deliveries=(packet.message,))


UNORDERED = Protocol(
    name="unordered",
    summary="control: deliver on arrival",
    source="none; the negative control",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
)
