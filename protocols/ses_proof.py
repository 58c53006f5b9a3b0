"""SES for every number of actors and messages, its times read as sets of messages.

A. Schiper, J. Eggli, A. Sandoz: A new algorithm to implement causal ordering (as in
`protocols.ses`). A vector time is the set of the causal-sends that it covers. For each sender this
is a prefix of its causal-sends (`times-are-prefixes`), so comparing vectors is equivalent to
comparing sets. A missing pair is the empty set.
"""

from __future__ import annotations

from collections.abc import Callable

from z3 import And, ForAll, If, Implies, Or

from antecede.checker.prove.link import Link, View
from antecede.checker.prove.stock import LIFE_OF_A_RECEPTION, ORDER, WAS_RECEIVED, receive, received
from antecede.checker.prove.vocabulary import *
from antecede.protocols import ses
from antecede.protocols.fifo_proof import channels_of, events, held
from antecede.protocols.mail_room import Held

m, x, y, u, v = messages("m x y u v")
a, b, j = actors("a b j")

time = Relation("time", (ACTOR, MESSAGE), "the clock of {0} covers {1}")
stamp = Relation("stamp", (MESSAGE, MESSAGE), "the time of {0} covers {1}")
pair = Relation("pair", (ACTOR, ACTOR, MESSAGE), "the pair of {0} for {1} covers {2}")
carries = Relation("carries", (MESSAGE, ACTOR, MESSAGE), "the pair on {0} for {1} covers {2}")

SES = Model(
    protocol="ses",
    title="SES: a vector time and a pair per destination, as sets of messages; any order",
    source="Schiper, Eggli and Sandoz 1989",
    relations=(*APPLICATION, received, time, stamp, pair, carries),
    actions=(
        causal_send(
            updates=[
                gains(time, src(c), c),
                gains_all(stamp, (u, v), And(u == c, Or(v == c, time(src(c), v)))),
                gains_all(carries, (u, j, v), And(u == c, pair(src(c), j, v))),
                becomes(
                    pair,
                    (a, j, v),
                    If(
                        And(a == src(c), j == dst(c)),
                        Or(v == c, time(src(c), v)),
                        pair(a, j, v),
                    ),
                ),
            ]
        ),
        receive(),
        deliver(
            [
                WAS_RECEIVED,
                Guard(
                    "the clock has reached the time of its pair for this actor",
                    ForAll([x], Implies(carries(c, dst(c), x), time(dst(c), x))),
                    needed=True,
                ),
            ],
            [
                gains_all(time, (a, v), And(a == dst(c), stamp(c, v))),
                gains_all(pair, (a, j, v), And(a == dst(c), j != dst(c), carries(c, j, v))),
            ],
            urgent=True,
        ),
    ),
    conjuncts=(
        LIFE_OF_A_RECEPTION,
        ORDER,
        Conjunct(
            "times-are-of-sent",
            "times cover only causal-sent messages",
            And(
                ForAll([a, x], Implies(time(a, x), sent(x))),
                ForAll([m, x], Implies(stamp(m, x), And(sent(m), sent(x)))),
                ForAll([a, j, x], Implies(pair(a, j, x), sent(x))),
                ForAll([m, j, x], Implies(carries(m, j, x), And(sent(m), sent(x)))),
            ),
        ),
        Conjunct(
            "own-are-covered",
            "an actor's clock covers all messages that it sent",
            ForAll([m], Implies(sent(m), time(src(m), m))),
        ),
        Conjunct(
            "times-are-prefixes",
            "a time covers the first messages of each sender, so a vector identifies them",
            And(
                ForAll([a, x, y], Implies(And(before(x, y), time(a, y)), time(a, x))),
                ForAll([m, x, y], Implies(And(before(x, y), stamp(m, y)), stamp(m, x))),
                ForAll([a, j, x, y], Implies(And(before(x, y), pair(a, j, y)), pair(a, j, x))),
                whenever([m, j, x, y], [before(x, y), carries(m, j, y)], carries(m, j, x)),
            ),
            needed=False,
        ),
        Conjunct(
            "clock-is-knowledge",
            "an actor's clock covers R if and only if the actor knows of R",
            ForAll([a], time(a, R) == knows(a)),
        ),
        Conjunct(
            "time-is-knowledge",
            "a message's time covers R if and only if the message is R or depends on R",
            ForAll([m], stamp(m, R) == Or(tainted(m), And(m == R, sent(R)))),
        ),
        Conjunct(
            "knowers-have-the-pair",
            "until R is delivered, its destination does not know of it, and every actor that does"
            " has a pair for that destination that covers R",
            until_delivered([a], [knows(a)], And(a != dst(R), pair(a, dst(R), R))),
        ),
        Conjunct(
            "tainted-carry-the-pair",
            "until R is delivered, every message that depends on it carries a pair for R's "
            "destination that covers R",
            until_delivered([m], [tainted(m)], carries(m, dst(R), R)),
        ),
        Conjunct("causal-order", CAUSAL_DELIVERY.says, CAUSAL_DELIVERY.formula),
    ),
    safety=CAUSAL_DELIVERY,
    axioms=(NO_SELF_SENDS,),
    link="antecede.protocols.ses_proof:SES_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def vector(view: View, covered: Callable[[int], bool]) -> tuple[int, ...]:
    """Return the number of covered messages, per sender."""
    return tuple(sum(map(covered, view.sent(j))) for j in range(view.system.actors))


def timestamp(time: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return a pair's time; None if nothing is covered."""
    return time if any(time) else None


def with_pairs(view: View, m: int) -> ses.Stamped:
    """Return a message with t_m and V_M."""
    return ses.Stamped(
        view.message(m),
        t=vector(view, lambda x: view.has("stamp", m, x)),
        V=tuple(
            timestamp(vector(view, lambda x, j=j: view.has("carries", m, j, x)))  # type: ignore[misc]
            for j in range(view.system.actors)
        ),
    )


def rebuild_ses(view: View, actor: int) -> ses.Ses:
    """Return T_P, V_P and the held messages."""
    waiting = (Held(view.src(m), with_pairs(view, m)) for m in held(view, actor))
    return ses.Ses(
        actor,
        T=vector(view, lambda x: view.has("time", actor, x)),
        V=tuple(
            timestamp(vector(view, lambda x, j=j: view.has("pair", actor, j, x)))  # type: ignore[misc]
            for j in range(view.system.actors)
        ),
        held_back=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.t))),
    )


SES_LINK = Link(events=events, rebuild=rebuild_ses, channels=channels_of(with_pairs))
