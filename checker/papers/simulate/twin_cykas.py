"""A twin of `cykas` for simulations of hundreds of actors: bit vectors as integers, in place.

EAGER_SENT has an entry only for receivers with waiting eager sends, and a bit vector is one
integer. So the cost of an ACK grows with the waiting sends, not with the square of the number of
actors. A test replays runs of `cykas` beside this twin and compares every packet.
"""

from __future__ import annotations

from collections import deque

from attrs import define, field, frozen

from antecede.checker.model import Message, Packet, Step
from antecede.checker.papers.simulate.encoding import Contents

Sends = list[tuple[int, Packet]]


@frozen
class Normal:
    """Normal Send."""

    message: Message


@frozen
class Eager:
    """Eager Send."""

    message: Message


@frozen
class Ack:
    """Acknowledgement of a Normal Send or an Eager Send."""


@frozen
class Yct:
    """You can tell."""


@define(eq=False)
class Sent:
    """Section 2.2.1: what a process knows of its own messages, under the paper's names."""

    UNACK: int = 0
    EAGER_SENT: dict[int, deque[int]] = field(factory=dict)


@define(eq=False)
class CykasState(Sent):
    """Section 2.2.1, local data structures, under the paper's names."""

    OB: deque[Message] = field(factory=deque)
    MODE: int = 0


def start(actors: int) -> list[CykasState]:
    """Section 2.2.1: empty buffers, nothing unacknowledged, normal mode."""
    return [CykasState() for _ in range(actors)]


def causal_send(state: CykasState, message: Message) -> Step:
    """Algorithm 1."""
    state.OB.append(message)
    return Step(state, tuple(try_send_message(state)))


def try_send_message(state: CykasState) -> Sends:
    """Algorithm 2: send from the head of OB as long as possible."""
    sends: Sends = []
    while state.OB and state.MODE == 0 and not state.UNACK >> state.OB[0].receiver & 1:
        sends.append(network_send(state, state.OB.popleft()))
    return sends


def network_send(state: Sent, m: Message) -> tuple[int, Packet]:
    """Algorithm 2, lines 9 to 16: send a message eagerly if any message is unacknowledged."""
    j = m.receiver
    packet: Packet = Normal(m)
    if state.UNACK:
        packet = Eager(m)
        state.EAGER_SENT.setdefault(j, deque()).append(state.UNACK)
    state.UNACK |= 1 << j
    return j, packet


def receive(state: CykasState, src: int, packet: Packet) -> Step:
    """Dispatch to Algorithms 3, 4 and 5."""
    if isinstance(packet, Ack):
        return Step(state, tuple(receive_ack(state, src)))
    if isinstance(packet, Yct):
        state.MODE -= 1  # Algorithm 5
        return Step(state, tuple(try_send_message(state)))
    state.MODE += isinstance(packet, Eager)  # Algorithm 3
    return Step(state, ((src, Ack()),), (packet.message,))


def receive_ack(state: CykasState, i: int) -> Sends:
    """Algorithm 4, with line 8 after the loop."""
    return acknowledged(state, i) + try_send_message(state)


def acknowledged(state: Sent, i: int) -> Sends:
    """Algorithm 4, lines 1 to 7: clear the bits of i, and return the YCTs."""
    others = ~(1 << i)
    state.UNACK &= others
    sends: Sends = []
    for es_receiver in sorted(state.EAGER_SENT):
        queue = deque(bitvec & others for bitvec in state.EAGER_SENT[es_receiver])
        while queue and not queue[0] and not state.UNACK >> es_receiver & 1:
            sends.append((es_receiver, Yct()))
            queue.popleft()
        if queue:
            state.EAGER_SENT[es_receiver] = queue
        else:
            del state.EAGER_SENT[es_receiver]
    return sends


def contents(packet: Packet) -> Contents:
    """Return the contents of a packet: a message, if any; no control data."""
    if isinstance(packet, Normal | Eager):
        return Contents((packet.message,), 0, 0)
    return _NOTHING


_NOTHING = Contents((), 0, 0)
