"""Arrays in files instead of messages, where driver and workers are on one machine.

What a task sends goes from Python through a socket to the JVM, into its files, and back the same
way. On one machine a file of our own saves the way through the JVM: what it carries then is where
the file is. Such files last as long as the JVM's own, and no longer.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen


@frozen
class Stowed:
    """An array in a file.

    Attributes:
        path: of the file.
        kind: of the elements.
    """

    path: str
    kind: str


def stow(array: Any, folder: str | None, name: str) -> Any:
    """Return where an array is in a file of this folder, or the array if there is no folder.

    A task that is run twice writes the same file twice; nobody ever sees half of it.
    """
    if folder is None or not len(array):
        return array
    path = f"{folder}/{name}"
    partial = f"{path}.{os.getpid()}"
    array.tofile(partial)
    os.replace(partial, path)
    return Stowed(path, array.dtype.str)


def fetched(array: Any) -> Any:
    """Return an array, wherever it is."""
    if isinstance(array, Stowed):
        return np.fromfile(array.path, np.dtype(array.kind))
    return array


def clear(folder: str, kept: str = "") -> None:
    """Delete the files in a folder but those whose names begin with `kept`, if that is given."""
    for file in Path(folder).iterdir():
        if not (kept and file.name.startswith(kept)):
            file.unlink(missing_ok=True)
