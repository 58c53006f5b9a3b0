"""MFSS on a network that does not reorder: messages to the same receiver need not wait.

Footnote 4 of Mattern and Fünfrocken 1995 (see `protocols.mfss`, whose packets it uses): if the
transport layer keeps the order, the output buffer waits for acknowledgements only between two
messages to different receivers.

Differences: as in `protocols.mfss`. For unacknowledged messages, only their number and their
receiver are kept, because all of them have the same receiver.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Packet, Protocol, Step
from antecede.protocols.mfss import Ack
from antecede.protocols.unordered import Data


@frozen
class MfssFifo:
    """The output buffer OB, and the number and the receiver of the unacknowledged messages."""

    OB: tuple[Message, ...] = ()
    unacknowledged: int = 0
    receiver: int | None = None


def initial(_actor: int, _actors: int) -> MfssFifo:
    """Return an empty output buffer."""
    return MfssFifo()


def causal_send(state: MfssFifo, message: Message) -> Step:
    """Section 3.2, insert-request: enqueue m in the output buffer, post if possible."""
    return _post(evolve(state, OB=(*state.OB, message)))


def receive(state: MfssFifo, src: int, packet: Data | Ack) -> Step:
    """Section 3.2: acknowledge and deliver a message; on an acknowledgement, try to post."""
    if isinstance(packet, Data):
        return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))
    if src != state.receiver:
        return Step(state)
    left = state.unacknowledged - 1
    return _post(evolve(state, unacknowledged=left, receiver=state.receiver if left else None))


def _post(state: MfssFifo) -> Step:
    """Section 3.2, posting messages: post while all unacknowledged ones have the same receiver."""
    sends: list[tuple[int, Packet]] = []
    while state.OB and state.receiver in (None, state.OB[0].receiver):  # the variant: footnote 4
        head, *rest = state.OB
        sends.append((head.receiver, Data(head)))
        state = MfssFifo(tuple(rest), state.unacknowledged + 1, head.receiver)
    return Step(state, sends=tuple(sends))


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def buffer_waits_for_another_receiver(state: MfssFifo) -> bool:
    """Footnote 4: a message waits only for acknowledgements from another receiver."""
    return not state.OB or state.receiver not in (None, state.OB[0].receiver)


def receiver_is_of_the_unacknowledged(state: MfssFifo) -> bool:
    """Footnote 4: there is a receiver if and only if some message is unacknowledged."""
    return (state.receiver is not None) == (state.unacknowledged > 0)


MFSS_FIFO = Protocol(
    name="mfss-fifo",
    summary="mfss where messages to the same receiver need not wait; for FIFO networks",
    source="Mattern and Fünfrocken 1995, footnote 4",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    network="fifo",
    invariants={
        "buffer-waits-for-another-receiver": buffer_waits_for_another_receiver,
        "receiver-of-the-unacknowledged": receiver_is_of_the_unacknowledged,
    },
    witnesses={
        "waited": lambda state: bool(state.OB),
        "pipelined": lambda state: state.unacknowledged > 1,
    },
    measures={"unacknowledged": lambda state: state.unacknowledged},
)
