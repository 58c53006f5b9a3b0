"""Cykas for every number of actors and messages: safety, and liveness at rest.

Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery (as in `protocols.cykas`), section 3. Until R is
acknowledged, whoever else knows of it was told by an Eager Send that waits for R, and keeps still.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, Exists, ForAll, If, Implies, Not, Or

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
    ACTOR,
    APPLICATION,
    CAUSAL_DELIVERY,
    GHOST_IS_OF_SENT,
    MESSAGE,
    Action,
    Conjunct,
    Formula,
    Guard,
    Model,
    R,
    Relation,
    Term,
    actors,
    becomes,
    before,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    gains,
    gains_all,
    knows,
    loses_all,
    messages,
    replaced,
    sent,
    src,
    tainted,
    without_guard,
)

m, x, e, u, v = messages("m x e u v")
a, b = actors("a b")

eager = Relation("eager", (MESSAGE,), "{0} was an Eager Send")
waits = Relation("waits", (MESSAGE, MESSAGE), "the YCT of {0} waits for the ACK of {1}")
told = Relation("told", (MESSAGE,), "the YCT of {0} was sent")
heard = Relation("heard", (MESSAGE,), "the YCT of {0} was received")
tries = Relation("tries", (ACTOR,), "{0} runs TRY_SEND_MESSAGE")
confidant = Relation("confidant", (ACTOR, ACTOR), "{0} may send to {1} in secret mode")


def keeps_secret(actor: Term) -> Formula:
    """Algorithm 2, line 2: the actor has an Eager Send whose YCT is missing."""
    return Exists([e], And(eager(e), delivered(e), dst(e) == actor, Not(heard(e))))


def unacknowledged_to_same(message: Term) -> Formula:
    """Algorithm 2: UNACK has the bit of the message's receiver."""
    same = And(src(x) == src(message), dst(x) == dst(message))
    return Exists([x], And(posted(x), same, Not(acknowledged(x))))


def is_next(message: Term) -> Formula:
    """The message is the head of OB."""
    return ForAll([x], Implies(before(x, message), posted(x)))


def could_be_posted(message: Term) -> Formula:
    """Nothing but TRY_SEND_MESSAGE is missing."""
    return And(
        sent(message),
        Not(posted(message)),
        is_next(message),
        Not(keeps_secret(src(message))),
        Not(unacknowledged_to_same(message)),
    )


POST = post(
    [
        Guard("in TRY_SEND_MESSAGE", tries(src(c))),
        Guard("is the head of OB", is_next(c), needed=True),
        Guard("not in secret mode", Not(keeps_secret(src(c))), needed=True),
        Guard("none to its receiver is unacknowledged", Not(unacknowledged_to_same(c)), True),
    ],
    [
        gains_all(
            eager,
            (u,),
            And(
                u == c,
                Exists([x], And(posted(x), src(x) == src(c), Not(acknowledged(x)))),
            ),
        ),
        gains_all(waits, (u, v), And(u == c, posted(v), src(v) == src(c), Not(acknowledged(v)))),
    ],
)
STOP = Action(
    name="stop",
    params=(a,),
    guards=(
        Guard("in TRY_SEND_MESSAGE", tries(a)),
        Guard(
            "nothing can be posted",
            ForAll([m], Implies(src(m) == a, Not(could_be_posted(m)))),
            needed=True,
        ),
    ),
    updates=(loses_all(tries, (b,), b == a),),
    words="{0} comes to the end of TRY_SEND_MESSAGE",
    urgent=True,
)
TELL = Action(
    name="tell",
    params=(c,),
    guards=(
        Guard("was an Eager Send", eager(c)),
        Guard("not told before", Not(told(c))),
        Guard(
            "what it waits for is acknowledged",
            ForAll([x], Implies(waits(c, x), acknowledged(x))),
            needed=True,
        ),
        Guard("none to its receiver is unacknowledged", Not(unacknowledged_to_same(c))),
    ),
    updates=(gains(told, c),),
    words="the YCT of {0} is sent",
    urgent=True,
)
HEAR = Action(
    name="hear",
    params=(c,),
    guards=(Guard("was told", told(c), needed=True), Guard("not heard before", Not(heard(c)))),
    updates=(gains(heard, c), gains_all(tries, (b,), b == dst(c))),
    words="the YCT of {0} is received",
)
CAUSAL_SEND = causal_send(updates=[gains_all(tries, (b,), b == src(c))])
TRY_AFTER_ACK = gains_all(tries, (b,), b == src(c))
ACK = evolve(ACKNOWLEDGE, updates=(*ACKNOWLEDGE.updates, TRY_AFTER_ACK))

