"""Does a protocol look at the numbers of messages, where an endless workload gives them none?

Without an end one message is followed, and all others from one sender to the same destinations are
equal (`checker.semantics.marked`). So a handler may carry messages around and deliver them, but it
may neither read their numbers nor compare them with each other: it would do something else in a
real run, where each has a number of its own. The same goes for predicates and measures.

Each distinct call is made once more with messages that refuse to tell their numbers, and that are
all different, but for the one that is followed. Both calls must come to the same thing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from attrs import define, evolve, field

from antecede.checker.errors import NumbersError, ProtocolError
from antecede.checker.model import Message, Property, Protocol, Step
from antecede.checker.semantics.limits import Limit
from antecede.checker.semantics.marked import MARKED
from antecede.checker.semantics.values import field_names, parts, with_messages, with_parts

_ADVICE = (
    "an endless workload gives messages no numbers, so that many of them are equal; let the "
    "protocol number its messages itself, or give a workload that ends"
)


class NumberRead(ProtocolError):
    """Somebody asks for the number of a message that has none."""


class Opaque(Message):
    """A message that differs from all others and does not tell its number.

    Attributes:
        stands_for: the message in whose place it is.
        mark: what tells it from others of the same sender and destinations.
    """

    __slots__ = ("mark", "stands_for")

    stands_for: Message
    mark: int

    def __init__(self, stands_for: Message, mark: int) -> None:
        """Take the place of a message."""
        set_in = object.__setattr__
        set_in(self, "sender", stands_for.sender)
        set_in(self, "destinations", stands_for.destinations)
        set_in(self, "stands_for", stands_for)
        set_in(self, "mark", mark)

    @property
    def number(self) -> int:
        """Refuse to tell it."""
        raise NumberRead("the number of a message is read")

    def __eq__(self, other: object) -> bool:
        """Return whether both stand for one message."""
        return isinstance(other, Opaque) and self._all == other._all

    def __hash__(self) -> int:
        """Return a hash that tells as much as equality."""
        return hash(self._all)

    def __repr__(self) -> str:
        """Tell what may be told."""
        return f"Message(sender={self.sender}, destinations={self.destinations})"

    @property
    def _all(self) -> tuple[Any, ...]:
        return self.sender, self.destinations, self.mark


def opaque(value: Any, *, repeats: bool = False) -> Any:
    """Return a value with other messages, which are all different, but for the one followed.

    Args:
        value: what is given to a handler.
        repeats: the same packet may arrive twice, so that messages in equal packets are one, if
            there is more in the packets.
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
    """Return whether a value has a message among its fields, and something else."""
    names = field_names(value) or ()
    return len(names) > 1 and any(isinstance(getattr(value, name), Message) for name in names)


def told(value: Any) -> Any:
    """Return a value with the messages that opaque ones stand for."""
    return with_messages(value, lambda m: m.stands_for if isinstance(m, Opaque) else m)


def merges(value: Any) -> bool:
    """Return whether a set holds what is one element once messages are what they stand for."""
    if isinstance(value, frozenset) and len(told(value)) < len(value):
        return True
    return not isinstance(value, Message) and any(map(merges, parts(value)))


@define(eq=False)
class _Check:
    """A handler that is called once more, the first time with its arguments, with opaque messages.

    Attributes:
        handler: what is called.
        bare: the same handler, without what it checks of itself.
        title: what it is called in errors.
        repeats: the same packet may arrive twice, so that sets may hold two of it as one.
    """

    handler: Callable[..., Any]
    bare: Callable[..., Any]
    title: str
    repeats: bool
    _seen: set[int] = field(factory=set)

    def __call__(self, *args: Any) -> Any:
        """Call the handler.

        Raises:
            ProtocolError: it looks at the numbers of messages.
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
    """Return a protocol whose handlers are refused if they look at the numbers of messages.

    Args:
        watched: the protocol as it is called.
        bare: the same protocol, which is called once more.
        repeats: the network may hand over the same packet twice.
    """

    def each(found: Mapping[str, Any], again: Mapping[str, Any], kind: str) -> dict[str, _Check]:
        of = f" of protocol {bare.name!r}"
        return {
            name: _Check(handler, again[name], f"{kind.format(name)}{of}", repeats)
            for name, handler in found.items()
        }

    def handlers(protocol: Protocol) -> dict[str, Any]:
        found = {name: getattr(protocol, name) for name in ("causal_send", "receive", "timeout")}
        return {name: handler for name, handler in found.items() if handler is not None}

    checks: dict[str, Any] = dict(each(handlers(watched), handlers(bare), "{}"))
    return evolve(watched, **checks, actions=each(watched.actions, bare.actions, "action {!r}"))


def of_opaque_messages(prop: Property) -> Property:
    """Return a property whose predicate, if it looks at actors' states, may look at no number."""
    if not prop.of_states:
        return prop
    return evolve(prop, predicate=_judging(prop.predicate, prop.name))


def limit_on_opaque_messages(limit: Limit) -> Limit:
    """Return a limit whose measure may look at no number."""
    return evolve(limit, measure=_judging(limit.measure, f"--bound {limit.text}"))


def _judging(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """Return a function of states that raises NumbersError if it looks at numbers of messages."""
    seen = set[int]()

    @functools.wraps(function)
    def judged(state: Any) -> Any:
        result = function(state)
        if (mark := hash(state)) not in seen:
            seen.add(mark)
            try:
                other = function(opaque(state))
            except ProtocolError:
                raise NumbersError(name) from None
            if other != result:
                raise NumbersError(name)
        return result

    return judged
