"""The hybrid paper's Table 1, cell by cell."""

from __future__ import annotations

from typing import Any

from antecede.checker.claims.claim import (
    Cell,
    Claim,
    Evidence,
    at_most,
    control_packets,
    exactly,
    grows,
    holds,
    reaches,
    violated,
)

CAUSAL, INTEGRITY, DELIVERED = "causal-delivery", "integrity", "all-delivered"
SAFETY = (CAUSAL, INTEGRITY)
RECOVERS = (*SAFETY, "can-deliver")

ROWS = (
    "network: failures",
    "network: order",
    "space: message",
    "space: process",
    "throughput: pipelining",
    "throughput: in transit",
    "liveness",
    "extra control messages",
)
COLUMNS = ("RST", "KS", "Newtop", "MF", "Cykas", "this paper")

WHATEVER_WAS_LOST = holds(
    "hybrid-basic", (2, 1), network="duplicating+lossy", properties=RECOVERS, quick=None
)
"""Everything can still be delivered."""

TWO, THREE = "script:[[1,1],[]]", "script:[[1,1,1],[]]"
"""Messages from one actor to one other."""

ONE_BUSY = "endless:1:[[1,2],[2],[0]]"
"""Alice goes on sending to Bob and Carol; Carol wants to send to Alice."""


def cell(
    row: str, column: str, printed: str, text: str, *evidence: Evidence, note: str = ""
) -> Claim:
    """Return a claim that is a cell of Table 1."""
    key = f"hybrid-table-1-{row}-{column}".lower().replace(": ", "-").replace(" ", "-")
    return Claim(key, f"Table 1: {row}, {column}", text, evidence, note, Cell(row, column, printed))


FAILURES = (
    cell(
        ROWS[0],
        "RST",
        "reliable",
        "RST holds where nothing fails, and relies on it.",
        holds("rst"),
        violated("rst", DELIVERED, (2, 1), network="lossy:1"),
    ),
    cell(
        ROWS[0],
        "KS",
        "reliable",
        "KS holds where nothing fails, and relies on it.",
        holds("ks", network="fifo"),
        violated("ks", DELIVERED, (2, 1), network="fifo+lossy:1"),
    ),
    cell(
        ROWS[0],
        "Newtop",
        "reliable",
        "Newtop (with null messages) holds where nothing fails, and relies on it.",
        holds("newtop-null", (3, 1), network="fifo", quick=(2, 2)),
        violated("newtop-null", DELIVERED, (2, 1), network="fifo+lossy:1"),
    ),
    cell(
        ROWS[0],
        "MF",
        "any",
        "MF delivers in causal order, once, and everything, whatever the network loses or repeats.",
        holds("mfss", (2, 1), network="lossy:1", properties=RECOVERS, quick=None),
        holds("mfss", (2, 3), network="duplicating", properties=(CAUSAL,), quick=None),
        note="As its authors print it: they assume reliable messages (section 3.2), nothing is "
        "repeated after a loss, and acknowledgements are not told apart. With both added it may "
        "well be as the table says.",
    ),
    cell(
        ROWS[0],
        "Cykas",
        "reliable",
        "Cykas holds where nothing fails, and relies on it.",
        holds("cykas"),
        violated("cykas", DELIVERED, (2, 1), network="lossy:1"),
    ),
    cell(
        ROWS[0],
        "this paper",
        "any",
        "Algorithm 1 holds on a network that loses, repeats and reorders.",
        holds("hybrid-basic", (3, 1), network="duplicating+lossy", quick=(2, 1)),
        holds("hybrid-basic", (2, 2), network="duplicating+lossy", quick=(2, 1)),
        WHATEVER_WAS_LOST,
        note="Algorithm 1 with message ids from 1.",
    ),
)
ORDER = (
    cell(ROWS[1], "RST", "any", "RST holds whatever the order of reception.", holds("rst")),
    cell(
        ROWS[1],
        "KS",
        "FIFO",
        "KS holds on FIFO links.",
        holds("ks", network="fifo"),
        note="It holds on links of any order, too, with three actors and two messages each: "
        "specs/protocols/ks-unordered.toml.",
    ),
    cell(
        ROWS[1],
        "Newtop",
        "FIFO",
        "Newtop is safe on FIFO links, and relies on them.",
        holds("newtop", network="fifo", properties=SAFETY),
        violated("newtop", CAUSAL, (2, 2), network="unordered"),
    ),
    cell(ROWS[1], "MF", "any", "MF holds whatever the order of reception.", holds("mfss")),
    cell(ROWS[1], "Cykas", "any", "Cykas holds whatever the order of reception.", holds("cykas")),
    cell(
        ROWS[1],
        "this paper",
        "any",
        "Algorithm 1 holds whatever the order of reception.",
        holds("hybrid-basic", (3, 1)),
        holds("hybrid-basic", (2, 2), quick=(2, 1)),
        note="Three actors with two messages each do not fit the time this table is given.",
    ),
)
MESSAGE_SPACE = (
    cell(
        ROWS[2],
        "RST",
        "O(n²)",
        "A message of RST carries a matrix.",
        grows("packet_integers", "n²", "rst"),
        exactly(9, "packet_integers", "rst", (3, 1)),
    ),
    cell(
        ROWS[2],
        "KS",
        "O(n²)",
        "A message of KS carries at most of the order of n² integers.",
        grows("packet_integers", "n²", "ks", network="fifo"),
    ),
    cell(
        ROWS[2],
        "Newtop",
        "O(1)",
        "A message of Newtop carries a clock, whatever n is.",
        grows("packet_integers", "1", "newtop", network="fifo"),
    ),
    cell(
        ROWS[2],
        "MF",
        "O(1)",
        "A message of MF carries nothing, whatever n is.",
        at_most(0, "packet_integers", "mfss"),
        grows("packet_integers", "1", "mfss"),
    ),
    cell(
        ROWS[2],
        "Cykas",
        "O(1)",
        "A message of Cykas carries nothing but whether it is eager, whatever n is.",
        at_most(0, "packet_integers", "cykas", quick=(3, 1)),
        grows("packet_integers", "1", "cykas"),
        note="Eager and normal sends are two classes of packets here, so that truth value is not "
        "counted.",
    ),
    cell(
        ROWS[2],
        "this paper",
        "O(1)",
        "A message of Algorithm 1 carries a constant number of integers, whatever n is.",
        grows("packet_integers", "1", "hybrid-basic", factor=4),
        note="Receiver, message id, predecessor id and the flag; the paper says that the receiver "
        "need not travel (section 5.4).",
    ),
)


