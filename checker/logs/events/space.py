"""Arrays that grow, and numbers on the disk.

Arrays are created small, and made twice as long when a log needs it. Numbers that might not fit the
memory are in a `Store`.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
import threading
from collections.abc import Callable
from typing import IO, Any, ParamSpec, TypeVar

import numpy as np
from attrs import define, field

from antecede.checker.logs.events.capacity import check_room
from antecede.checker.support.errors import InputError

Array = np.ndarray[Any, Any]
Given = ParamSpec("Given")
Result = TypeVar("Result")

LARGE = 1 << 27
"""The size in bytes from which an array is lengthened only if the memory has room for it."""

STEP = 1 << 22
"""Rows of a table that one call of a kernel moves. Signals wait until the call returns."""


# Arrays

_growth = threading.Lock()


def alone(grow: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let one thread at a time lengthen arrays, so that two do not count on the same memory."""

    @functools.wraps(grow)
    def grow_alone(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with _growth:
            return grow(*args, **kwargs)

    return grow_alone


def new_array(shape: tuple[int, ...], kind: Any, value: int = 0) -> Array:
    """Return an array filled with a value.

    Raises:
        CapacityError: there is too little memory.
    """
    if (wanted := int(np.prod(shape)) * np.dtype(kind).itemsize) >= LARGE:
        check_room(wanted)
    return np.full(shape, value, kind) if value else np.zeros(shape, kind)


def longer(old: Array, size: int, value: int = 0) -> Array:
    """Return a copy of an array with `size` rows, of which the new ones are filled with a value."""
    new = new_array((size, *old.shape[1:]), old.dtype, value)
    new[: len(old)] = old
    return new


def lengthen(arrays: dict[str, Array], name: str, least: int) -> None:
    """Make an array twice as long, once or more, if it has less than `least` rows."""
    size = max(64, len(arrays[name]))
    while size < least:
        size *= 2
    if size > len(arrays[name]):
        arrays[name] = longer(arrays[name], size)


def moved(move: Callable[[Array, Array, int, int], None], old: Array, new: Array) -> Array:
    """Let a kernel move the rows of a table to a larger one, and return that."""
    for begin in range(0, len(old), STEP):
        move(old, new, begin, min(begin + STEP, len(old)))
    return new


# The disk


def full_disk(error: OSError) -> InputError:
    """Return the error for a disk that has no room for what is read again."""
    return InputError(
        f"records of the log cannot be kept in {tempfile.gettempdir()}: {error.strerror}; "
        "name another folder in TMPDIR"
    )


IN_MEMORY = 1 << 22
"""The size in bytes from which a `Store` is on the disk."""


def _temporary() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY)


@define(eq=False)
class Store:
    """Rows of numbers in a file, which is on the disk if it is large.

    Rows are appended at the end, and read anywhere. A row has `width` numbers; without a width, the
    numbers are in no rows.
    """

    kind: Any
    width: int = 0
    file: IO[bytes] = field(factory=lambda: _temporary())
    count: int = 0

    def add(self, rows: Array) -> None:
        """Append rows.

        Raises:
            InputError: the disk is full.
        """
        try:
            self.file.write(np.ascontiguousarray(rows, self.kind).tobytes())
        except OSError as error:
            raise full_disk(error) from None
        self.count += len(rows)

    def get(self, start: int, count: int) -> Array:
        """Return up to `count` rows, beginning at number `start`."""
        size = np.dtype(self.kind).itemsize * (self.width or 1)
        try:
            self.file.flush()
        except OSError as error:
            raise full_disk(error) from None
        self.file.seek(start * size)
        numbers = np.frombuffer(self.file.read(count * size), self.kind)
        self.file.seek(0, 2)
        return numbers.reshape(-1, self.width) if self.width else numbers

    def close(self) -> None:
        """Delete the numbers, including those that did not fit the disk."""
        with contextlib.suppress(OSError):
            self.file.close()
