"""The folder of one run on Spark, and the processes that belong to it.

It is the user's alone, in the temporary folder (TMPDIR). As long as the run lives it holds a lock,
which the system gives up when the process dies, however that happens; so the next start knows the
folders whose runs are dead, ends what they left running, and removes them. Processes are known by
an environment variable that all descendants inherit.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, field

from antecede.checker.support.interrupts import at_abort

PREFIX, MARK = "antecede-spark-", "ANTECEDE_SPARK_FOLDER"


@define(eq=False)
class Folder:
    """Where the files of one run are.

    Attributes:
        path: of the folder.
        lock: a descriptor that holds its lock.
        no_abort: takes back what is to be done if the process ends at once.
    """

    path: Path
    lock: int
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
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
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
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1


def _remove_if_dead(path: Path) -> None:
    """Remove a folder whose run is dead, with the processes that survived it."""
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # somebody else's, or not yet or no longer complete
        return
    try:
        if os.lstat(path).st_uid == os.getuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _kill(path)
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        pass  # its run lives
    finally:
        os.close(lock)


def _kill(path: Path) -> None:
    """Kill the processes that were started for a folder, where the system tells which they are."""
    mark = f"{MARK}={path}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
