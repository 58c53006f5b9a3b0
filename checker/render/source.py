"""The source lines of a protocol's handlers, and the paths of files as reports show them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.support.sources import code_of, last_line


def from_here(file: str) -> str:
    """Return a file's path: from the current folder if the file is there, else the whole path."""
    path, here = Path(file), Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


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
