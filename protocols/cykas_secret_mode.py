"""Cykas with secret-mode sends, the variant that section 2.3 of the Cykas paper warns of.

In secret mode a process may send to the sender of its most recently delivered Eager Send, and to
nobody else. Violates causal delivery: Figure 3 and the second row of Table 1. All else as in
`protocols.cykas`.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Packet, Protocol, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import Cykas, Eager


@frozen
class CykasSecretMode(Cykas):
    """Section 2.2.1, and the sender of the most recently delivered Eager Send in secret mode."""

    confidant: int | None = None


def initial(actor: int, actors: int) -> CykasSecretMode:
    """Section 2.2.1: as in Cykas."""
    start = cykas.initial(actor, actors)
    return CykasSecretMode(start.UNACK, start.EAGER_SENT)


def may_send(state: Cykas, receiver: int) -> bool:
    """Algorithm 2, line 2, relaxed as in section 2.3."""
    assert isinstance(state, CykasSecretMode)
    return state.MODE == 0 or receiver == state.confidant  # the bug of section 2.3


def application_send(state: CykasSecretMode, message: Message) -> Step:
    """Algorithm 1."""
    return cykas.application_send(state, message, may_send)


def receive(state: CykasSecretMode, src: int, packet: Packet) -> Step:
    """Algorithms 3, 4 and 5; a YCT that ends secret mode ends the confidence too."""
    if isinstance(packet, Eager):
        state = evolve(state, confidant=src)
    step = cykas.receive(state, src, packet, may_send)
    if step.state.MODE == 0:
        return evolve(step, state=evolve(step.state, confidant=None))
    return step


CYKAS_SECRET_MODE = Protocol(
    name="cykas-secret-mode",
    summary="cykas that may send to its latest eager sender in secret mode (broken)",
    source="Cykas paper, section 2.3, Figure 3, Table 1 row 2",
    initial=initial,
    causal_send=application_send,
    receive=receive,
    invariants=cykas.INVARIANTS,
    at_rest=cykas.AT_REST,
    witnesses=cykas.WITNESSES,
)
