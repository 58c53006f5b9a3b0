"""The causality oracle: the ghost record of causal-sends and deliveries that only the checker sees.

Happens-before is a relation between application events, causal-send and deliver (Almeida, section
4.1). The record is kept per actor: a `Ghost` holds its actor's causal knowledge and its actor's
undelivered messages. Three encodings record different amounts of the past. All of them judge causal
delivery exactly:

* `clocks`: vector clocks (Mattern 1989, Fidge 1988) of actors, stamps of undelivered messages;
* `full`: in addition the stamps of all messages and each actor's delivery sequence;
* `knowledge`: only the undelivered messages in the causal past of each actor and message, as bit
  masks. It is the quotient of `clocks` that forgets delivered messages.

Question: When does a delivery violate causal order, and where do vector clocks tick? `deliver`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.model import Delivery, Message, with_item
from antecede.checker.support.errors import check_known

Stamp: TypeAlias = Any
"""The causal past of a message: a vector clock, or a mask of the messages that precede it."""


@frozen(cache_hash=True)
class Pending:
    """An undelivered message, kept at its sender.

    Attributes:
        message: the message.
        remaining: the destinations where it was not delivered yet.
        stamp: its vector clock, or the mask of undelivered messages that happened before it; None
            before its network-send, if clocks are taken there.
        overtaken: the destinations where a later message of the same sender was delivered; kept
            only when a property needs it.
    """

    message: Message
    remaining: tuple[int, ...]
    stamp: Stamp
    overtaken: tuple[int, ...] = ()


@frozen
class Ghost:
    """One actor's part of the history.

    Attributes:
        knows: its vector clock, or the mask of undelivered messages in its causal past.
        pending: its own messages that are not delivered everywhere, by number.
        heard: its knowledge about undelivered messages to itself, as far as it came from deliveries
            (a number, or a mask); 0 unless the workload has self-sends.
        stamps: `full` only: (number, stamp) of all its messages, in the order of their events.
        delivered: `full` only: (sender, stamp) in delivery order.
    """

    knows: Any
    pending: tuple[Pending, ...] = ()
    heard: int = 0
    stamps: tuple[Any, ...] = ()
    delivered: tuple[tuple[int, Stamp], ...] = ()


@frozen
class Taken:
    """The result of a message leaving its sender's `pending` for one destination."""

    ghost: Ghost
    stamp: Stamp
    overtaken: bool


@frozen(eq=False)
class Oracle:
    """One encoding of the history for one system, as pure functions on single ghosts.

    Engines tabulate these; `deliver` composes them for plain Python.

    Attributes:
        name: `knowledge`, `clocks` or `full`.
        initial: actor -> ghost.
        causal_send: (ghost, message) -> ghost of the sender.
        network_send: (ghost, message) -> ghost of the sender at the first network-send of the
            message; None if the clock is taken at the causal-send.
        take: (ghost of the sender, message, destination) -> Taken, or None if the message is not
            expected there.
        join: (ghost of the receiver, receiver, message, stamp) -> (ghost, known).
        forget: (any ghost, message, destination) -> ghost once the delivery is done; None where
            the encoding never forgets.
        number: (ghost of the sender, whether this message is the marked one) -> the number that the
            message gets; None where messages are counted. See `checker.semantics.marked`.
        trim: (ghost of a receiver once the delivery is done) -> ghost without knowledge that can no
            longer matter; None if the encoding has none.
    """

    name: str
    initial: Callable[[int], Ghost]
    causal_send: Callable[[Ghost, Message], Ghost]
    network_send: Callable[[Ghost, Message], Ghost] | None
    take: Callable[[Ghost, Message, int], Taken | None]
    join: Callable[[Ghost, int, Message, Stamp], tuple[Ghost, bool]]
    forget: Callable[[Ghost, Message, int], Ghost] | None
    number: Callable[[Ghost, bool], int] | None = None
    trim: Callable[[Ghost], Ghost] | None = None


HISTORIES = {
    "knowledge": "the least: which actors and messages depend on which undelivered messages",
    "clocks": "vector clocks of all actors and of undelivered messages",
    "full": "the most: like clocks, for all messages, and each actor's deliveries in order",
}


CLOCK_AT = {
    "causal-send": "when the application hands a message over (the definition of causal delivery)",
    "network-send": "when a packet with the message first leaves, as if it were sent then",
}


