"""Decides whether a value can be part of a state.

It must be immutable and hashable, and equal only to values with the same fields.
"""

from __future__ import annotations

import collections
import copy
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs
from attrs import define, field

from antecede.checker.semantics.values import (
    ATOMS,
    canonical,
    field_names,
    names_in,
    parts,
    shown,
    stands_for_another,
)
from antecede.checker.support.errors import ProtocolError


def text_of(value: Any) -> str:
    """Return the canonical text of a value, or its best substitute if it has none."""
    try:
        return canonical(value)
    except ProtocolError:
        return repr(value)


def text_in_any_process(value: Any) -> str:
    """Return the canonical text of what people are shown of a value and of its parts.

    An atom without such a text has its `repr`, without its place in memory.
    """
    if (other := shown(value)) is not value:
        return text_in_any_process(other)
    if isinstance(value, Mapping):
        pairs = ((text_in_any_process(key), text_in_any_process(value[key])) for key in value)
        return "{" + ",".join(sorted(f"{key}:{content}" for key, content in pairs)) + "}"
    inner = [text_in_any_process(part) for part in parts(value)]
    if (names := field_names(value)) is not None:
        fields = ",".join(f"{name}={text}" for name, text in zip(names, inner, strict=True))
        return f"{type(value).__name__}({fields})"
    if isinstance(value, (set, frozenset)):
        return "{" + ",".join(sorted(inner)) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(inner) + ")"
    text = text_of(value)
    return text if isinstance(value, str) else re.sub(r" at 0x[0-9a-f]+", "", text)


def for_people(value: Any) -> str:
    """Return the canonical text of a value; if parts stand for real objects, the readable text."""
    return repr(value) if _has_stand_in(value) else text_of(value)


def _has_stand_in(value: Any) -> bool:
    return stands_for_another(value) or any(map(_has_stand_in, parts(value)))


def difference(first: Any, other: Any, path: str = "") -> tuple[str, str, str]:
    """Return the access path of the first difference of two values, and both texts for people."""
    if type(first) is type(other):
        seen = shown(first), shown(other)
        if seen[0] is not first and seen[0] != seen[1]:
            return difference(*seen, path)
        for (at, one), (_, two) in zip(*map(_children_and_contents, seen), strict=False):
            if text_of(one) != text_of(two):
                return difference(one, two, (path + at).lstrip("."))
    return path, for_people(first), for_people(other)


def _children_and_contents(value: Any) -> Iterator[tuple[str, Any]]:
    yield from children(value)
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", content) for key, content in value.items())


@functools.cache
def _fields_in(cls: Any) -> tuple[str, ...] | None:
    return None if issubclass(cls, tuple) else names_in(cls)


