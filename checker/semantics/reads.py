"""Notes which fields of records the user's functions read.

Some engines do not know every field of a `Delivery`, and messages of endless workloads have no
numbers. So the checker must learn what a function asks for. The function is given an ordinary
record, and the class of the record notes who reads its fields. So no exception can be caught on
the way, `type` and `isinstance` answer as always, and a copy of the record is watched, too.

Question: How does antecede notice what a predicate or a handler asks for?
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType, MemberDescriptorType
from typing import Any, TypeAlias, TypeVar, cast

COMPARING, HASHING, COPYING = "__eq__", "__hash__", "__getstate__"

F = TypeVar("F", bound=Callable[..., Any])

_GENERATED = "<attrs generated"
"""The beginning of the file names of methods that attrs writes."""

_ON_BEHALF = {
    *(COMPARING, "__ne__", HASHING, "__repr__", "__str__", "__format__"),
    *("__copy__", "__deepcopy__", COPYING, "__setstate__", "__reduce__", "__reduce_ex__"),
}
"""Methods that look at a record because their caller wants to compare, show or copy it."""

_ATTRS = "attr._make"
"""The module with the method COPYING of all records, for `pickle` and whoever else calls it."""

_OURS = ("antecede.checker.", "copy.")
"""The packages and modules that look at records for the checker, or make copies to watch."""

_callers = set[CodeType]()
"""Functions of the checker that call the user's functions, which may be written in C."""

Noted: TypeAlias = Callable[[Any, str, str], None]
"""Is told of a record, of the field that is read, and of the method that reads it."""

_asked: ContextVar[tuple[tuple[str, ...], Noted] | None] = ContextVar("asked", default=None)


class _Field:
    """A field of a class that tells who reads it."""

    def __init__(self, name: str, slot: MemberDescriptorType) -> None:
        self.name, self.slot = name, slot

    def __get__(self, record: Any, owner: Any = None) -> Any:
        """Return the value, or the field itself if the class is asked."""
        if record is None:
            return self
        asked = _asked.get()
        if asked is not None and self.name in asked[0] and _is_of_user(frame := sys._getframe(1)):
            copied = _module(frame) == _ATTRS
            asked[1](record, self.name, COPYING if copied else frame.f_code.co_name)
        return self.slot.__get__(record, owner)

    def __set__(self, record: Any, value: Any) -> None:
        self.slot.__set__(record, value)


def calls_users(function: F) -> F:
    """Mark a function of the checker that calls the user's functions and reads no fields."""
    _callers.add(cast(FunctionType, function).__code__)
    return function


def _is_of_user(frame: FrameType | None) -> bool:
    """Return whether the user's code reads, perhaps by comparing or showing a record."""
    while frame is not None and _reads_for_another(frame):
        frame = frame.f_back
    if frame is None or frame.f_code in _callers:
        return True
    return not f"{_module(frame)}.".startswith(_OURS)


def _reads_for_another(frame: FrameType) -> bool:
    code = frame.f_code
    if code.co_filename.startswith(_GENERATED) or code.co_name in _ON_BEHALF:
        return True
    return _module(frame) == _ATTRS


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


@functools.cache
def _watch(cls: type, name: str) -> None:
    """Let a class tell from now on who reads a field. This cannot be undone."""
    if isinstance(slot := vars(cls)[name], MemberDescriptorType):
        setattr(cls, name, _Field(name, slot))


@contextmanager
def noting(cls: type, names: tuple[str, ...], noted: Noted) -> Iterator[None]:
    """Call `noted` whenever the user's code reads one of the fields of a class in the block."""
    for name in names:
        _watch(cls, name)
    token = _asked.set((names, noted))
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def unnoted() -> Iterator[None]:
    """Note nothing in the block."""
    token = _asked.set(None)
    try:
        yield
    finally:
        _asked.reset(token)
