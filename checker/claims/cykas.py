"""The claims of the Cykas paper."""

from __future__ import annotations

from antecede.checker.claims.claim import (
    Claim,
    Source,
    at_most,
    at_rest,
    exactly,
    holds,
    proved,
    reaches,
    violated,
)

CAUSAL, DELIVERED = "causal-delivery", "all-delivered"
FIGURE_1 = "script:[[2,1],[2],[]]"
FIGURE_3 = "script:[[1,2],[0,2],[0]]"

SOURCE = Source(
    name="cykas",
    citation="Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for "
    "sender-side enforcement of causal message delivery",
    remark="`antecede table` compares the counts and times of Table 1, and `antecede simulate` the "
    "times of sections 5.1 to 5.4.",
    claims=(
        Claim(
            "cykas-figure-1",
            "Figure 1, left",
            "Order per sender and receiver is not causal order: a message by way of a third actor "
            "overtakes.",
            (violated("fifo", CAUSAL, (3, 2), workload=FIGURE_1),),
        ),
        Claim(
            "cykas-table-1-mfss",
            "Table 1, MFSS",
            "MFSS is correct.",
            (holds("mfss", (3, 3)),),
        ),
        Claim(
            "cykas-table-1-secret-mode",
            "Table 1, Cykas with secret-mode sends",
            "Cykas that may answer in secret mode is not correct.",
            (violated("cykas-secret-mode", CAUSAL, (3, 3), quick=(3, 2)),),
        ),
        Claim(
            "cykas-table-1-cykas",
            "Table 1, Cykas",
            "Cykas is correct.",
            (holds("cykas", (3, 3)),),
        ),
        Claim(
            "cykas-2-1-mfss",
            "Section 2.1",
            "MFSS waits for the acknowledgement of each message before it sends the next one.",
            (
                holds("mfss", properties=("invariant:one-unacknowledged",)),
                exactly(1, "messages_per_sender", "mfss", (3, 2)),
            ),
        ),
        Claim(
            "cykas-2-1-eager",
            "Section 2.1, Figure 2, right",
            "Cykas may deliver a message before an earlier one of its sender to somebody else; "
            "MFSS does not.",
            (
                reaches(1, "overtaken", "cykas", (3, 2), workload="script:[[2,1],[2],[]]"),
                at_most(0, "overtaken", "mfss"),
            ),
        ),
        Claim(
            "cykas-2-3",
            "Section 2.3, Figure 3",
            "To answer the latest eager sender in secret mode breaks causal delivery, in the run "
            "of Figure 3.",
            (violated("cykas-secret-mode", CAUSAL, (3, 2), workload=FIGURE_3),),
        ),
        Claim(
            "cykas-metadata",
            "Sections 1 and 5.2",
            "Sender-side messages carry no control data; those of the matrix protocol carry n².",
            (
                at_most(0, "packet_integers", "mfss"),
                at_most(0, "packet_integers", "cykas", quick=(3, 1)),
                exactly(9, "packet_integers", "rst", (3, 1)),
            ),
        ),
        Claim(
            "cykas-3-1",
            "Proposition 3.1",
            "Every run of Cykas delivers in causal order.",
            (holds("cykas", (3, 3), properties=(CAUSAL,)),),
            proved("cykas"),
        ),
        Claim(
            "cykas-3-1-aspects",
            "Proposition 3.1, the two aspects of the proof",
            "Beside an unacknowledged message only eager sends go out, none to its receiver, and "
            "each waits for what was unacknowledged.",
            (
                holds(
                    "cykas",
                    properties=(
                        "invariant:one-unacknowledged-per-receiver",
                        "invariant:eager-sends-wait-for-unacknowledged",
                    ),
                ),
            ),
        ),
        Claim(
            "cykas-3-2",
            "Proposition 3.2",
            "Every message in an output buffer is sent in the end, and waits only for an ACK of "
            "its receiver or for a YCT.",
            (
                at_rest("cykas", "sent"),
                holds("cykas", properties=("invariant:buffer-waits-for-ack-or-yct",)),
                holds("cykas", (3, 3), properties=(DELIVERED,)),
            ),
            "For finite workloads; the next claim is about those without end.",
        ),
        Claim(
            "cykas-3-2-endless",
            "Proposition 3.2, where applications never stop",
            "Every message in an output buffer is sent in the end.",
            (
                holds(
                    "cykas",
                    (3, 1),
                    properties=("no-starvation",),
                    workload="endless:1:[[1,2],[2],[0]]",
                ),
            ),
            "Later eager sends can keep its sender in secret mode, again and again.",
        ),
        Claim(
            "cykas-3-2-as-printed",
            "Proposition 3.2, for Algorithm 4 as printed",
            "Every message in an output buffer is sent in the end.",
            (holds("cykas-as-printed", (2, 2), properties=(DELIVERED,), quick=None),),
            "Line 8 stands inside the loop over EAGER_SENT: where that is empty, an ACK never "
            "frees the buffer. All other claims here are about line 8 after the loop.",
        ),
        Claim(
            "cykas-3-3",
            "Lemma 3.3",
            "Every bit of UNACK is 0 in the end.",
            (at_rest("cykas", "acknowledged"),),
            "For finite workloads.",
        ),
        Claim(
            "cykas-3-4",
            "Lemma 3.4",
            "Every Eager Send is followed by its YCT, as soon as the ACKs allow.",
            (
                at_rest("cykas", "told"),
                holds("cykas", properties=("invariant:eager-sends-told-at-once",)),
            ),
            "For finite workloads.",
        ),
        Claim(
            "cykas-3-5",
            "Lemma 3.5",
            "MODE is 0 in the end, and never negative.",
            (
                at_rest("cykas", "normal-mode"),
                holds("cykas", properties=("invariant:mode-counts",)),
            ),
            "For finite workloads; the next claim is about those without end.",
        ),
        Claim(
            "cykas-3-5-endless",
            "Lemma 3.5, where applications never stop",
            "MODE is 0 in the end.",
            (
                holds(
                    "cykas",
                    (3, 1),
                    properties=("no-starvation",),
                    workload="endless:1:[[1,2],[2],[0]]",
                ),
            ),
            "Carol sends one message in that run, so that nothing but MODE can hold it back.",
        ),
        Claim(
            "cykas-reliable",
            "Section 3.2, the assumption",
            "Liveness needs a reliable network.",
            (violated("cykas", DELIVERED, (2, 1), network="lossy:1"),),
        ),
    ),
)
