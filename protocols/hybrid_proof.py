"""Hybrid buffering for every number of actors and messages: Algorithms 1, 2 and 3.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (as in `protocols.hybrid_basic`, `hybrid_sps` and
`hybrid_multicast`), section 5. The network may lose, repeat and reorder packets: what was sent once
may be received at any time, and any number of times.

Until R is acknowledged, whoever else knows of it was told by a flagged message whose permit cannot
come before R's acknowledgement. The paper gives no proof of Algorithm 2.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not, Or

from antecede.checker.prove.stock import (
    ACKNOWLEDGE,
    LIFE_OF_A_POST,
    ORDER,
    WAS_POSTED,
    acknowledged,
    post,
    posted,
)
from antecede.checker.prove.vocabulary import (
    ACTOR,
    APPLICATION,
    APPLICATION_OF_MANY,
    CAUSAL_DELIVERY,
    CAUSAL_DELIVERY_OF_MANY,
    GHOST_IS_OF_SENT,
    MESSAGE,
    NO_SELF_SENDS,
    NO_SELF_SENDS_OF_MANY,
    Action,
    Conjunct,
    D,
    Formula,
    Guard,
    Model,
    R,
    Relation,
    Term,
    actors,
    before,
    c,
    causal_send,
    deliver,
    deliver_at,
    delivered,
    delivered_at,
    dst,
    gains,
    gains_all,
    knows,
    messages,
    sent,
    src,
    tainted,
    to,
)

m, x, e, u, v = messages("m x e u v")
a, b = actors("a b")

flagged = Relation("flagged", (MESSAGE,), "{0} was sent while it needed a permit")
waits = Relation("waits", (MESSAGE, MESSAGE), "{0} waits for the permit of {1}")
permit = Relation("permit", (MESSAGE,), "the permit of {0} was sent")
permitted = Relation("permitted", (MESSAGE,), "the permit of {0} was received")

IN_ORDER = Guard(
    "its predecessor on the channel was delivered",
    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), delivered(x))),
    needed=True,
)
WAITS = gains_all(
    waits,
    (u, v),
    And(u == c, flagged(v), delivered(v), dst(v) == src(c), Not(permitted(v))),
)
CAUSAL_SEND = causal_send(updates=[WAITS])
POST = post(
    [
        Guard("is the head of the send buffer", ForAll([x], Implies(before(x, c), posted(x)))),
        Guard(
            "the permits that it waits for are there",
            ForAll([e], Implies(waits(c, e), permitted(e))),
            needed=True,
        ),
    ],
    [gains_all(flagged, (u,), And(u == c, Exists([x], And(before(x, c), Not(acknowledged(x))))))],
)
PERMIT = Action(
    name="permit",
    params=(c,),
    guards=(
        Guard("is flagged", flagged(c)),
        Guard("not permitted before", Not(permit(c))),
        Guard(
            "all before it are acknowledged",
            ForAll([x], Implies(before(x, c), acknowledged(x))),
            needed=True,
        ),
    ),
    updates=(gains(permit, c),),
    words="the permit of {0} is sent",
)
HEAR = Action(
    name="hear",
    params=(c,),
    guards=(
        Guard("its permit was sent", permit(c), needed=True),
        Guard("was delivered", delivered(c)),
        Guard("not heard before", Not(permitted(c))),
    ),
    updates=(gains(permitted, c),),
    words="the permit of {0} is received",
)
LIFE_OF_A_PERMIT = Conjunct(
    "life-of-a-permit",
    "received permits were sent, and those sent are of flagged messages, which were posted",
    ForAll(
        [m],
        And(
            Implies(permitted(m), permit(m)),
            Implies(permit(m), flagged(m)),
            Implies(flagged(m), posted(m)),
        ),
    ),
)
OWN_TAINT_IS_LATER = Conjunct(
    "own-taint-is-later",
    "what R's sender sent knowing of R, it sent after R",
    ForAll([m], Implies(And(tainted(m), src(m) == src(R)), before(R, m))),
)
FIRST_OF_CHANNEL = Conjunct(
    "delivered-are-prefixes",
    "of each channel the first messages are delivered",
    ForAll(
        [m, x],
        Implies(And(before(x, m), dst(x) == dst(m), delivered(m)), delivered(x)),
    ),
)


def told_by(e: Term, a: Term) -> Formula:
    """e, a later message of R's sender, told a of R, and a misses its permit."""
    return And(
        delivered(e), dst(e) == a, flagged(e), Not(permitted(e)), src(e) == src(R), before(R, e)
    )


