"""CBCAST: causal broadcast with vector clocks.

K. Birman, A. Schiper, P. Stephenson: Lightweight causal and atomic group multicast. ACM
Transactions on Computer Systems 9(3), 1991, section 5.1.

Every message is broadcast to all other actors. With messages to a part of the group, the protocol
is safe but not live (footnote 1 of the matrix source): a receiver waits for messages that were
never sent to it.

Differences: the sender's own delivery of its broadcast is not modelled, and an actor does not send
to itself. If one receive makes several messages deliverable, they are delivered in the order of
`protocols.mail_room`.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Envelope, Message, NormalForm, Protocol, Step
from antecede.protocols.mail_room import Held, released

Time: TypeAlias = tuple[int, ...]


@frozen
class Stamped:
    """A message with VT(m), its sender's vector clock."""

    message: Message
    VT: Time


@frozen
class Cbcast:
    """VT(p_i), and the delay queue of undeliverable messages, sorted by sender, then by time."""

    me: int
    VT: Time
    delay_queue: tuple[Held[Stamped], ...] = ()


def initial(actor: int, actors: int) -> Cbcast:
    """Return the clock at zero and an empty delay queue."""
    return Cbcast(actor, VT=(0,) * actors)


def causal_send(state: Cbcast, message: Message) -> Step:
    """Rule 1: increment VT(p_i)[i] and timestamp the message."""
    VT = tuple(count + (k == state.me) for k, count in enumerate(state.VT))
    packet = Stamped(message, VT)
    return Step(evolve(state, VT=VT), sends=tuple((j, packet) for j in message.destinations))


def receive(state: Cbcast, src: int, packet: Stamped) -> Step:
    """Rule 2: delay the message; deliver what has become deliverable."""
    arrived = (*state.delay_queue, Held(src, packet))
    waiting = tuple(sorted(arrived, key=lambda held: (held.src, held.packet.VT)))
    state, waiting, deliveries = released(state, waiting, src, deliverable, after_delivery)
    return Step(evolve(state, delay_queue=waiting), deliveries=deliveries)


def deliverable(state: Cbcast, held: Held[Stamped]) -> bool:
    """Rule 2: it is its sender's next message, and no message before it is missing here."""
    return all(
        wanted == now + 1 if k == held.src else wanted <= now
        for k, (wanted, now) in enumerate(zip(held.packet.VT, state.VT, strict=True))
    )


def after_delivery(state: Cbcast, held: Held[Stamped]) -> Cbcast:
    """Rule 3: merge VT(m) into VT(p_i)."""
    return evolve(state, VT=tuple(map(max, state.VT, held.packet.VT)))


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def normal(states: tuple[Cbcast, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    """Subtract the messages that all actors have delivered, because they hold nothing back."""
    everywhere = tuple(map(min, *(state.VT for state in states)))

    def since(VT: Time) -> Time:
        return tuple(max(count - base, 0) for count, base in zip(VT, everywhere, strict=True))

    def packet(stamped: Stamped) -> Stamped:
        return evolve(stamped, VT=since(stamped.VT))

    def state(_actor: int, local: Cbcast) -> Cbcast:
        queue = tuple(evolve(held, packet=packet(held.packet)) for held in local.delay_queue)
        return evolve(local, VT=since(local.VT), delay_queue=queue)

    return NormalForm(state, lambda envelope: packet(envelope.packet))


CBCAST = Protocol(
    name="cbcast",
    summary="receiver-side broadcast: a vector clock on every message",
    source="Birman, Schiper and Stephenson 1991",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    witnesses={"waited": lambda state: bool(state.delay_queue)},
    normal=normal,
)
