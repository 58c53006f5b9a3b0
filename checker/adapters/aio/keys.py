"""The key of an object with suspended coroutines: what decides what it will do, as text.

The graph of all objects that can be reached is written in a fixed order. An object that is met
again is the number of its first visit. Times are relative to the clock.

Question: When are two objects with running tasks in one state?
"""

from __future__ import annotations

import array
import asyncio
import collections
import contextvars
import copyreg
import datetime
import decimal
import enum
import fractions
import functools
import gc
import hashlib
import logging
import pathlib
import random
import re
import struct
import types
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from antecede.checker.adapters.aio.clocks import EPOCH, TICK, Instant
from antecede.checker.adapters.aio.frames import contents
from antecede.checker.model import Message
from antecede.checker.support.errors import ProtocolError

_ATOMS: set[type] = {type(None), bool, int, str, bytes, complex, float, type(...), range, slice,
                     type(NotImplemented)}  # fmt: skip
_BY_REPR: tuple[Any, ...] = (
    decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta,
    datetime.tzinfo, uuid.UUID, pathlib.PurePath, re.Pattern, Message, enum.Enum, array.array,
)  # fmt: skip
_BY_NAME: tuple[Any, ...] = (
    types.ModuleType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.ClassMethodDescriptorType,
    contextvars.ContextVar, types.GenericAlias, types.UnionType,
)  # fmt: skip
_OF_LOGGING = (logging.Logger, logging.Handler, logging.Filter, logging.LoggerAdapter)
_SEEN_THROUGH = {"FutureIter", "coroutine_wrapper", "async_generator_asend", "anext_awaitable",
                 "async_generator_athrow", "method-wrapper", "TaskStepMethWrapper"}  # fmt: skip
"""Types in C whose whole state is what `gc` says that they refer to."""

_WEAK = (weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary)
_WORD = struct.calcsize("P")


class Opaque(ProtocolError):
    """An object whose content cannot be seen."""


