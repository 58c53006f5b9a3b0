"""MFSS for every number of actors and messages: the invariant behind the proof of its safety.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery (as in `protocols.mfss`), section 3.3. As long as R is unacknowledged, no later message
leaves its sender. So before R is delivered, only its sender knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve
from z3 import And, ForAll, Implies, Not, Or

from antecede.checker.model import CausalSend, Packet, Transition
from antecede.checker.prove.link import Event, Link, View, causal_sent, delivered_in, posted_in
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *
from antecede.protocols.mfss import Ack, Mfss
from antecede.protocols.mfss_fifo import MfssFifo
from antecede.protocols.unordered import Data, Nothing

m, x = messages("m x")
a = actors("a")

POST = post(
    [
        Guard(
            "all before it are acknowledged",
            ForAll([x], Implies(before(x, c), acknowledged(x))),
            needed=True,
        )
    ]
)
DELIVER = deliver([WAS_POSTED])

MFSS = Model(
    protocol="mfss",
    title="MFSS: one unacknowledged message per sender",
    source="Mattern and Fünfrocken 1995, section 3",
    relations=(*APPLICATION, posted, acknowledged),
    actions=(causal_send(), POST, DELIVER, ACKNOWLEDGE),
    conjuncts=(
        LIFE_OF_A_POST,
        *GHOST_IS_OF_SENT,
        Conjunct(
            "only-the-sender-knows",
            "until R is delivered, only its sender knows of it",
            until_delivered([a], [knows(a)], a == src(R)),
            lemma="section 3.3, safety",
        ),
        Conjunct(
            "tainted-waits-behind",
            "until R is delivered, every message that depends on it is behind it in the same "
            "output buffer",
            until_delivered([m], [tainted(m)], And(src(m) == src(R), before(R, m), Not(posted(m)))),
            lemma="Lemmas 2 and 3",
        ),
        ORDER_IS_OF_SENT,
    ),
    safety=CAUSAL_DELIVERY,
    quiescent=ALL_DELIVERED,
    link="antecede.protocols.mfss_proof:LINK",
)

SAME_RECEIVER = Guard(
    "all before it are acknowledged, or were posted to the same receiver",
    whenever([x], [before(x, c)], Or(acknowledged(x), And(posted(x), dst(x) == dst(c)))),
    needed=True,
)
IN_ORDER_OF_THE_CHANNEL = Guard(
    "the network hands over in order: all posted before it on its channel were delivered",
    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c), posted(x)), delivered(x))),
    needed=True,
)
MFSS_FIFO = Model(
    protocol="mfss-fifo",
    title="MFSS on FIFO channels: messages to the same receiver need not wait",
    source="Mattern and Fünfrocken 1995, footnote 4",
    relations=MFSS.relations,
    actions=(
        causal_send(),
        post([SAME_RECEIVER]),
        deliver([WAS_POSTED, IN_ORDER_OF_THE_CHANNEL]),
        ACKNOWLEDGE,
    ),
    conjuncts=(
        LIFE_OF_A_POST,
        *GHOST_IS_OF_SENT,
        MFSS.conjuncts[3],
        Conjunct(
            "tainted-stays-behind",
            "until R is delivered, every message that depends on it comes from R's sender after R"
            " and is undelivered; if such a message was posted, then R was posted and both have "
            "one destination",
            until_delivered(
                [m],
                [tainted(m)],
                And(
                    src(m) == src(R),
                    before(R, m),
                    Not(delivered(m)),
                    Implies(posted(m), And(posted(R), dst(m) == dst(R))),
                ),
            ),
            lemma="footnote 4",
        ),
        evolve(ORDER_IS_OF_SENT, needed=False),
    ),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.mfss_proof:FIFO_LINK",
)

UNORDERED = Model(
    protocol="unordered",
    title="no protocol: deliver on arrival",
    source="none; the negative control",
    relations=(*APPLICATION, posted, acknowledged),
    actions=(
        causal_send(),
        post(),
        DELIVER,
        ACKNOWLEDGE,
    ),
    conjuncts=MFSS.conjuncts,
    safety=CAUSAL_DELIVERY,
    expected="FAILED",
    link="antecede.protocols.mfss_proof:UNORDERED_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield a causal-send or an acknowledgement, and the posts that follow; or a delivery."""
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition)
    elif isinstance(transition.packet, Ack):  # type: ignore[union-attr]
        actor = transition.dst  # type: ignore[union-attr]
        yield "acknowledge", view.first(unacknowledged(view, transition), "to acknowledge")
    else:
        for m in delivered_in(view, outcome):
            yield "deliver", m
        return
    for m in posted_in(view, actor, outcome):
        yield "post", m


def unacknowledged(view: View, transition: Any) -> list[int]:
    """Return the delivered messages that this may acknowledge; they are interchangeable."""
    return [
        m
        for m in view.sent(by=transition.dst, to=transition.src)
        if view.has("delivered", m) and not view.has("acknowledged", m)
    ]


def buffered(view: View, actor: int) -> tuple[Any, ...]:
    """Return OB."""
    return tuple(view.message(m) for m in view.sent(by=actor) if not view.has("posted", m))


def waiting(view: View, actor: int) -> list[int]:
    """Return the actor's posted messages without an acknowledgement."""
    return [
        m for m in view.sent(by=actor) if view.has("posted", m) and not view.has("acknowledged", m)
    ]


def rebuild(view: View, actor: int) -> Mfss:
    """Return the output buffer, and the receivers of the unacknowledged messages."""
    return Mfss(buffered(view, actor), tuple(view.dst(m) for m in waiting(view, actor)))


def rebuild_fifo(view: View, actor: int) -> MfssFifo:
    """Return the state as `rebuild` does, with the receiver of the unacknowledged messages."""
    found = waiting(view, actor)
    receiver = view.dst(found[0]) if found else None
    return MfssFifo(buffered(view, actor), len(found), receiver)


def messages_in_flight(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Yield posted, undelivered messages."""
    for m in view.sent():
        if view.has("posted", m) and not view.has("delivered", m):
            yield view.src(m), view.dst(m), Data(view.message(m))


def channels(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Yield posted, undelivered messages, and acknowledgements of delivered messages."""
    yield from messages_in_flight(view)
    for m in view.sent():
        if view.has("delivered", m) and not view.has("acknowledged", m):
            yield view.dst(m), view.src(m), Ack()


LINK = Link(events=events, rebuild=rebuild, channels=channels)
FIFO_LINK = Link(events=events, rebuild=rebuild_fifo, channels=channels, network="fifo")
UNORDERED_LINK = Link(
    events=events,
    rebuild=lambda _view, _actor: Nothing(),
    channels=messages_in_flight,
)
