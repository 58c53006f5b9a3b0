"""Arrays in files instead of messages, where driver and workers are on one machine.

The output of a task goes from Python through a socket to the JVM, into its files, and back on this
way. On one machine a file of our own saves the way through the JVM, which then carries only the
place of the file. Such files last as long as the JVM's own, and no longer. Their folder is private
to the user (see `checker.spark.cluster`), and they hold numbers, which nothing runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.tables.files import read_array, write_array


@frozen
class ArrayFile:
    """Where an array is.

    Attributes:
        path: of the file.
        count: how many there are.
    """

    path: str
    count: int

    def __len__(self) -> int:
        """Return the number of elements."""
        return self.count


def to_file(array: Any, folder: str | None, name: str) -> Any:
    """Return where an array is in a file of this folder, or the array if there is no folder.

    A task that is run twice writes the same file twice; no task ever sees half of it.

    Raises:
        CapacityError: the disk does not take it.
    """
    if folder is None or not len(array):
        return array
    path = f"{folder}/{name}"
    write_array(path, array)
    return ArrayFile(path, len(array))


def from_file(array: Any) -> Any:
    """Return an array, wherever it is.

    Raises:
        InputError: the file is not what was written.
    """
    if isinstance(array, ArrayFile):
        return read_array(array.path)
    return array


def clear(folder: str, kept: str = "") -> None:
    """Delete the files in a folder but those whose names begin with `kept`, if that is given."""
    for file in Path(folder).iterdir():
        if not (kept and file.name.startswith(kept)):
            file.unlink(missing_ok=True)
