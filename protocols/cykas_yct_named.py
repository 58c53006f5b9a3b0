"""A repair of `cykas-yct-acked`: an ACK names what it acknowledges.

The ACK of a YCT is a packet of its own, which does not clear UNACK. Everything else is as in
`protocols.cykas`.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Packet, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import CYKAS, Cykas, Yct


@frozen
class YctAck:
    """Acknowledges a YCT."""


def receive(state: Cykas, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5, with a YctAck of every YCT."""
    if isinstance(packet, YctAck):
        return Step(state)  # repair: UNACK waits for the ACK of a message
    step = cykas.receive(state, src, packet)
    if isinstance(packet, Yct):
        return evolve(step, sends=((src, YctAck()), *step.sends))
    return step


CYKAS_YCT_NAMED = evolve(
    CYKAS,
    name="cykas-yct-named",
    summary="cykas that acknowledges YCTs by another packet",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1, repaired",
    receive=receive,
)
