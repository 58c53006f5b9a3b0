"""A twin of `rst` for simulations of hundreds of actors: matrices that share their rows.

Only actor k increments row k of SENT for its own sends. Any other actor's copy of row k equals the
row after one of k's messages. The reason: when i delivers a message, it has already delivered all
earlier messages from k to i. So counting that message (step 2) and taking the maximum (step 3)
yield the row after it. Row k of any matrix is therefore identified by the number of k's messages
that it counts. A matrix is a vector of such numbers, and all rows are in one table. A test replays
runs of `rst` beside this twin and compares every matrix, entry by entry.

For n actors and m messages of each, the table has n² (m + 1) numbers, and a state or packet has n.
A message costs a handful of array operations of length n, where `rst` touches n² entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field, frozen

from antecede.checker.model import Message, Step
from antecede.checker.papers.simulate.encoding import Contents


@define(eq=False)
class Rows:
    """All rows of all matrices: after[k, v] is row k after v messages of actor k."""

    actors: int
    after: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.after = np.zeros((self.actors, 8, self.actors), dtype=np.int32)

    def add(self, k: int, version: int, destinations: tuple[int, ...]) -> None:
        """Add the row after message number `version` of actor k."""
        if version == self.after.shape[1]:
            self.after = np.concatenate([self.after, np.zeros_like(self.after)], axis=1)
        self.after[k, version] = self.after[k, version - 1]
        self.after[k, version, list(destinations)] += 1


@frozen(eq=False)
class Stamped:
    """A message, and the numbers of messages that its sender knows, per actor; it counts itself."""

    message: Message
    versions: Any
    rows: Rows


@define(eq=False)
class Held:
    """A packet that waits: the DELIV that it needs, and an actor with a missing message."""

    src: int
    packet: Stamped
    needs: Any
    blocker: int


@define(eq=False)
class RstState:
    """SENT as versions of its rows, DELIV, and the mail room by sender, then by number sent."""

    me: int
    rows: Rows
    everyone: Any
    versions: Any
    DELIV: Any
    held_back: list[Held] = field(factory=list)


def start(actors: int) -> list[RstState]:
    """Return all actors' states, with one table of rows."""
    rows, everyone = Rows(actors), np.arange(actors)

    def zeros() -> Any:
        return np.zeros(actors, dtype=np.int32)

    return [RstState(i, rows, everyone, zeros(), zeros()) for i in range(actors)]


def causal_send(state: RstState, message: Message) -> Step:
    """Sending messages: add the new row to the table; the packet refers to it."""
    state.versions[state.me] += 1
    state.rows.add(state.me, int(state.versions[state.me]), message.destinations)
    packet = Stamped(message, state.versions.copy(), state.rows)
    return Step(state, sends=tuple((j, packet) for j in message.destinations))


def receive(state: RstState, src: int, packet: Stamped) -> Step:
    """Put the packet in the mail room, and deliver from there as long as possible."""
    needs = column(state.rows, packet.versions, state.me)
    needs[src] -= 1  # the matrix of m does not count m
    blocker = missing(state, needs)
    if blocker < 0 and not state.held_back:
        deliver(state, src, packet)
        return Step(state, deliveries=(packet.message,))
    state.held_back.append(Held(src, packet, needs, blocker))
    state.held_back.sort(key=lambda held: (held.src, held.packet.message.number))
    return Step(state, deliveries=deliveries(state, src))


def deliveries(state: RstState, src: int) -> tuple[Message, ...]:
    """Deliver all deliverable messages, those from `src` first, in the order of `rst`."""
    found: list[Message] = []
    while ready := [held for held in state.held_back if held.blocker < 0]:
        first = min(ready, key=lambda held: held.src != src)
        state.held_back.remove(first)
        deliver(state, first.src, first.packet)
        found.append(first.packet.message)
        for held in state.held_back:
            if held.blocker == first.src:
                held.blocker = missing(state, held.needs)
    return tuple(found)


def deliver(state: RstState, src: int, packet: Stamped) -> None:
    """Steps 1 to 3, after delivering a message."""
    state.DELIV[src] += 1
    np.maximum(state.versions, packet.versions, out=state.versions)


def column(rows: Rows, versions: Any, i: int) -> Any:
    """Return column i of the matrix with these rows."""
    return rows.after[np.arange(rows.actors), versions, i]


def missing(state: RstState, needs: Any) -> int:
    """Return an actor with a message that must be delivered first, or -1."""
    less = needs > state.DELIV
    first = int(less.argmax())
    return first if less[first] else -1


def contents(packet: Stamped) -> Contents:
    """Return the contents of the corresponding packet of `rst`: a message and a matrix."""
    return Contents((packet.message,), packet.rows.actors**2, 0)
