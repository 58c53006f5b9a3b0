"""Cykas with secret-mode sends, a variant against which section 2.3 of the Cykas paper warns.

In secret mode a process may send only to the sender of its most recently delivered Eager Send.
Violates causal delivery: Figure 3 and the second row of Table 1. Everything else is as in
`protocols.cykas`.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Packet, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import CYKAS, Cykas, Eager


@frozen
class CykasSecretMode(Cykas):
    """Section 2.2.1, and the sender of the most recently delivered Eager Send in secret mode."""

    confidant: int | None = None

    def may_send(self, receiver: int) -> bool:
        """Algorithm 2, line 2, relaxed as in section 2.3."""
        return super().may_send(receiver) or receiver == self.confidant  # the bug of section 2.3


def initial(actor: int, actors: int) -> CykasSecretMode:
    """Section 2.2.1: as in Cykas."""
    start = cykas.initial(actor, actors)
    return CykasSecretMode(start.UNACK, start.EAGER_SENT)


def receive(state: CykasSecretMode, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5; a YCT that ends secret mode ends the confidence too."""
    if isinstance(packet, Eager):
        state = evolve(state, confidant=src)
    step = cykas.receive(state, src, packet)
    if step.state.MODE == 0:
        return evolve(step, state=evolve(step.state, confidant=None))
    return step


CYKAS_SECRET_MODE = evolve(
    CYKAS,
    name="cykas-secret-mode",
    summary="cykas that may send to its latest eager sender in secret mode (broken)",
    source="Cykas paper, section 2.3, Figure 3, Table 1 row 2",
    initial=initial,
    receive=receive,
)