class Key:
    """Writes down what can be reached from some objects.

    Args:
        loop: the loop of the node, which is written as itself.
        now: the time that others are relative to.
        oldest: the age in seconds from which all times count as equal; None: never.
        unfinished: queues count their unfinished tasks.
    """

    def __init__(
        self, loop: Any, now: Instant, oldest: float | None = None, *, unfinished: bool = False
    ) -> None:
        self._loop, self._now, self._oldest, self._unfinished = loop, now, oldest, unfinished
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._sorting: set[int] = set()
        self._text: list[str] = []

    def known(self, value: Any) -> None:
        """Give an object a number, and write nothing about its content."""
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)

    def digest(self) -> str:
        """Return a hash of everything that was written."""
        return hashlib.blake2b(" ".join(self._text).encode(), digest_size=12).hexdigest()

    def put(self, *texts: str) -> None:
        """Write texts."""
        self._text.extend(texts)

    def write(self, value: Any) -> None:
        """Write a value and all that it refers to."""
        cls = type(value)
        if cls in _ATOMS:
            self._text.append(f"{cls.__name__[0]}{value!r}")
        elif cls is Instant:
            self._text.append(self._age(value))
        elif value is self._loop:
            self._text.append("loop")
        elif id(value) in self._numbers:
            self._text.append(f"#{self._numbers[id(value)]}")
        else:
            if cls is not tuple and cls is not frozenset:
                self.known(value)
            _writer_of(cls)(self, value)  # type: ignore[arg-type]

    def all(self, values: Iterable[Any]) -> None:
        """Write several values."""
        self._text.append("(")
        for value in values:
            self.write(value)
        self._text.append(")")

    def _age(self, time: Instant) -> str:
        wall = float(time) >= EPOCH / 2
        ticks = self._now.ticks + wall * EPOCH * TICK - time.ticks
        old = self._oldest is not None and ticks > self._oldest * TICK
        return f"{'wall' if wall else 'time'}{'-old' if old else ticks}"

    def _in_any_order(self, container: Any, values: list[Any]) -> None:
        """Write values sorted by their text; tasks and futures in the order in which they come."""
        if any(asyncio.isfuture(each) for each in values):
            self.all(values)
        elif id(container) in self._sorting:  # it contains itself, by way of its elements
            self.put("...")
        else:
            self._sorting.add(id(container))
            self.all(sorted(values, key=self._apart) if len(values) > 1 else values)
            self._sorting.discard(id(container))

    def _apart(self, value: Any) -> str:
        """Return the text of a value without the numbers of other visits."""
        key = Key(self._loop, self._now, self._oldest, unfinished=self._unfinished)
        key._sorting = self._sorting
        key.write(value)
        return " ".join(key._text)

    # One method per kind of object.

    def _list(self, value: Any) -> None:
        self.put("l", type(value).__qualname__)
        self.all(value)
        self._attributes(value)

    def _deque(self, value: Any) -> None:
        self.put("q", str(value.maxlen))
        self._list(value)

    def _set(self, value: Any) -> None:
        self.put("s", type(value).__qualname__)
        self._in_any_order(value, list(value))
        self._attributes(value)

    def _dict(self, value: Any) -> None:
        self.put("d", type(value).__qualname__)
        self.all(part for pair in list(value.items()) for part in pair)
        self.write(getattr(value, "default_factory", None))
        self._attributes(value)

    def _bytes(self, value: Any) -> None:
        self.put("y", type(value).__qualname__, repr(bytes(value)))

    def _repr(self, value: Any) -> None:
        self.put(type(value).__qualname__, repr(value))

    def _name(self, value: Any) -> None:
        names = (getattr(value, each, None) for each in ("__qualname__", "__name__", "name"))
        self.put("n", str(getattr(value, "__module__", "")), str(next(filter(None, names), value)))

    def _code(self, value: Any) -> None:
        self.put("n", _place(value))

    def _class(self, value: Any) -> None:
        self._name(value)
        if "<locals>" in value.__qualname__:  # made by a call, so it may keep what the call did
            hidden = ("__dict__", "__weakref__", "__doc__", "__module__")
            self.all(v for pair in vars(value).items() if pair[0] not in hidden for v in pair)

    def _cell(self, value: Any) -> None:
        self.put("c")
        try:
            self.write(value.cell_contents)
        except ValueError:
            self.put("empty")

    def _method(self, value: Any) -> None:
        self.put("m")
        self.all((value.__func__, value.__self__))

    def _builtin(self, value: Any) -> None:
        self.put("b", value.__name__)
        if not isinstance(value.__self__, types.ModuleType | None):
            self.write(value.__self__)

    def _function(self, value: Any) -> None:
        self.put("f", str(value.__module__), _place(value.__code__))
        self.all((value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__))

    def _partial(self, value: Any) -> None:
        self.put("p")
        self.all((value.func, value.args, value.keywords))
        self._attributes(value)

    def _context(self, value: Any) -> None:
        self.put("x")
        pairs = sorted(value.items(), key=lambda pair: pair[0].name)
        self.all(part for pair in pairs for part in pair)

    def _random(self, value: Any) -> None:
        self.put("r", hashlib.blake2b(repr(value.getstate()).encode(), digest_size=8).hexdigest())

    def _handle(self, value: Any) -> None:
        self.put("h", str(value._cancelled))
        if isinstance(value, asyncio.TimerHandle):
            self.write(value._when if value._scheduled else None)  # type: ignore[attr-defined]
        if not value._cancelled:
            self.all((value._callback, value._args, value._context))

    def _future(self, value: Any) -> None:
        self.put("F", value._state)
        if value.done() and not value.cancelled():
            self.write(value._exception if value._exception is not None else value._result)
        callbacks = [c for c in value._callbacks or () if not _is_of_loop(c[0], self._loop)]
        self.all(part for pair in callbacks for part in pair)
        self._attributes(value)

    def _task(self, value: Any) -> None:
        self.put("K", value.get_name())
        if not value.done():
            self.put(str(value._must_cancel), str(value.cancelling()))
            self.all((value.get_coro(), value._fut_waiter))
            # Task.get_context is new in Python 3.12.
            self.all(c for c in gc.get_referents(value) if type(c) is contextvars.Context)
        self._future(value)

    def _coroutine(self, value: Any) -> None:
        self._suspended(value, value.cr_frame, value.cr_code)

    def _generator(self, value: Any) -> None:
        self._suspended(value, value.gi_frame, value.gi_code)

    def _async_generator(self, value: Any) -> None:
        self._suspended(value, value.ag_frame, value.ag_code)

    def _suspended(self, value: Any, frame: Any, code: types.CodeType) -> None:
        self.put("Y", _place(code))
        if frame is None:
            self.put("ended")
            return
        self.put(str(frame.f_lasti))
        variables, stack = contents(value, frame, code)
        self.all(part for pair in variables for part in pair)
        self.all(stack)

    def _exception(self, value: Any) -> None:
        self.put("E", type(value).__qualname__)
        self.all((value.args, value.__cause__))
        self._attributes(value)

    def _weak(self, value: Any) -> None:
        self.put("w")
        if isinstance(value, weakref.ref):
            self.write(value())
        else:
            items = getattr(value, "items", None)
            self._in_any_order(value, list(value if items is None else items()))

    def _seen_through(self, value: Any) -> None:
        self.put("+", type(value).__name__)
        self.all(gc.get_referents(value))

    def _struct(self, value: Any) -> None:
        self.put("struct", value.format)

    def _queue(self, value: Any) -> None:
        self._object(value, () if self._unfinished else ("_unfinished_tasks", "_finished"))

    def _object(self, value: Any, without: tuple[str, ...] = ()) -> None:
        self.put("o", type(value).__module__, type(value).__qualname__)
        self._attributes(value, without)

    def _attributes(self, value: Any, without: tuple[str, ...] = ()) -> None:
        for name, each in list(getattr(value, "__dict__", {}).items()):
            if name not in without:
                self.put(name)
                self.write(each)
        for name in _slots(type(value)):  # type: ignore[arg-type]
            if hasattr(value, name):
                self.put(name)
                self.write(getattr(value, name))

    def _reduced(self, value: Any) -> None:
        """Write an object of a type in C, as pickle would."""
        cls = type(value)
        try:
            with warnings.catch_warnings():  # iterators are no longer pickled in Python 3.14
                warnings.simplefilter("ignore")
                parts = value.__reduce_ex__(4)
        except Exception:
            raise Opaque(_OPAQUE.format(f"{cls.__module__}.{cls.__qualname__}")) from None
        if isinstance(parts, str):
            if "<locals>" in parts:
                raise Opaque(_OPAQUE.format(f"{cls.__module__}.{cls.__qualname__} {parts}"))
            self.put("R", cls.__qualname__, parts)
            return
        function, arguments, *state = parts
        self.put("R", cls.__qualname__)
        self.all((function, arguments))
        self.all(list(each) if hasattr(each, "__next__") else each for each in state)


