"""Cykas without starvation, with bounded control state: safety, and all delivered at quiescence.

The model is that of `protocols.cykas_fair_proof`, with one more reason to wait: a message is not
posted while the YCT of an Eager Send to the same receiver is unsent.
"""

from __future__ import annotations

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not

from antecede.checker.prove.link import Link, View
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *
from antecede.protocols import cykas_fair_proof, cykas_proof
from antecede.protocols.cykas_fair_bounded import CykasFairBounded
from antecede.protocols.cykas_fair_proof import CYKAS_FAIR
from antecede.protocols.cykas_proof import eager, told, tries

m, e = messages("m e")
a, b = actors("a b")


def untold_to_same(message: Term) -> Formula:
    """Return Algorithm 2, line 7: EAGER_SENT has an entry for the message's receiver."""
    same = And(src(e) == src(message), dst(e) == dst(message))
    return Exists([e], And(posted(e), eager(e), same, Not(told(e))))


def could_be_posted(message: Term) -> Formula:
    """Return that the message waits only for TRY_SEND_MESSAGE."""
    return And(cykas_fair_proof.could_be_posted(message), Not(untold_to_same(message)))


def bounded(action: Action) -> Action:
    """Return an action of `cykas-fair` with the further reason to wait."""
    if action.name == "post":
        return evolve(
            action,
            guards=(
                *action.guards,
                Guard("no YCT to its receiver is unsent", Not(untold_to_same(c))),
            ),
        )
    if action.name == "stop":
        return evolve(
            action,
            guards=(
                *without_guard(action, "nothing can be posted").guards,
                Guard(
                    "nothing can be posted",
                    ForAll([m], Implies(src(m) == a, Not(could_be_posted(m)))),
                    needed=True,
                ),
            ),
        )
    if action.name == "tell":
        return evolve(action, updates=(*action.updates, gains_all(tries, (b,), b == src(c))))
    return action


CYKAS_FAIR_BOUNDED = evolve(
    CYKAS_FAIR,
    protocol="cykas-fair-bounded",
    title="Cykas without starvation, with one untold Eager Send per receiver",
    actions=tuple(map(bounded, CYKAS_FAIR.actions)),
    conjuncts=(
        *(one for one in CYKAS_FAIR.conjuncts if one.name != "stops-for-a-reason"),
        Conjunct(
            "stops-for-a-reason",
            "outside TRY_SEND_MESSAGE the head of OB waits for an ACK, needs a YCT, or waits until "
            "a YCT for its receiver is sent",
            ForAll([m], Implies(could_be_posted(m), tries(src(m)))),
            lemma="Proposition 3.2",
        ),
    ),
    link="antecede.protocols.cykas_fair_bounded_proof:LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def rebuild(view: View, actor: int) -> CykasFairBounded:
    """Return UNACK, EAGER_SENT, OB and AWAIT."""
    made = cykas_fair_proof.rebuild(view, actor)
    return CykasFairBounded(made.UNACK, made.EAGER_SENT, made.OB, made.AWAIT)


LINK = Link(
    events=cykas_proof.events, rebuild=rebuild, channels=cykas_proof.channels, network="fifo"
)