CYKAS = Model(
    protocol="cykas",
    title="Cykas: Eager Sends, secret mode, YCTs; packets in any order",
    source="Cykas paper, Algorithms 1-5, section 3",
    relations=(
        *APPLICATION,
        posted,
        acknowledged,
        eager,
        waits,
        told,
        heard,
        tries,
    ),
    actions=(
        CAUSAL_SEND,
        POST,
        STOP,
        deliver([WAS_POSTED]),
        ACK,
        TELL,
        HEAR,
    ),
    conjuncts=(
        LIFE_OF_A_POST,
        *GHOST_IS_OF_SENT,
        Conjunct(
            "life-of-a-yct",
            "received YCTs were sent, and those sent are of Eager Sends that were posted",
            ForAll(
                [m],
                And(
                    Implies(heard(m), told(m)),
                    Implies(told(m), eager(m)),
                    Implies(eager(m), posted(m)),
                ),
            ),
        ),
        Conjunct(
            "waits-for-posted",
            "an Eager Send waits for messages that were posted",
            ForAll([m, x], Implies(waits(m, x), posted(x))),
            lemma="Lemma 3.4",
        ),
        Conjunct(
            "told-after-acks",
            "a YCT is sent when all that its Eager Send waits for is acknowledged",
            ForAll([m, x], Implies(And(told(m), waits(m, x)), acknowledged(x))),
            lemma="Lemma 3.4",
        ),
        Conjunct(
            "posted-in-order",
            "messages are posted in the order of their causal-sends",
            ForAll([m, x], Implies(And(before(x, m), posted(m)), posted(x))),
            lemma="Proposition 3.1, first key aspect",
            needed=False,
        ),
        Conjunct(
            "own-taint-is-later",
            "what R's sender sent knowing of R, it sent after R",
            ForAll([m], Implies(And(tainted(m), src(m) == src(R)), before(R, m))),
        ),
        Conjunct(
            "others-keep-still",
            "until R is delivered, nobody but its sender posts what is causally after it",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m), src(m) != src(R)),
                    Not(posted(m)),
                ),
            ),
            lemma="Proposition 3.1",
        ),
        Conjunct(
            "sender-sends-eagerly",
            "until R is delivered, what its sender posts after it are Eager Sends that wait for R, "
            "to others than R's destination",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m), src(m) == src(R), posted(m)),
                    And(eager(m), waits(m, R), dst(m) != dst(R)),
                ),
            ),
            lemma="Proposition 3.1, second key aspect",
        ),
        Conjunct(
            "knowers-keep-a-secret",
            "until R is delivered, whoever else knows of it was sent an Eager Send that waits for "
            "R",
            ForAll(
                [a],
                Implies(
                    And(Not(delivered(R)), knows(a), a != src(R)),
                    Exists([m], And(delivered(m), dst(m) == a, eager(m), waits(m, R))),
                ),
            ),
            lemma="Proposition 3.1",
        ),
        Conjunct(
            "who-sends-tainted-knows",
            "who sent what is causally after R knows of R",
            ForAll([m], Implies(tainted(m), knows(src(m)))),
        ),
        ORDER_IS_OF_SENT,
        Conjunct(
            "stops-for-a-reason",
            "outside TRY_SEND_MESSAGE the head of OB waits for an ACK or a YCT",
            ForAll([m], Implies(could_be_posted(m), tries(src(m)))),
            lemma="Proposition 3.2",
        ),
    ),
    safety=CAUSAL_DELIVERY,
    at_rest=ALL_DELIVERED,
    link="antecede.protocols.cykas_link:LINK",
)

CYKAS_AS_PRINTED = evolve(
    CYKAS,
    protocol="cykas-as-printed",
    title="Cykas with line 8 of Algorithm 4 inside the loop over EAGER_SENT",
    source="Cykas paper, Algorithms 1-5 to the letter",
    actions=replaced(
        CYKAS.actions,
        "acknowledge",
        lambda action: evolve(
            action,
            updates=(
                *ACKNOWLEDGE.updates,
                gains_all(  # as printed: only if the loop has an entry to meet
                    tries, (b,), And(b == src(c), Exists([e], And(eager(e), src(e) == b)))
                ),
            ),
        ),
    ),
    expected="FAILED",
    link=None,
)

_CONFIDES = becomes(
    confidant,
    (a, b),
    If(And(a == dst(c), eager(c)), b == src(c), confidant(a, b)),
)
_CONFIDENCE_ENDS = loses_all(
    confidant,
    (a, b),
    And(
        a == dst(c),
        ForAll([e], Implies(And(eager(e), delivered(e), dst(e) == a, e != c), heard(e))),
    ),
)
CYKAS_SECRET_MODE = evolve(
    CYKAS,
    protocol="cykas-secret-mode",
    title="Cykas that may send to its latest eager sender in secret mode",
    source="Cykas paper, section 2.3",
    relations=(*CYKAS.relations, confidant),
    actions=(
        CAUSAL_SEND,
        evolve(
            POST,
            guards=(
                *without_guard(POST, "not in secret mode").guards,
                Guard(
                    "not in secret mode, or to the confidant",
                    Or(Not(keeps_secret(src(c))), confidant(src(c), dst(c))),
                ),
            ),
        ),
        STOP,
        deliver([Guard("was posted", posted(c))], [_CONFIDES]),
        ACK,
        TELL,
        evolve(HEAR, updates=(*HEAR.updates, _CONFIDENCE_ENDS)),
    ),
    at_rest=None,
    conjuncts=CYKAS.conjuncts[:-1],
    expected="FAILED",
    link="antecede.protocols.cykas_link:SECRET_MODE_LINK",
)
