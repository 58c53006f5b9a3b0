"""Tests whether a protocol depends on the numbers of messages under an endless workload.

An endless workload follows one message. All other messages from one sender to the same destinations
are equal (`checker.semantics.marked`). So a handler may store and deliver messages, but it may
neither read their numbers nor compare them with each other. Otherwise it would behave differently
in a real run, where each message has its own number. Predicates and measures have this restriction,
too.

Each distinct call is repeated with other numbers, so that all messages except for the marked one
are different. Both calls must have equal results. In the repeated call, the class `Message` notes
who reads numbers, because the answer may be hidden: in a log line, or in a condition that these
numbers do not satisfy. Messages of the call may be compared with each other, but not with others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

from attrs import define, evolve, field

from antecede.checker.model import Message, Property, Protocol, Step
from antecede.checker.semantics.judge import looks_at_message
from antecede.checker.semantics.limits import Limit
from antecede.checker.semantics.marked import MARKED
from antecede.checker.semantics.reads import COMPARING, COPYING, HASHING, calls_users, noting
from antecede.checker.semantics.values import field_names, parts, with_messages, with_parts
from antecede.checker.support.errors import NumbersError, ProtocolError

_ADVICE = (
    "an endless workload gives messages no numbers, so that many of them are equal; let the "
    "protocol number its messages itself, or give a workload that ends"
)


FAR = 1_000_000
"""The least number of a message in a repeated call. No handler has met it before."""

NEAR = range(1, 9)
"""The least numbers of messages in further calls if a handler hashes or pickles messages.

