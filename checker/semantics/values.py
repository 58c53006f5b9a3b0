"""The parts of values, their canonical text, and the identity of values.

States and packets are values. Engines identify equal values, because Python's sets and dictionaries
do. Reports and the order within a channel use the canonical text instead. `Values` makes sure that
both agree. It rejects a value that equals an earlier value of the system but has another text (1
and True, 0.0 and -0.0, two NamedTuples with the same fields). It also rejects values that are not
equal to themselves and values that are mutable.

Question: When are two values equal?
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from hashlib import blake2b
from operator import attrgetter, eq
from typing import Any

import attrs
from attrs import define, field

from antecede.checker.model import Message
from antecede.checker.support.errors import ProtocolError

ATOMS = frozenset((type(None), bool, int, float, str, bytes))
"""The classes of values without parts."""

_USE = "use frozen attrs or dataclasses, tuples, frozensets, enums, numbers, strings or None"


@cache
def names_in(cls: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of an attrs, dataclass or NamedTuple class; else None."""
    if attrs.has(cls):
        return tuple(a.name for a in attrs.fields(cls))
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls))
    return cls._fields if issubclass(cls, tuple) and hasattr(cls, "_fields") else None


def field_names(value: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of an attrs, dataclass or NamedTuple value; else None."""
    cls: Any = type(value)
    return names_in(cls)


@cache
def _fields_of(cls: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that reads all fields of a value of a class with field names."""
    names = names_in(cls) or ()
    if len(names) > 1:
        return attrgetter(*names)  # it reads all fields in C
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


def identifying(packet: Any) -> str:
    """Return the text that identifies a packet in a state, for people and files.

    A packet that stands for a real object shows the object's content, and a digest of the rest.
    """
    text = canonical(packet)
    if not stands_for_another(packet):
        return text
    digest = blake2b(text.encode(), digest_size=4).hexdigest()
    return f"{canonical(shown(packet))} #{digest}"


@cache
def class_name(cls: Any) -> str:
    """Return the name of a class with the names of its enclosing classes, as in `Paper.Ack`."""
    return str(cls.__qualname__.rpartition("<locals>.")[2])


def canonical(value: Any) -> str:
    """Return the canonical text of `value`: stable across processes, and different for each value.

    The text is built from all fields, never from `hash` or the order of iteration. It does not name
    the module of a class, because `Values` rejects a second class with the same name.

    Raises:
        ProtocolError: the value is of a type that has no canonical text.
    """
    cls: Any = type(value)
    if cls in ATOMS:
        try:
            return repr(value)
        except ValueError:
            raise ProtocolError(
                "an integer has more digits than Python writes (4,300); use smaller numbers"
            ) from None
    names = names_in(cls)
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
        name = "" if getattr(cls, "__nameless__", False) else class_name(cls)
        return name + "{" + ",".join(f"{k}:{v}" for k, v in items) + "}"
    raise ProtocolError(
        f"a value of type {cls.__name__} ({value!r}) cannot be part of a state or packet; {_USE}"
    )


def _named(cls: Any, usual: str) -> str:
    return "" if cls.__name__ == usual else class_name(cls)


def same(one: Any, other: Any) -> bool:
    """Return whether two equal values also have the same canonical text."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    cls: Any = type(one)
    return _sameness_of(cls)(one, other)


@cache
def _sameness_of(cls: Any) -> Callable[[Any, Any], bool]:
    """Return `same` for two values of a class."""
    if cls is float:
        return lambda one, other: repr(one) == repr(other)
    if cls in ATOMS:
        return eq  # parts of equal values can differ if equality ignores a field
    if cls is tuple:
        return _are_same
    if cls is frozenset:
        return _are_same_sets
    if names_in(cls) is None:
        return _have_same_text
    fields = _fields_of(cls)
    return lambda one, other: _are_same(fields(one), fields(other))


def _are_same(parts: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    if len(parts) != len(others):
        return False
    for one, other in zip(parts, others, strict=True):  # most parts are identical objects
        if one is not other and not same(one, other):
            return False
    return True


def _are_same_sets(some: frozenset[Any], others: frozenset[Any]) -> bool:
    """Compare each element with the equal one; texts decide about elements without an equal one."""
    equals = {element: element for element in some}
    pairs = ((equals.get(element, others), element) for element in others)
    alike = len(some) == len(others) and all(same(*pair) for pair in pairs)
    return alike or _have_same_text(some, others)


def _have_same_text(one: Any, other: Any) -> bool:
    return canonical(one) == canonical(other)


@define(eq=False)
class Values:
    """The states, packets and messages of one system, each kept as it was first met.

    Attributes:
        known: the values, by equality.
        classes: the classes in them, by name.
        admitted: their parts other than atoms, by `id`. A new state shares most parts with the
            state before it. The references keep the ids valid.
    """

    known: dict[Any, Any] = field(factory=dict)
    classes: dict[str, type] = field(factory=dict)
    admitted: dict[int, Any] = field(factory=dict)

    def kept(self, value: Any, what: str) -> Any:
        """Return the equal value that was met first, or `value` itself if it is new.

        Args:
            value: a value that a handler returned.
            what: a description of the value for errors.

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
        """Pickle without values: each process collects its own."""
        return Values, ()

    def _admit(self, value: Any, what: str) -> None:
        """Raise if the value is unequal to itself, has no text, or has a class of a taken name."""
        if id(value) in self.admitted:
            return
        if value != value:
            raise ProtocolError(
                f"{what} holds {value!r}, which is not equal to itself, so no state with it is "
                "ever met again; use a number or None"
            )
        cls: Any = type(value)
        if cls in ATOMS:
            return
        if self.classes.setdefault(class_name(cls), cls) is not cls:
            raise ProtocolError(
                f"{what} holds a value of a class called {class_name(cls)}, and so did another "
                "one, of another class; give the two classes different names"
            )
        for part in value if cls is frozenset else parts(value):  # any order: all are looked at
            self._admit(part, what)
        if cls is not tuple and cls is not frozenset and field_names(value) is None:
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
    """Return the smallest differing parts of two equal values."""
    if type(one) is type(other):
        for first, second in zip(_ordered_parts(one), _ordered_parts(other), strict=False):
            if not same(first, second):
                return _difference(first, second)
    return one, other


def _ordered_parts(value: Any) -> tuple[Any, ...]:
    return parts(value) if isinstance(value, tuple) or field_names(value) is not None else ()


def parts(value: Any) -> tuple[Any, ...]:
    """Return the fields, elements, keys and contents of a value; an atom has none."""
    if field_names(value) is not None:
        return _fields(value)
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, (tuple, list)):
        return tuple(value)
    if isinstance(value, (frozenset, set)):
        return tuple(sorted(value, key=repr))
    return ()


def packet_class(packet: Any) -> str:
    """Return the name of a packet's class; `Packet` if the packet stands for another value."""
    return "Packet" if stands_for_another(packet) else type(packet).__name__


def messages_in(value: Any) -> Iterator[Message]:
    """Yield the messages inside a packet or state, in field order."""
    if isinstance(value, Message):
        yield value
        return
    for part in parts(value):
        yield from messages_in(part)


def with_parts(value: Any, replaced: Callable[[Any], Any]) -> Any:
    """Return a value with `replaced` applied to its parts; atoms stay unchanged."""
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
    """Return a packet or state with `replaced` applied to the messages in it."""
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
