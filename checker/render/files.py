"""Files of results and traces. Writes are atomic, and targets are checked before a long search."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError

_started_in: list[Path] = []
"""The current folder at the start of the command; empty if no command runs."""


@contextlib.contextmanager
def placed_here() -> Iterator[None]:
    """Write relative files of this block to the present folder, although user code may leave it."""
    _started_in.append(Path.cwd())
    try:
        yield
    finally:
        _started_in.pop()


def placed(target: str | Path) -> Path:
    """Return the path of a file to write."""
    return Path(*_started_in[-1:], target)


def check_writable(target: str) -> None:
    """Check that a file can be written at `target`, and leave nothing there.

    Raises:
        InputError: the file cannot be written; the error says why.
    """
    path = placed(target)
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except OSError as error:  # for example a name that is too long, or a link to itself
        raise _unwritable(target, error) from None
    if path.is_dir():
        raise InputError(f"cannot write to {target!r}: it is a folder")
    if path.exists() and not os.access(path, os.W_OK):
        raise InputError(f"cannot write to {target!r}: the file is read-only")
    if is_stream(path):
        return
    if not path.resolve().parent.is_dir():
        raise InputError(
            f"cannot write to {target!r}: there is no folder {str(Path(target).parent)!r}"
        )
    beside = _beside(path)
    try:
        beside.touch(exist_ok=False)
        beside.unlink()
    except OSError as error:
        raise _unwritable(target, error) from None


def write_whole(target: str, text: str | bytes) -> None:
    """Write `text` beside `target` and rename it, so that no reader sees half a file.

    Raises:
        InputError: the file cannot be written; the error says why.
    """
    path = placed(target)
    data = text.encode() if isinstance(text, str) else text
    try:
        if is_stream(path):
            _write_stream(path, data, target)
            return
        beside = _beside(path)
        try:
            beside.write_bytes(data)
            beside.replace(_target(path))
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(target, error) from None


def _write_stream(path: Path, data: bytes, name: str) -> None:
    """Write to a pipe or a device. A request to end also ends the wait for a reader.

    Raises:
        OSError: the stream cannot be written.
        Ended: there was a request to end, and nobody read.
    """
    undone = f"no program read {name!r}"
    opened: list[int] = []

    def has_reader(seconds: float) -> bool:
        try:
            opened.append(os.open(path, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0)))
        except OSError as error:
            if error.errno != errno.ENXIO or not path.is_fifo():
                raise
            time.sleep(seconds)
        return bool(opened)

    interrupts.until(has_reader, undone)
    (descriptor,) = opened
    try:
        rest = memoryview(data)
        while rest:
            interrupts.until_writable(descriptor, undone)
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


def append(target: str, text: str, *, create: bool = False) -> None:
    """Add `text` to a file; if it does not fit, the file stays as it was.

    Args:
        target: the file.
        text: what to add.
        create: whether to make a file that does not exist.

    Raises:
        InputError: the file cannot be written; the error says why.
    """
    size, path = None, placed(target)
    try:
        size = None if create and not path.exists() else path.stat().st_size
        with path.open("ab") as file:
            file.write(text.encode())
    except OSError as error:
        if size is not None:
            with contextlib.suppress(OSError):
                os.truncate(path, size)
        raise _unwritable(target, error) from None


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless it exists.

    Raises:
        InputError: the folder cannot be made; the error says why.
    """
    try:
        placed(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(folder)!r}: {error.strerror}") from None


def _beside(path: Path) -> Path:
    """Return a temporary name in the folder of the file that `path` resolves to."""
    path = _target(path)
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _target(path: Path) -> Path:
    """Return the file that `path` resolves to.

    Raises:
        OSError: its links form a cycle.
    """
    try:
        return path.resolve()
    except RuntimeError:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None


def is_stream(path: Path) -> bool:
    """Return whether `path` is a pipe or a device, which must not be replaced by a file."""
    return path.exists() and not path.is_file()


def _unwritable(target: str, error: OSError) -> InputError:
    return InputError(f"cannot write to {target!r}: {error.strerror or error}")
