"""A twin of `cykas-fair` for simulations of hundreds of actors: its counts change in place.

A count has an entry only for senders with missing YCTs. The rest is as in `twin_cykas`, and a test
replays runs of `cykas-fair` beside this twin and compares every packet.
"""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

from attrs import define, field

from antecede.checker.model import Message, Packet, Step
from antecede.checker.papers.simulate.twin_cykas import (
    Ack,
    Eager,
    Sends,
    Sent,
    Yct,
    acknowledged,
    contents,
    network_send,
)

__all__ = ["causal_send", "contents", "receive", "start"]

Counts: TypeAlias = dict[int, int]
"""Sender -> the number of its missing YCTs, if there are any."""


@define(eq=False)
class FairState(Sent):
    """The state of `protocols.cykas_fair`, under the same names."""

    OB: deque[tuple[Message, Counts]] = field(factory=deque)
    AWAIT: Counts = field(factory=dict)


def start(actors: int) -> list[FairState]:
    """Section 2.2.1: empty buffers, nothing unacknowledged, no YCT missing."""
    return [FairState() for _ in range(actors)]


def causal_send(state: FairState, message: Message) -> Step:
    """Algorithm 1; the message gets a copy of AWAIT."""
    state.OB.append((message, dict(state.AWAIT)))
    return Step(state, tuple(try_send_message(state)))


def try_send_message(state: FairState) -> Sends:
    """Algorithm 2: send from the head of OB as long as possible."""
    sends: Sends = []
    while state.OB and not state.OB[0][1] and not state.UNACK >> state.OB[0][0].receiver & 1:
        sends.append(network_send(state, state.OB.popleft()[0]))
    return sends


def receive(state: FairState, src: int, packet: Packet) -> Step:
    """Dispatch to Algorithms 3, 4 and 5."""
    if isinstance(packet, Ack):
        return Step(state, tuple(acknowledged(state, src) + try_send_message(state)))
    if isinstance(packet, Yct):
        for _, awaited in state.OB:
            one_less(awaited, src)
        one_less(state.AWAIT, src)
        return Step(state, tuple(try_send_message(state)))
    if isinstance(packet, Eager):
        state.AWAIT[src] = state.AWAIT.get(src, 0) + 1
    return Step(state, ((src, Ack()),), (packet.message,))


def one_less(counts: Counts, i: int) -> None:
    """Take one from the count of i, if it is not zero."""
    if i in counts:
        counts[i] -= 1
        if not counts[i]:
            del counts[i]
