"""CBCAST for every number of actors and messages, its vector times read as sets of messages.

K. Birman, A. Schiper, P. Stephenson: Lightweight causal and atomic group multicast (as in
`protocols.cbcast`), section 5.1. Every message is broadcast to all other actors. A vector time is
the set of the broadcasts that it covers, which is a prefix of each sender's broadcasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from z3 import And, ForAll, Implies, Not, Or

from antecede.checker.model import CausalSend, Packet, Transition
from antecede.checker.prove.link import Event, Link, View
from antecede.checker.prove.stock import ORDER
from antecede.checker.prove.vocabulary import *
from antecede.protocols import cbcast
from antecede.protocols.fifo_proof import events
from antecede.protocols.mail_room import Held
from antecede.protocols.ses_proof import vector

m, x, y, u, v = messages("m x y u v")
a, b = actors("a b")

received = Relation("received", (MESSAGE, ACTOR), "{0} was received by {1}")
VT = Relation("VT", (ACTOR, MESSAGE), "the clock of {0} covers {1}")
stamp = Relation("stamp", (MESSAGE, MESSAGE), "the time of {0} covers {1}")

RECEIVE = Action(
    name="receive",
    params=(c, a),
    guards=(
        Guard("was causal-sent", sent(c), needed=True),
        Guard("is a destination", to(c, a)),
        Guard("not received there before", Not(received(c, a))),
    ),
    updates=(gains(received, c, a),),
    words="{0} is received by {1}",
)
TO_ALL_OTHERS = (
    "every message is for all actors except its sender",
    ForAll([m, a], to(m, a) == (a != src(m))),
)
LIFE_OF_A_COPY = Conjunct(
    "life-of-a-copy",
    "delivered copies were received, and received copies were causal-sent to this actor",
    ForAll(
        [m, a],
        And(
            Implies(delivered_at(m, a), received(m, a)),
            Implies(received(m, a), And(sent(m), to(m, a))),
        ),
    ),
)

CBCAST = Model(
    protocol="cbcast",
    title="CBCAST: a vector time on every broadcast, as a set of messages; any order",
    source="Birman, Schiper and Stephenson 1991",
    relations=(*APPLICATION_OF_MANY, received, VT, stamp),
    actions=(
        causal_send(
            updates=[
                gains(VT, src(c), c),
                gains_all(stamp, (u, v), And(u == c, Or(v == c, VT(src(c), v)))),
            ]
        ),
        RECEIVE,
        deliver_at(
            [
                Guard("was received", received(c, a), needed=True),
                Guard(
                    "rule 2: nothing before it is missing here",
                    ForAll([x], Implies(And(stamp(c, x), x != c), VT(a, x))),
                    needed=True,
                ),
            ],
            [gains_all(VT, (b, v), And(b == a, stamp(c, v)))],
            urgent=True,
        ),
    ),
    conjuncts=(
        LIFE_OF_A_COPY,
        ORDER,
        Conjunct(
            "times-are-of-sent",
            "times cover only causal-sent messages; a message's time and its sender's clock cover"
            " the message",
            And(
                ForAll([a, x], Implies(VT(a, x), sent(x))),
                ForAll([m, x], Implies(stamp(m, x), And(sent(m), sent(x)))),
                ForAll([m], Implies(sent(m), And(stamp(m, m), VT(src(m), m)))),
            ),
        ),
        Conjunct(
            "times-are-prefixes",
            "a time covers the first messages of each sender, so a vector identifies them",
            And(
                ForAll([a, x, y], Implies(And(before(x, y), VT(a, y)), VT(a, x))),
                ForAll([m, x, y], Implies(And(before(x, y), stamp(m, y)), stamp(m, x))),
            ),
            needed=False,
        ),
        Conjunct(
            "clock-is-deliveries",
            "an actor's clock covers only messages that it sent or that were delivered there",
            ForAll([a, x], Implies(VT(a, x), Or(src(x) == a, delivered_at(x, a)))),
        ),
        Conjunct(
            "knowing-is-covering",
            "the clock of an actor that knows of R covers R",
            ForAll([a], Implies(knows(a), VT(a, R))),
        ),
        Conjunct(
            "taint-is-stamped",
            "a message that depends on R is not R, and its time covers R",
            ForAll([m], Implies(tainted(m), And(stamp(m, R), m != R))),
        ),
        Conjunct("causal-order", CAUSAL_DELIVERY_OF_MANY.says, CAUSAL_DELIVERY_OF_MANY.formula),
    ),
    safety=CAUSAL_DELIVERY_OF_MANY,
    axioms=(TO_ALL_OTHERS,),
    link="antecede.protocols.cbcast_proof:CBCAST_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def events_at(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Like `events`, for messages with several destinations."""
    for event in events(view, transition, outcome):
        here = () if isinstance(transition, CausalSend) else (transition.dst,)  # type: ignore[union-attr]
        yield (*event, *here)


def with_time(view: View, m: int) -> cbcast.Stamped:
    """Return a message with VT(m)."""
    return cbcast.Stamped(view.message(m), vector(view, lambda x: view.has("stamp", m, x)))


def rebuild_cbcast(view: View, actor: int) -> cbcast.Cbcast:
    """Return VT(p_i) and the delay queue."""
    waiting = (
        Held(view.src(m), with_time(view, m))
        for m in view.sent()
        if view.has("received", m, actor) and not view.has("delivered", m, actor)
    )
    return cbcast.Cbcast(
        actor,
        VT=vector(view, lambda x: view.has("VT", actor, x)),
        delay_queue=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.VT))),
    )


def copies(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Yield the copies that were not received yet."""
    for m in view.sent():
        for a in range(view.system.actors):
            if view.has("to", m, a) and not view.has("received", m, a):
                yield view.src(m), a, with_time(view, m)


CBCAST_LINK = Link(events=events_at, rebuild=rebuild_cbcast, channels=copies, workload="broadcast")
