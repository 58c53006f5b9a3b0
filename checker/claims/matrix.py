"""The claims and questions of the matrix source."""

from __future__ import annotations

from antecede.checker.claims.claim import Claim, Source, exactly, holds, violated

CAUSAL, DELIVERED = "causal-delivery", "all-delivered"
SAFETY = (CAUSAL, "integrity")
ALICE_BOB_CAROL = "script:[[2,1],[2],[]]"
COLUMN = "invariant:deliv-is-column-of-sent"

SOURCE = Source(
    name="matrix",
    citation="L. Kuper: An example run of a matrix-based causal unicast protocol, on M. Raynal, "
    "A. Schiper, S. Toueg: The causal ordering abstraction and a simple way to implement it, 1991",
    claims=(
        Claim(
            "matrix-alice-bob-carol",
            "The first example",
            "Bob's message may overtake Alice's on its way to Carol; the protocol does not let it.",
            (
                violated("fifo", CAUSAL, (3, 2), workload=ALICE_BOB_CAROL),
                holds("rst", (3, 2), workload=ALICE_BOB_CAROL, quick=None),
            ),
        ),
        Claim(
            "matrix-holds",
            "The protocol",
            "Messages are delivered in causal order, and all of them are.",
            (holds("rst"), holds("rst", (4, 1))),
        ),
        Claim(
            "matrix-endless",
            "The protocol, where applications never stop",
            "Messages are delivered in causal order, and all of them are.",
            (
                holds("rst", (3, 1), workload="endless:1"),
                holds("rst", (3, 1), workload="endless:2:[[1,2],[2],[0]]", quick=None),
            ),
            "For every number of messages, of which each actor has at most one, or two, "
            "undelivered: what everybody has passed is subtracted from the counters "
            "(docs/liveness.md).",
        ),
        Claim(
            "matrix-footnote-1",
            "Footnote 1",
            "A protocol for causal broadcast is safe for messages to one receiver, but not live.",
            (
                holds("cbcast", (3, 1), workload="broadcast", quick=None),
                holds("cbcast", (3, 1), properties=SAFETY, quick=None),
                violated("cbcast", DELIVERED, (3, 1)),
            ),
        ),
        Claim(
            "matrix-loss",
            "Getting started, the caveat",
            "Where messages may be lost the protocol is safe, but need not be live.",
            (
                holds("rst", (3, 2), network="lossy", properties=SAFETY, quick=(2, 2)),
                violated("rst", DELIVERED, (2, 1), network="lossy:1"),
            ),
        ),
        Claim(
            "matrix-whole-matrix",
            "Why the whole matrix is sent",
            "The receiver's column of the matrix alone is not enough.",
            (
                violated("rst-column", CAUSAL, (3, 2), workload=ALICE_BOB_CAROL),
                exactly(9, "packet_integers", "rst", (3, 1)),
            ),
        ),
        Claim(
            "matrix-step-2",
            "After delivering a message, step 2",
            "The receiver has to count the message it delivers, for the sender attached its matrix "
            "before it did.",
            (
                violated("rst-no-step-2", DELIVERED, (3, 2), quick=(3, 1)),
                violated("rst-no-step-2", CAUSAL, (3, 2), quick=(3, 1)),
            ),
            "While DELIV is kept nothing goes wrong without step 2 within these bounds: what an "
            "actor tells of messages to itself was delivered there.",
        ),
        Claim(
            "matrix-deliv",
            "Question: is DELIV redundant?",
            "DELIV_i always equals column i of SENT_i, so that it may be left out.",
            (
                holds("rst-ghost-deliv", properties=(COLUMN,)),
                holds("rst", properties=(COLUMN,)),
                holds("rst-no-deliv"),
            ),
        ),
        Claim(
            "matrix-deliv-self",
            "The same question, with messages to oneself",
            "Our question: DELIV may not be left out where actors send to themselves.",
            (violated("rst-no-deliv", CAUSAL, (2, 2), workload="self"),),
            "The source does not speak of such messages.",
        ),
        Claim(
            "matrix-self",
            "After delivering a message, with messages to oneself",
            "Our question: the published steps are not right where actors send to themselves.",
            (violated("rst", DELIVERED, (2, 2), workload="self"),),
            "The source does not speak of such messages. Sender and receiver both count them, in "
            "the same matrix; `rst-self` counts them once, and holds.",
        ),
        Claim(
            "matrix-before",
            "Discussion, the hunch",
            "One may increment before sending, check for one greater, and drop step 2.",
            (holds("rst-before"), holds("rst-before", (4, 1))),
        ),
    ),
)