def keeps(
    law: str, protocol: str, *, sizes: tuple[int, ...] = (2, 3), **options: Any
) -> tuple[Evidence, Evidence]:
    """Claim what a process keeps: with a message each, and for fewer actors with two."""
    one = grows("state_integers", law, protocol, **options)
    return one, grows("state_integers", law, protocol, messages=2, sizes=sizes, **options)


PROCESS_SPACE = (
    cell(
        ROWS[3],
        "RST",
        "O(n²b)",
        "An RST process holds a matrix per message that waits, and its own.",
        *keeps("n²(b+1)", "rst", factor=2),
    ),
    cell(
        ROWS[3],
        "KS",
        "O(n²b)",
        "A KS process holds at most of the order of n² integers per message that waits.",
        *keeps("n²(b+1)", "ks", factor=3, network="fifo"),
    ),
    cell(
        ROWS[3],
        "Newtop",
        "O(n+b)",
        "A Newtop process holds a clock per process and one per message that waits.",
        *keeps("n+b", "newtop", factor=3, network="fifo"),
    ),
    cell(
        ROWS[3],
        "MF",
        "O(b)",
        "An MF process holds a constant beside the messages that wait.",
        *keeps("b+1", "mfss"),
    ),
    cell(
        ROWS[3],
        "Cykas",
        "O(no+b)",
        "A Cykas process holds a bit vector per receiver and the messages that wait.",
        *keeps("no+b", "cykas", factor=2),
    ),
    cell(
        ROWS[3],
        "this paper",
        "O(i+o+b+p+u)",
        "A process of Algorithm 1 holds a constant per peer, per message that waits or is "
        "unacknowledged, and per missing permit.",
        *keeps("i+o+b", "hybrid-basic", factor=5, sizes=(2,)),
        note="b counts the unacknowledged messages u here; missing permits p are not counted "
        "apart, which only makes the bound tighter.",
    ),
)
PIPELINING = (
    cell(
        ROWS[4],
        "RST",
        "yes",
        "RST has several messages in transit between two processes.",
        reaches(2, "messages_per_pair", "rst"),
    ),
    cell(
        ROWS[4],
        "KS",
        "yes",
        "KS has several messages in transit between two processes.",
        reaches(2, "messages_per_pair", "ks", network="fifo"),
    ),
    cell(
        ROWS[4],
        "Newtop",
        "yes",
        "Newtop has several messages in transit between two processes.",
        reaches(2, "messages_per_pair", "newtop", network="fifo"),
    ),
    cell(
        ROWS[4],
        "MF",
        "no",
        "MF never has two messages in transit between two processes.",
        at_most(1, "messages_per_pair", "mfss"),
    ),
    cell(
        ROWS[4],
        "Cykas",
        "no",
        "Cykas never has two messages in transit between two processes.",
        at_most(1, "messages_per_pair", "cykas"),
    ),
    cell(
        ROWS[4],
        "this paper",
        "yes",
        "Algorithm 1 has several messages in transit between two processes.",
        reaches(2, "messages_per_pair", "hybrid-basic", workload=TWO),
    ),
)