_OPAQUE = (
    "the node contains a {}, whose content antecede cannot see; let the adapter have a method "
    "state(self) that returns everything that decides what the node does"
)


@functools.cache
def _writer_of(cls: type) -> Callable[[Key, Any], None]:
    """Return the method that writes objects of a class."""
    if cls.__name__ in _SEEN_THROUGH:
        return Key._seen_through
    for kinds, method in _WRITERS:
        if issubclass(cls, kinds):
            return method
    return Key._reduced if _has_hidden_state(cls) else Key._object


_WRITERS: tuple[tuple[Any, Callable[[Key, Any], None]], ...] = (
    (_BY_REPR, Key._repr),
    (_BY_NAME, Key._name),
    (_OF_LOGGING, Key._name),
    (types.CodeType, Key._code),
    (type, Key._class),
    (asyncio.Task, Key._task),
    (asyncio.Future, Key._future),
    (asyncio.Queue, Key._queue),
    (asyncio.Handle, Key._handle),
    (random.Random, Key._random),
    (tuple, Key._list),
    (list, Key._list),
    (collections.deque, Key._deque),
    ((set, frozenset), Key._set),
    (dict, Key._dict),
    (types.MappingProxyType, Key._dict),
    ((bytearray, memoryview), Key._bytes),
    (types.CellType, Key._cell),
    (types.MethodType, Key._method),
    (types.BuiltinFunctionType, Key._builtin),
    (types.FunctionType, Key._function),
    (functools.partial, Key._partial),
    (contextvars.Context, Key._context),
    (types.CoroutineType, Key._coroutine),
    (types.GeneratorType, Key._generator),
    (types.AsyncGeneratorType, Key._async_generator),
    (BaseException, Key._exception),
    ((weakref.ref, *_WEAK), Key._weak),
    (struct.Struct, Key._struct),
)


def _has_hidden_state(cls: Any) -> bool:
    """Return whether objects keep something in C that is no attribute, as pickle finds it out."""
    size = object.__basicsize__ + _WORD * len(_slots(cls))
    size += _WORD * ((cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0))
    return bool(cls.__itemsize__ or cls.__basicsize__ > size)


@functools.cache
def _slots(cls: type) -> tuple[str, ...]:
    return tuple(copyreg._slotnames(cls))  # type: ignore[attr-defined]


@functools.cache
def _place(code: types.CodeType) -> str:
    """Return the name of code and its place; two functions in one line have different columns."""
    positions = repr(list(code.co_positions())).encode()
    digest = hashlib.blake2b(positions, digest_size=6).hexdigest()
    return f"{code.co_qualname}:{code.co_firstlineno}:{digest}"


def _is_of_loop(callback: Any, loop: Any) -> bool:
    return getattr(callback, "__self__", None) is loop
