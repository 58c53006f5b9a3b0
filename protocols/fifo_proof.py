"""Sequence numbers per channel, for every number of actors and messages: order per channel.

That, and no more, is proved of `protocols.fifo`. The numbers of a channel are the order of its
causal-sends: the next one is the first that was not delivered.
"""

from __future__ import annotations

from z3 import And, ForAll, Implies

from antecede.checker.prove.stock import LIFE_OF_A_RECEPTION, ORDER, WAS_RECEIVED, receive, received
from antecede.checker.prove.vocabulary import (
    APPLICATION,
    FIFO_DELIVERY,
    Conjunct,
    Guard,
    Model,
    before,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    messages,
)

x, y = messages("x y")

FIFO = Model(
    protocol="fifo",
    title="sequence numbers per channel; packets in any order",
    source="well known; Mattern and Fünfrocken 1995, section 2",
    relations=(*APPLICATION, received),
    actions=(
        causal_send(),
        receive(),
        deliver(
            [
                WAS_RECEIVED,
                Guard(
                    "its predecessors on the channel were delivered",
                    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), delivered(x))),
                    needed=True,
                ),
            ],
            urgent=True,
        ),
    ),
    conjuncts=(
        LIFE_OF_A_RECEPTION,
        ORDER,
        Conjunct(
            "delivered-are-prefixes",
            "of each channel the first messages are delivered, so that a number says which",
            ForAll(
                [x, y],
                Implies(And(before(x, y), dst(x) == dst(y), delivered(y)), delivered(x)),
            ),
        ),
    ),
    safety=FIFO_DELIVERY,
    link="antecede.protocols.receiver_link:FIFO_LINK",
)
