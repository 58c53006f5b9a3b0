"""The hybrid paper's claims: its Table 1, and what it says of its own algorithms."""

from __future__ import annotations

from antecede.checker.claims.claim import (
    Claim,
    Source,
    comes_to,
    control_packets,
    holds,
    never_exceeds,
    proved,
    violated,
)
from antecede.checker.claims.hybrid_table import (
    CAUSAL,
    DELIVERED,
    RECOVERS,
    SAFETY,
    TABLE_1,
    WHATEVER_WAS_LOST,
)
from antecede.checker.search.options import Bounds

TWO_BUSY = "endless:1:[[1,2],[0,2],[0]]"
"""Alice and Bob go on sending to each other and to Carol; Carol wants to send to Alice."""

ONE_SENDS = "endless:1:[[1,2],[],[]]"
"""Alice alone sends, and goes on; each message is delivered before she causal-sends the next."""

OWN = (
    Claim(
        "hybrid-newtop-null",
        "Table 1, footnote 2",
        "Null messages of processes that are idle make Newtop live.",
        (
            holds("newtop-null", (3, 1), network="fifo", quick=(2, 2)),
            control_packets("newtop-null", "Null", size=(2, 2), network="fifo"),
        ),
    ),
    Claim(
        "hybrid-cykas-starvation",
        "Section 4.3, the liveness problem of Cykas",
        "Two processes that go on sending eagerly to a third, and take turns, keep it in secret "
        "mode for ever, even where channels keep their order.",
        (
            violated(
                "cykas",
                "no-starvation",
                network="fifo",
                workload=TWO_BUSY,
                bound=("mode=3", "eager-sent=2"),
            ),
        ),
        "Each also sends to the other, so that an ACK is always missing. The bounds keep the "
        "search small; a lasso within them is a run of the whole.",
    ),
    Claim(
        "hybrid-cykas-space",
        "Section 4.3, third weak point of Cykas",
        "What a Cykas process keeps for its eager sends grows with the number of its receivers: a "
        "bit vector for each.",
        (never_exceeds(2, "eager-sent", "cykas", network="fifo", workload=ONE_SENDS),),
        "Read as a bound for runs of any length: there is a vector for each eager send whose YCT "
        "is due (Cykas paper, section 2.2.1), so while one ACK is late there is one more with "
        "every message to another receiver, though each was delivered before the next.",
    ),
    Claim(
        "hybrid-cykas-yct",
        "Section 4.3, second weak point of Cykas",
        "A YCT that comes twice is counted twice, so Cykas does not suit a network that repeats.",
        (
            # Any packet that comes twice violates integrity; only a YCT takes MODE below 0.
            violated(
                "cykas",
                "invariant:mode-counts",
                network="duplicating",
                workload="script:[[1,2],[],[]]",
            ),
            violated("cykas", CAUSAL, (3, 2), network="duplicating", quick=(2, 3)),
        ),
    ),
    Claim(
        "hybrid-4-2",
        "Propositions 4.2 and 4.4, for Algorithms 1 and 2",
        "FIFO together with (C)SPS implies causal delivery.",
        (
            holds("hybrid-basic", (3, 1), properties=("fifo-delivery", *SAFETY)),
            holds("hybrid-sps", (3, 1), properties=("fifo-delivery", *SAFETY)),
            holds("hybrid-sps", (2, 2), properties=("fifo-delivery", *SAFETY), quick=None),
        ),
    ),
    Claim(
        "hybrid-5-1",
        "Proposition 5.1",
        "Algorithm 1 delivers each sender's messages to each receiver in order.",
        (
            holds("hybrid-basic", (2, 2), properties=("fifo-delivery",), quick=(2, 1)),
            holds(
                "hybrid-basic",
                (2, 2),
                network="duplicating+lossy",
                properties=("fifo-delivery",),
                quick=(2, 1),
            ),
        ),
    ),
    Claim(
        "hybrid-5-2",
        "Proposition 5.2",
        "A message waits for exactly the permits of what was delivered before its causal-send.",
        (
            holds(
                "hybrid-basic",
                (2, 2),
                properties=(
                    "invariant:waits-for-permits",
                    "invariant:permits-are-for-delivered",
                    "invariant:later-need-permits",
                ),
                quick=(2, 1),
            ),
            holds("hybrid-basic", (3, 1), properties=(CAUSAL,)),
        ),
    ),
    Claim(
        "hybrid-5-5",
        "Lemmas 5.3 and 5.4, Proposition 5.5",
        "Whatever was lost, everything can still be delivered.",
        (
            WHATEVER_WAS_LOST,
            holds("hybrid-basic", (3, 1), network="lossy:1", properties=RECOVERS, quick=(2, 1)),
        ),
        "From every state a way leads to where everything is delivered; that a fair network "
        "takes it is not checked.",
    ),
    Claim(
        "hybrid-5-3-window",
        "Section 5.5.2, the proof of Lemma 5.3",
        "A message stays in the unacked buffer until it and all earlier ones are acknowledged.",
        (
            comes_to(
                3,
                "unacked",
                "hybrid-basic",
                workload=ONE_SENDS,
                bounds=Bounds(max_states=2_000),
            ),
        ),
        "So the buffer is unbounded in a run without end: while the oldest ACK is late it grows "
        "with every message, though each was delivered before the next.",
    ),
    Claim(
        "hybrid-algorithm-1",
        "Algorithm 1, line 21, as printed",
        "Message ids may start at 0.",
        (holds("hybrid-basic-as-printed", (2, 1), quick=None),),
        "A last delivered id of 0 also stands for nothing delivered (line 25), so the first "
        "message is taken for a duplicate. All other claims here are about ids from 1.",
    ),
    Claim(
        "hybrid-retransmission",
        "Section 5.4, on lines 74 to 79",
        "Without retransmission a permit may be missing for ever.",
        (violated("hybrid-basic-no-timeout", DELIVERED, (2, 2), network="unordered"),),
        "Even on a network that loses nothing: a PERMIT that overtakes its message is dropped.",
    ),
    Claim(
        "hybrid-algorithm-2",
        "Section 5.6, Algorithm 2 as printed",
        "The indexes m1, m2 and u2 point into the unified buffer, as Figure 4 shows.",
        (
            holds(
                "hybrid-sps-as-printed",
                (2, 2),
                properties=("invariant:indexes-in-window",),
                quick=None,
            ),
        ),
        "Nothing printed advances m2 and u2 at a causal-send; the repaired algorithm does.",
    ),
    Claim(
        "hybrid-sps",
        "Section 5.6, Algorithm 2 repaired; the proof is left out there",
        "It holds, and sends as soon as SPS allows.",
        (
            holds("hybrid-sps", (3, 2)),
            holds("hybrid-sps", (2, 2), network="duplicating+lossy", quick=(2, 1)),
            holds("hybrid-sps", (3, 1), properties=("invariant:sends-what-sps-allows",)),
        ),
        proved("hybrid-sps", "That is the proof which the paper leaves out."),
    ),
    Claim(
        "hybrid-multicast-by-unicast",
        "Section 5.7",
        "A multicast cannot be simulated by messages to one receiver each.",
        (violated("hybrid-basic", CAUSAL, (3, 1), workload="broadcast"),),
    ),
    Claim(
        "hybrid-multicast",
        "Section 5.7, Algorithm 3",
        "The multicast algorithm delivers messages to sets of receivers in causal order.",
        (
            holds("hybrid-multicast", (2, 2), workload="multicast", quick=(2, 1)),
            holds(
                "hybrid-multicast",
                (2, 2),
                network="duplicating+lossy",
                workload="multicast",
                quick=(2, 1),
            ),
            holds("hybrid-multicast", (3, 1), workload="broadcast", quick=(2, 1)),
        ),
        proved("hybrid-multicast"),
    ),
)

SOURCE = Source(
    name="hybrid",
    citation="P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, "
    "Throughput-Scalable Causal Delivery through Hybrid Buffering",
    claims=(
        *TABLE_1,
        *OWN,
    ),
    remark="The rows of Table 1 on computation and latency are about time, which nothing here "
    "measures. Space is measured for two to four actors with one message each, and for two or "
    "three with two. What the table calls scalable is read as section 2.3.1 has it: several "
    "messages in transit between two processes.",
)
