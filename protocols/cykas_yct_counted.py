"""A repair of `cykas-yct-acked`: a YCT, too, is unacknowledged until its ACK comes.

A process sends nothing to a receiver while a message or a YCT to it is unacknowledged, so an ACK
can only be of one packet. Everything else is as in `protocols.cykas_yct_acked`.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Packet, Step
from antecede.checker.model import with_item
from antecede.protocols import cykas, cykas_yct_acked
from antecede.protocols.cykas import CYKAS, Ack, Cykas, Sends, Yct


def receive(state: Cykas, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5, with an ACK of every YCT."""
    if isinstance(packet, Ack):
        return receive_ack(state, src)
    return cykas_yct_acked.receive(state, src, packet)


def receive_ack(state: Cykas, i: int) -> Step:
    """Algorithm 4, with one YCT per receiver at a time."""
    state = cykas.acknowledged(state, i)
    ycts: Sends = ()
    for receiver, queue in enumerate(state.EAGER_SENT):
        if queue and not any(queue[0]) and not state.UNACK[receiver]:
            ycts += ((receiver, Yct()),)
            queues = with_item(state.EAGER_SENT, receiver, queue[1:])
            unack = with_item(state.UNACK, receiver, True)  # repair: a YCT sets UNACK
            state = evolve(state, UNACK=unack, EAGER_SENT=queues)
    state, sends = cykas.try_send_message(state)
    return Step(state, ycts + sends)


CYKAS_YCT_COUNTED = evolve(
    CYKAS,
    name="cykas-yct-counted",
    summary="cykas that acknowledges YCTs; a YCT sets UNACK",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1, repaired",
    receive=receive,
)
