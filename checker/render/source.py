"""The source lines of a protocol's handlers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from attrs import frozen


@frozen
class Source:
    """The lines of a function in its file, with its decorators.

    Attributes:
        first, last: the first and the last line, counted from 1.
    """

    file: str
    first: int
    last: int
    name: str


def source_of(handler: Callable[..., Any] | None) -> Source | None:
    """Return the source lines of `handler`, or None if it has no source file."""
    code = code_of(handler)
    if code is None or not Path(code.co_filename).is_file():
        return None
    return Source(code.co_filename, code.co_firstlineno, last_line(code), code.co_qualname)


def last_line(code: CodeType) -> int:
    """Return the last line of a function."""
    return max(code.co_firstlineno, *_lines(code))


def code_of(handler: Any) -> CodeType | None:
    """Return the code of the innermost function, or None if it is not written in Python.

    Partial functions, methods and functions with `__wrapped__` are unwrapped.
    """
    seen: list[Any] = []
    while not any(handler is before for before in seen):
        seen.append(handler)
        if isinstance(handler, functools.partial):
            handler = handler.func
        elif hasattr(handler, "__wrapped__"):
            handler = handler.__wrapped__
        elif inspect.ismethod(handler):
            handler = handler.__func__
        elif inspect.isfunction(handler):
            return handler.__code__
        elif callable(handler) and not isinstance(handler, type):
            handler = type(handler).__call__
    return None


def _lines(code: CodeType) -> Iterator[int]:
    """Yield the last lines of all instructions in `code`."""
    yield from (end for _, end, _, _ in code.co_positions() if end is not None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _lines(inner)
