"""Cykas whose receivers acknowledge YCTs, too.

Section 2.1 of the Cykas paper says that a process acknowledges every message; its Algorithm 5 does
not acknowledge a YCT. With these acknowledgements, an ACK of a YCT is taken for the ACK of a later
message. Free choice with 3 actors and 3 messages each does not reveal this; a script with 4 messages
does.
"""

from __future__ import annotations

from antecede.checker.model import Protocol, Step
from antecede.protocols import cykas


def receive(state: cykas.Cykas, src: int, packet: cykas.Packet) -> Step:
    """Receive as Cykas does, and acknowledge a YCT."""
    step = cykas.receive(state, src, packet)
    if isinstance(packet, cykas.Yct):
        return Step(step.state, sends=((src, cykas.Ack()), *step.sends), deliveries=step.deliveries)
    return step


YCT_ACKED = Protocol(
    name="cykas-yct-acked",
    summary="Cykas that also acknowledges YCTs",
    source="Cykas paper, section 2.1",
    initial=cykas.initial,
    causal_send=cykas.application_send,
    receive=receive,
)
