"""Newtop: Lamport clocks, and delivery in clock order once all actors have sent that clock.

P. Ezhilchelvan, R. Macêdo, S. Shrivastava: Newtop: a fault-tolerant group communication protocol.
ICDCS 1995; as section 3.1 of the hybrid paper describes it (P. S. Almeida: Space-Optimal,
Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal Delivery through Hybrid
Buffering). Assumes a FIFO network: a received clock implies that everything before it arrived.

`newtop` sends messages only. A message waits until every other actor has sent something later,
which may never happen. `newtop-null` sends null packets (footnote 2 of the hybrid paper's Table 1).
The original sends one after a time without messages. Here it is sent at once when it is needed:

* a message to some of the actors goes to the others as a null packet with the same clock, so that
  every actor learns of every causal-send;
* an actor that receives a clock greater than its own adopts it and sends it to all other actors in
  a null packet.

So an actor's own clock equals the clock of the last packet that it sent to all other actors, and
all actors eventually send the clock of every message. Only causal-sends make new clocks, so an
actor sends null packets at most once per clock, and a bounded workload comes to rest.

Differences: an actor counts as heard by itself, because its clock is never less than a clock it
received. There are no membership changes and no failures. An actor does not send to itself. Ties
are broken by sender, as the hybrid paper proposes, so actors are not interchangeable.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Packet, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols.mail_room import Held


@frozen
class Timestamped:
    """A message with its sender's Lamport clock."""

    message: Message
    clock: int


@frozen
class Null:
    """A null packet: a Lamport clock and no message."""

    clock: int


@frozen
class Newtop:
    """The Lamport clock, and per other actor the clock of the last packet received from it.

    `held_back` holds received, undelivered packets, sorted by clock; ties by sender.
    """

    me: int
    clock: int
    last_received: tuple[int, ...]
    held_back: tuple[Held[Timestamped], ...] = ()


def initial(actor: int, actors: int) -> Newtop:
    """Return the clock at zero, with no packet received."""
    return Newtop(actor, clock=0, last_received=(0,) * actors)


def causal_send(state: Newtop, message: Message) -> Step:
    """Tick, and network-send with the clock."""
    clock = state.clock + 1
    packet = Timestamped(message, clock)
    sends = tuple((j, packet) for j in message.destinations)
    return Step(evolve(state, clock=clock), sends=sends)


def receive(state: Newtop, src: int, packet: Timestamped | Null) -> Step:
    """Advance the clock, record the sender's clock, and deliver all safe messages."""
    heard = state.last_received
    state = evolve(
        state,
        clock=max(state.clock, packet.clock),
        last_received=with_item(heard, src, packet.clock),
    )
    if isinstance(packet, Timestamped):
        held_back = sorted(
            (*state.held_back, Held(src, packet)), key=lambda h: (h.packet.clock, h.src)
        )
        state = evolve(state, held_back=tuple(held_back))
    return deliver_safe(state)


def deliver_safe(state: Newtop) -> Step:
    """Deliver, in clock order, the messages up to the least clock received from the others.

    Messages of equal clock are concurrent and become safe at the same receive. The resulting state
    therefore does not depend on how ties are broken.
    """
    safe = min(clock for j, clock in enumerate(state.last_received) if j != state.me)
    ready = [held for held in state.held_back if held.packet.clock <= safe]
    rest = tuple(held for held in state.held_back if held.packet.clock > safe)
    deliveries = tuple(held.packet.message for held in ready)
    return Step(evolve(state, held_back=rest), deliveries=deliveries)


def causal_send_to_all(state: Newtop, message: Message) -> Step:
    """Like `causal_send`; actors that are not destinations receive a null packet instead."""
    step = causal_send(state, message)
    others = nulls(step.state, besides=message.destinations)
    return evolve(step, sends=step.sends + others)


def receive_and_tell(state: Newtop, src: int, packet: Timestamped | Null) -> Step:
    """Like `receive`; a clock greater than the actor's own is sent on to all other actors."""
    step = receive(state, src, packet)
    return evolve(step, sends=nulls(step.state)) if packet.clock > state.clock else step


def nulls(state: Newtop, besides: tuple[int, ...] = ()) -> tuple[tuple[int, Packet], ...]:
    """Return null packets with the actor's clock for all other actors that are not in `besides`."""
    actors = range(len(state.last_received))
    return tuple((j, Null(state.clock)) for j in actors if j != state.me and j not in besides)


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.

NEWTOP = Protocol(
    name="newtop",
    summary="receiver-side: Lamport clocks, waits for a clock from every process",
    source="Newtop, as in section 3.1 of the hybrid paper",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    network="fifo",
    witnesses={"waited": lambda state: bool(state.held_back)},
)
NEWTOP_NULL = evolve(
    NEWTOP,
    name="newtop-null",
    summary="newtop with null packets, which carry only a clock",
    source="Newtop, as in section 3.1 and footnote 2 of Table 1 of the hybrid paper",
    causal_send=causal_send_to_all,
    receive=receive_and_tell,
)
