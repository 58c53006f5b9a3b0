"""The folder of one run on Spark, and the processes that belong to it.

It is the user's alone, in the temporary folder (TMPDIR). As long as the run lives it holds a lock,
which the system gives up when the process dies, however that happens; so the next start knows the
folders whose runs are dead, ends what they left running, and removes them. Processes are known by
an environment variable that all descendants inherit.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from attrs import define, field
from filelock import FileLock

from antecede.checker.support.interrupts import at_abort
from antecede.checker.support.locks import Taken, held, locked
from antecede.checker.support.platforms import WINDOWS

PREFIX, MARK, LOCK = "antecede-spark-", "ANTECEDE_SPARK_FOLDER", "lock"


@define(eq=False)
class Folder:
    """Where the files of one run are.

    Attributes:
        path: of the folder.
        lock: its lock; None if the file system has none.
        no_abort: takes back what is to be done if the process ends at once.
    """

    path: Path
    lock: FileLock | None
    no_abort: Callable[[], None] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """See to it that nothing is left, however the process ends."""
        self.no_abort = at_abort(self._abort)

    def _abort(self) -> None:
        self.kill()
        self.remove()

    @classmethod
    def new(cls) -> Folder:
        """Make a folder, and remove those of dead runs."""
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = locked(path / LOCK)
        for other in path.parent.glob(f"{PREFIX}*"):
            _remove_if_dead(other)
        return cls(path, lock)

    @contextmanager
    def marking_children(self) -> Iterator[None]:
        """Have the processes that are started meanwhile, and theirs, belong to the folder."""
        os.environ[MARK] = str(self.path)
        try:
            yield
        finally:
            del os.environ[MARK]

    def kill(self) -> None:
        """End the processes that belong to the folder."""
        _kill(self.path)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self.no_abort()
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
