"""The claims of Mattern and Fünfrocken."""

from __future__ import annotations

from antecede.checker.claims.claim import (
    Claim,
    Source,
    Unchecked,
    at_most,
    at_rest,
    control_packets,
    exactly,
    holds,
    proved,
    violated,
)

CAUSAL, DELIVERED = "causal-delivery", "all-delivered"
PROGRAM = (
    'reaction:[{"name":"x","from":0,"to":[2]},{"name":"y","from":0,"to":[1]},'
    '{"name":"z","from":1,"to":[2],"after":["y"]}]'
)
"""The first program of section 4.1."""

SOURCE = Source(
    name="mf",
    citation="F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order "
    "Message Delivery, 1995",
    remark="Selective receive statements (section 4.2) are no part of the model.",
    claims=(
        Claim(
            "mf-proposition-1",
            "Proposition 1",
            "Every computation that the protocol drives is causally ordered.",
            (holds("mfss", (3, 3), properties=(CAUSAL,)), holds("mfss", (2, 3), quick=None)),
            proved("mfss"),
        ),
        Claim(
            "mf-lemma-2",
            "Lemma 2",
            "Of two messages of a sender, the one posted first gets to its input buffer first: the "
            "next is posted when the one before is acknowledged.",
            (
                holds("mfss", properties=("invariant:one-unacknowledged",)),
                exactly(1, "messages_per_sender", "mfss", (3, 2)),
            ),
        ),
        Claim(
            "mf-lemma-3",
            "Lemma 3",
            "A sender's messages get to their input buffers in the order of their sends, whoever "
            "the receivers are.",
            (
                at_most(0, "overtaken", "mfss"),
                holds("mfss", properties=("invariant:buffer-in-sending-order",)),
            ),
        ),
        Claim(
            "mf-lemma-4",
            "Lemma 4",
            "What gets to an input buffer first is received first.",
            (
                Unchecked(
                    "the input buffer is not modelled: a message is delivered as it arrives, which "
                    "takes the lemma for granted"
                ),
            ),
        ),
        Claim(
            "mf-liveness",
            "Section 3.3, liveness",
            "Every message is delivered in the end; only a missing acknowledgement holds one back.",
            (
                holds("mfss", (3, 3), properties=(DELIVERED,)),
                at_rest("mfss", "sent", "acknowledged"),
                holds("mfss", properties=("invariant:buffer-waits-for-an-ack",)),
            ),
        ),
        Claim(
            "mf-endless",
            "Proposition 1 and section 3.3, where applications never stop",
            "Every computation is causally ordered, and no post is delayed for ever.",
            (
                holds(
                    "mfss",
                    (3, 1),
                    quick=(2, 1),
                    properties=("causal-delivery", "integrity"),
                    workload="endless:2",
                ),
                holds("mfss", (3, 1), properties=("no-starvation",), workload="endless:1"),
            ),
            "For every number of messages, of which each process has at most two, or one, "
            "undelivered. Events are scheduled fairly, as the section assumes.",
        ),
        Claim(
            "mf-reliable",
            "Section 3.2, the assumption",
            "Liveness needs reliable messages.",
            (violated("mfss", DELIVERED, (2, 1), network="lossy:1"),),
        ),
        Claim(
            "mf-footnote-4",
            "Footnote 4",
            "If the transport keeps the order, only messages to different receivers need to wait.",
            (holds("mfss-fifo", network="fifo"),),
        ),
        Claim(
            "mf-footnote-4-order",
            "Footnote 4, the condition",
            "It is needed that the transport keeps the order.",
            (violated("mfss-fifo", CAUSAL, (2, 2), network="unordered"),),
        ),
        Claim(
            "mf-control",
            "Abstract and section 3",
            "No control data is piggybacked; there are acknowledgements, one per message.",
            (
                at_most(0, "packet_integers", "mfss"),
                control_packets("mfss", "Ack"),
                exactly(1, "control_packets", "mfss", (3, 2)),
            ),
        ),
        Claim(
            "mf-4-1",
            "Section 4.1, Figures 4 to 6",
            "On a general network the first program has a run that is not causally ordered; the "
            "matrix protocol and the buffer protocol rule it out.",
            (
                violated("unordered", CAUSAL, (3, 2), workload=PROGRAM),
                holds("rst", (3, 2), workload=PROGRAM, quick=None),
                holds("mfss", (3, 2), workload=PROGRAM, quick=None),
            ),
        ),
    ),
)
