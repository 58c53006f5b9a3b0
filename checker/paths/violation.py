"""Why a path violates causality: which message overtook which, and by which chain."""

from __future__ import annotations

from collections import deque

from attrs import frozen

from antecede.checker.model import Message
from antecede.checker.paths.path import Path


@frozen
class Violation:
    """Why a path violates causality.

    Attributes:
        actor: where the two messages were delivered in the wrong order.
        first: the message that was causal-sent first and delivered last.
        second: the message that overtook it.
        chain: messages from `first` to `second`; the causal-send of each happened before that of
            the next, because both have the same sender or the next one's sender had delivered it.
    """

    actor: int
    first: Message
    second: Message
    chain: tuple[Message, ...]


def causal_violation(path: Path) -> Violation | None:
    """Return the first violation of causal delivery on `path`, or None."""
    sent = {s.message: s.number for s in path.steps if s.message is not None}
    delivered: dict[tuple[int, Message], int] = {}
    for step in path.steps:
        for delivery in step.deliveries:
            actor, message = delivery.actor, delivery.message
            if delivery.known:
                return _violation(sent, delivered, actor, message)
            delivered.setdefault((actor, message), step.number)
    return None


def _violation(
    sent: dict[Message, int],
    delivered: dict[tuple[int, Message], int],
    actor: int,
    first: Message,
) -> Violation | None:
    """Find the earliest overtaking message and the shortest chain to it."""
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
    """Return the shortest chain of messages by which `first` happened before `second`."""
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
