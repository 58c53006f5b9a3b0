"""Words for people: actors, messages, packets, states and transitions, named the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs
from attrs import frozen

from checker.model import CausalSend, Message, Packet, Receive, State, Timeout, Transition
from checker.path import Path, PathStep

ACTORS = ("Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi")


def actor_name(actor: int) -> str:
    """Return the name of an actor in text; files use its index."""
    return ACTORS[actor] if 0 <= actor < len(ACTORS) else f"Actor {actor + 1}"


def listed(words: tuple[str, ...] | list[str]) -> str:
    """Return `words` as people list them: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def message_in(value: Any) -> Message | None:
    """Return the first message inside a packet or state, in field order, or None."""
    if isinstance(value, Message):
        return value
    return next((m for part in _parts(value) if (m := message_in(part)) is not None), None)


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


@frozen
class Words:
    """Speaks about one path, whose messages are m1, m2, … in the order of their causal-sends."""

    names: Mapping[Message, str]

    @classmethod
    def of(cls, path: Path) -> Words:
        """Name the messages of `path`."""
        return cls({message: f"m{at}" for at, message in enumerate(path.messages, 1)})

    def message(self, message: Message) -> str:
        """Return a message's name; one that was never causal-sent is described instead."""
        return self.names.get(message) or f"message {message.number} of {_who(message.sender)}"

    def value(self, value: Any) -> str:
        """Return a packet or a state in readable form."""
        if isinstance(value, Message):
            return self.message(value)
        if isinstance(value, Enum):
            return value.name
        if attrs.has(type(value)):
            fields = ", ".join(self._field(a.name, value) for a in attrs.fields(type(value)))
            return type(value).__name__ + (f"({fields})" if fields else "")
        if isinstance(value, tuple) and value and all(isinstance(part, bool) for part in value):
            return "[" + " ".join("1" if part else "0" for part in value) + "]"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.value, value)) + ")"
        if isinstance(value, (frozenset, set)):
            return "{" + ", ".join(sorted(map(self.value, value))) + "}"
        if isinstance(value, Mapping):
            items = sorted((self.value(k), self.value(v)) for k, v in value.items())
            return "{" + ", ".join(f"{k}: {v}" for k, v in items) + "}"
        return repr(value)

    def _field(self, name: str, owner: Any) -> str:
        value = getattr(owner, name)
        text = self.value(value)
        return text if isinstance(value, Message) else f"{name}={text}"

    def transition(self, transition: Transition, message: Message | None) -> str:
        """Return what triggers a transition, in words; `message` is what is causal-sent."""
        if isinstance(transition, CausalSend):
            assert message is not None
            to = listed([actor_name(d) for d in transition.destinations])
            return f"{actor_name(transition.actor)} causal-sends {self.message(message)} to {to}"
        if isinstance(transition, Timeout):
            return f"{actor_name(transition.actor)} times out"
        return (
            f"{actor_name(transition.dst)} receives {self.value(transition.packet)} "
            f"from {actor_name(transition.src)}"
        )

    def step(self, step: PathStep) -> str:
        """Return a transition and all it did, in words."""
        parts = [self.transition(step.transition, step.message)]
        parts += [f"delivers {self.message(d.message)}" for d in step.deliveries]
        parts += [self._send(step, to, packet) for to, packet in step.step.sends]
        held = waiting(step)
        if held is not None:
            parts.append(f"{self.message(held)} has to wait")
        return ", ".join(parts)

    def _send(self, step: PathStep, to: int, packet: Packet) -> str:
        """Return a network-send; the destination is left out where the causal-send names it."""
        text = f"sends {self.value(packet)}"
        if isinstance(step.transition, CausalSend) and step.transition.destinations == (to,):
            return text
        return f"{text} to {actor_name(to)}"


def _who(sender: object) -> str:
    return actor_name(sender) if isinstance(sender, int) else repr(sender)


def waiting(step: PathStep) -> Message | None:
    """Return the message that this step was about and that stays where it is, or None.

    After a causal-send: it was not network-sent. After a reception: it was not delivered.
    """
    if isinstance(step.transition, CausalSend):
        message = step.message
        assert message is not None
        moved = any(contains(packet, message) for _, packet in step.step.sends)
        return None if moved or not pending(step.state, message) else message
    if isinstance(step.transition, Receive):
        found = message_in(step.transition.packet)
        if found is not None and step.actor in pending(step.state, found):
            return found
    return None


def pending(state: State, message: Message) -> tuple[int, ...]:
    """Return where `message` was causal-sent to and not delivered yet."""
    if message.sender not in range(len(state.history)):
        return ()
    entries = state.history[message.sender].pending
    return next((p.remaining for p in entries if p.message == message), ())
