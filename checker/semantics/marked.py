"""The history `marked`: one message is followed, all others are anonymous.

Clocks and masks grow with the number of messages. To judge causal delivery it suffices to follow
one message, the marked one. In each run one causal-send is chosen, and every choice is explored.
The other messages have no number of their own. They only record whether their sender knew of the
marked message: such a message is *tainted*. The kind of a message is encoded in its number, so a
packet carries it to its delivery. Protocols do not look at it, because messages are opaque to them.
Causal delivery is violated exactly when the marked message is delivered at an actor that delivered
a tainted message before. Every other message is the marked one in some other run.

The record is finite for runs of any length, as long as finitely many messages are undelivered.

Some networks store equal packets as one (`Network.merges`). There a new message gets the first
number of its kind that no equal message in the state has. So two messages never become one packet.
A number is free again once its message is delivered and no actor or packet holds it.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from antecede.checker.model import Message, State
from antecede.checker.semantics.history import Ghost, Oracle, Pending, Stamp, Taken, without
from antecede.checker.semantics.values import contains

KINDS = ANONYMOUS, MARKED, TAINTED = range(3)
"""The kinds of messages, and their numbers on a network that counts equal packets separately.

On a network that merges equal packets, the number is the kind plus a multiple of `len(KINDS)`.
"""


def kind_of(message: Message) -> int:
    """Return the kind of a message: one of KINDS."""
    return message.number % len(KINDS)


def told_apart(message: Message, state: State) -> Message:
    """Return a new message with the first number of its kind that is free in a state."""
    while contains(state, message):
        message = evolve(message, number=message.number + len(KINDS))
    return message


def number_of(ghost: Ghost, marked: bool) -> int:
    """Return the number of the next message of an actor.

    Args:
        ghost: the sender's; `knows` is 1 if it knows of the marked message.
        marked: whether the next message is the marked one.
    """
    if marked:
        return MARKED
    return TAINTED if ghost.knows else ANONYMOUS


def may_mark(history: tuple[Ghost, ...]) -> bool:
    """Return whether no message was marked so far.

    The sender of the marked message has the `stamps` (1,).
    """
    return not any(ghost.stamps for ghost in history)


def follows(history: tuple[Ghost, ...]) -> bool:
    """Return whether the marked message was causal-sent and is not delivered everywhere yet."""
    return any(entry.message.number == MARKED for ghost in history for entry in ghost.pending)


def is_over(history: tuple[Ghost, ...]) -> bool:
    """Return whether the marked message was delivered everywhere: nothing is left to judge."""
    return not may_mark(history) and not follows(history)


def marked_oracle(*, track_order: bool) -> Oracle:
    """Return the encoding as functions on single ghosts.

    A ghost's `knows` is 1 if its actor knows of the marked message. Its `heard` is 1 if the actor
    learnt of it from a delivery. Pending messages are sorted by value, because equal ones cannot be
    told apart.
    """

    def initial(_actor: int) -> Ghost:
        return Ghost(knows=0)

    def causal_send(ghost: Ghost, message: Message) -> Ghost:
        pending = (*ghost.pending, Pending(message, message.destinations, 0))
        if message.number == MARKED:
            ghost = evolve(ghost, knows=1, stamps=(1,))
        return evolve(ghost, pending=ordered(pending))

    def take(ghost: Ghost, message: Message, destination: int) -> Taken | None:
        places = [
            k
            for k, p in enumerate(ghost.pending)
            if p.message == message and destination in p.remaining
        ]
        if not places:
            return None
        # Take the oldest of several equal messages. If receivers keep each sender's order, it has
        # the fewest destinations left.
        at = min(places, key=lambda k: len(ghost.pending[k].remaining))
        left, entry = list(ghost.pending), ghost.pending[at]
        left[at] = without(entry, destination)
        if track_order and kind_of(message) == TAINTED:
            left = [_overtaken(p, destination) for p in left]
        pending = ordered(tuple(p for p in left if p.remaining))
        return Taken(evolve(ghost, pending=pending), 0, destination in entry.overtaken)

    def join(ghost: Ghost, _actor: int, message: Message, _stamp: Stamp) -> tuple[Ghost, bool]:
        known = message.number == MARKED and bool(ghost.heard)
        if kind_of(message) == ANONYMOUS:
            return ghost, known
        return evolve(ghost, knows=1, heard=1), known

    return Oracle("marked", initial, causal_send, None, take, join, None, number=number_of)


def ordered(pending: tuple[Pending, ...]) -> tuple[Pending, ...]:
    """Return undelivered messages sorted by value."""
    return tuple(sorted(pending, key=_by_value))


def _by_value(entry: Pending) -> tuple[Any, ...]:
    message = entry.message
    return message.number, message.destinations, entry.remaining, str(message.label)


def _overtaken(entry: Pending, destination: int) -> Pending:
    """Record that a later message of the sender overtook the marked message."""
    if entry.message.number != MARKED or destination not in entry.remaining:
        return entry
    return evolve(entry, overtaken=tuple(sorted({*entry.overtaken, destination})))
