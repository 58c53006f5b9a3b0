"""Propositions 4.2 and 4.4 of the hybrid paper: FIFO and SPS imply causal delivery.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), section 4.2. The models are no algorithms but
classes of algorithms: any message may be sent at any time if Definition 4.1 or 4.3 allows it, and
any message may be delivered if FIFO allows it. So a proof covers each algorithm that enforces both.

We read "processes that sent messages to i" as the senders of the messages that i has delivered.
This allows more than other readings, because undelivered messages tell i nothing.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Or

from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *

m, x, y, u, v = messages("m x y u v")
a, b = actors("a b")


past = Relation("past", (ACTOR, MESSAGE), "{0} has sent {1}, or knows of it by deliveries")
precedes = Relation("precedes", (MESSAGE, MESSAGE), "{0} happened before {1}")

CAUSAL_SEND = causal_send(
    updates=[
        gains_all(precedes, (u, v), And(v == c, past(src(c), u))),
        gains(past, src(c), c),
    ]
)
IN_ORDER = Guard(
    "FIFO: its predecessors on the channel were delivered",
    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), delivered(x))),
    needed=True,
)
LEARNS = gains_all(past, (b, v), And(b == dst(c), Or(v == c, precedes(v, c))))


def has_told(x: Term, y: Term, i: Term) -> Formula:
    """Return that i has delivered y, a message of the sender of x."""
    return And(delivered(y), src(y) == src(x), dst(y) == i)


SPS_GUARD = Guard(
    "SPS: what happened before it was delivered, if another process than the receiver sent it to "
    "another one than the sender, and the sender has a message of that process",
    whenever(
        [x, y],
        [precedes(x, c), src(x) != src(c), has_told(x, y, src(c)), dst(x) != src(c)],
        Or(delivered(x), src(x) == dst(c)),
    ),
    needed=True,
)
CSPS_GUARD = Guard(
    "CSPS: what happened before it was delivered, if the sender has a message of its sender",
    whenever([x, y], [precedes(x, c), src(x) != src(c), has_told(x, y, src(c))], delivered(x)),
    needed=True,
)

SPS = Model(
    protocol="sps",
    title="FIFO and SPS: every algorithm that enforces both",
    source="hybrid paper, Definition 4.1 and Proposition 4.2",
    relations=(*APPLICATION, posted, past, precedes),
    actions=(CAUSAL_SEND, post([SPS_GUARD]), deliver([WAS_POSTED, IN_ORDER], [LEARNS])),
    conjuncts=(
        Conjunct(
            "life-of-a-message",
            "delivered messages were posted, and posted messages were causal-sent",
            in_turn([m], delivered(m), posted(m), sent(m)),
        ),
        *GHOST_IS_OF_SENT,
        evolve(ORDER_IS_OF_SENT, needed=False),
        Conjunct(
            "past-is-kept",
            "an actor that knows of R has it in its past, and R happened before every message that "
            "depends on it",
            And(
                ForAll([a], Implies(knows(a), past(a, R))),
                ForAll([m], Implies(tainted(m), precedes(R, m))),
            ),
        ),
        Conjunct(
            "known-from-the-sender",
            "an actor that knows of R sent it, or has delivered a message of its sender, or R was "
            "delivered",
            ForAll(
                [a],
                Implies(knows(a), Or(a == src(R), delivered(R), Exists([y], has_told(R, y, a)))),
            ),
        ),
        Conjunct(
            "its-receiver-knows-delivered",
            "if the receiver of R knows of R, R was delivered",
            Implies(knows(dst(R)), delivered(R)),
        ),
        Conjunct(
            "senders-know",
            "the sender of a message that depends on R knows of R; if it sent R, it did so before",
            ForAll(
                [m],
                Implies(tainted(m), And(knows(src(m)), Implies(src(m) == src(R), before(R, m)))),
            ),
        ),
        Conjunct(
            "posted-after-delivered",
            "if another actor has sent a message that depends on R, R was delivered, or the "
            "message goes to the sender of R",
            ForAll(
                [m],
                Implies(
                    And(tainted(m), posted(m), src(m) != src(R)),
                    Or(delivered(R), dst(m) == src(R)),
                ),
            ),
            lemma="Proposition 4.2",
        ),
        CAUSAL_DELIVERY,
    ),
    safety=CAUSAL_DELIVERY,
    axioms=(NO_SELF_SENDS,),
)

CSPS = evolve(
    SPS,
    protocol="csps",
    title="FIFO and CSPS: every algorithm that enforces both",
    source="hybrid paper, Definition 4.3 and Proposition 4.4",
    actions=(SPS.actions[0], post([CSPS_GUARD]), SPS.actions[2]),
    conjuncts=tuple(
        evolve(one, needed=one.needed and one.name != "its-receiver-knows-delivered")
        for one in SPS.conjuncts
    ),
)

SPS_ALONE = evolve(
    SPS,
    protocol="sps-alone",
    title="SPS without FIFO",
    source="hybrid paper, Proposition 4.2 without its first premise",
    actions=(*SPS.actions[:2], deliver([WAS_POSTED], [LEARNS])),
    expected="FAILED",
)
