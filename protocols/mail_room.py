"""The mail room of protocols that deliver at the receiver: what arrived too early waits there.

If one receive makes several messages deliverable, they are concurrent; those of the sender just
received from come first, then the others in the order of the room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from antecede import Message


class Carrier(Protocol):
    """A packet with a message."""

    @property
    def message(self) -> Message:
        """What the application sent."""


P = TypeVar("P", bound=Carrier)
S = TypeVar("S")


@frozen
class Held(Generic[P]):
    """A packet that was received from `src` and waits."""

    src: int
    packet: P


def released(
    state: S,
    waiting: tuple[Held[P], ...],
    src: int,
    deliverable: Callable[[S, Held[P]], bool],
    after_delivery: Callable[[S, Held[P]], S],
) -> tuple[S, tuple[Held[P], ...], tuple[Message, ...]]:
    """Deliver what waits, for as long as something is deliverable.

    Args:
        state: of the receiver.
        waiting: the mail room, with what was just received.
        src: from whom.
        deliverable: (state, what waits) -> may it be delivered now?
        after_delivery: (state, what was delivered) -> state.

    Returns:
        The state, what still waits, and the deliveries in their order.
    """
    deliveries: list[Message] = []
    while ready := [held for held in waiting if deliverable(state, held)]:
        first = min(ready, key=lambda held: held.src != src)
        waiting = tuple(held for held in waiting if held != first)
        state = after_delivery(state, first)
        deliveries.append(first.packet.message)
    return state, waiting, tuple(deliveries)
