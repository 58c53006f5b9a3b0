"""What packets and states hold: the messages inside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from antecede.checker.model import Message


def messages_in(value: Any) -> Iterator[Message]:
    """Yield the messages inside a packet or state, in field order."""
    if isinstance(value, Message):
        yield value
        return
    for part in _parts(value):
        yield from messages_in(part)


def message_in(value: Any) -> Message | None:
    """Return the first message inside a packet or state, in field order, or None."""
    return next(messages_in(value), None)


def contains(value: Any, message: Message) -> bool:
    """Return whether `message` is somewhere inside `value`."""
    return bool(value == message) or any(contains(part, message) for part in _parts(value))


def _parts(value: Any) -> tuple[Any, ...]:
    if attrs.has(type(value)) and not isinstance(value, Message):
        return tuple(getattr(value, a.name) for a in attrs.fields(type(value)))
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (frozenset, set)):
        return tuple(sorted(value, key=repr))
    return ()
