"""The history `marked`: one message is followed, all others are anonymous.

Clocks and masks grow with the number of messages. To judge causal delivery it suffices to follow
one message, the marked one, if it may be any: some causal-send is chosen, freely and once, and
every choice is explored. The other messages carry no number of their own, only whether they were
causal-sent by an actor who knew of the marked one: such a message is *tainted*. The number of a
`Message` says which it is, so that a packet carries it to its delivery; to a protocol messages are
opaque. Causal delivery is violated exactly when the marked message is delivered where a tainted one
was delivered before (in another run every other message is the marked one).

The record is finite for runs of any length, as long as finitely many messages are undelivered.

Some networks store equal packets as one (`Network.merges`). There a new message gets the first
number of its kind that no equal message in the state has, so that two messages never become one
packet. A number is free again once its message is delivered and nobody keeps it or sends it.
"""

from __future__ import annotations

from attrs import evolve

from antecede.checker.model import Message, State
from antecede.checker.semantics.history import Ghost, Oracle, Pending, Stamp, Taken, without
from antecede.checker.semantics.values import contains

KINDS = ANONYMOUS, MARKED, TAINTED = range(3)
"""The kinds of messages, and their numbers where equal packets are several.

Elsewhere a message of a kind has the number of the kind plus a multiple of `len(KINDS)`.
"""


def kind_of(message: Message) -> int:
    """Return which of KINDS a message is."""
    return message.number % len(KINDS)


def told_apart(message: Message, state: State) -> Message:
    """Return a new message under the first number of its kind that tells it from all in a state."""
    while contains(state, message):
        message = evolve(message, number=message.number + len(KINDS))
    return message


def number_of(ghost: Ghost, marked: bool) -> int:
    """Return the number of the next message of an actor.

    Args:
        ghost: the sender's; `knows` is 1 if it knows of the marked message.
        marked: this causal-send is the chosen one.
    """
    if marked:
        return MARKED
    return TAINTED if ghost.knows else ANONYMOUS


def may_mark(history: tuple[Ghost, ...]) -> bool:
    """Return whether no message was marked so far: `stamps` of a marked one's sender is (1,)."""
    return not any(ghost.stamps for ghost in history)


def follows(history: tuple[Ghost, ...]) -> bool:
    """Return whether the marked message was causal-sent and is not delivered everywhere yet."""
    return any(entry.message.number == MARKED for ghost in history for entry in ghost.pending)


def is_over(history: tuple[Ghost, ...]) -> bool:
    """Return whether the marked message was delivered everywhere: nothing is left to judge."""
    return not may_mark(history) and not follows(history)


def marked_oracle(*, track_order: bool) -> Oracle:
    """Return the encoding as functions on single ghosts.

    A ghost's `knows` is 1 if its actor knows of the marked message, `heard` if it learnt of it by a
    delivery. Equal pending messages cannot be told apart, so their order is that of their values.
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
        # Of equal ones the oldest; that has come furthest, where each receiver keeps their order.
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
    """Return undelivered messages in the order of their values."""
    return tuple(
        sorted(pending, key=lambda p: (p.message.number, p.message.destinations, p.remaining))
    )


def _overtaken(entry: Pending, destination: int) -> Pending:
    """Note that a later message of the same sender came first; only the marked one is judged."""
    if entry.message.number != MARKED or destination not in entry.remaining:
        return entry
    return evolve(entry, overtaken=tuple(sorted({*entry.overtaken, destination})))
