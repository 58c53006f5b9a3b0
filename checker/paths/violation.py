"""Explanations of a violation: the wrong delivery, the overtaking message, the lost messages."""

from __future__ import annotations

from collections import deque

from attrs import frozen

from antecede.checker.model import Delivery, Message, What
from antecede.checker.paths.path import Path
from antecede.checker.semantics.judge import Fault, fault_of, things


@frozen
class Violation:
    """Two messages in the wrong order.

    Attributes:
        actor: the actor that delivered them in the wrong order.
        first: the message that was causal-sent first and delivered last.
        second: the message that overtook it.
        chain: messages from `first` to `second`. Each is causal-sent before the next one, because
            both have the same sender or the next one's sender had delivered it.
    """

    actor: int
    first: Message
    second: Message
    chain: tuple[Message, ...]


@frozen
class Wrong:
    """A delivery that violates the property of a path.

    Attributes:
        fault: its fault; None if the property objects to the message or to the actor.
    """

    step: int
    delivery: Delivery
    fault: Fault | None


def wrong_delivery(path: Path) -> Wrong | None:
    """Return the first delivery that violates the property of `path`, or None."""
    prop = path.violated
    if prop is None or prop.what is not What.DELIVERY:
        return None
    judged = ((step.number, d) for step in path.steps for d in step.deliveries)
    wrong = ((number, d) for number, d in judged if not prop.predicate(d))
    return next((Wrong(number, d, fault_of(prop, d)) for number, d in wrong), None)


def wrong_order(path: Path) -> Violation | None:
    """Return the two messages in the wrong order that violate the property of `path`, or None."""
    wrong = wrong_delivery(path)
    if wrong is None or wrong.fault not in (Fault.CAUSALLY_LATE, Fault.FIFO_LATE):
        return None
    actor, first = wrong.delivery.actor, wrong.delivery.message
    delivered: dict[tuple[int, Message], int] = {}
    for step in path.steps[: wrong.step]:
        for d in step.deliveries:
            if d is wrong.delivery:
                break
            delivered.setdefault((d.actor, d.message), step.number)
    if wrong.fault is Fault.FIFO_LATE:
        later = (m for j, m in delivered if j == actor and m.sender == first.sender)
        second = next(m for m in later if m.number > first.number)
        return Violation(actor, first, second, (first, second))
    sent = {s.message: s.number for s in path.steps if s.message is not None}
    return _violation(sent, delivered, actor, first)


def lost(path: Path) -> tuple[Message, ...]:
    """Return the messages that some receiver never delivers on `path`, in causal-send order."""
    if path.loop is not None:
        return (path.loop.message,)
    prop = path.violated
    of_messages = prop is not None and prop.what in (What.UNDELIVERED, What.PARTLY_DELIVERED)
    if prop is None or not (prop.final and of_messages):
        return ()
    rows = things(path.system, prop, path.last)
    undelivered_there = {message for row in rows if not prop.predicate(row) for message in row}
    return tuple(message for message in path.messages if message in undelivered_there)


def _violation(
    sent: dict[Message, int],
    delivered: dict[tuple[int, Message], int],
    actor: int,
    first: Message,
) -> Violation | None:
    """Return the earliest overtaking message with the shortest chain to it, or None."""
    here = sorted((at, m.sender, m.number, m) for (j, m), at in delivered.items() if j == actor)
    for *_, second in here:
        chain = _chain(sent, delivered, first, second)
        if chain is not None:
            return Violation(actor, first, second, chain)
    return None


def _chain(
    sent: dict[Message, int],
    delivered: dict[tuple[int, Message], int],
    first: Message,
    second: Message,
) -> tuple[Message, ...] | None:
    """Return the shortest chain from `first` to `second`; see `Violation.chain`."""
    queue: deque[tuple[Message, ...]] = deque([(first,)])
    seen = {first}
    while queue:
        chain = queue.popleft()
        last = chain[-1]
        if last == second:
            return chain
        for message, at in sent.items():
            if message in seen:
                continue
            same_sender = message.sender == last.sender and at > sent[last]
            if same_sender or delivered.get((message.sender, last), at) < at:
                seen.add(message)
                queue.append((*chain, message))
    return None
