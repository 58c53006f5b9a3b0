"""Cykas without starvation: why it is safe with any number of actors and messages.

The model extends the model in `protocols.cykas_proof` by one relation: the Eager Sends whose YCTs
a message needs. Until R is delivered, a message of another actor that depends on R needs the YCT of
an Eager Send that waits for R, so it is not posted.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not

from antecede.checker.prove.link import Link, View
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *
from antecede.protocols import cykas_proof
from antecede.protocols.cykas_fair import Counts, CykasFair
from antecede.protocols.cykas_proof import (
    ACK,
    CYKAS,
    HEAR,
    POST,
    STOP,
    TELL,
    eager,
    heard,
    is_next,
    tries,
    unacknowledged_to_same,
    waits,
)

m, x, e, u, v = messages("m x e u v")
a, b = actors("a b")

needs = Relation("needs", (MESSAGE, MESSAGE), "{0} needs the YCT of {1}")


def needs_a_yct(message: Term) -> Formula:
    """Return Algorithm 2, line 2: the message's copy of AWAIT is not all zeroes."""
    return Exists([e], And(needs(message, e), Not(heard(e))))


def could_be_posted(message: Term) -> Formula:
    """Return that the message waits only for TRY_SEND_MESSAGE."""
    return And(
        sent(message),
        Not(posted(message)),
        is_next(message),
        Not(needs_a_yct(message)),
        Not(unacknowledged_to_same(message)),
    )


CAUSAL_SEND = causal_send(
    updates=[
        gains_all(tries, (b,), b == src(c)),
        gains_all(
            needs,
            (u, v),
            And(u == c, eager(v), delivered(v), dst(v) == src(c), Not(heard(v))),
        ),
    ]
)

CYKAS_FAIR = evolve(
    CYKAS,
    protocol="cykas-fair",
    title="Cykas in which a message waits only for YCTs that were missing at its application-send",
    source="Cykas paper, Algorithms 1-5, with AWAIT in place of MODE (ours)",
    relations=(*CYKAS.relations, needs),
    actions=(
        CAUSAL_SEND,
        evolve(
            POST,
            guards=(
                *without_guard(POST, "not in secret mode").guards,
                Guard("needs no YCT", Not(needs_a_yct(c)), needed=True),
            ),
        ),
        evolve(
            STOP,
            guards=(
                *without_guard(STOP, "nothing can be posted").guards,
                Guard(
                    "nothing can be posted",
                    ForAll([m], Implies(src(m) == a, Not(could_be_posted(m)))),
                    needed=True,
                ),
            ),
        ),
        deliver([WAS_POSTED]),
        ACK,
        TELL,
        HEAR,
    ),
    conjuncts=(
        *(
            one
            for one in CYKAS.conjuncts
            if one.name not in ("who-sends-tainted-knows", "stops-for-a-reason")
        ),
        Conjunct(
            "stops-for-a-reason",
            "outside TRY_SEND_MESSAGE the head of OB waits for an ACK or needs a YCT",
            ForAll([m], Implies(could_be_posted(m), tries(src(m)))),
            lemma="Proposition 3.2",
        ),
        Conjunct(
            "needs-delivered",
            "a message needs only YCTs of Eager Sends that were delivered to its sender",
            ForAll(
                [m, e],
                Implies(needs(m, e), And(sent(m), eager(e), delivered(e), dst(e) == src(m))),
            ),
        ),
        Conjunct(
            "tainted-needs",
            "until R is delivered, every message of another actor that depends on R needs the YCT "
            "of an Eager Send that waits for R",
            until_delivered(
                [m],
                [tainted(m), src(m) != src(R)],
                Exists([e], And(needs(m, e), eager(e), waits(e, R))),
            ),
            lemma="Proposition 3.1",
        ),
    ),
    link="antecede.protocols.cykas_fair_proof:LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def rebuild(view: View, actor: int) -> CykasFair:
    """Return UNACK, EAGER_SENT, OB and AWAIT."""
    made = cykas_proof.rebuild(view, actor)
    received = [e for e in view.sent(to=actor) if not view.has("heard", e)]
    missing = [e for e in received if view.has("eager", e) and view.has("delivered", e)]

    def counts(eager_sends: Iterable[int]) -> Counts:
        senders = [view.src(e) for e in eager_sends]
        return tuple(map(senders.count, range(view.system.actors)))

    buffer = tuple(
        (view.message(one), counts(e for e in received if view.has("needs", one, e)))
        for one in view.sent(actor)
        if not view.has("posted", one)
    )
    return CykasFair(made.UNACK, made.EAGER_SENT, buffer, AWAIT=counts(missing))


LINK = Link(events=cykas_proof.events, rebuild=rebuild, channels=cykas_proof.channels)
