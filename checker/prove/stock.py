"""Actions and conjuncts that several models share: a message's way through buffers and network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from z3 import And, ForAll, Implies, Not, Or

from antecede.checker.prove.vocabulary import *

m, x, y = messages("m x y")

posted = Relation("posted", (MESSAGE,), "{0} was network-sent")
acknowledged = Relation("acknowledged", (MESSAGE,), "{0}'s sender has its acknowledgement")
received = Relation("received", (MESSAGE,), "{0} was received")


def post(guards: Sequence[Guard] = (), updates: Sequence[Update] = ()) -> Action:
    """Return the action that network-sends c, with the protocol's own `guards` and `updates`."""
    return Action(
        name="post",
        params=(c,),
        guards=(
            Guard("was causal-sent", sent(c), needed=True),
            Guard("not posted before", Not(posted(c))),
            *guards,
        ),
        updates=(gains(posted, c), *updates),
        words="{0} is network-sent",
        urgent=True,
    )


def receive(guards: Sequence[Guard] = (), updates: Sequence[Update] = ()) -> Action:
    """Return the action that receives c; c arrives unchanged, and its delivery comes later."""
    return Action(
        name="receive",
        params=(c,),
        guards=(
            Guard("was causal-sent", sent(c), needed=True),
            Guard("not received before", Not(received(c))),
            *guards,
        ),
        updates=(gains(received, c), *updates),
        words="{0} is received",
    )


WAS_POSTED = Guard("was posted", posted(c), needed=True)
WAS_RECEIVED = Guard("was received", received(c), needed=True)
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


def in_turn(variables: Sequence[Term], *stages: Formula) -> Formula:
    """Return that each of the stages needs the next one, for all values of the variables."""
    return ForAll(variables, And([Implies(later, earlier) for later, earlier in pairwise(stages)]))


LIFE_OF_A_POST = Conjunct(
    "life-of-a-message",
    "acknowledged messages were delivered, delivered messages were posted, and posted messages "
    "were causal-sent",
    in_turn([m], acknowledged(m), delivered(m), posted(m), sent(m)),
)
LIFE_OF_A_RECEPTION = Conjunct(
    "life-of-a-message",
    "delivered messages were received, and received messages were causal-sent",
    in_turn([m], delivered(m), received(m), sent(m)),
)
ORDER_IS_OF_SENT = Conjunct(
    "order-is-of-sent",
    "a message comes before another one only if one actor causal-sent both; none comes before "
    "itself",
    ForAll([m, x], Implies(before(x, m), And(sent(x), sent(m), src(x) == src(m), x != m))),
)
ORDER = Conjunct(
    "order-of-sends",
    "each sender's causal-sends are in a strict order",
    And(
        ORDER_IS_OF_SENT.formula,
        ForAll([m, x, y], Implies(And(before(x, y), before(y, m)), before(x, m))),
        whenever(
            [m, x], [sent(m), sent(x), src(m) == src(x), m != x], Or(before(m, x), before(x, m))
        ),
    ),
    needed=False,
)

ENFORCES_CSPS = Conjunct(
    "enforces-csps",
    "the messages of others that happened before a posted message were delivered",
    whenever([m], [tainted(m), posted(m), src(m) != src(R)], delivered(R)),
    needed=False,
)
"""Definition 4.3 of the hybrid paper, about all other senders. What happened before a message is
fixed at its causal-send, and no action posts one message and delivers another one. So this is true
in every state exactly if the messages were delivered when the message was posted.
"""
ENFORCES_SPS = Conjunct(
    "enforces-sps",
    "the messages of others than its receiver that happened before a posted message were delivered",
    whenever([m], [tainted(m), posted(m), src(m) != src(R)], Or(delivered(R), src(R) == dst(m))),
    needed=False,
)
"""Definition 4.1 of the hybrid paper, about all other senders."""

ALL_DELIVERED = Quiescence(
    undone=Not(ForAll([m], Implies(sent(m), delivered(m)))),
    says="every causal-sent message was delivered",
    least=((m, And(sent(m), Not(posted(m)))),),
)
"""The claim for protocols that network-send messages in the order of their causal-sends."""
