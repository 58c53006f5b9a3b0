"""Arrays in files: a reader gets exactly the elements that were written, or an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from antecede.checker.errors import CapacityError, InputError

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The numbers of the errors that mean a full disk."""

FREE_SPACE = "free space, or have temporary files elsewhere (TMPDIR)"
"""The advice if temporary files have no room."""


def write_array(path: str | Path, array: Any) -> None:
    """Write the elements of an array to a file, which appears under its name when it is complete.

    Two processes may write the same file at once; neither disturbs the other.

    Raises:
        CapacityError: the disk is full.
    """
    partial = Path(f"{path}.{os.getpid()}.npy")
    try:
        np.save(partial, np.ravel(array), allow_pickle=False)
        # On a full disk, NumPy may lose the end of an array without an error.
        open_memmap(partial, mode="r")
        partial.replace(path)
    except (OSError, ValueError) as error:
        partial.unlink(missing_ok=True)
        raise CapacityError(
            f"the disk does not take the file {str(path)!r} of {array.nbytes:,} bytes: "
            f"{_reason(error)}; {FREE_SPACE}"
        ) from None


def read_array(path: str | Path) -> Any:
    """Return the elements of a file that `write_array` wrote.

    The file is mapped copy-on-write: writes stay private, and the file may be deleted.

    Raises:
        InputError: the file is missing, or is not as it was written.
    """
    try:
        return np.asarray(open_memmap(path, mode="c"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the file {str(path)!r}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
