"""The folder of one run on Spark, and the processes that belong to it.

It is a temporary folder (TMPDIR) that only the user can read. A run holds a lock on its folder, and
the system removes the lock when the process dies, for whatever reason. So the next start recognises
the folders of dead runs, ends the processes that they left, and removes the folders. An environment
variable that all descendants inherit tells which processes belong to a folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from attrs import define
from filelock import FileLock

from antecede.checker.support.locks import Taken, held, locked
from antecede.checker.support.platforms import WINDOWS

PREFIX, MARK, LOCK = "antecede-spark-", "ANTECEDE_SPARK_FOLDER", "lock"


@define(eq=False)
class Folder:
    """The folder for the files of one run.

    Attributes:
        path: the path of the folder.
        lock: its lock; None if the file system has none.
    """

    path: Path
    lock: FileLock | None

    @classmethod
    def new(cls) -> Folder:
        """Make a folder, and remove the folders of dead runs."""
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = locked(path / LOCK)
        for other in path.parent.glob(f"{PREFIX}*"):
            _remove_if_dead(other)
        return cls(path, lock)

    @contextmanager
    def marking_children(self) -> Iterator[None]:
        """Let the processes that are started in this block belong to the folder.

        Their descendants belong to it, too.
        """
        os.environ[MARK] = str(self.path)
        try:
            yield
        finally:
            del os.environ[MARK]

    def kill(self) -> None:
        """End the processes that belong to the folder."""
        _kill(self.path)

    def remove(self) -> None:
        """Remove the folder with all files in it, and release its lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            self.lock.release()
            self.lock = None


def _remove_if_dead(path: Path) -> None:
    """Remove a folder whose run is dead, with the processes that survived it."""
    with suppress(OSError, Taken):
        if not _is_ours(path) or not (path / LOCK).is_file():
            return  # somebody else's, or not yet or no longer complete
        lock = locked(path / LOCK)
        if lock is None:
            return
        with held(lock):
            _kill(path)
            shutil.rmtree(path, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Return whether a folder belongs to this user, as all temporary folders on Windows do."""
    return WINDOWS or os.lstat(path).st_uid == os.getuid()


def _kill(path: Path) -> None:
    """Kill the processes that were started for a folder, where the system tells which they are."""
    for process in psutil.process_iter():
        with suppress(OSError, psutil.Error):
            if process.pid != os.getpid() and process.environ().get(MARK) == str(path):
                process.kill()