def sends_at_once(column: str, **system: Any) -> Claim:
    """Return the cell of a protocol that keeps nothing back at the sender."""
    protocol = column.lower()
    return cell(
        ROWS[5],
        column,
        "unlimited",
        f"{column} sends at once: all that an actor causal-sent may be in transit to one receiver.",
        reaches(2, "messages_per_pair", protocol, **system),
        reaches(3, "messages_per_pair", protocol, (2, 3), **system),
    )


IN_TRANSIT = (
    sends_at_once("RST"),
    sends_at_once("KS", network="fifo"),
    sends_at_once("Newtop", network="fifo"),
    cell(
        ROWS[5],
        "MF",
        "1",
        "MF has one message in transit per sender, and no more.",
        exactly(1, "messages_per_sender", "mfss", (3, 2)),
        holds("mfss", properties=("invariant:one-unacknowledged",)),
    ),
    cell(
        ROWS[5],
        "Cykas",
        "1/receiver",
        "Cykas has one message in transit per sender and receiver, and no more.",
        at_most(1, "messages_per_pair", "cykas"),
        reaches(2, "messages_per_sender", "cykas", (3, 2), workload="script:[[1,2],[],[]]"),
        holds("cykas", properties=("invariant:one-unacknowledged-per-receiver",)),
    ),
    cell(
        ROWS[5],
        "this paper",
        "unlimited",
        "Algorithm 1 sends at once, unless a permit is missing: all that an actor causal-sent may "
        "be in transit to one receiver.",
        reaches(2, "messages_per_pair", "hybrid-basic", workload=TWO),
        reaches(3, "messages_per_pair", "hybrid-basic", workload=THREE),
    ),
)
LIVENESS = (
    cell(ROWS[6], "RST", "yes", "RST delivers everything.", holds("rst")),
    cell(ROWS[6], "KS", "yes", "KS delivers everything.", holds("ks", network="fifo")),
    cell(
        ROWS[6],
        "Newtop",
        "no",
        "Newtop may wait for ever for a process that sends nothing.",
        violated("newtop", DELIVERED, network="fifo"),
    ),
    cell(
        ROWS[6],
        "MF",
        "yes",
        "MF delivers everything.",
        holds("mfss"),
        holds("mfss", (3, 1), properties=("no-starvation",), workload="endless:1"),
    ),
    cell(
        ROWS[6],
        "Cykas",
        "no",
        "Cykas may keep a message for ever, if others go on sending eagerly.",
        violated("cykas", "no-starvation", workload=ONE_BUSY),
        note="Two others, as the paper says, where channels keep their order; on channels that do "
        "not, one is enough: its next eager send arrives before the YCT of the one before.",
    ),
    cell(
        ROWS[6],
        "this paper",
        "yes",
        "Algorithm 1 delivers everything.",
        holds("hybrid-basic", (3, 1)),
        holds("hybrid-basic", (2, 2), quick=(2, 1)),
        WHATEVER_WAS_LOST,
    ),
)
CONTROL = (
    cell(ROWS[7], "RST", "no", "RST sends messages only.", control_packets("rst")),
    cell(ROWS[7], "KS", "no", "KS sends messages only.", control_packets("ks", network="fifo")),
    cell(
        ROWS[7],
        "Newtop",
        "no",
        "Newtop sends messages only.",
        control_packets("newtop", network="fifo"),
        note="Null messages (footnote 2) are another matter, below.",
    ),
    cell(ROWS[7], "MF", "ACK", "MF sends ACKs.", control_packets("mfss", "Ack")),
    cell(
        ROWS[7],
        "Cykas",
        "ACK,YCT",
        "Cykas sends ACKs and YCTs.",
        control_packets("cykas", "Ack", "Yct", size=(3, 2), workload="script:[[1,2],[2],[0]]"),
    ),
    cell(
        ROWS[7],
        "this paper",
        "ACK,PERMIT",
        "Algorithm 1 sends ACKs and PERMITs.",
        control_packets("hybrid-basic", "Ack", "Permit", size=(3, 1)),
    ),
)

TABLE_1 = (
    *FAILURES,
    *ORDER,
    *MESSAGE_SPACE,
    *PROCESS_SPACE,
    *PIPELINING,
    *IN_TRANSIT,
    *LIVENESS,
    *CONTROL,
)
