"""Arrays in files: a reader gets exactly the elements that were written, or an error.

A file begins with a number that no other content of this file had, so a reader notices that the
file was overwritten. It also notices a file that is cut off.
"""

from __future__ import annotations

import errno
import mmap
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import define, frozen

from antecede.checker.support.errors import CapacityError, InputError

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The numbers of the errors that mean a full disk."""

FREE_SPACE = "free space, or have temporary files elsewhere (TMPDIR)"
"""The advice if temporary files have no room."""

INCOMPLETE = ".incomplete"
"""The end of the name of a file that is being written."""

WORD = 8
"""Every array begins at a multiple of this many bytes."""


@frozen
class StoredArray:
    """The place of an array in a file. It can travel between processes instead of the array.

    Attributes:
        path: the file, which an `ArrayFile` wrote.
        stamp: the number with which the file begins. A file that is used again gets another one.
        offset: the byte of the file where the array begins.
        count: the number of elements.
        dtype: the name of the elements' type.
    """

    path: str
    stamp: int
    offset: int
    count: int
    dtype: str

    def __len__(self) -> int:
        """Return the number of elements."""
        return self.count

    def read(self) -> Any:
        """Return the array.

        It is mapped copy-on-write: writes stay private, and the file may be deleted.

        Raises:
            InputError: the file is missing, or is not as it was written.
        """
        dtype = np.dtype(self.dtype)
        try:
            with open(self.path, "rb") as file:
                if int.from_bytes(file.read(WORD), "little") != self.stamp:
                    raise ValueError("it was overwritten")
                end = self.offset + self.count * dtype.itemsize
                whole = mmap.mmap(file.fileno(), end, access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read the file {self.path!r}: {_reason(error)}") from None
        return np.frombuffer(whole, dtype, self.count, self.offset)


@define(eq=False)
class ArrayFile:
    """A file to which arrays are appended. It appears under its name when it is complete.

    Attributes:
        path: of the complete file. No other file ever has this name.
        stamp: see `StoredArray`.
        end: the number of bytes written.
    """

    path: str
    stamp: int
    _file: FileIO
    end: int = 0

    @classmethod
    def begin(cls, path: str, unused: Iterable[Path] = ()) -> Self:
        """Begin a file, whose name begins with `path` and ends with its stamp.

        Args:
            unused: files whose space may be used. Overwriting a file is several times as fast as
                writing a new one. Other processes may take these files at the same time.

        Raises:
            CapacityError: the disk is full.
        """
        stamp = secrets.randbits(63)
        path = f"{path}-{stamp:x}"
        mode = "x"
        for file in unused:
            with suppress(FileNotFoundError):
                file.rename(f"{path}{INCOMPLETE}")
                mode = "r+"
                break
        try:
            opened = FileIO(f"{path}{INCOMPLETE}", mode)
        except OSError as error:
            raise _refusal(path, 0, error) from None
        begun = cls(path, stamp, opened)
        begun._write(stamp.to_bytes(WORD, "little"))
        return begun

    def add(self, array: Any) -> StoredArray:
        """Append the elements of an array; CapacityError: the disk is full, the file is deleted."""
        flat = np.ravel(array)
        stored = StoredArray(self.path, self.stamp, self.end, len(flat), flat.dtype.str)
        self._write(flat.view(np.uint8).data)
        self._write(bytes(-self.end % WORD))
        return stored

    def _write(self, data: Any) -> None:
        written = 0
        try:
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError as error:
            self.abandon()
            raise _refusal(self.path, self.end + len(data), error) from None
        self.end += written

    def close(self) -> None:
        """Complete the file; CapacityError: the disk is full, the file is deleted."""
        try:
            self._file.close()
            os.replace(f"{self.path}{INCOMPLETE}", self.path)
        except OSError as error:
            self.abandon()
            raise _refusal(self.path, self.end, error) from None

    def abandon(self) -> None:
        """Delete the file, which is incomplete."""
        with suppress(OSError):
            self._file.close()
        Path(f"{self.path}{INCOMPLETE}").unlink(missing_ok=True)


def _refusal(path: str, size: int, error: OSError) -> CapacityError:
    return CapacityError(
        f"the disk does not take the file {path!r} of {size:,} bytes or more: {_reason(error)}; "
        f"{FREE_SPACE}"
    )


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