It may look them up in a set that exists already, which compares only messages of equal hashes, or
it may compare bytes.
"""

_WORDS = {
    COMPARING: "compares messages with each other",
    HASHING: "puts messages into a set, where equal ones are one",
}
"""Method of a message that reads its number -> the fault of the handler that calls it."""


def renumbered(value: Any, least: int, *, repeats: bool = False) -> tuple[Any, dict[int, Message]]:
    """Return a value whose messages are all different except for the marked one.

    Args:
        value: a state, a packet, a delivery or arguments of a handler.
        least: the number of the marked message; the others have greater numbers.
        repeats: whether a packet may arrive twice. Then equal packets with more fields than the
            message have the same message.

    Returns:
        The value, and for each new number the message that the new one stands for.
    """
    numbers, packets = count(least + 1), dict[Any, Any]()
    originals, new = dict[int, Message](), list[Message]()

    def other(part: Any) -> Any:
        if isinstance(part, Message):
            number = least if part.number == MARKED else next(numbers)
            originals[number] = part
            new.append(evolve(part, number=number))
            return new[-1]
        if not repeats or not _is_packet(part):
            return with_parts(part, other)
        if part not in packets:
            packets[part] = with_parts(part, other)
        return packets[part]

    changed = other(value)
    for message in new:  # forget the hash, which a set in the value may have asked for
        message.__setstate__(message.__getstate__())  # type: ignore[attr-defined]
    return changed, originals


@define(eq=False)
class _Asked:
    """Notes what a function asks about the numbers of messages.

    Attributes:
        passed: the numbers of the messages that it was given.
        fault: its fault, as a clause after its name; None if it has none.
        hides: whether it hashed or pickled a message, which may hide what it asks.
    """

    passed: frozenset[int]
    fault: str | None = None
    hides: bool = False

    def note(self, message: Message, _field: str, method: str) -> None:
        """Note that a method reads the number of a message."""
        self.hides |= method in (HASHING, COPYING)
        if method == COPYING:  # a copy that is read back is watched, too
            return
        if method not in _WORDS or message.number not in self.passed:
            self.fault = self.fault or _WORDS.get(method, "reads the number of a message")


@define(eq=False)
class _Trial:
    """A repeated call.

    Attributes:
        originals: for each number in the arguments, the message that the new one stands for.
        outcome: the result, or an exception in words.
        fault: as in `_Asked`.
    """

    originals: Mapping[int, Message]
    outcome: Any
    fault: str | None

    @property
    def told(self) -> Any:
        """The outcome with the original messages."""
        return told(self.outcome, self.originals)


def _trials(
    function: Callable[..., Any], args: tuple[Any, ...], *, repeats: bool
) -> Iterator[_Trial]:
    """Repeat a call with other numbers; once, unless it hashes or pickles messages."""
    for least in (FAR, *NEAR):
        others, originals = renumbered(args, least, repeats=repeats)
        outcome, asked = _asked(function, others, frozenset(originals))
        yield _Trial(originals, outcome, asked.fault)
        if not asked.hides:
            return


@calls_users
def _asked(
    function: Callable[..., Any], args: tuple[Any, ...], passed: frozenset[int]
) -> tuple[Any, _Asked]:
    """Call a function; return its result, or its exception in words, and what it asked."""
    asked = _Asked(passed)
    with noting(Message, ("number",), asked.note):
        try:
            return function(*args), asked
        except Exception as error:
            return f"an exception, {type(error).__name__}: {error}", asked


def _is_packet(value: Any) -> bool:
    """Return whether a value has a message and something else among its fields."""
    names = field_names(value) or ()
    return len(names) > 1 and any(isinstance(getattr(value, name), Message) for name in names)


def told(value: Any, originals: Mapping[int, Message]) -> Any:
    """Return a value with the original messages in place of others."""
    return with_messages(value, lambda message: originals.get(message.number, message))


def merges(value: Any, originals: Mapping[int, Message]) -> bool:
    """Return whether a set has two elements that are equal with the original messages."""
    if isinstance(value, frozenset) and len(told(value, originals)) < len(value):
        return True
    inside = () if isinstance(value, Message) else parts(value)
    return any(merges(part, originals) for part in inside)


@define(eq=False)
class _Check:
    """A handler whose first call with some arguments is repeated with other numbers.

    Attributes:
        bare: the handler without its self-checks.
        shows: whether its arguments and results show all messages. Objects of an adapter hide
            those that they keep, so they must not even compare messages.
        repeats: whether a packet may arrive twice, so that a set may hold two copies as one.
    """

    handler: Callable[..., Any]
    bare: Callable[..., Any]
    title: str
    shows: bool
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
        if not self.shows:
            _, asked = _asked(self.bare, args, frozenset())
            if asked.fault is not None:
                raise self._refusal(args, asked.fault, "")
            return
        for trial in _trials(self.bare, args, repeats=self.repeats):
            if trial.fault is not None:
                raise self._refusal(args, trial.fault, "")
            if trial.told != result:
                returned = f"it returned {result!r}, and {trial.told!r} where all are different; "
                raise self._refusal(args, _WORDS[COMPARING], returned)
            if not self.repeats and merges(trial.outcome, trial.originals):
                raise self._refusal(args, _WORDS[HASHING], f"it returned {result!r}; ")

    def _refusal(self, args: tuple[Any, ...], fault: str, returned: str) -> ProtocolError:
        called = f"it was called with {', '.join(map(repr, args))}"
        return ProtocolError(f"{self.title} {fault}: {returned}{_ADVICE} ({called})")


def with_opaque_messages(watched: Protocol, bare: Protocol, *, repeats: bool) -> Protocol:
    """Return a protocol whose handlers raise if they depend on the numbers of messages.

    Args:
        bare: the protocol without them; it answers the repeated calls.
        repeats: whether the network may hand over a packet twice.
    """

    def each(found: Mapping[str, Any], again: Mapping[str, Any], kind: str) -> dict[str, _Check]:
        titles = {name: f"{kind.format(name)} of protocol {bare.name!r}" for name in found}
        return {
            name: _Check(handler, again[name], titles[name], bare.shows_messages, repeats)
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
    @calls_users
    def judged(thing: Any) -> Any:
        result = function(thing)
        if (mark := hash(thing)) not in seen:
            seen.add(mark)
            for trial in _trials(function, (thing,), repeats=False):
                if trial.fault is not None or trial.outcome != result:
                    raise NumbersError(name)
        return result

    return judged
