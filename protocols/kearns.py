"""Causal order at one server, with a vector of counts on each message.

P. Kearns and B. Koodalattupuram 1989, as F. Mattern and S. Fünfrocken describe it: A Non-Blocking
Lightweight Implementation of Causal Order Message Delivery, 1995, section 2. We did not have the
paper of Kearns and Koodalattupuram. Actor 0 is the server, and the others are its clients. Only
messages to the server are put in causal order; clients deliver messages on arrival.

The described comparison leaves out the sender's own count. So a channel to the server must keep the
order of its packets, which the description does not say.

Difference: the description does not say what a server does that sends messages. Here, it attaches
its vector, as a client does in a message to another client.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Delivery, Envelope, Message, NormalForm, Property, Protocol, Step, What, When
from antecede.checker.model import with_item
from antecede.protocols.mail_room import Held, released

Vector: TypeAlias = tuple[int, ...]

SERVER = 0


@frozen
class Counted:
    """A message with the vector of its sender, which counts the message if it is to the server."""

    message: Message
    V: Vector


@frozen
class Kearns:
    """The state of an actor.

    Attributes:
        V: V[k] is the number of messages from k to the server that the actor knows of. At the
            server, these messages were delivered.
        held_back: the packets that wait at the server.
    """

    me: int
    V: Vector
    held_back: tuple[Held[Counted], ...] = ()


def initial(actor: int, actors: int) -> Kearns:
    """Return the state of an actor that knows of no message."""
    return Kearns(actor, (0,) * actors)


def causal_send(state: Kearns, message: Message) -> Step:
    """Count a message to the server; attach the vector."""
    V, i = state.V, state.me
    if message.receiver == SERVER:
        V = with_item(V, i, V[i] + 1)
    return Step(evolve(state, V=V), sends=((message.receiver, Counted(message, V)),))


def receive(state: Kearns, src: int, packet: Counted) -> Step:
    """A client delivers the message; the server delivers what misses no other client's message."""
    if state.me != SERVER:
        return Step(merge(state, packet), deliveries=(packet.message,))
    waiting = tuple(sorted((*state.held_back, Held(src, packet)), key=_sending_order))
    state, waiting, deliveries = released(state, waiting, src, deliverable, after_delivery)
    return Step(evolve(state, held_back=waiting), deliveries=deliveries)


def deliverable(state: Kearns, held: Held[Counted]) -> bool:
    """Return whether V_s[j] < V_m[j] for no j other than the sender of m."""
    pairs = enumerate(zip(state.V, held.packet.V, strict=True))
    return all(mine >= its for j, (mine, its) in pairs if j != held.src)


def after_delivery(state: Kearns, held: Held[Counted]) -> Kearns:
    """Take the maximum of the server's vector and the vector of the delivered message."""
    return merge(state, held.packet)


def merge(state: Kearns, packet: Counted) -> Kearns:
    """Every entry of the vector becomes the maximum of itself and the packet's entry."""
    return evolve(state, V=tuple(map(max, state.V, packet.V)))


def _sending_order(held: Held[Counted]) -> tuple[int, int]:
    """Sort by sender, then in sending order, because a sender counts its messages."""
    return held.src, held.packet.V[held.src]


# The algorithms end here. Below: a property, a witness and a normal form for the checker.


def respects_causality_at_the_server(delivery: Delivery) -> bool:
    """Return whether the server delivered no message before one that it depends on."""
    return delivery.actor != SERVER or not delivery.causally_late


def normal(states: tuple[Kearns, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    """Subtract the messages that the server has delivered.

    Smaller entries hold nothing back, so they are equivalent to the server's own entry.
    """
    delivered = states[SERVER].V

    def since(V: Vector) -> Vector:
        return tuple(max(count - least, 0) for count, least in zip(V, delivered, strict=True))

    def packet(counted: Counted) -> Counted:
        return evolve(counted, V=since(counted.V))

    def state(_actor: int, local: Kearns) -> Kearns:
        waiting = tuple(evolve(held, packet=packet(held.packet)) for held in local.held_back)
        return evolve(local, V=since(local.V), held_back=waiting)

    return NormalForm(state, lambda envelope: packet(envelope.packet))


CAUSAL_AT_SERVER = Property(
    name="causal-at-server",
    summary="safety: no delivery at the server violates causality",
    what=What.DELIVERY,
    when=When.ALWAYS,
    predicate=respects_causality_at_the_server,
)

KEARNS = Protocol(
    name="kearns",
    summary="receiver-side: a vector of sends on every message, for causal order at one server",
    source="Kearns and Koodalattupuram 1989; Mattern and Fünfrocken 1995, section 2",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    network="fifo",
    witnesses={"waited": lambda state: bool(state.held_back)},
    normal=normal,
)
