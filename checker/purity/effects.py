"""Finds calls of clocks while a handler runs, and files that it changes.

Python reports every call of a function to a profiler, whatever name the caller uses, so aliases,
helper modules and imports inside a handler hide nothing. It reports files to an audit hook. Only
the user's own code counts: a logger of the standard library may read the clock.
"""

from __future__ import annotations

import dis
import functools
import os
import random
import sys
import threading
import time
import uuid
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any

from attrs import define, field

from antecede.checker.support.alone import alone
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.registry import shown_place

REFUSED: dict[Callable[..., Any], str] = {
    getattr(module, name): f"{module.__name__}.{name}"
    for module, names in {
        sys: ("setrecursionlimit", "setswitchinterval"),
        os: ("getenv", "getloadavg", "getpid", "getppid", "getrandom", "times", "urandom"),
        time: (
            *("time", "monotonic", "perf_counter", "process_time", "thread_time"),
            *("time_ns", "monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"),
            *("asctime", "ctime", "gmtime", "localtime", "strftime"),
            *("clock_gettime", "clock_gettime_ns"),
        ),
        uuid: ("uuid1", "uuid4"),
    }.items()
    for name in names
    if hasattr(module, name)
}
"""Functions that no handler may call -> their names."""

_OF_A_GIVEN_TIME = {time.asctime: 1, time.ctime: 1, time.gmtime: 1, time.localtime: 1,
                    time.strftime: 2}  # fmt: skip
"""Functions that read no clock if they have this number of arguments."""

_OF_INTERPRETER = (sys.setrecursionlimit, sys.setswitchinterval)
"""Functions that could keep antecede from ending a call, so they are refused before they run."""

_IN_PYTHON = {
    function.__code__: name for function, name in REFUSED.items() if type(function) is FunctionType
}
_SPREADS = (dis.opmap["CALL_FUNCTION_EX"],)
"""Instructions that call a function with arguments from a tuple."""

_SEEDS = random.Random.seed.__code__
"""The function that seeds a generator of random numbers, by itself if it is given nothing."""

_NOW = ("now", "today", "utcnow")
"""Methods of the classes of `datetime` that read the clock."""

_DRAWS = {"random", "secrets", "uuid"}
"""Modules that draw from the system for their callers."""


_CHANGES = {
    *("os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate"),
    *("os.utime", "sqlite3.connect"),
}
"""Audit events of calls that change the file in their first argument."""

_ENVIRONMENT = ("os.putenv", "os.unsetenv")

_PROCESS = "so it depends on the clock, on chance or on the process"
_READ = "which a later call could read"


class RefusedCall(ProtocolError):
    """A call that was refused before it ran."""


