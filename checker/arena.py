"""Memory that grows in place: address space is reserved at once, pages are used when touched.

An arena may live in a file (`--spill`): then the operating system can write its pages out.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from checker.errors import CapacityError

_NORESERVE = 0x4000 if sys.platform == "linux" else 0  # mmap.MAP_NORESERVE

STEP = 1 << 26
"""Bytes by which a spilled arena is extended on disk."""


@define(eq=False)
class Arena:
    """A one-dimensional array that can grow without being copied.

    Attributes:
        dtype: of its elements.
        reserve_bytes: of address space; the array cannot grow beyond.
        file: where it is spilled to, or None for anonymous memory.
        array: the whole reservation, as an array.
    """

    dtype: Any
    reserve_bytes: int
    file: Path | None = None
    array: np.ndarray[Any, Any] = field(init=False)
    _map: mmap.mmap = field(init=False)
    _backed: int = 0
    _descriptor: int = -1

    def __attrs_post_init__(self) -> None:
        """Reserve the address space."""
        size = max(self.reserve_bytes // mmap.PAGESIZE, 1) * mmap.PAGESIZE
        if self.file is None:
            self._map = _anonymous(size)
            self._backed = len(self._map)
        else:
            self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            os.ftruncate(self._descriptor, size)
            self._map = mmap.mmap(self._descriptor, size)
        self.array = np.frombuffer(self._map, self.dtype)

    def ensure(self, elements: int) -> None:
        """Make sure that `elements` elements can be written.

        Raises:
            CapacityError: the reservation or the disk is too small.
        """
        size = elements * self.array.itemsize
        if size > len(self._map):
            raise CapacityError(
                f"a table needs {size / 1e9:,.1f} GB and this machine has room for "
                f"{len(self._map) / 1e9:,.1f} GB; use smaller bounds, --history knowledge or "
                "--engine spark"
            )
        while self._backed < size:
            step = min(STEP, len(self._map) - self._backed)
            try:
                os.posix_fallocate(self._descriptor, self._backed, step)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                raise CapacityError(
                    f"the disk is full: {self.file} could not grow beyond "
                    f"{self._backed / 1e9:,.2f} GB; free space or give another --spill folder"
                ) from None
            self._backed += step

    def close(self) -> None:
        """Give the memory, and the file, back."""
        self.array = np.empty(0, self.dtype)
        # Where somebody still holds a view, the mapping goes with the last one.
        with contextlib.suppress(BufferError):
            self._map.close()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            if self.file is not None:
                self.file.unlink(missing_ok=True)


def _anonymous(size: int) -> mmap.mmap:
    """Reserve memory that costs nothing until it is touched; less if the system refuses."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    while True:
        try:
            area = mmap.mmap(-1, size, flags=flags)
        except OSError:
            size //= 2
            if size < 1 << 20:
                raise CapacityError("the system refuses to reserve memory") from None
            continue
        if size >= 1 << 24:
            area.madvise(mmap.MADV_HUGEPAGE)
        return area


def machine_memory_bytes() -> int:
    """Return the physical memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