def oracle_named(
    name: str,
    actors: int,
    most: int,
    *,
    self_sends: bool = False,
    track_order: bool = False,
    clock_at: str = "causal-send",
) -> Oracle:
    """Return the encoding called `name`.

    Args:
        name: one of HISTORIES.
        actors: the number of actors.
        most: the greatest number of messages that one actor sends.
        self_sends: whether a message may be addressed to its own sender.
        track_order: whether to record which messages were overtaken on their channel.
        clock_at: one of CLOCK_AT: the event of a message that happens-before relates.

    Raises:
        InputError: there is no such encoding.
    """
    check_known("history", name, HISTORIES, "history")
    check_known("event for clock_at", clock_at, CLOCK_AT, "clock_at")
    if name == "knowledge":
        oracle = _knowledge(actors, most, track_order=track_order)
    else:
        full = name == "full"
        oracle = _clocks(actors, full=full, self_sends=self_sends, track_order=track_order)
    return oracle if clock_at == "causal-send" else _at_network(oracle)


def _registered(ghost: Ghost, message: Message) -> Ghost:
    """Return the ghost with `message` pending and without a stamp."""
    return evolve(ghost, pending=(*ghost.pending, Pending(message, message.destinations, None)))


def _at_network(oracle: Oracle) -> Oracle:
    """Return `oracle` with the effect of its causal-sends moved to the network-send."""

    def network_send(ghost: Ghost, message: Message) -> Ghost:
        place = next((k for k, p in enumerate(ghost.pending) if p.message == message), None)
        if place is None or ghost.pending[place].stamp is not None:
            return ghost
        sent = oracle.causal_send(ghost, message)
        entry = evolve(ghost.pending[place], stamp=sent.pending[-1].stamp)
        pending = (*ghost.pending[:place], entry, *ghost.pending[place + 1 :])
        return evolve(sent, pending=pending)

    return evolve(oracle, causal_send=_registered, network_send=network_send)


def network_send(
    oracle: Oracle, ghosts: tuple[Ghost, ...], actor: int, message: Message
) -> tuple[Ghost, ...]:
    """Record the network-send of a message of `actor`, unless it is recorded already.

    It is also called for deliveries, because an actor may deliver its own message before sending.
    """
    if oracle.network_send is None or message.sender != actor:
        return ghosts
    return with_item(ghosts, actor, oracle.network_send(ghosts[actor], message))


def deliver(
    oracle: Oracle, ghosts: tuple[Ghost, ...], actor: int, message: Message
) -> tuple[tuple[Ghost, ...], Delivery]:
    """Record the delivery of `message` at `actor` and judge it.

    An unexpected delivery leaves the history unchanged.
    """
    taken = None
    if 0 <= message.sender < len(ghosts):
        taken = oracle.take(ghosts[message.sender], message, actor)
    if taken is None:
        return ghosts, Delivery(
            actor, message, expected=False, causally_late=False, fifo_late=False
        )
    after = list(ghosts)
    after[message.sender] = taken.ghost
    after[actor], known = oracle.join(after[actor], actor, message, taken.stamp)
    if oracle.forget is not None:
        after = [oracle.forget(ghost, message, actor) for ghost in after]
    if oracle.trim is not None:
        after[actor] = oracle.trim(after[actor])
    return tuple(after), Delivery(actor, message, True, known, taken.overtaken)


def _taken(ghost: Ghost, message: Message, destination: int, *, track_order: bool) -> Taken | None:
    """Remove `message` for `destination` from its sender's pending messages."""
    entry = next((p for p in ghost.pending if p.message == message), None)
    if entry is None or entry.stamp is None or destination not in entry.remaining:
        return None
    pending = []
    for other in ghost.pending:
        if other is entry:
            other = without(entry, destination)
        elif track_order and other.message.number < message.number:
            other = _marked_overtaken(other, destination)
        if other.remaining:
            pending.append(other)
    return Taken(with_pending(ghost, tuple(pending)), entry.stamp, destination in entry.overtaken)


def with_pending(ghost: Ghost, pending: tuple[Pending, ...]) -> Ghost:
    """Return a ghost with other pending messages; faster than `evolve`."""
    return Ghost(ghost.knows, pending, ghost.heard, ghost.stamps, ghost.delivered)


def without(entry: Pending, destination: int) -> Pending:
    """Return a pending message that was delivered at `destination`."""
    remaining = tuple([d for d in entry.remaining if d != destination])
    overtaken = tuple([d for d in entry.overtaken if d != destination])
    return Pending(entry.message, remaining, entry.stamp, overtaken)