@define(eq=False)
class Effects:
    """Observes the calls of some handlers.

    Attributes:
        homes: packages that count as the user's code.
        faults: forbidden things that the latest call did, as clauses after "receive".
        appended, read: files to which a call appends, and files that it reads.
    """

    homes: frozenset[str]
    faults: list[str] = field(factory=list)
    appended: set[str] = field(factory=set)
    read: set[str] = field(factory=set)

    @contextmanager
    def observed(self) -> Iterator[list[str]]:
        """Observe a block, and collect its faults. Another profiler is left alone."""
        self.faults.clear()
        thread = threading.get_ident()
        before = _observing.get(thread)
        _observing[thread] = self
        is_free = sys.getprofile() is None
        if is_free:
            _profile_with(self._on_call)
        try:
            yield self.faults
        finally:
            if is_free:
                _profile_with(None)
            if before is None:
                del _observing[thread]
            else:
                _observing[thread] = before

    def _on_call(self, frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            name, caller = _refused(function, frame), frame
        elif event == "call" and frame.f_code in _IN_PYTHON and frame.f_back is not None:
            name, caller = _IN_PYTHON[frame.f_code], frame.f_back
        elif event == "call" and frame.f_code is _SEEDS and frame.f_locals.get("a") is None:
            name, caller = "random.seed", frame
        else:
            return
        user = _beyond(caller, _DRAWS)
        if name is not None and is_of_user(user.f_globals, self.homes):
            place = f"line {user.f_lineno} of {shown_place(user.f_code.co_filename)}"
            self.faults.append(f"calls {name}(), {_PROCESS} ({place})")
            if function in _OF_INTERPRETER:
                raise RefusedCall(f"{name}() changes the whole process")

    def on_audit(self, event: str, arguments: tuple[Any, ...], caller: FrameType) -> None:
        """Note a change of the environment or of a file, if the user's code causes it."""
        if not is_of_user(_beyond(caller, sys.stdlib_module_names).f_globals, self.homes):
            return
        name = os.fsdecode(arguments[0])
        if event in _ENVIRONMENT:
            self.faults.append(f"changes the environment variable {name!r}, {_READ}")
        else:
            self._on_file(name, arguments[2] if event == "open" else os.O_WRONLY)

    def _on_file(self, path: str, flags: int) -> None:
        """Note that a file is opened. A call may append to a file that no call reads."""
        if path.startswith(("/dev/", ":memory:")) or "__pycache__" in path:
            return
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        (self.appended if writes else self.read).add(path)
        if (writes and flags & (os.O_APPEND | os.O_RDWR) != os.O_APPEND) or (
            path in self.appended and path in self.read
        ):
            self.faults.append(f"changes the file {path!r}, {_READ}")


def _profile_with(function: Any) -> None:
    """Set the profiler of this thread."""
    with alone:
        sys.setprofile(function)


_observing: dict[int, Effects] = {}
"""Thread -> the observer of the call that the thread makes."""


def _on_audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _observing or not (event == "open" or event in _CHANGES or event in _ENVIRONMENT):
        return
    effects = _observing.get(threading.get_ident())
    if effects is not None and isinstance(arguments[0], str | bytes | os.PathLike):
        effects.on_audit(event, arguments, sys._getframe(1))


@functools.cache
def listen() -> None:
    """Listen to the audit events of this process. This cannot be undone."""
    sys.addaudithook(_on_audit)


def _refused(function: BuiltinFunctionType, caller: FrameType) -> str | None:
    """Return the name of a function that is written in C, or None if handlers may call it."""
    called: Any = function
    if (name := REFUSED.get(called)) is not None:
        least = _OF_A_GIVEN_TIME.get(called)
        return None if least is not None and _given(caller) >= least else name
    owner = function.__self__
    if function.__name__ in _NOW and isinstance(owner, type) and issubclass(owner, date):
        return f"{owner.__name__}.{function.__name__}"
    return None


def _given(caller: FrameType) -> int:
    """Return the number of arguments of the call that a frame makes; 256 if it is unknown."""
    operation, given = caller.f_code.co_code[caller.f_lasti : caller.f_lasti + 2]
    return 256 if operation in _SPREADS else given


def _beyond(frame: FrameType, modules: Container[str]) -> FrameType:
    """Return the nearest caller that is in none of the modules, which are top-level ones."""
    while top_package(frame.f_globals) in modules and frame.f_back is not None:
        frame = frame.f_back
    return frame


def top_package(scope: Mapping[str, Any]) -> str:
    """Return the top-level package of a module; for antecede, the package inside it."""
    parts = str(scope.get("__name__", "")).split(".")
    return ".".join(parts[:2] if parts[0] == "antecede" else parts[:1])


def is_of_user(scope: Mapping[str, Any], homes: frozenset[str]) -> bool:
    """Return whether the module with these variables is the user's, or in one of the packages."""
    top = top_package(scope)
    if top in homes:
        return True
    parts = Path(str(scope.get("__file__", ""))).parts
    installed = "site-packages" in parts or "dist-packages" in parts
    return (
        not installed
        and top not in ("antecede", "antecede.checker")
        and top not in sys.stdlib_module_names
    )
