"""Numbers in a temporary file, because they might not fit the memory."""

from __future__ import annotations

import contextlib
import tempfile
from typing import IO, Any

import numpy as np
from attrs import define, field

from antecede.checker.audit.chains import full_disk

Array = np.ndarray[Any, Any]


@define(eq=False)
class Store:
    """An array of numbers on disk: appended at its end, and read anywhere."""

    kind: Any
    file: IO[bytes] = field(factory=tempfile.TemporaryFile)
    count: int = 0

    def add(self, values: Array) -> None:
        """Append numbers.

        Raises:
            InputError: the disk is full.
        """
        try:
            self.file.write(np.ascontiguousarray(values, self.kind).tobytes())
        except OSError as error:
            raise full_disk(error) from None
        self.count += len(values)

    def get(self, start: int, count: int) -> Array:
        """Return up to `count` numbers, beginning at index `start`."""
        size = np.dtype(self.kind).itemsize
        try:
            self.file.flush()
        except OSError as error:
            raise full_disk(error) from None
        self.file.seek(start * size)
        numbers = np.frombuffer(self.file.read(count * size), self.kind)
        self.file.seek(0, 2)
        return numbers

    def close(self) -> None:
        """Delete the numbers, including those that did not fit the disk."""
        with contextlib.suppress(OSError):
            self.file.close()
