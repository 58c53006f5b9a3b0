"""SES: vector clocks, and per destination the time of the latest message sent there.

A. Schiper, J. Eggli, A. Sandoz: A new algorithm to implement causal ordering. Distributed
Algorithms (WDAG), LNCS 392, 1989.

A message carries the pairs (destination, time) that its sender knows. The receiver looks up its own
pair, and holds the message back until its clock has reached that time.

Differences: only causal-sends tick the clock, so the pair is compared with <= instead of <. A
message may have several destinations; the copy for each of them carries the pairs of the others.
With one destination this is the published rule: the pair of the send itself stays behind. An actor
does not send to itself, because its clock passes the time of such a message at the send. If one
receive makes several messages deliverable, they are delivered in the order of
`protocols.mail_room`.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Envelope, Message, NormalForm, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols.mail_room import Held, released
from antecede.protocols.ranks import ranked

Time: TypeAlias = tuple[int, ...]
Pairs: TypeAlias = tuple[Time | None, ...]


@frozen
class Stamped:
    """A message with its time of sending t_m, and V_M: per destination a time, or None."""

    message: Message
    t: Time
    V: Pairs


@frozen
class Ses:
    """T_P, the vector clock; V_P, per destination the time of the latest send known, or None.

    `held_back` holds received, undelivered packets, sorted by sender, then by time.
    """

    me: int
    T: Time
    V: Pairs
    held_back: tuple[Held[Stamped], ...] = ()


def initial(actor: int, actors: int) -> Ses:
    """Return the clock at zero and no pairs."""
    return Ses(actor, T=(0,) * actors, V=(None,) * actors)


def causal_send(state: Ses, message: Message) -> Step:
    """Emission of a message: tick, send with V_P, then put (destination, t_m) into V_P."""
    t = tuple(count + (k == state.me) for k, count in enumerate(state.T))
    V = tuple(t if j in message.destinations else old for j, old in enumerate(state.V))
    sends = tuple(
        (j, Stamped(message, t, with_item(V, j, state.V[j]))) for j in message.destinations
    )
    return Step(evolve(state, T=t, V=V), sends=sends)


def receive(state: Ses, src: int, packet: Stamped) -> Step:
    """Arrival of a message: hold it back; deliver all messages that have become deliverable."""
    arrived = (*state.held_back, Held(src, packet))
    waiting = tuple(sorted(arrived, key=lambda held: (held.src, held.packet.t)))
    state, waiting, deliveries = released(state, waiting, src, deliverable, after_delivery)
    return Step(evolve(state, held_back=waiting), deliveries=deliveries)


def deliverable(state: Ses, held: Held[Stamped]) -> bool:
    """Deliver if V_M has no pair for this actor, or the clock has reached its time."""
    t = held.packet.V[state.me]
    return t is None or all(wanted <= now for wanted, now in zip(t, state.T, strict=True))


def after_delivery(state: Ses, held: Held[Stamped]) -> Ses:
    """Merge the pairs of the other destinations into V_P, and t_m into the clock."""
    packet = held.packet
    V = tuple(
        mine if j == state.me else latest(mine, its)
        for j, (mine, its) in enumerate(zip(state.V, packet.V, strict=True))
    )
    return evolve(state, T=tuple(map(max, state.T, packet.t)), V=V)


def latest(one: Time | None, other: Time | None) -> Time | None:
    """Return the least time that is at or after both; None is before everything."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(map(max, one, other))


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def normal(states: tuple[Ses, ...], flying: tuple[Envelope, ...]) -> NormalForm:
    """Replace each actor's clock entries by ranks, because times are only compared and merged."""
    sent = [envelope.packet for envelope in flying]
    sent += [held.packet for state in states for held in state.held_back]
    times = [state.T for state in states] + [stamped.t for stamped in sent]
    times += [t for kept in (*states, *sent) for t in kept.V if t is not None]
    ranks = [ranked(time[k] for time in times) for k in range(len(states))]

    def of(t: Time) -> Time:
        return tuple(rank(count) for rank, count in zip(ranks, t, strict=True))

    def pairs(V: Pairs) -> Pairs:
        return tuple(None if t is None else of(t) for t in V)

    def packet(stamped: Stamped) -> Stamped:
        return evolve(stamped, t=of(stamped.t), V=pairs(stamped.V))

    def state(_actor: int, local: Ses) -> Ses:
        waiting = tuple(evolve(held, packet=packet(held.packet)) for held in local.held_back)
        return evolve(local, T=of(local.T), V=pairs(local.V), held_back=waiting)

    return NormalForm(state, lambda envelope: packet(envelope.packet))


SES = Protocol(
    name="ses",
    summary="receiver-side: a vector clock and a list of destinations on every message",
    source="Schiper, Eggli and Sandoz 1989",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    witnesses={"waited": lambda state: bool(state.held_back)},
    normal=normal,
)
