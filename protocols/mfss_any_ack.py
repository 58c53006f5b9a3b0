"""MFSS that takes an acknowledgement from any actor: on reliable networks, the same protocol.

The protocol of Mattern and Fünfrocken (see `protocols.mfss`) waits for an acknowledgement from the
receiver of the posted message. On a network that never duplicates packets, no other one arrives, so
an implementation may be tempted to count acknowledgements and to ignore where they come from. On a
network that duplicates packets, a second copy of an ACK from one receiver then ends the wait for
another one.

Differences: as in `protocols.mfss`, and an ACK from any actor ends the wait.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Protocol, Step
from antecede.protocols.mfss import MFSS, Ack, Mfss, receive
from antecede.protocols.unordered import Data


def receive_any(state: Mfss, src: int, packet: Data | Ack) -> Step:
    """As in `mfss`, but an acknowledgement counts as the one that OB waits for."""
    if isinstance(packet, Ack) and state.unacknowledged:
        src = state.unacknowledged[0]  # the variant: section 3.2 waits for IB_j
    return receive(state, src, packet)


MFSS_ANY_ACK: Protocol = evolve(
    MFSS,
    name="mfss-any-ack",
    summary="mfss that takes an acknowledgement from any actor",
    receive=receive_any,
)
