"""Cykas whose receivers acknowledge YCTs, too.

Section 2.1 of the Cykas paper says that a process acknowledges every message, but its Algorithm 5
sends no ACK of a YCT. With such an ACK, a sender can take the ACK of a YCT for the ACK of a later
message. Free choice of 3 messages for each of 3 actors does not reveal this bug. A script with 4
messages reveals it.
"""

from __future__ import annotations

from antecede.checker.model import Packet, Protocol, Step
from antecede.protocols import cykas


def receive(state: cykas.Cykas, src: int, packet: Packet) -> Step:
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
