"""Cykas with a ghost bit that records a YCT sent before UNACK is all zeroes.

The proof of Proposition 3.1 in the Cykas paper says that no process sends such a YCT. The invariant
`yct-after-all-acks` says the same, and it is violated: Algorithm 4 compares a YCT with the bit
vector of its Eager Send, which has no bits of later messages. The conclusion of the proof stands,
because the message of the proof is earlier than the Eager Send, so its bit is in the bit vector.
The ghost bit decides nothing. Everything else is as in `protocols.cykas`.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Packet, Protocol, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import Ack, Cykas, Yct


@frozen
class CykasGhostYct(Cykas):
    """Section 2.2.1, and whether a YCT was sent while a bit of UNACK was set."""

    told_early: bool = False


def initial(actor: int, actors: int) -> CykasGhostYct:
    """Section 2.2.1: as in Cykas."""
    start = cykas.initial(actor, actors)
    return CykasGhostYct(start.UNACK, start.EAGER_SENT)


def receive(state: CykasGhostYct, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5; Algorithm 4 is the only one that sends a YCT."""
    step = cykas.receive(state, src, packet)
    tells = any(isinstance(sent, Yct) for _, sent in step.sends)
    if isinstance(packet, Ack) and tells and any(cykas.acknowledged(state, src).UNACK):
        return evolve(step, state=evolve(step.state, told_early=True))
    return step


# The algorithms end here. Below: the invariant for the checker.

CYKAS_GHOST_YCT = Protocol(
    name="cykas-ghost-yct",
    summary="cykas with a bit beside it for a YCT that is sent before all ACKs have arrived",
    source="Cykas paper, the proof of Proposition 3.1",
    initial=initial,
    causal_send=cykas.application_send,
    receive=receive,
    invariants={"yct-after-all-acks": lambda state: not state.told_early},
)