def _marked_overtaken(entry: Pending, destination: int) -> Pending:
    if destination not in entry.remaining or destination in entry.overtaken:
        return entry
    return evolve(entry, overtaken=tuple(sorted((*entry.overtaken, destination))))


def _clocks(actors: int, *, full: bool, self_sends: bool, track_order: bool) -> Oracle:
    """Return the encoding `clocks`, or `full` if `full` is true."""

    def initial(_actor: int) -> Ghost:
        return Ghost(knows=(0,) * actors)

    def causal_send(ghost: Ghost, message: Message) -> Ghost:
        own = message.sender
        stamp = tuple(c + (k == own) for k, c in enumerate(ghost.knows))
        pending = (*ghost.pending, Pending(message, message.destinations, stamp))
        stamps = (*ghost.stamps, (message.number, stamp)) if full else ()
        return Ghost(stamp, pending, ghost.heard, stamps, ghost.delivered)

    def take(ghost: Ghost, message: Message, destination: int) -> Taken | None:
        return _taken(ghost, message, destination, track_order=track_order)

    def join(ghost: Ghost, actor: int, message: Message, stamp: Stamp) -> tuple[Ghost, bool]:
        sender = message.sender
        known = (ghost.heard if sender == actor else ghost.knows[sender]) >= stamp[sender]
        knows = tuple(map(max, ghost.knows, stamp))
        heard = max(ghost.heard, stamp[actor]) if self_sends else 0
        delivered = (*ghost.delivered, (sender, stamp)) if full else ()
        return Ghost(knows, ghost.pending, heard, ghost.stamps, delivered), known

    name, trim = "full" if full else "clocks", _told_only if self_sends else None
    return Oracle(name, initial, causal_send, None, take, join, None, trim=trim)


def _told_only(ghost: Ghost) -> Ghost:
    """Reduce `heard` to the last undelivered message to itself that the actor heard of.

    Nothing that the actor has heard depends on messages that it sends from now on.
    """
    awaited = (
        entry.stamp[entry.message.sender]
        for entry in ghost.pending
        if entry.stamp is not None and entry.message.sender in entry.remaining
    )
    return evolve(ghost, heard=max((n for n in awaited if n <= ghost.heard), default=0))


def _knowledge(actors: int, most: int, *, track_order: bool) -> Oracle:
    """Return the encoding `knowledge`: sets of undelivered (message, destination) as bit masks."""

    def bit(message: Message, destination: int) -> int:
        return 1 << ((message.sender * most + message.number - 1) * actors + destination)

    def bits(message: Message, destinations: tuple[int, ...]) -> int:
        return sum(bit(message, d) for d in destinations)

    @cache
    def to_itself(actor: int) -> int:
        """Return the bits of all messages from an actor to itself."""
        every = ((1 << most * actors) - 1) // ((1 << actors) - 1)
        return every << (actor * most * actors + actor)

    def initial(_actor: int) -> Ghost:
        return Ghost(knows=0)

    def causal_send(ghost: Ghost, message: Message) -> Ghost:
        pending = (*ghost.pending, Pending(message, message.destinations, ghost.knows))
        return Ghost(ghost.knows | bits(message, message.destinations), pending, ghost.heard)

    def take(ghost: Ghost, message: Message, destination: int) -> Taken | None:
        taken = _taken(ghost, message, destination, track_order=track_order)
        if taken is None:
            return None
        # An actor that delivers m knows of m, so also of its copies in flight to other actors.
        others = next((p.remaining for p in taken.ghost.pending if p.message == message), ())
        return Taken(taken.ghost, taken.stamp | bits(message, others), taken.overtaken)

    def join(ghost: Ghost, actor: int, message: Message, stamp: Stamp) -> tuple[Ghost, bool]:
        own = message.sender == actor
        known = bool((ghost.heard if own else ghost.knows) & bit(message, actor))
        heard = ghost.heard | (stamp & to_itself(actor))
        return Ghost(ghost.knows | stamp, ghost.pending, heard), known

    def forget(ghost: Ghost, message: Message, destination: int) -> Ghost:
        gone = bit(message, destination)
        told = any(p.stamp is not None and p.stamp & gone for p in ghost.pending)
        if not (told or ghost.knows & gone):  # `knows` contains `heard`
            return ghost
        pending = ghost.pending
        if told:
            pending = tuple(
                [p if p.stamp is None else evolve(p, stamp=p.stamp & ~gone) for p in pending]
            )
        return Ghost(ghost.knows & ~gone, pending, ghost.heard & ~gone)

    return Oracle("knowledge", initial, causal_send, None, take, join, forget)
