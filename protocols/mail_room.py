"""The mail room of receiver-side protocols, where packets wait that arrived too early.

If one receive makes several messages deliverable, they are concurrent. Messages from the sender of
the received packet come first, then the others in the order of the room.
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
        """The application's message."""


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
    """Deliver waiting packets for as long as one is deliverable.

    Args:
        state: the receiver's state.
        waiting: the mail room, including the packet just received.
        src: the sender of this packet.
        deliverable: (state, waiting packet) -> whether it may be delivered now.
        after_delivery: (state, delivered packet) -> next state.

    Returns:
        The state, the packets that still wait, and the deliveries in their order.
    """
    deliveries: list[Message] = []
    while ready := [held for held in waiting if deliverable(state, held)]:
        first = min(ready, key=lambda held: held.src != src)
        waiting = tuple(held for held in waiting if held != first)
        state = after_delivery(state, first)
        deliveries.append(first.packet.message)
    return state, waiting, tuple(deliveries)
