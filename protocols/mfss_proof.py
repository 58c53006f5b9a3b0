"""MFSS for every number of actors and messages: the invariant behind the proof of its safety.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery (as in `protocols.mfss`), section 3.3. As long as R is unacknowledged nothing that was sent
after it leaves its sender, so nobody else can know of it.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, ForAll, Implies, Not, Or

from antecede.checker.prove.stock import (
    ACKNOWLEDGE,
    ALL_DELIVERED,
    LIFE_OF_A_POST,
    ORDER_IS_OF_SENT,
    WAS_POSTED,
    acknowledged,
    post,
    posted,
)
from antecede.checker.prove.vocabulary import (
    APPLICATION,
    CAUSAL_DELIVERY,
    GHOST_IS_OF_SENT,
    Conjunct,
    Guard,
    Model,
    R,
    actors,
    before,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    knows,
    messages,
    src,
    tainted,
)

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
            ForAll([a], Implies(And(Not(delivered(R)), knows(a)), a == src(R))),
            lemma="section 3.3, safety",
        ),
        Conjunct(
            "tainted-waits-behind",
            "until R is delivered, what is causally after it is in the same output buffer behind "
            "it",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m)),
                    And(src(m) == src(R), before(R, m), Not(posted(m))),
                ),
            ),
            lemma="Lemmas 2 and 3",
        ),
        ORDER_IS_OF_SENT,
    ),
    safety=CAUSAL_DELIVERY,
    at_rest=ALL_DELIVERED,
    link="antecede.protocols.mfss_link:LINK",
)

SAME_RECEIVER = Guard(
    "all before it are acknowledged, or were posted to the same receiver",
    ForAll(
        [x],
        Implies(before(x, c), Or(acknowledged(x), And(posted(x), dst(x) == dst(c)))),
    ),
    needed=True,
)
IN_ORDER_OF_THE_CHANNEL = Guard(
    "the network hands over in order: all posted before it on its channel were delivered",
    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c), posted(x)), delivered(x))),
    needed=True,
)
MFSS_FIFO = Model(
    protocol="mfss-fifo",
    title="MFSS on FIFO links: messages to the same receiver need not wait",
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
            "until R is delivered, what is causally after it is of the same sender and later; if "
            "it was posted, R was, too, it is for R's destination and was not delivered",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m)),
                    And(
                        src(m) == src(R),
                        before(R, m),
                        Not(delivered(m)),
                        Implies(posted(m), And(posted(R), dst(m) == dst(R))),
                    ),
                ),
            ),
            lemma="footnote 4",
        ),
        evolve(ORDER_IS_OF_SENT, needed=False),
    ),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.mfss_link:FIFO_LINK",
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
    link="antecede.protocols.mfss_link:UNORDERED_LINK",
)
