"""Arrays that grow in place: address space is reserved at once, pages are used when touched.

An arena may live in a file (`--spill`), so that the operating system can write its pages out.
The file is unlinked as soon as it is open. It is therefore gone when the process ends, whatever
the reason.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.storage.files import DISK_FULL
from antecede.checker.support.amounts import memory
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.memory import (
    address_space_left_bytes,
    available_memory_bytes,
    machine_memory_bytes,
)
from antecede.checker.support.platforms import WINDOWS, refuse_on_windows

_NORESERVE = 0x4000 if sys.platform == "linux" else 0  # mmap.MAP_NORESERVE

ALLOCATION = 1 << 20
"""The number of zeros that are written at once where a file cannot be allocated otherwise."""

STEP = 1 << 26
"""A large arena is extended by this many bytes; a small one doubles."""

SMALLEST_STEP = 1 << 20

KEPT = 1 << 24
"""Memory up to this size is not given back, because clearing it again takes time."""

HUGE_PAGE = 1 << 21
"""Memory is freed in multiples of this size, because a huge page that is freed in part is split."""


@define(eq=False)
class Arena:
    """A one-dimensional array that can grow without being copied.

    It reserves address space at once, and takes memory, or space in a file, only as it grows.

    Attributes:
        dtype: the type of the elements.
        reserve_bytes: bytes of reserved address space; the array cannot grow beyond them.
        name: the content, as named in messages and checkpoints.
        folder: the folder of the spill file, or None for anonymous memory.
        array: the whole reservation; touch only elements that `ensure` covered.
    """

    dtype: Any
    reserve_bytes: int
    name: str = "table"
    folder: Path | None = None
    array: np.ndarray[Any, Any] = field(init=False)
    _map: mmap.mmap = field(init=False)
    _backed: int = 0
    _descriptor: int = -1

    def __attrs_post_init__(self) -> None:
        """Reserve the address space."""
        size = _whole_pages(self.reserve_bytes)
        self._map = _anonymous(size) if self.folder is None else self._file(self.folder, size)
        self.array = np.frombuffer(self._map, self.dtype)

    def _file(self, folder: Path, size: int) -> mmap.mmap:
        """Map a new file without a name.

        Raises:
            CapacityError: the disk or the address space is too small.
            InputError: the folder cannot be written.
        """
        try:
            self._descriptor, file = tempfile.mkstemp(prefix=f"{self.name}-", dir=folder)
            os.unlink(file)
            os.ftruncate(self._descriptor, size)
            return mmap.mmap(self._descriptor, size)
        except OSError as error:
            self._forget_file()
            text = f"cannot spill to the folder {str(folder)!r}: {error.strerror}"
            kind = CapacityError if error.errno in (*DISK_FULL, errno.ENOMEM) else InputError
            raise kind(text) from None

    def ensure(self, elements: int) -> None:
        """Make sure that the first elements can be written.

        Raises:
            CapacityError: the reservation, the memory or the disk is too small.
        """
        size = _whole_pages(elements * self.array.itemsize)
        if size <= self._backed:
            return
        if size > len(self._map):
            raise CapacityError(
                f"the {self.name} need {memory(size)} and there is room for "
                f"{memory(len(self._map))}; {LESS}"
            )
        step = min(max(self._backed, SMALLEST_STEP), STEP)
        generous = min(max(size, self._backed + _whole_pages(step)), len(self._map))
        if self.folder is None:
            _check_memory(self.name, size - self._backed)
            self._backed = generous
        elif self._extend_file(generous) != 0:
            self._check_disk(self._extend_file(size))

    def _extend_file(self, size: int) -> int:
        """Allocate `size` bytes on disk; return the error number, or 0."""
        # Now, because a write to a mapping cannot report an error.
        try:
            _allocate(self._descriptor, self._backed, size - self._backed)
        except OSError as error:
            return error.errno or errno.EIO
        self._backed = size
        return 0

    def _check_disk(self, error: int) -> None:
        if error in DISK_FULL:
            raise CapacityError(
                f"the disk is full: the {self.name} in {str(self.folder)!r} could not grow beyond "
                f"{memory(self._backed)}; free space, or give another --spill folder"
            )
        if error:
            raise CapacityError(f"cannot spill to {str(self.folder)!r}: {os.strerror(error)}")

    def put(self, values: Any) -> None:
        """Copy the elements of an array of the same type to the beginning; see `ensure`."""
        self.ensure(len(values))
        self.array[: len(values)] = values

    def release(self, elements: int) -> None:
        """Free the memory or disk space behind the first `elements` elements, if it is much."""
        used = max(_whole_pages(elements * self.array.itemsize), KEPT)
        if used >= self._backed:
            return
        # Only Linux frees a part of a file, and some of its file systems do not.
        # The file then keeps its size.
        advice = "MADV_DONTNEED" if self.folder is None else "MADV_REMOVE"
        if _advise(self._map, advice, used, self._backed - used):
            self._backed = used

    def release_first(self, elements: int) -> None:
        """Free the memory of the first `elements` elements, if it is much. A file keeps its space.

        The content of these elements is lost.
        """
        used = elements * self.array.itemsize // HUGE_PAGE * HUGE_PAGE
        if used > KEPT and self.folder is None:
            _advise(self._map, "MADV_DONTNEED", 0, used)

    @property
    def file_bytes(self) -> int:
        """The arena's size on disk."""
        return self._backed if self._descriptor >= 0 else 0

    def close(self) -> None:
        """Free the memory, and the file."""
        self.array = np.empty(0, self.dtype)
        # If a view of the array still exists, the mapping is closed together with the last view.
        with contextlib.suppress(BufferError):
            self._map.close()
        self._forget_file()

    def _forget_file(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@define(eq=False)
class Arenas:
    """Creates the arenas of one run, and closes them.

    Attributes:
        spill: the folder for spill files, or None for memory.
        in_memory: names of arenas that are never spilled.
        reserve_bytes: bytes of address space for each arena.
        made: the arenas that exist.
    """

    spill: Path | None
    in_memory: tuple[str, ...]
    reserve_bytes: int
    made: list[Arena] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Create the folder if it does not exist."""
        if self.spill is not None:
            refuse_on_windows("--spill")
            try:
                self.spill.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"cannot spill to the folder {str(self.spill)!r}: {error.strerror}"
                ) from None

    def make(self, dtype: Any, name: str) -> Arena:
        """Return a new arena.

        Raises:
            CapacityError: there is no room for it.
            InputError: the folder cannot be written.
        """
        spilled = self.spill is not None and name not in self.in_memory
        folder = self.spill if spilled else None
        room = self.reserve_bytes
        if folder is not None:
            room = min(shutil.disk_usage(folder).total, 1 << 40)
        arena = Arena(dtype, room, name, folder)
        self.made.append(arena)
        return arena

    @property
    def spilled_bytes(self) -> int:
        """Bytes in spill files now."""
        return sum(arena.file_bytes for arena in self.made)

    def close(self) -> None:
        """Close all arenas."""
        for arena in self.made:
            arena.close()
        self.made.clear()


def _whole_pages(size: int) -> int:
    """Return `size` rounded up to whole pages, at least one."""
    return max(-(-size // mmap.PAGESIZE), 1) * mmap.PAGESIZE


LESS = "use smaller bounds, --history knowledge, --spill or --engine spark"


def _anonymous(size: int) -> mmap.mmap:
    """Reserve memory that costs nothing until it is touched; less if the system refuses."""
    private = {} if WINDOWS else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE}
    while True:
        try:
            area = mmap.mmap(-1, size, **private)
        except OSError:
            size = size // 2 // mmap.PAGESIZE * mmap.PAGESIZE
            if size < 1 << 20:
                raise CapacityError("the system refuses to reserve memory") from None
            continue
        if size >= 1 << 24:
            _advise(area, "MADV_HUGEPAGE", 0, size)
        return area


def _advise(area: mmap.mmap, advice: str, start: int, size: int) -> bool:
    """Give the system advice on a part of a mapping; return whether it knows and took it."""
    if not hasattr(mmap, advice):
        return False
    with contextlib.suppress(OSError):
        area.madvise(getattr(mmap, advice), start, size)
        return True
    return False


def _allocate(descriptor: int, start: int, size: int) -> None:
    """Allocate a new part of a file on the disk, or raise OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, start, size)
        return
    # macOS allocates space only when something is written.
    for place in range(start, start + size, ALLOCATION):
        os.pwrite(descriptor, bytes(min(ALLOCATION, start + size - place)), place)


def _check_memory(name: str, more: int) -> None:
    """Raise CapacityError before memory runs out: the system would kill the process silently."""
    available = available_memory_bytes()
    if available is not None and more > available - machine_memory_bytes() // 64:
        raise CapacityError(
            f"too little memory: the {name} need {memory(more)} more, and this machine has "
            f"{memory(max(available, 0))} left; {LESS}"
        )


def reserve_bytes(arenas: int) -> int:
    """Return the bytes of address space that each of several arenas may reserve.

    Each arena reserves as much as the machine has memory. If the address space is limited (`ulimit
    -v`), the arenas share half of the remaining space. Windows sets the memory of a reservation
    aside, so there they share half of the available memory.
    """
    if WINDOWS:
        return (available_memory_bytes() or machine_memory_bytes()) // (2 * arenas)
    address_space = address_space_left_bytes()
    memory = machine_memory_bytes()
    return memory if address_space is None else min(memory, address_space // (2 * arenas))
