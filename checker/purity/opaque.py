"""Tests whether a protocol depends on the numbers of messages under an endless workload.

An endless workload follows one message. All other messages from one sender to the same destinations
are equal (`checker.semantics.marked`). So a handler may store and deliver messages, but it may
neither read their numbers nor compare them with each other. Otherwise it would behave differently
in a real run, where each message has its own number. Predicates and measures have this restriction,
too.

Each distinct call is repeated with opaque messages. They raise when their number is read, and all
of them except for the marked one are different. Both calls must have equal results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from attrs import define, evolve, field

from antecede.checker.model import Message, Property, Protocol, Step
from antecede.checker.semantics.judge import looks_at_message
from antecede.checker.semantics.limits import Limit
from antecede.checker.semantics.marked import MARKED
from antecede.checker.semantics.values import field_names, parts, with_messages, with_parts
from antecede.checker.support.errors import NumbersError, ProtocolError

_ADVICE = (
    "an endless workload gives messages no numbers, so that many of them are equal; let the "
    "protocol number its messages itself, or give a workload that ends"
)


class NumberRead(ProtocolError):
    """The number of an opaque message was read."""


class Opaque(Message):
    """A message that differs from all others and raises when its number is read.

    Attributes:
        mark: a serial number that makes it different from all other opaque messages.
    """

    __slots__ = ("mark", "stands_for")

    stands_for: Message
    mark: int

    def __init__(self, stands_for: Message, mark: int) -> None:
        set_in = object.__setattr__
        set_in(self, "sender", stands_for.sender)
        set_in(self, "destinations", stands_for.destinations)
        set_in(self, "stands_for", stands_for)
        set_in(self, "mark", mark)

    @property
    def number(self) -> int:
        """Raise NumberRead."""
        raise NumberRead("the number of a message is read")

    def __eq__(self, other: object) -> bool:
        """Return whether both replace the same message at the same place."""
        return isinstance(other, Opaque) and self._all == other._all

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return f"Message(sender={self.sender}, destinations={self.destinations})"

    @property
    def _all(self) -> tuple[Any, ...]:
        return self.sender, self.destinations, self.mark


def opaque(value: Any, *, repeats: bool = False) -> Any:
    """Return a value with opaque messages, all different except for the marked one.

    Args:
        repeats: whether a packet may arrive twice. Then equal packets with more fields than the
            message have the same opaque message.
    """
    marks, packets = count(), dict[Any, Any]()

    def hidden(part: Any) -> Any:
        if isinstance(part, Message):
            return Opaque(part, -1 if part.number == MARKED else next(marks))
        if not repeats or not _is_packet(part):
            return with_parts(part, hidden)
        if part not in packets:
            packets[part] = with_parts(part, hidden)
        return packets[part]

    return hidden(value)


def _is_packet(value: Any) -> bool:
    """Return whether a value has a message and something else among its fields."""
    names = field_names(value) or ()
    return len(names) > 1 and any(isinstance(getattr(value, name), Message) for name in names)


def told(value: Any) -> Any:
    """Return a value with the original messages in place of opaque ones."""
    return with_messages(value, lambda m: m.stands_for if isinstance(m, Opaque) else m)


def merges(value: Any) -> bool:
    """Return whether a set has two elements that are equal with the original messages."""
    if isinstance(value, frozenset) and len(told(value)) < len(value):
        return True
    return not isinstance(value, Message) and any(map(merges, parts(value)))


@define(eq=False)
class _Check:
    """A handler that is repeated with opaque messages on the first call with some arguments.

    Attributes:
        bare: the handler without its self-checks.
        repeats: whether a packet may arrive twice, so that a set may hold two copies as one.
    """

    handler: Callable[..., Any]
    bare: Callable[..., Any]
    title: str
    repeats: bool
    _seen: set[int] = field(factory=set)

    def __call__(self, *args: Any) -> Any:
        """Call the handler.

        Raises:
            ProtocolError: it depends on the numbers of messages.
        """
        result = self.handler(*args)
        if (mark := hash(args)) not in self._seen:
            self._seen.add(mark)
            if result is None or isinstance(result, Step):  # the caller reports anything else
                self._compare(args, result)
        return result

    def _compare(self, args: tuple[Any, ...], result: Step | None) -> None:
        called = f"it was called with {', '.join(map(repr, args))}"
        try:
            other = self.bare(*opaque(args, repeats=self.repeats))
        except NumberRead:
            raise ProtocolError(
                f"{self.title} reads the number of a message; {_ADVICE} ({called})"
            ) from None
        except Exception as error:
            other = f"an exception, {type(error).__name__}: {error}"
        if told(other) != result:
            raise ProtocolError(
                f"{self.title} compares messages with each other: it returned {result!r}, and "
                f"{told(other)!r} where all of them are different; {_ADVICE} ({called})"
            )
        if not self.repeats and merges(other):
            raise ProtocolError(
                f"{self.title} puts messages into a set, where equal ones are one: it returned "
                f"{result!r}; {_ADVICE} ({called})"
            )


def with_opaque_messages(watched: Protocol, bare: Protocol, *, repeats: bool) -> Protocol:
    """Return a protocol whose handlers raise if they depend on the numbers of messages.

    Args:
        bare: the protocol without them; it answers the repeated calls.
        repeats: whether the network may hand over a packet twice.
    """

    def each(found: Mapping[str, Any], again: Mapping[str, Any], kind: str) -> dict[str, _Check]:
        of = f" of protocol {bare.name!r}"
        return {
            name: _Check(handler, again[name], f"{kind.format(name)}{of}", repeats)
            for name, handler in found.items()
        }

    def handlers(protocol: Protocol) -> dict[str, Any]:
        functions = {
            name: getattr(protocol, name) for name in ("causal_send", "receive", "timeout")
        }
        return {name: handler for name, handler in functions.items() if handler is not None}

    checks: dict[str, Any] = dict(each(handlers(watched), handlers(bare), "{}"))
    return evolve(watched, **checks, actions=each(watched.actions, bare.actions, "action {!r}"))


def of_opaque_messages(prop: Property) -> Property:
    """Return `prop` with a predicate that raises if it reads numbers of messages.

    Only predicates on states, and on which message is delivered, can read one.
    """
    if not (prop.of_states or looks_at_message(prop)):
        return prop
    return evolve(prop, predicate=_judging(prop.predicate, prop.name))


def limit_on_opaque_messages(limit: Limit) -> Limit:
    """Return `limit` with a measure that raises if it reads numbers of messages."""
    return evolve(limit, measure=_judging(limit.measure, f"--bound {limit.text}"))


def _judging(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Return a function of states or deliveries that raises NumbersError if it reads numbers."""
    seen = set[int]()

    @functools.wraps(function)
    def judged(thing: Any) -> Any:
        result = function(thing)
        if (mark := hash(thing)) not in seen:
            seen.add(mark)
            try:
                other = function(opaque(thing))
            except ProtocolError:
                raise NumbersError(name) from None
            if other != result:
                raise NumbersError(name)
        return result

    return judged
