"""RST for every number of actors and messages, its matrices read as sets of messages.

M. Raynal, A. Schiper, S. Toueg: The causal ordering abstraction and a simple way to implement it
(as in `protocols.rst`). Row j, column k of a matrix counts messages from j to k; here it is the set
of the counted messages. These are always a prefix of the channel (`counts-…`), so comparing counts
is equivalent to comparing sets.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from z3 import And, ForAll, Implies, Or

from antecede.checker.prove.link import Link, View
from antecede.checker.prove.stock import LIFE_OF_A_RECEPTION, ORDER, WAS_RECEIVED, receive, received
from antecede.checker.prove.vocabulary import *
from antecede.protocols import rst, rst_few
from antecede.protocols.fifo_proof import channels_of, events, held
from antecede.protocols.mail_room import Held
from antecede.protocols.rst import Matrix

m, x, y, u, v = messages("m x y u v")
a, b = actors("a b")

counts = Relation("counts", (ACTOR, MESSAGE), "the matrix of {0} counts {1}")
carries = Relation("carries", (MESSAGE, MESSAGE), "the matrix on {0} counts {1}")

RECEIVE = receive()
CAUSAL_SEND = causal_send(
    updates=[
        gains_all(carries, (u, v), And(u == c, counts(src(c), v))),
        gains(counts, src(c), c),
    ]
)
MAY_DELIVER = (
    WAS_RECEIVED,
    Guard(
        "what its matrix counts for this actor was delivered",
        ForAll([x], Implies(And(carries(c, x), dst(x) == dst(c)), delivered(x))),
        needed=True,
    ),
)
DELIVER = deliver(
    MAY_DELIVER,
    [gains_all(counts, (b, v), And(b == dst(c), Or(v == c, carries(c, v))))],
    urgent=True,
)
CARRIES_ARE_SENT = Conjunct(
    "counted-was-sent",
    "messages that a matrix counts were causal-sent, and so were messages that carry a matrix",
    And(
        ForAll([a, x], Implies(counts(a, x), sent(x))),
        ForAll([m, x], Implies(carries(m, x), And(sent(x), sent(m)))),
    ),
)


def first_of_channel(x: Term, y: Term) -> Formula:
    """Return that x is before y on the same channel."""
    return And(before(x, y), dst(x) == dst(y))


OF_MATRICES = (
    LIFE_OF_A_RECEPTION,
    ORDER,
    CARRIES_ARE_SENT,
    Conjunct(
        "own-are-counted",
        "an actor counts all messages that it sent",
        ForAll([m], Implies(sent(m), counts(src(m), m))),
    ),
    Conjunct(
        "message-carries-own-past",
        "a message's matrix counts all messages that its sender sent before it",
        ForAll([m, x], Implies(before(x, m), carries(m, x))),
    ),
    Conjunct(
        "counts-are-prefixes",
        "a matrix counts the first messages of each channel, so its numbers identify them",
        And(
            ForAll([a, x, y], Implies(And(first_of_channel(x, y), counts(a, y)), counts(a, x))),
            ForAll([m, x, y], Implies(And(first_of_channel(x, y), carries(m, y)), carries(m, x))),
        ),
        needed=False,
    ),
    Conjunct(
        "delivered-are-prefixes",
        "the delivered messages of each channel are its first ones, so DELIV identifies them",
        ForAll([x, y], Implies(And(first_of_channel(x, y), delivered(y)), delivered(x))),
        needed=False,
    ),
)
"""The conjuncts about matrices, which do not mention R."""

TAINT = (
    Conjunct(
        "knowing-is-counting",
        "an actor that knows of R counts it in its matrix",
        ForAll([a], Implies(knows(a), counts(a, R))),
    ),
    Conjunct(
        "taint-is-carried",
        "the matrix on a message that depends on R counts R",
        ForAll([m], Implies(tainted(m), carries(m, R))),
    ),
    Conjunct("causal-order", CAUSAL_DELIVERY.says, CAUSAL_DELIVERY.formula),
)

RST = Model(
    protocol="rst",
    title="RST: a matrix on every message, as a set of messages; packets in any order",
    source="Raynal, Schiper and Toueg 1991; matrix source",
    relations=(*APPLICATION, received, counts, carries),
    actions=(CAUSAL_SEND, RECEIVE, DELIVER),
    conjuncts=(
        *OF_MATRICES,
        *TAINT,
    ),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.rst_proof:RST_LINK",
)

COUNTED_HERE_IS_DELIVERED = Conjunct(
    "deliv-is-column-of-sent",
    "messages to an actor that its own matrix counts were delivered: column i of SENT is DELIV",
    ForAll([x], Implies(counts(dst(x), x), delivered(x))),
    lemma="matrix source, is DELIV redundant?",
)
RST_NO_DELIV = evolve(
    RST,
    protocol="rst-no-deliv",
    title="RST without DELIV: column i of the matrix of actor i in its place",
    source="matrix source, the question whether DELIV is redundant",
    actions=(
        CAUSAL_SEND,
        RECEIVE,
        deliver(
            [
                WAS_RECEIVED,
                Guard(
                    "what its matrix counts for this actor this actor counts, too",
                    ForAll([x], Implies(And(carries(c, x), dst(x) == dst(c)), counts(dst(c), x))),
                    needed=True,
                ),
            ],
            DELIVER.updates[2:],
            urgent=True,
        ),
    ),
    conjuncts=(*RST.conjuncts, COUNTED_HERE_IS_DELIVERED),
    axioms=(NO_SELF_SENDS,),
    link="antecede.protocols.rst_proof:RST_NO_DELIV_LINK",
)

KNOWN_UNLESS_DELIVERED = Conjunct(
    "knowing-is-counting",
    "an actor that knows of R counts it in its matrix, or R was delivered",
    ForAll([a], Implies(knows(a), Or(counts(a, R), delivered(R)))),
)
CAUSAL_ORDER = TAINT[-1]
RST_NO_STEP_2 = evolve(
    RST,
    protocol="rst-no-step-2",
    title="RST without step 2: the receiver does not count the message that it delivers",
    source="matrix source, after delivering a message, without step 2",
    actions=(
        CAUSAL_SEND,
        RECEIVE,
        deliver(
            MAY_DELIVER,
            [gains_all(counts, (b, v), And(b == dst(c), carries(c, v)))],
            urgent=True,
        ),
    ),
    conjuncts=(
        *OF_MATRICES,
        KNOWN_UNLESS_DELIVERED,
        Conjunct(
            "taint-is-carried",
            "the matrix on a message that depends on R counts R, or R was delivered",
            ForAll([m], Implies(tainted(m), Or(carries(m, R), delivered(R)))),
        ),
        CAUSAL_ORDER,
    ),
    link="antecede.protocols.rst_proof:RST_LINK",
)

RST_FEW = evolve(
    RST,
    protocol="rst-few",
    title="RST without the sender's column and the receiver's row on a message",
    source="matrix source, the remark that other optimizations seem possible",
    actions=(
        causal_send(
            updates=[
                gains_all(
                    carries,
                    (u, v),
                    And(u == c, counts(src(c), v), dst(v) != src(c), src(v) != dst(c)),
                ),
                gains(counts, src(c), c),
            ]
        ),
        RECEIVE,
        DELIVER,
    ),
    conjuncts=(
        *OF_MATRICES,
        KNOWN_UNLESS_DELIVERED,
        Conjunct(
            "its-receiver-knows-delivered",
            "if the receiver of R knows of R, R was delivered",
            Implies(knows(dst(R)), delivered(R)),
        ),
        Conjunct(
            "taint-is-carried",
            "if a message depends on R, R was sent, and the matrix on the message counts R, or R "
            "was delivered, or the message goes to the sender of R",
            ForAll(
                [m],
                Implies(
                    tainted(m),
                    And(sent(R), Or(carries(m, R), delivered(R), src(R) == dst(m))),
                ),
            ),
        ),
        CAUSAL_ORDER,
    ),
    axioms=(NO_SELF_SENDS,),
    link="antecede.protocols.rst_proof:RST_FEW_LINK",
)

RST_COLUMN = evolve(
    RST,
    protocol="rst-column",
    title="RST that attaches only the receiver's column of the matrix",
    source="matrix source, Bob's fateful message",
    actions=(
        causal_send(
            updates=[
                gains_all(carries, (u, v), And(u == c, counts(src(c), v), dst(v) == dst(c))),
                gains(counts, src(c), c),
            ]
        ),
        RECEIVE,
        DELIVER,
    ),
    conjuncts=(LIFE_OF_A_RECEPTION, ORDER, CARRIES_ARE_SENT, *TAINT),
    expected="FAILED",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def matrix(view: View, counted: Callable[[int], bool]) -> Matrix:
    """Return the numbers of counted messages, by sender and destination."""
    actors = range(view.system.actors)
    return tuple(tuple(sum(map(counted, view.sent(j, k))) for k in actors) for j in actors)


def with_matrix(view: View, m: int) -> rst.Stamped:
    """Return a message with SENT_m."""
    return rst.Stamped(view.message(m), matrix(view, lambda x: view.has("carries", m, x)))


def with_few(view: View, m: int) -> rst_few.Few:
    """Return a message with the needed entries of SENT_m."""
    return rst_few.few(with_matrix(view, m), view.src(m), view.dst(m))


def rebuild_rst(view: View, actor: int) -> rst.Rst:
    """Return SENT_i, DELIV_i and the mail room."""
    waiting = (Held(view.src(m), with_matrix(view, m)) for m in held(view, actor))
    return rst.Rst(
        actor,
        SENT=matrix(view, lambda x: view.has("counts", actor, x)),
        DELIV=tuple(row[actor] for row in matrix(view, lambda x: view.has("delivered", x))),
        held_back=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.SENT))),
    )


def rebuild_no_deliv(view: View, actor: int) -> rst.Rst:
    """Return the state as `rebuild_rst` does, without DELIV_i."""
    made = rebuild_rst(view, actor)
    return rst.Rst(actor, made.SENT, (), made.held_back)


RST_LINK = Link(events=events, rebuild=rebuild_rst, channels=channels_of(with_matrix))
RST_NO_DELIV_LINK = Link(events=events, rebuild=rebuild_no_deliv, channels=channels_of(with_matrix))
RST_FEW_LINK = Link(events=events, rebuild=rebuild_rst, channels=channels_of(with_few))
