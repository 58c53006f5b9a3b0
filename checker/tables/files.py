"""Arrays in files: a reader gets exactly the elements that were written, or an error.

`numpy.ndarray.tofile` does not report a full disk: it silently loses the end of the array, or all
of it. Arrays therefore go through a Python file object, which raises errors, and the reader must
know the number of elements.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from antecede.checker.errors import CapacityError, InputError


def write_array(path: str | Path, array: Any) -> int:
    """Write the elements of an array to a file, which appears under its name when it is complete.

    Two processes may write the same file at once; neither disturbs the other.

    Returns:
        The number of elements, for `read_array`.

    Raises:
        CapacityError: the disk is full.
    """
    flat = np.ascontiguousarray(array).reshape(-1)
    partial = f"{path}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(flat.view(np.uint8).data)
        written = os.stat(partial).st_size
        if written != flat.nbytes:
            raise OSError(0, f"it took {written:,} of {flat.nbytes:,} bytes")
        os.replace(partial, path)
    except OSError as error:
        Path(partial).unlink(missing_ok=True)
        raise CapacityError(
            f"the disk does not take the file {str(path)!r} of {flat.nbytes:,} bytes: "
            f"{error.strerror}; free space, or have temporary files elsewhere (TMPDIR)"
        ) from None
    return flat.size


def read_array(path: str | Path, dtype: Any, count: int) -> Any:
    """Return the `count` elements of a file that `write_array` wrote.

    The file is mapped copy-on-write: writes stay private, and the file may be deleted.

    Raises:
        InputError: the file is missing, or has another number of elements.
    """
    kind = np.dtype(dtype)
    wanted = count * kind.itemsize
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == wanted:
                private = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY) if size else b""
                return np.frombuffer(private, kind)
    except OSError as error:
        raise InputError(f"cannot read the file {str(path)!r}: {error.strerror}") from None
    raise InputError(
        f"the file {str(path)!r} has {size:,} bytes and must have {wanted:,} "
        f"({count:,} elements of {kind.itemsize} bytes): the disk was full, or it was changed"
    )
