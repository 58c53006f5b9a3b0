"""MFSS for every number of actors and messages: the invariant behind the proof of its safety.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery (as in `protocols.mfss`), section 3.3. As long as R is unacknowledged nothing that was sent
after it leaves its sender, so nobody else can know of it.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, ForAll, Implies, Not, Or

from antecede.checker.prove.vocabulary import (
    APPLICATION,
    CAUSAL_DELIVERY,
    GHOST_IS_OF_SENT,
    MESSAGE,
    Action,
    AtRest,
    Conjunct,
    Guard,
    Model,
    R,
    Relation,
    actors,
    before,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    gains,
    knows,
    messages,
    sent,
    src,
    tainted,
)

m, x = messages("m x")
a = actors("a")

posted = Relation("posted", (MESSAGE,), "{0} was network-sent")
acknowledged = Relation("acknowledged", (MESSAGE,), "{0}'s sender has its acknowledgement")

POST = Action(
    name="post",
    params=(c,),
    guards=(
        Guard("was causal-sent", sent(c), needed=True),
        Guard("not posted before", Not(posted(c))),
        Guard(
            "all before it are acknowledged",
            ForAll([x], Implies(before(x, c), acknowledged(x))),
            needed=True,
        ),
    ),
    updates=(gains(posted, c),),
    words="{0} is network-sent",
    urgent=True,
)
DELIVER = deliver([Guard("was posted", posted(c), needed=True)])
ACKNOWLEDGE = Action(
    name="acknowledge",
    params=(c,),
    guards=(
        Guard("was delivered", delivered(c), needed=True),
        Guard("not acknowledged before", Not(acknowledged(c))),
    ),
    updates=(gains(acknowledged, c),),
    words="the acknowledgement of {0} reaches its sender",
)

LIFE_OF_A_MESSAGE = Conjunct(
    "life-of-a-message",
    "acknowledged messages were delivered, delivered ones posted, posted ones causal-sent",
    ForAll(
        [m],
        And(
            Implies(acknowledged(m), delivered(m)),
            Implies(delivered(m), posted(m)),
            Implies(posted(m), sent(m)),
        ),
    ),
)
ORDER_IS_OF_SENT = Conjunct(
    "order-is-of-sent",
    "each sender's causal-sent messages, and no others, are in its order",
    ForAll([m, x], Implies(before(x, m), And(sent(x), sent(m), src(x) == src(m), x != m))),
)

MFSS = Model(
    protocol="mfss",
    title="MFSS: one unacknowledged message per sender",
    source="Mattern and Fünfrocken 1995, section 3",
    relations=(*APPLICATION, posted, acknowledged),
    actions=(causal_send(), POST, DELIVER, ACKNOWLEDGE),
    conjuncts=(
        LIFE_OF_A_MESSAGE,
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
    at_rest=AtRest(
        undone=Not(ForAll([m], Implies(sent(m), delivered(m)))),
        says="every causal-sent message was delivered",
        least=((m, And(sent(m), Not(posted(m))), before),),
    ),
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
        evolve(POST, guards=(*POST.guards[:2], SAME_RECEIVER)),
        deliver([Guard("was posted", posted(c), needed=True), IN_ORDER_OF_THE_CHANNEL]),
        ACKNOWLEDGE,
    ),
    conjuncts=(
        LIFE_OF_A_MESSAGE,
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
        Action("post", (c,), POST.guards[:2], POST.updates, POST.words, urgent=True),
        DELIVER,
        ACKNOWLEDGE,
    ),
    conjuncts=MFSS.conjuncts,
    safety=CAUSAL_DELIVERY,
    expected="FAILED",
    link="antecede.protocols.mfss_link:UNORDERED_LINK",
)
