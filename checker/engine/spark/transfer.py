"""Arrays in files instead of messages, if driver and workers are on one machine.

The output of a task goes from Python through a socket to Java, into Java's files, and back on the
same way. On one machine, a file of our own saves this way, and Java carries only the places of
arrays in the file. Such files last as long as Java's own, and no longer. Their folder is private to
the user (see `checker.engine.spark.cluster`). They have only numbers, which no program runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import define

from antecede.checker.engine.storage.files import INCOMPLETE, ArrayFile, StoredArray

UNUSED = "unused"
"""The beginning of the names of files whose content no task needs any more."""

LINKS = "links"
"""The kind of files with links. The driver keeps them mapped, so they must not be overwritten."""


@define(eq=False)
class Outgoing:
    """The arrays that a task hands over: in one file, or as they are.

    Attributes:
        folder: the folder of the file; None: arrays are handed over as they are.
        job: the number of the job.
        kind: a word for the content, such as "links". Only files of the same kind use a file's
            space again.
    """

    folder: str | None
    job: int
    kind: str
    _file: ArrayFile | None = None

    def give(self, array: Any) -> Any:
        """Return an array, or its place in the file, which is complete after `close`.

        Raises:
            CapacityError: the disk is full.
        """
        if self.folder is None or not len(array):
            return array
        if self._file is None:
            unused = sorted(Path(self.folder).glob(f"{UNUSED}-{self.kind}-*"))
            self._file = ArrayFile.begin(f"{self.folder}/{self.job}-{self.kind}", unused)
        return self._file.add(array)

    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()


def received(array: Any) -> Any:
    """Return an array that another task handed over, from its file if it is in one.

    The file is mapped copy-on-write: writes to the result do not change it.

    Raises:
        InputError: the file is missing, or was overwritten.
    """
    return array.read() if isinstance(array, StoredArray) else array


def release(folder: str, kept: str) -> None:
    """Let later jobs overwrite the files of earlier jobs, which is faster than to write new ones.

    They are renamed, so that their names begin with "unused". Files of interrupted tasks and files
    of links, which the driver may have mapped, are deleted. Files whose names, JOB-KIND-STAMP,
    begin with `kept` stay.
    """
    for file in Path(folder).iterdir():
        if file.name.startswith((kept, UNUSED)):
            continue
        _, kind, stamp = file.name.split("-")
        if kind == LINKS or stamp.endswith(INCOMPLETE):
            file.unlink(missing_ok=True)
        else:
            file.rename(file.with_name(f"{UNUSED}-{kind}-{stamp}"))
