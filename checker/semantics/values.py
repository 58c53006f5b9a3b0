"""What a value is made of, and when two values are the same.

States and packets are values. An engine takes two of them for one if they are equal, because that
is what Python's sets and dictionaries go by; what a person reads, and the order of a channel, go by
the canonical text. Both must say the same, and this module sees to it: `Values` refuses whatever is
equal to an earlier value of the system and has another text (1 and True, 0.0 and -0.0, two
NamedTuples with the same fields), what is not equal to itself, and what can change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any

import attrs
from attrs import define, field

from antecede.checker.errors import ProtocolError
from antecede.checker.model import Message

_ATOMS = (type(None), bool, int, float, str, bytes)
_USE = "use frozen attrs or dataclasses, tuples, frozensets, enums, numbers, strings or None"


@cache
def _names_in(cls: Any) -> tuple[str, ...] | None:
    if attrs.has(cls):
        return tuple(a.name for a in attrs.fields(cls))
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    return cls._fields if issubclass(cls, tuple) and hasattr(cls, "_fields") else None


def field_names(value: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of an attrs, dataclass or NamedTuple value; else None."""
    cls: Any = type(value)
    return _names_in(cls)


@cache
def _fields_of(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the fields of a value of a class that has names for them."""
    names = _names_in(cls) or ()
    if len(names) > 1:
        return attrgetter(*names)  # a tuple, without a step of Python for each
    return lambda value: tuple(getattr(value, name) for name in names)


def _fields(value: Any) -> tuple[Any, ...]:
    cls: Any = type(value)
    return _fields_of(cls)(value)


def stands_for_another(value: Any) -> bool:
    """Return whether people are shown something else than the value; see `shown`."""
    return hasattr(type(value), "__shown__")


def shown(value: Any) -> Any:
    """Return what people are shown of a value: what its method `__shown__` returns, or itself.

    The checker's own wrappers around real objects and their packets have this method.
    """
    return value.__shown__() if stands_for_another(value) else value


@cache
def class_name(cls: Any) -> str:
    """Return the name of a class with those of the classes around it, as in `Paper.Ack`."""
    return str(cls.__qualname__.rpartition("<locals>.")[2])


def canonical(value: Any) -> str:
    """Return the canonical text of `value`: the same in every process, another for each value.

    It is built from all fields, never from `hash` or the order of iteration. It does not name the
    module of a class; `Values` sees to it that a system has no two classes of one name.

    Raises:
        ProtocolError: the value is of a type that has no canonical text.
    """
    cls: Any = type(value)
    if cls in _ATOMS:
        return repr(value)
    names = _names_in(cls)
    if names is not None:
        inner = ",".join(f"{name}={canonical(getattr(value, name))}" for name in names)
        return f"{class_name(cls)}({inner})"
    if cls is tuple:
        return "(" + ",".join(map(canonical, value)) + ")"
    if isinstance(value, Enum):
        return f"{class_name(cls)}.{value.name}"
    if isinstance(value, (frozenset, set)):
        return _named(cls, "frozenset") + "{" + ",".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, Mapping):
        items = sorted((canonical(k), canonical(v)) for k, v in value.items())
        return class_name(cls) + "{" + ",".join(f"{k}:{v}" for k, v in items) + "}"
    raise ProtocolError(
        f"a value of type {cls.__name__} ({value!r}) cannot be part of a state or packet; {_USE}"
    )


def _named(cls: Any, usual: str) -> str:
    return "" if cls.__name__ == usual else class_name(cls)


def same(one: Any, other: Any) -> bool:
    """Return whether two values that are equal have the same canonical text, too."""
    if one is other:
        return True
    cls: Any = type(one)
    if cls is not type(other):
        return False
    if cls is float:
        return repr(one) == repr(other)
    if cls in _ATOMS:
        return bool(one == other)  # they are parts of equal values, but equality may leave out some
    if cls is not tuple:
        if field_names(one) is None:
            return canonical(one) == canonical(other)
        one, other = _fields(one), _fields(other)
    if len(one) != len(other):
        return False
    for first, second in zip(one, other, strict=True):  # most of their parts are one object
        if first is not second and not same(first, second):
            return False
    return True


@define(eq=False)
class Values:
    """The states, packets and messages of one system, each kept as it was first met.

    Attributes:
        known: the values, by equality.
        classes: the classes in them, by name.
        admitted: their parts that are no atoms, by identity: a new state shares most of them with
            the one that it was made of. To keep them keeps their identities.
    """

    known: dict[Any, Any] = field(factory=dict)
    classes: dict[str, type] = field(factory=dict)
    admitted: dict[int, Any] = field(factory=dict)

    def kept(self, value: Any, what: str) -> Any:
        """Return the value that was met first of those that are the same as `value`.

        Args:
            value: what a handler returned.
            what: what it is, for the error.

        Raises:
            ProtocolError: the value cannot be part of a state or packet.
        """
        try:
            known = self.known.get(value, self)
        except TypeError as error:
            raise ProtocolError(f"{what} cannot be hashed ({error}); {_USE}") from None
        if known is value:
            return value
        if known is self:
            self._admit(value, what)
            self.known[value] = value
        elif not same(known, value):
            raise ProtocolError(_equal_but_different(known, value, what))
        return value if known is self else known

    def __reduce__(self) -> tuple[type[Values], tuple[()]]:
        """Leave what was met behind: another process meets values of its own."""
        return Values, ()

    def _admit(self, value: Any, what: str) -> None:
        """Refuse what is not equal to itself or has no text, and two classes of one name."""
        if id(value) in self.admitted:
            return
        if value != value:
            raise ProtocolError(
                f"{what} holds {value!r}, which is not equal to itself, so no state with it is "
                "ever met again; use a number or None"
            )
        cls: Any = type(value)
        if cls in _ATOMS:
            return
        if self.classes.setdefault(class_name(cls), cls) is not cls:
            raise ProtocolError(
                f"{what} holds a value of a class called {class_name(cls)}, and so did another "
                "one, of another class; give the two classes different names"
            )
        for part in parts(value):
            self._admit(part, what)
        if cls is not tuple and field_names(value) is None:
            canonical(value)
        self.admitted[id(value)] = value


def _equal_but_different(known: Any, value: Any, what: str) -> str:
    one, other = _difference(known, value)
    return (
        f"{what} is equal to an earlier value and not the same: {canonical(other)} is equal to "
        f"{canonical(one)}, so that the two would be taken for one; use one of them throughout, or "
        "frozen attrs or dataclasses, which are equal only to values of their own class"
    )


def _difference(one: Any, other: Any) -> tuple[Any, Any]:
    """Return the smallest parts in which two equal values differ."""
    if type(one) is type(other):
        for first, second in zip(_ordered_parts(one), _ordered_parts(other), strict=False):
            if not same(first, second):
                return _difference(first, second)
    return one, other


def _ordered_parts(value: Any) -> tuple[Any, ...]:
    return parts(value) if isinstance(value, tuple) or field_names(value) is not None else ()


def parts(value: Any) -> tuple[Any, ...]:
    """Return what a value is made of: its fields, elements, keys and contents; of an atom, none."""
    if field_names(value) is not None:
        return _fields(value)
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (frozenset, set)):
        return tuple(sorted(value, key=repr))
    return ()


def messages_in(value: Any) -> Iterator[Message]:
    """Yield the messages inside a packet or state, in field order."""
    if isinstance(value, Message):
        yield value
        return
    for part in parts(value):
        yield from messages_in(part)


def with_parts(value: Any, replaced: Callable[[Any], Any]) -> Any:
    """Return a value with other fields, elements, keys and contents; atoms stay as they are."""
    if (names := field_names(value)) is not None:
        new = {name: replaced(getattr(value, name)) for name in names}
        return attrs.evolve(value, **new) if attrs.has(type(value)) else type(value)(**new)
    if isinstance(value, (tuple, frozenset)):
        return type(value)([replaced(part) for part in value])
    if isinstance(value, Mapping):
        items = {replaced(key): replaced(part) for key, part in value.items()}
        return type(value)(items)  # type: ignore[call-arg]
    return value


def with_messages(value: Any, replaced: Callable[[Message], Message]) -> Any:
    """Return a packet or state with other messages in it."""
    if isinstance(value, Message):
        return replaced(value)
    return with_parts(value, lambda part: with_messages(part, replaced))


def message_in(value: Any) -> Message | None:
    """Return the first message inside a packet or state, in field order, or None."""
    return next(messages_in(value), None)


def contains(value: Any, message: Message) -> bool:
    """Return whether `message` is somewhere inside `value`."""
    if isinstance(value, Message):
        return value == message
    return any(contains(part, message) for part in parts(value))
