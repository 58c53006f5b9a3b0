"""Cykas that acknowledges YCTs by the same ACK, as section 2.1 of the Cykas paper can be read.

Section 2.1 has an ACK for every type of message that it lists before, and a YCT is one of them. In
Algorithm 5 the receiver of a YCT sends no ACK. Violates causal delivery: the ACK of a YCT clears
UNACK while a later message to the same receiver is in flight. Everything else is as in
`protocols.cykas`.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Packet, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import CYKAS, Ack, Cykas, Yct


def receive(state: Cykas, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5, with an ACK of every YCT."""
    step = cykas.receive(state, src, packet)
    if isinstance(packet, Yct):
        return evolve(step, sends=((src, Ack()), *step.sends))  # the bug: section 2.1
    return step


CYKAS_YCT_ACKED = evolve(
    CYKAS,
    name="cykas-yct-acked",
    summary="cykas that acknowledges YCTs by the same ACK (broken)",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1",
    receive=receive,
)
