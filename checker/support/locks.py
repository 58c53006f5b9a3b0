"""Locks between processes. The system frees a lock when the process that holds it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock


class Taken(Exception):
    """Another process holds the lock."""


def locked(file: Path, *, waits: bool = False) -> FileLock | None:
    """Lock a file that has no content, and create it if it is missing; `release` frees the lock.

    The file stays, because a process that waits for it would otherwise lock a removed file.

    Args:
        file: the file.
        waits: whether to wait while another process holds the lock.

    Returns:
        The lock. None if the file system has no locks, or the file cannot be created.

    Raises:
        Taken: another process holds the lock.
    """
    # A browser has no filelock, and few commands lock anything.
    from filelock import FileLock, Timeout

    lock = FileLock(file, timeout=-1 if waits else 0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise Taken from None
    except (OSError, NotImplementedError):
        return None
    return lock


@contextmanager
def held(lock: FileLock | None) -> Iterator[None]:
    """Free a lock of `locked` after the block.

    A `with` statement of the lock itself would lock it once more, and then free it once only.
    """
    try:
        yield
    finally:
        if lock is not None:
            lock.release()