HYBRID_BASIC = Model(
    protocol="hybrid-basic",
    title="hybrid buffering, Algorithm 1; packets may be lost, repeated and reordered",
    source="hybrid paper, Algorithm 1, section 5.5",
    relations=(*APPLICATION, posted, acknowledged, flagged, waits, permit, permitted),
    actions=(
        CAUSAL_SEND,
        POST,
        deliver([WAS_POSTED, IN_ORDER]),
        ACKNOWLEDGE,
        PERMIT,
        HEAR,
    ),
    conjuncts=(
        LIFE_OF_A_POST,
        ORDER,
        *GHOST_IS_OF_SENT,
        LIFE_OF_A_PERMIT,
        FIRST_OF_CHANNEL,
        OWN_TAINT_IS_LATER,
        Conjunct(
            "permits-after-acks",
            "a permit is sent when all that was sent before its message is acknowledged",
            ForAll([m, x], Implies(And(permit(m), before(x, m)), acknowledged(x))),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered, what its sender posts after it is flagged",
            ForAll(
                [m],
                Implies(And(Not(delivered(R)), before(R, m), posted(m)), flagged(m)),
            ),
        ),
        Conjunct(
            "knowers-miss-a-permit",
            "until R is delivered, whoever else knows of it was told by a flagged message of R's "
            "sender after R, and is not R's destination",
            ForAll(
                [a],
                Implies(
                    And(Not(delivered(R)), knows(a), a != src(R)),
                    And(a != dst(R), Exists([e], told_by(e, a))),
                ),
            ),
        ),
        Conjunct(
            "others-wait",
            "until R is delivered, what others sent knowing of R waits for such a permit",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m), src(m) != src(R)),
                    And(Not(posted(m)), Exists([e], And(waits(m, e), told_by(e, src(m))))),
                ),
            ),
        ),
    ),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.hybrid_link:LINK",
)

SPS_POST = post(
    [
        Guard(
            "the permits of others than its receiver that it waits for are there",
            ForAll([e], Implies(And(waits(c, e), src(e) != dst(c)), permitted(e))),
            needed=True,
        ),
    ],
    [
        gains_all(
            flagged,
            (u,),
            And(
                u == c,
                Exists([x], And(before(x, c), Not(acknowledged(x)), dst(x) != dst(c))),
            ),
        )
    ],
)
SPS_PERMIT = evolve(
    PERMIT,
    guards=(
        *PERMIT.guards[:2],
        Guard(
            "all before it that are for others are acknowledged",
            ForAll([x], Implies(And(before(x, c), dst(x) != dst(c)), acknowledged(x))),
            needed=True,
        ),
    ),
)
HYBRID_SPS = evolve(
    HYBRID_BASIC,
    protocol="hybrid-sps",
    title="hybrid buffering, Algorithm 2 (SPS-optimal); packets may be lost, repeated, reordered",
    source="hybrid paper, Algorithm 2, section 5.6, which omits the proof",
    actions=(
        CAUSAL_SEND,
        SPS_POST,
        deliver([WAS_POSTED, IN_ORDER]),
        ACKNOWLEDGE,
        SPS_PERMIT,
        HEAR,
    ),
    conjuncts=(
        *HYBRID_BASIC.conjuncts[:7],
        Conjunct(
            "permits-after-acks",
            "a permit is sent when all before its message that is for others is acknowledged",
            ForAll(
                [m, x],
                Implies(And(permit(m), before(x, m), dst(x) != dst(m)), acknowledged(x)),
            ),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered, what its sender posts after it to others than R's destination "
            "is flagged",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), before(R, m), posted(m), dst(m) != dst(R)), flagged(m)
                ),
            ),
        ),
        HYBRID_BASIC.conjuncts[9],
        Conjunct(
            "others-tell-the-sender-only",
            "until R is delivered, what others sent knowing of R waits for such a permit, or is "
            "for R's sender",
            ForAll(
                [m],
                Implies(
                    And(Not(delivered(R)), tainted(m), src(m) != src(R)),
                    And(
                        Implies(posted(m), dst(m) == src(R)),
                        Exists([e], And(waits(m, e), told_by(e, src(m)))),
                    ),
                ),
            ),
        ),
    ),
    axioms=(NO_SELF_SENDS,),
    link="antecede.protocols.hybrid_link:SPS_LINK",
)

acknowledged_by = Relation(
    "acknowledged", (MESSAGE, ACTOR), "{0}'s sender has the acknowledgement of {1}"
)
heard_by = Relation("permitted", (MESSAGE, ACTOR), "the permit of {0} was received by {1}")


def has_all_acks(message: Term) -> Formula:
    """Every destination has acknowledged the message."""
    return ForAll([b], Implies(to(message, b), acknowledged_by(message, b)))


def is_for_several() -> Formula:
    """C has several destinations."""
    return Exists([a, b], And(a != b, to(c, a), to(c, b)))


def told_by_copy(e: Term, a: Term) -> Formula:
    """e, R itself or a later message of its sender, told a of R, and a misses its permit."""
    return And(
        delivered_at(e, a),
        flagged(e),
        Not(heard_by(e, a)),
        src(e) == src(R),
        Or(e == R, before(R, e)),
    )


OPEN = And(to(R, D), sent(R), Not(delivered_at(R, D)))
"""R was sent to D and not delivered there."""

