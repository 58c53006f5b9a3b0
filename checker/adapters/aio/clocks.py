"""What a call of an asyncio node sees in place of the machine: clocks, chance, and refusals.

The functions are replaced while a call runs, in the thread that makes it.
"""

from __future__ import annotations

import asyncio
import datetime
import functools
import gc
import logging
import os
import random
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

from antecede.checker.support.errors import ProtocolError

Loop: TypeAlias = Any
"""A loop of the module `loop`, which uses this one."""

EPOCH = 1_700_000_000
"""The start of the wall clock, in seconds since 1970. Every node's own clock starts at 0."""

TICK = 1_000_000
"""Ticks of the clock in a second. Times are whole numbers of them, so differences are exact."""


class Unsupported(ProtocolError):
    """Something in a node that the loop of the test cannot simulate."""


class Instant(float):
    """A time of the node's clock. The difference of two depends on nothing else."""

    __hash__ = float.__hash__

    def __add__(self, seconds: float) -> Instant:
        return instant(self.ticks + round(seconds * TICK))

    __radd__ = __add__

    def __sub__(self, other: float) -> Any:
        if isinstance(other, Instant):
            return (self.ticks - other.ticks) / TICK
        return instant(self.ticks - round(other * TICK))

    def __rsub__(self, other: float) -> float:
        return float(other) - float(self)

    @property
    def ticks(self) -> int:
        """The time in ticks."""
        return round(float(self) * TICK)


def instant(ticks: int) -> Instant:
    """Return the time that is so many ticks after 0."""
    return Instant(ticks / TICK)


_calls: list[Loop] = []
"""The loops whose calls run, the innermost last."""


def _loop() -> Loop:
    return _calls[-1]


def refuse(text: str) -> Unsupported:
    """Note a refusal, so that code that catches the exception changes nothing; return it."""
    error = Unsupported(text)
    if _calls:
        _loop().refusals.append(error)
    return error


def refusing(text: str) -> Callable[..., Any]:
    """Return a function that refuses each of its calls."""

    def refuses(*_: Any, **__: Any) -> Any:
        raise refuse(text)

    return refuses


_RealDatetime = datetime.datetime


class _AnyDatetime(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _RealDatetime)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _RealDatetime)


