"""Sequence numbers ensure FIFO order per channel for every number of actors and messages.

Only FIFO order is proved for `protocols.fifo`. The numbers of a channel are the order of its
causal-sends: the next message is the first that was not delivered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from z3 import And, ForAll, Implies

from antecede.checker.model import CausalSend, Packet, Receive, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    received_message,
)
from antecede.checker.prove.stock import LIFE_OF_A_RECEPTION, ORDER, WAS_RECEIVED, receive, received
from antecede.checker.prove.vocabulary import *
from antecede.protocols import fifo

x, y = messages("x y")

FIFO = Model(
    protocol="fifo",
    title="sequence numbers per channel; packets in any order",
    source="well known; Mattern and Fünfrocken 1995, section 2",
    relations=(*APPLICATION, received),
    actions=(
        causal_send(),
        receive(),
        deliver(
            [
                WAS_RECEIVED,
                Guard(
                    "its predecessors on the channel were delivered",
                    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), delivered(x))),
                    needed=True,
                ),
            ],
            urgent=True,
        ),
    ),
    conjuncts=(
        LIFE_OF_A_RECEPTION,
        ORDER,
        Conjunct(
            "delivered-are-prefixes",
            "the delivered messages of each channel are the first that were sent on it, so their "
            "number says which they are",
            whenever([x, y], [before(x, y), dst(x) == dst(y), delivered(y)], delivered(x)),
        ),
    ),
    safety=FIFO_DELIVERY,
    link="antecede.protocols.fifo_proof:FIFO_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)
# The proofs of the other receiver-side protocols also use the functions above `numbered`.


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield a causal-send; or a reception, and the deliveries that follow it."""
    if isinstance(transition, CausalSend):
        yield "causal-send", causal_sent(view, transition)
        return
    assert isinstance(transition, Receive)
    yield "receive", received_message(view, transition)
    for m in delivered_in(view, outcome):
        yield "deliver", m


def in_flight(view: View) -> list[int]:
    """Return the messages that were not received yet."""
    return [m for m in view.sent() if not view.has("received", m)]


def held(view: View, actor: int) -> list[int]:
    """Return the messages that were received and wait."""
    return [
        m for m in view.sent(to=actor) if view.has("received", m) and not view.has("delivered", m)
    ]


def channels_of(
    packet: Callable[[View, int], Packet],
) -> Callable[[View], Iterator[tuple[int, int, Packet]]]:
    """Return the `channels` of a link whose messages travel in the form of `packet`."""
    return lambda view: ((view.src(m), view.dst(m), packet(view, m)) for m in in_flight(view))


def numbered(view: View, m: int) -> fifo.Numbered:
    """Return a message with its sequence number on its channel."""
    place = sum(view.has("before", x, m) for x in view.sent(view.src(m), view.dst(m)))
    return fifo.Numbered(view.message(m), place + 1)


def rebuild_fifo(view: View, actor: int) -> fifo.Fifo:
    """Return the counts of sent and delivered messages and the held messages, per other actor."""
    actors = range(view.system.actors)
    return fifo.Fifo(
        sent=tuple(len(view.sent(actor, j)) for j in actors),
        delivered=tuple(sum(view.has("delivered", m) for m in view.sent(j, actor)) for j in actors),
        held_back=tuple(
            frozenset(numbered(view, m) for m in held(view, actor) if view.src(m) == j)
            for j in actors
        ),
    )


FIFO_LINK = Link(events=events, rebuild=rebuild_fifo, channels=channels_of(numbered))