def _fields(value: object) -> tuple[str, ...] | None:
    """Return the names of the fields of an attrs or dataclass value, None for another value."""
    cls: Any = type(value)
    return _fields_in(cls)


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a value, or the elements of a tuple, with their access path."""
    if (names := _fields(value)) is not None:
        for name in names:
            yield f".{name}", getattr(value, name)
    elif isinstance(value, tuple):
        for at, element in enumerate(value):
            yield f"[{at}]", element


# Values: immutable, hashable, equal only if all fields are.


_BETTER = {
    list: "a tuple",
    collections.deque: "a tuple",
    set: "a frozenset",
    dict: "a tuple of pairs",
    bytearray: "bytes",
}


@define(eq=False)
class Usable:
    """What was found to be usable.

    Attributes:
        classes: attrs and data classes.
        values: values made of parts, by `id`; the references keep the ids valid.
    """

    classes: set[type] = field(factory=set)
    values: dict[int, Any] = field(factory=dict)


def unusable(value: Any, path: str, usable: Usable | None = None) -> str | None:
    """Return the fault of `value` or of a part of it, or None.

    Args:
        path: the access path of the value, such as `state.held_back[1]`.
        usable: what need not be judged; updated.
    """
    usable = Usable() if usable is None else usable
    if id(value) in usable.values:
        return None
    if isinstance(value, tuple(_BETTER)):
        better = next(better for cls, better in _BETTER.items() if isinstance(value, cls))
        return f"{path} is a {type(value).__name__}; use {better}"
    for at, part in _parts(value):
        fault = unusable(part, (path + at).lstrip("."), usable)
        if fault is not None:
            return fault
    if type(value) not in usable.classes and _fields(value) is not None:
        fault = _class_fault(value)
        if fault is not None:
            return f"{path or 'the result'} is of a class that cannot be used: {fault}"
        usable.classes.add(type(value))
    if not _is_made_of_parts(value):
        return _atom_fault(value, path)
    fault = hash_fault(value, path)
    if fault is None:
        usable.values[id(value)] = value
    return fault


def _is_made_of_parts(value: Any) -> bool:
    return _fields(value) is not None or isinstance(value, (tuple, frozenset, Mapping))


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    yield from children(value)
    if isinstance(value, frozenset):
        yield from (("{…}", element) for element in value)
    elif isinstance(value, Mapping):
        for key, content in value.items():
            yield "{…}", key
            yield f"[{key!r}]", content


def _atom_fault(value: Any, path: str) -> str | None:
    try:
        canonical(value)
    except ProtocolError as error:
        return f"{path}: {error}"
    return None if _equal(value, value) else f"{path} is {value!r}, which is not equal to itself"


def hash_fault(value: Any, path: str) -> str | None:
    """Return the reason why a value cannot be hashed, or None."""
    try:
        hash(value)
    except TypeError as error:
        better = "frozen attrs or dataclasses, tuples, frozensets"
        return f"{path} cannot be hashed ({error}); use {better}"
    return None


def _class_fault(value: Any) -> str | None:
    """Return the fault of the attrs or dataclass of `value`, tested on copies, or None."""
    cls, twin = type(value).__name__, _twin(value)
    if twin is None:
        return None
    names = _fields(value) or ()
    if any(_can_set(twin, name) for name in names):
        decorator = "@attrs.frozen" if attrs.has(type(value)) else "@dataclass(frozen=True)"
        return f"class {cls} is not frozen, its fields can be set; declare it with {decorator}"
    if not _equal(twin, value):
        return f"class {cls} compares objects, not values; leave out eq=False"
    for name in names:
        if _ignores(value, name):
            return (
                f"equality of class {cls} leaves out field {name!r}; states that differ in it "
                "would be taken for one"
            )
    if type(value).__hash__ is not None and _hashes_differ(twin, value):
        maker = "attrs" if attrs.has(type(value)) else "dataclass"
        return f"the hash of class {cls} differs for equal values; leave __hash__ to {maker}"
    return None


def _twin(value: Any) -> Any:
    """Return a copy of an attrs or dataclass value, or None if it cannot be copied."""
    cls: Any = type(value)
    if _has_only_slots(cls):
        twin: Any = object.__new__(cls)
        for name in _fields(value) or ():
            object.__setattr__(twin, name, getattr(value, name))
        return twin
    try:
        twin = copy.copy(value)
    except Exception:
        return None
    return twin if twin is not value and type(twin) is type(value) else None


@functools.cache
def _has_only_slots(cls: Any) -> bool:
    """Return whether a value of the class is its fields, so that it need not copy itself."""
    slots = {name for base in cls.__mro__ for name in getattr(base, "__slots__", ())}
    unusual = any(hasattr(cls, name) for name in ("__copy__", "__getnewargs__"))
    return (
        not (unusual or cls.__dictoffset__)
        and slots <= {*(_fields_in(cls) or ()), "__weakref__"}
        and cls.__new__ is object.__new__
        and cls.__reduce__ is object.__reduce__
        and cls.__reduce_ex__ is object.__reduce_ex__
        and all("__slots__" in vars(base) for base in cls.__mro__[:-1])
    )


def _can_set(twin: Any, name: str) -> bool:
    try:
        setattr(twin, name, getattr(twin, name))
    except Exception:
        return False
    return True


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


def _ignores(value: Any, name: str) -> bool:
    """Return whether the value still equals a copy with an unequal object in the field `name`."""
    twin = _twin(value)
    object.__setattr__(twin, name, object())
    try:
        return _equal(twin, value)
    except Exception:
        return False  # equality compares the field


def _hashes_differ(one: Any, other: Any) -> bool:
    try:
        return hash(one) != hash(other)
    except TypeError:
        return False  # the fault is in a part, which is judged on its own


def copied(value: Any, scrambled: Callable[[Iterable[Any]], Any] | None = None) -> Any:
    """Return an equal value of new objects; atoms and values that cannot be copied stay.

    With `scrambled`, a stand-in for `frozenset`, sets and mappings iterate in another order.
    """
    if type(value) in ATOMS:
        return value
    if (names := _fields(value)) is not None:
        twin = _twin(value)
        if twin is None:
            return value
        for name in names:
            object.__setattr__(twin, name, copied(getattr(value, name), scrambled))
        return twin
    if isinstance(value, tuple):
        elements = [copied(element, scrambled) for element in value]
        if type(value) is tuple:
            return tuple(elements)
        return value._make(elements) if hasattr(value, "_make") else value
    if type(value) is frozenset:
        return (scrambled or frozenset)(copied(element, scrambled) for element in value)
    if scrambled is not None and isinstance(value, Mapping):
        return _reversed_mapping(value)
    return value


def has_order(value: Any) -> bool:
    """Return whether `copied` would let some part of a value iterate in another order."""
    if (names := _fields(value)) is not None:
        try:
            return any(has_order(getattr(value, name)) for name in names)
        except ProtocolError:
            return False  # a stand-in whose fields cannot be read is not copied
    if isinstance(value, tuple):
        return any(map(has_order, value))
    return isinstance(value, (frozenset, Mapping))


def _reversed_mapping(value: Mapping[Any, Any]) -> Any:
    """Return the mapping with its keys inserted in the opposite order."""
    try:
        twin = type(value)(dict(reversed(list(value.items()))))  # type: ignore[call-arg]
        return twin if twin == value else value
    except Exception:
        return value