class _Datetime(_RealDatetime, metaclass=_AnyDatetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return _RealDatetime.fromtimestamp(_wall(), tz or datetime.UTC).replace(tzinfo=tz)

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now()

    @classmethod
    def today(cls) -> Any:
        return cls.now()


def _wall() -> Instant:
    return instant(EPOCH * TICK + _loop().now.ticks)


def _nanoseconds(start: int) -> int:
    ticks: int = _loop().now.ticks
    return start * 1_000_000_000 + ticks * (1_000_000_000 // TICK)


def _uuid(version: int) -> uuid.UUID:
    return uuid.UUID(int=random.getrandbits(128), version=version)


NO_THREADS = "threads cannot be followed; run the work in the loop"
_NO_SOCKETS = (
    "the node makes a socket itself; let asyncio open it, with start_server, open_connection or "
    "create_datagram_endpoint"
)


def _blocks(seconds: float = 0) -> None:
    raise refuse(
        f"the node calls time.sleep({seconds:g}), which stops its whole loop; use asyncio.sleep"
    )


def _starts(thread: threading.Thread) -> None:
    raise refuse(f"the node starts the thread {thread.name!r}; {NO_THREADS}")


_INSTEAD: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(
        (time.monotonic, time.perf_counter, time.process_time, time.thread_time),
        lambda: _loop().now,
    ),
    **dict.fromkeys(
        (time.monotonic_ns, time.perf_counter_ns, time.process_time_ns), lambda: _nanoseconds(0)
    ),
    time.time: _wall,
    time.time_ns: lambda: _nanoseconds(EPOCH),
    time.sleep: _blocks,
    os.urandom: lambda size: random.randbytes(size),
    uuid.uuid1: lambda *_: _uuid(1),
    uuid.uuid4: lambda: _uuid(4),
}
"""A function of the machine -> what a node gets in its place."""

_OTHER_LOOPS = {
    "uvloop": ("run", "install", "new_event_loop"),
    "trio": ("run",),
    "curio": ("run",),
}


def _in_own_thread(real: Any, substitute: Any, owner: int) -> Any:
    @functools.wraps(real)
    def chosen(*arguments: Any, **named: Any) -> Any:
        own = _calls and threading.get_ident() == owner
        return (substitute if own else real)(*arguments, **named)

    return chosen


_cached: tuple[int, int, list[tuple[Any, str, Any, Any]]] = (0, 0, [])


def _replacements() -> list[tuple[Any, str, Any, Any]]:
    """Return (owner, name, real, substitute) for modules that are no part of Python or antecede."""
    global _cached
    owner = threading.get_ident()
    if _cached[:2] != (len(sys.modules), owner):
        _cached = (len(sys.modules), owner, list(_found(owner)))
    return _cached[2]


def _found(owner: int) -> Iterator[tuple[Any, str, Any, Any]]:
    instead = {real: _in_own_thread(real, fake, owner) for real, fake in _INSTEAD.items()}
    own = {"time", "os", "uuid", "datetime", "random"}
    for name, module in list(sys.modules.items()):
        package = name.partition(".")[0]
        ours = package in sys.stdlib_module_names or package in ("antecede", "numba", "numpy")
        if (ours and name not in own and name != "__main__") or not hasattr(module, "__dict__"):
            continue
        for attribute, value in list(vars(module).items()):
            if value is _RealDatetime:
                yield module, attribute, value, _Datetime
            elif isinstance(value, BuiltinFunctionType | FunctionType) and value in instead:
                yield module, attribute, value, instead[value]
    others = [
        *((each, name, refusing(text)) for each, name, text in _refused()),
        (threading.Thread, "start", _starts),
        (logging.Logger, "callHandlers", lambda *_: None),
    ]
    for each, name, substitute in others:
        real = getattr(each, name)
        yield each, name, real, _in_own_thread(real, substitute, owner)


def _refused() -> Iterator[tuple[Any, str, str]]:
    yield socket.socket, "__init__", _NO_SOCKETS
    yield subprocess.Popen, "__init__", NO_PROCESSES
    for package, names in _OTHER_LOOPS.items():
        for name in names:
            if hasattr(sys.modules.get(package), name):
                text = f"the node calls {package}.{name}, which makes a loop of its own; {_OURS}"
                yield sys.modules[package], name, text


_OURS = "the node must run on the asyncio loop that the test gives it"
NO_PROCESSES = "the node starts a subprocess, which would run outside of the test; replace it"


@contextmanager
def in_place(loop: Loop, more: Sequence[tuple[Any, str, Any]] = ()) -> Iterator[None]:
    """Give a node its clock, its random numbers and its loop while a block runs.

    Args:
        loop: the loop of the node.
        more: (owner, name, substitute) for what else is replaced.
    """
    chance = random.getstate()
    random.setstate(loop.chance)
    replaced = [*((owner, name, new) for owner, name, _, new in _replacements()), *more]
    places = [(owner, name, getattr(owner, name), new) for owner, name, new in replaced]
    running = asyncio._get_running_loop()
    collects = gc.isenabled()
    gc.disable()  # what it collects may be closed, and then sends: at no fixed time
    _calls.append(loop)
    try:
        for owner, name, _, substitute in places:
            setattr(owner, name, substitute)
        asyncio._set_running_loop(loop)
        yield
    finally:
        asyncio._set_running_loop(running)
        for owner, name, before, _ in places:
            setattr(owner, name, before)
        _calls.pop()
        if collects:
            gc.enable()
        loop.chance = random.getstate()
        random.setstate(chance)
