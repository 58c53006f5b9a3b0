"""Control: sequence numbers per channel give FIFO order per sender and receiver, but no more.

The receiver holds back a message until its predecessors from the same sender were delivered, as
Mattern and Fünfrocken describe the well-known scheme (section 2). Violates causal delivery: a chain
through a third actor can overtake.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Envelope, Message, NormalForm, Protocol, Step
from antecede.checker.model import with_item


@frozen
class Numbered:
    """A message with its sequence number (1, 2, …) on its channel."""

    message: Message
    sequence: int


@frozen
class Fifo:
    """Per other actor: messages sent to it, messages delivered from it, packets held back."""

    sent: tuple[int, ...]
    delivered: tuple[int, ...]
    held_back: tuple[frozenset[Numbered], ...]


def initial(_actor: int, actors: int) -> Fifo:
    """Return the state with nothing sent, delivered or held back."""
    return Fifo(sent=(0,) * actors, delivered=(0,) * actors, held_back=(frozenset(),) * actors)


def causal_send(state: Fifo, message: Message) -> Step:
    """Number the message per destination and network-send it at once."""
    sends = []
    for destination in message.destinations:
        sequence = state.sent[destination] + 1
        state = evolve(state, sent=with_item(state.sent, destination, sequence))
        sends.append((destination, Numbered(message, sequence)))
    return Step(state, sends=tuple(sends))


def receive(state: Fifo, src: int, packet: Numbered) -> Step:
    """Hold the packet back until it is next; deliver all that has become deliverable."""
    held_back, delivered = state.held_back[src] | {packet}, state.delivered[src]
    deliveries: list[Message] = []
    while ready := [p for p in held_back if p.sequence == delivered + 1]:
        deliveries.append(ready[0].message)
        held_back, delivered = held_back - {ready[0]}, delivered + 1
    state = evolve(
        state,
        delivered=with_item(state.delivered, src, delivered),
        held_back=with_item(state.held_back, src, held_back),
    )
    return Step(state, deliveries=tuple(deliveries))


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def normal(states: tuple[Fifo, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    """Subtract from each channel's counters the messages delivered on it."""
    delivered = [state.delivered for state in states]

    def packet(src: int, dst: int, numbered: Numbered) -> Numbered:
        return evolve(numbered, sequence=numbered.sequence - delivered[dst][src])

    def state(actor: int, local: Fifo) -> Fifo:
        return Fifo(
            sent=tuple(n - delivered[j][actor] for j, n in enumerate(local.sent)),
            delivered=(0,) * len(states),
            held_back=tuple(
                frozenset(packet(src, actor, held) for held in row)
                for src, row in enumerate(local.held_back)
            ),
        )

    return NormalForm(state, lambda e: packet(e.src, e.dst, e.packet))


FIFO = Protocol(
    name="fifo",
    summary="control: sequence numbers per channel, FIFO order only",
    source="well known; Mattern and Fünfrocken 1995, section 2",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    witnesses={"waited": lambda state: any(state.held_back)},
    normal=normal,
)