HYBRID_MULTICAST = Model(
    protocol="hybrid-multicast",
    title="hybrid buffering, Algorithm 3 (multicast); packets may be lost, repeated and reordered",
    source="hybrid paper, Algorithm 3, section 5.7",
    relations=(
        *APPLICATION_OF_MANY,
        posted,
        acknowledged_by,
        flagged,
        waits,
        permit,
        heard_by,
    ),
    actions=(
        causal_send(
            updates=[
                gains_all(
                    waits,
                    (u, v),
                    And(
                        u == c,
                        flagged(v),
                        delivered_at(v, src(c)),
                        Not(heard_by(v, src(c))),
                    ),
                )
            ]
        ),
        Action(
            name="post",
            params=(c,),
            guards=(
                *POST.guards[:3],
                Guard(
                    "the permits that it waits for are there",
                    ForAll([e], Implies(waits(c, e), heard_by(e, src(c)))),
                    needed=True,
                ),
            ),
            updates=(
                gains(posted, c),
                gains_all(
                    flagged,
                    (u,),
                    And(
                        u == c,
                        Or(
                            is_for_several(),
                            Exists([x], And(before(x, c), Not(has_all_acks(x)))),
                        ),
                    ),
                ),
            ),
            words="{0} is network-sent",
            urgent=True,
        ),
        deliver_at(
            [
                WAS_POSTED,
                Guard(
                    "its predecessor for this actor was delivered",
                    ForAll([x], Implies(And(before(x, c), to(x, a)), delivered_at(x, a))),
                    needed=True,
                ),
            ]
        ),
        Action(
            name="acknowledge",
            params=(c, a),
            guards=(
                Guard("was delivered there", delivered_at(c, a), needed=True),
                Guard("not acknowledged before", Not(acknowledged_by(c, a))),
            ),
            updates=(gains(acknowledged_by, c, a),),
            words="the acknowledgement of {0} by {1} reaches its sender",
        ),
        Action(
            name="permit",
            params=(c,),
            guards=(
                *PERMIT.guards[:2],
                Guard(
                    "all before it, and it itself, are acknowledged",
                    ForAll([x], Implies(Or(x == c, before(x, c)), has_all_acks(x))),
                    needed=True,
                ),
            ),
            updates=PERMIT.updates,
            words=PERMIT.words,
        ),
        Action(
            name="hear",
            params=(c, a),
            guards=(
                Guard("its permit was sent", permit(c), needed=True),
                Guard("was delivered there", delivered_at(c, a)),
                Guard("not heard before", Not(heard_by(c, a))),
            ),
            updates=(gains(heard_by, c, a),),
            words="the permit of {0} is received by {1}",
        ),
    ),
    conjuncts=(
        Conjunct(
            "life-of-a-copy",
            "acknowledged copies were delivered, delivered ones posted, posted ones causal-sent",
            ForAll(
                [m, a],
                And(
                    Implies(acknowledged_by(m, a), delivered_at(m, a)),
                    Implies(delivered_at(m, a), And(posted(m), to(m, a))),
                    Implies(posted(m), sent(m)),
                ),
            ),
        ),
        ORDER,
        *GHOST_IS_OF_SENT,
        Conjunct(
            "life-of-a-permit",
            "received permits were sent, and those sent are of flagged messages, which were posted",
            ForAll(
                [m, a],
                And(
                    Implies(heard_by(m, a), permit(m)),
                    Implies(permit(m), flagged(m)),
                    Implies(flagged(m), posted(m)),
                ),
            ),
        ),
        Conjunct(
            "delivered-are-prefixes",
            "of each channel the first messages are delivered",
            ForAll(
                [m, x, a],
                Implies(And(before(x, m), to(x, a), delivered_at(m, a)), delivered_at(x, a)),
            ),
        ),
        OWN_TAINT_IS_LATER,
        Conjunct(
            "permits-after-acks",
            "a permit is sent when its message and all before it are acknowledged",
            ForAll(
                [m, x, a],
                Implies(And(permit(m), Or(x == m, before(x, m)), to(x, a)), acknowledged_by(x, a)),
            ),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered at D, what its sender posts after it is flagged",
            ForAll([m], Implies(And(OPEN, before(R, m), posted(m)), flagged(m))),
        ),
        Conjunct(
            "multicast-is-flagged",
            "a posted message to D and to others is flagged",
            ForAll([a], Implies(And(posted(R), to(R, D), to(R, a), a != D), flagged(R))),
        ),
        Conjunct(
            "knowers-miss-a-permit",
            "until R is delivered at D, whoever but its sender knows of it was told by a flagged "
            "message whose permit is missing, and is not D",
            ForAll(
                [a],
                Implies(
                    And(OPEN, knows(a), a != src(R)),
                    And(a != D, Exists([e], told_by_copy(e, a))),
                ),
            ),
        ),
        Conjunct(
            "others-wait",
            "until R is delivered at D, what others sent knowing of R waits for such a permit",
            ForAll(
                [m],
                Implies(
                    And(OPEN, tainted(m), src(m) != src(R)),
                    And(
                        Not(posted(m)),
                        Exists([e], And(waits(m, e), told_by_copy(e, src(m)))),
                    ),
                ),
            ),
        ),
    ),
    safety=CAUSAL_DELIVERY_OF_MANY,
    axioms=(NO_SELF_SENDS_OF_MANY,),
    link="antecede.protocols.hybrid_link:MULTICAST_LINK",
)
