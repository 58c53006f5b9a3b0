"""Notes which lines of the user's code a call runs, with `sys.settrace`."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeAlias

from attrs import define, field

from antecede.checker.support.alone import alone
from antecede.checker.support.registry import inside
from antecede.checker.support.sources import is_followed

Turn: TypeAlias = tuple[int, int]
"""A line, and the line that ran next in the same call of its function; LEFT if it returned."""

LEFT = 0


@define(eq=False)
class Tracer:
    """Notes the functions of the user that a call runs, and their lines.

    Attributes:
        ran: code -> the lines that ran, in the order of the first calls.
        turns: code -> the pairs of lines that ran one after the other.
    """

    ran: dict[CodeType, set[int]] = field(factory=dict)
    turns: dict[CodeType, set[Turn]] = field(factory=dict)

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Trace the calls of this thread within the block."""
        before = sys.gettrace()
        _set(self._called)
        try:
            yield
        finally:
            _set(before)

    def _called(self, frame: FrameType, event: str, _argument: Any) -> Any:
        code = frame.f_code
        if event != "call" or not is_users(code.co_filename):
            return None
        ran = self.ran.setdefault(code, set())
        ran.add(code.co_firstlineno)
        turns = self.turns.setdefault(code, set())
        last, failed = code.co_firstlineno, False

        def inside(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last, failed
            if event == "line":
                line = frame.f_lineno
                ran.add(line)
                if not failed:
                    turns.add((last, line))
                last, failed = line, False
            elif event == "exception":
                failed = True
            elif event == "return" and not failed:
                turns.add((last, LEFT))
            return inside

        return inside


def _set(function: Any) -> None:
    """Set the trace function of this thread."""
    with alone:
        sys.settrace(function)


current: Tracer | None = None
"""The tracer of the handlers' calls; None if nobody asked for their coverage."""


@contextmanager
def traced_handlers(tracer: Tracer | None) -> Iterator[None]:
    """Trace all calls of handlers within the block, unless there is no tracer."""
    global current
    before, current = current, tracer
    try:
        yield
    finally:
        current = before


def stop() -> None:
    """Do not trace the rest of this call of a handler: the self-check begins."""
    if current is not None:
        _set(None)


@functools.lru_cache(maxsize=1_000)
def is_users(name: str) -> bool:
    """Return whether a file is the user's or a protocol's, and its lines can be shown.

    Args:
        name: the name of a file or of a cell of a notebook, as in the code of a function.
    """
    if name.startswith("<"):  # a cell of a notebook has a source; generated methods are not shown
        return not name.startswith(("<attrs", "<frozen", "<string")) and bool(lines_of(name))
    file = Path(name).resolve()
    return is_followed(_module_of(file), file) and file.is_file()


def _module_of(file: Path) -> str:
    """Return the name that a module of antecede has, for `is_followed`; else the file's stem."""
    ours = inside(file)
    return file.stem if ours is None else ".".join(("antecede", *ours.with_suffix("").parts))


def lines_of(
    file: str, variables: Mapping[str, Any] | None = None, *, now: bool = False
) -> list[str]:
    """Return the lines of a file, without their ends; none if the file cannot be read.

    Args:
        file: its name.
        variables: of its module, which may know how to read it.
        now: whether to look if the file has changed since its lines were read.
    """
    with alone:
        if now:
            linecache.checkcache(file)
        lines = linecache.getlines(file, variables)  # type: ignore[arg-type]
    return [line.rstrip("\n") for line in lines]
