"""Checkpoints: a search is saved to disk now and then, and can continue after its process died.

A checkpoint folder holds one complete checkpoint, such as `checkpoint-000007`, with these files:

* `manifest.json`: the check, the state of the search, the calls of the protocol that made its
  tables, and size and checksum of every other file;
* `array-0.npy`, …: the larger arrays, as `numpy.save` writes them;
* `partition-0.npz`, …: the partitions of a search on Spark, as `numpy.savez` writes them.

A checkpoint contains no values of the protocol. These are rebuilt by the same calls of its handlers
in the same order. So a checkpoint is pure data, and reading one from a stranger runs no code.

The next checkpoint is written as `checkpoint-000008.partial`, flushed to the disk and renamed. Then
its predecessor is removed. So a complete checkpoint exists whenever the process dies.

Only the search that wrote a checkpoint can continue from it. A checkpoint of another system, other
sources or another checker is refused with the reason, and so is a checkpoint with a wrong byte.

Each part of a search returns its data as a `record`. Its `adopt` or `recorded` takes them back, and
raises ValueError for anything that no `record` returned.

Question: What is in a checkpoint, and when is it refused? `refuse_unless`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import define, field, frozen

from antecede.checker.engine.storage.validation import KINDS
from antecede.checker.support.errors import ClusterError, InputError
from antecede.checker.support.locks import Taken, locked
from antecede.checker.support.platforms import WINDOWS
from antecede.checker.support.reading import content_of
from antecede.checker.support.settings import shown

if TYPE_CHECKING:
    from filelock import FileLock

FORMAT = 6
LOCK = ".lock"
"""The name of a file in the folder. The run that writes checkpoints to the folder locks it."""

PIECE = 1 << 24
"""The size in bytes of the pieces in which files are checksummed."""

SHARE = 10
"""The next checkpoint starts after this many times the duration of the last one, or later."""

MOST_NAMED = 5
"""The most changed sources that an error names."""

MOST_MANIFEST = 1 << 26
"""The most bytes of a manifest."""

MOST_THREADS = 1024

SMALL = 64
"""The most elements of an array that the manifest contains, because every file costs time."""

MOST_SHOWN = 400
"""The most characters of a value that an error shows."""

_NAME = re.compile(r"checkpoint-(\d{6,})")
_MANIFEST = "manifest.json"
UNFIT = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    zipfile.BadZipFile,
)
"""The exceptions that malformed content may raise."""


Files: TypeAlias = Mapping[str, tuple[int, int]]
"""Name of a file -> its size and checksum."""


@frozen(eq=False)
class Contents:
    """The contents of a checkpoint.

    Attributes:
        state: data to save, by name; see `encoded`.
        others: writes further files into a folder, and returns them.
    """

    state: Mapping[str, Any]
    others: Callable[[Path], Files]


@define(eq=False)
class Checkpoints:
    """Writes the checkpoints of one search into one folder.

    Attributes:
        folder: the folder; it is locked, so that no other run writes there.
        about: the fingerprint of the check.
        seconds_between: the least time from the end of a checkpoint to the start of the next.
        resumed: the folder holds a checkpoint of this search, which may be replaced.
        written: the number of checkpoints written.
        seconds: the total time spent in writing them.
        problem: the reason why the last checkpoint could not be written, or None.
    """

    folder: Path
    about: Mapping[str, Any]
    seconds_between: float
    resumed: bool
    written: int = 0
    seconds: float = 0.0
    problem: str | None = None
    _took: float = 0.0
    _ended: float = field(factory=time.monotonic)
    _lock: FileLock | None = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        """Lock the folder.

        Raises:
            InputError: the folder cannot be written, or has the checkpoint of another search.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            list(self.folder.iterdir())  # it is a folder that can be read
        except OSError as error:
            raise InputError(
                f"cannot write checkpoints to the folder {str(self.folder)!r}: {error.strerror}"
            ) from None
        try:
            self._take_possession()
        except InputError:
            self.close()
            raise

    def _take_possession(self) -> None:
        try:
            self._lock = locked(self.folder / LOCK)
        except Taken:
            raise InputError(
                f"another run is writing checkpoints to the folder {str(self.folder)!r}"
            ) from None
        if not self.resumed and _complete(self.folder):
            raise InputError(
                f"the folder {str(self.folder)!r} holds a checkpoint; go on from it with --resume, "
                "remove it, or give another folder"
            )

    @property
    def due(self) -> bool:
        """It is time for the next checkpoint."""
        wait = max(self.seconds_between, SHARE * self._took)
        return time.monotonic() - self._ended >= wait

    def save(self, contents: Contents) -> None:
        """Write a checkpoint; on failure the previous one remains, and `problem` has the reason."""
        started = time.monotonic()
        done = _complete(self.folder)
        number = done[-1][0] + 1 if done else 1
        name = f"checkpoint-{number:06}"
        partial = self.folder / f"{name}.partial"
        self._remove_all_but(done[-1:])
        try:
            partial.mkdir()
            self._write(partial, contents)
            partial.rename(self.folder / name)
            _force(self.folder)
        except ClusterError as error:
            self.problem = str(error)
        except OSError as error:
            self.problem = f"the disk does not take the checkpoint: {error.strerror}"
        else:
            self.problem = None
            self.written += 1
            self._remove_all_but([(number, self.folder / name)])
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            self._ended = time.monotonic()
            self._took = self._ended - started
            self.seconds += self._took

    def _write(self, folder: Path, contents: Contents) -> None:
        files: dict[str, tuple[int, int]] = {}

        def store(array: Any) -> str:
            name = f"array-{len(files)}.npy"
            with _Checked(folder / name) as file:
                np.save(file, array, allow_pickle=False)
            files[name] = file.size, file.checksum
            return name

        state = encoded(contents.state, store)
        files |= contents.others(folder)
        manifest = {"format": FORMAT, "about": self.about, "state": state, "files": files}
        with _Checked(folder / _MANIFEST) as file:
            file.write(_with_checksum(manifest))
        _force(folder)

    def _remove_all_but(self, kept: list[tuple[int, Path]]) -> None:
        """Remove older checkpoints, and incomplete checkpoints of processes that died."""
        paths = [path for _, path in kept]
        for path in self.folder.glob("checkpoint-*"):
            if path not in paths and _NAME.match(path.name):
                shutil.rmtree(path, ignore_errors=True)

    def figures(self) -> dict[str, Any]:
        """Return statistics of the checkpoints, by name."""
        return {
            "folder": str(self.folder),
            "written": self.written,
            "seconds": self.seconds,
            "problem": self.problem,
        }

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def prepared(
    folder: Path | None,
    resume: Path | None,
    seconds_between: float,
    about: Mapping[str, Any],
    save: Callable[[Checkpoints], None],
) -> Checkpoints | None:
    """Return the writer of a search's checkpoints, or None if the search writes none.

    A search writes to `folder`, also if it was resumed from elsewhere, or else to `resume`, the
    folder of the checkpoint that it continues. The folder is locked against other runs until you
    call `close` of the result. Unless the search was resumed from the same folder, the first
    checkpoint is saved at once, so that any problem with the folder appears immediately and not
    after hours.

    Args:
        about: the fingerprint of the check, which a search that continues must share.
        save: saves the search with the given writer.

    Raises:
        InputError: the folder cannot be written to, another run writes there, or it holds a
            checkpoint that this search does not continue. The folder is unlocked then.
    """
    folder = folder or resume
    if folder is None:
        return None
    same = resume is not None and folder.resolve() == resume.resolve()
    checkpoints = Checkpoints(folder, about, seconds_between, resumed=same)
    try:
        if not same:
            save(checkpoints)
        if checkpoints.problem is not None:
            raise InputError(f"--checkpoint {folder}: {checkpoints.problem}")
    except BaseException:
        checkpoints.close()
        raise
    return checkpoints


def _complete(folder: Path) -> list[tuple[int, Path]]:
    """Return the complete checkpoints in `folder` with their numbers, the latest one last."""
    named = ((_NAME.fullmatch(path.name), path) for path in folder.glob("checkpoint-*"))
    return sorted((int(match[1]), path) for match, path in named if match)


def _force(folder: Path) -> None:
    """Flush the names in `folder` to the disk; Windows cannot be told to."""
    if WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def encoded(value: Any, store: Callable[[Any], str]) -> Any:
    """Return data as values that JSON has, for the manifest of a checkpoint; see `decoded`.

    Data is None, Booleans, numbers, strings and arrays, and lists, tuples and mappings of them;
    TypeError: it has something else. An array of more than 64 elements is saved in a file of its
    own by `store`, which returns the file's name; smaller ones become lists.

    Examples:
        >>> encoded({"depth": 3, "ends": (1, 2)}, store=str)
        {'pairs': [['depth', 3], ['ends', {'tuple': [1, 2]}]]}
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.size > SMALL:
            return {"array": store(value)}
        return {"numbers": [value.dtype.str, value.shape, value.ravel().tolist()]}
    if isinstance(value, list):
        return [encoded(item, store) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encoded(item, store) for item in value]}
    if isinstance(value, Mapping):
        return {"pairs": [[encoded(k, store), encoded(v, store)] for k, v in value.items()]}
    raise TypeError(f"{type(value).__name__} is no data")


def decoded(value: Any, load: Callable[[str], Any]) -> Any:
    """Return the data that `encoded` got; `load` returns the array in a file.

    Raises:
        ValueError: `encoded` did not return this.
    """
    if isinstance(value, list):
        return [decoded(item, load) for item in value]
    if not isinstance(value, dict):
        return value
    ((form, content),) = value.items()
    if form == "array":
        return load(content)
    if form == "numbers":
        kind, shape, numbers = content
        if kind not in KINDS:
            raise ValueError(f"{shown(kind)} is no type of numbers")
        return np.array(numbers, kind).reshape(shape)
    if form == "tuple":
        return tuple(decoded(item, load) for item in content)
    if form == "pairs":
        return {decoded(key, load): decoded(item, load) for key, item in content}
    raise ValueError(f"{form!r} is no form of data")


@define(eq=False)
class _Checked:
    """A new file, with the size and checksum of its content; forced to the disk."""

    path: Path
    size: int = 0
    checksum: int = 0
    _file: io.BufferedWriter = field(init=False)

    def __enter__(self) -> _Checked:
        self._file = open(self.path, "xb")
        return self

    def write(self, data: Any) -> int:
        """Append bytes."""
        self.size += memoryview(data).nbytes
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)

    def __exit__(self, *error: object) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()


@frozen(eq=False)
class Saved:
    """A complete checkpoint.

    Attributes:
        folder: the folder of this checkpoint.
        about: the fingerprint of the check.
        state: the encoded state of the search.
        files: name -> size and checksum.
    """

    folder: Path
    about: Mapping[str, Any]
    state: Any
    files: Files

    def restore(self) -> dict[str, Any]:
        """Return the saved state. Its arrays are mapped copy-on-write, not read into memory.

        Raises:
            InputError: a file is damaged.
        """
        for name in self.files:
            self._check_size(name)
        for name, (_, checksum) in self.files.items():
            if checksum != _checksum(self.folder / name):
                raise self.damaged(name)
        state: dict[str, Any] = decoded(self.state, self._load)
        return state

    def _check_size(self, name: str) -> None:
        path, size = self.folder / name, self.files[name][0]
        if not os.path.lexists(path):
            raise InputError(f"the checkpoint {str(self.folder)!r} lacks the file {name}")
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(
                f"the checkpoint {str(self.folder)!r} is damaged: {name} is no regular file"
            )
        if status.st_size != size:
            raise InputError(
                f"the checkpoint {str(self.folder)!r} is damaged: {name} has "
                f"{status.st_size:,} bytes instead of {size:,}"
            )

    def _load(self, name: str) -> Any:
        if name not in self.files:
            raise self.damaged(_MANIFEST)
        return np.asarray(np.lib.format.open_memmap(self.folder / name, mode="c"))

    def damaged(self, name: str) -> InputError:
        """Return the error for a damaged file."""
        return InputError(
            f"the checkpoint {str(self.folder)!r} is damaged: {name} is not as it was written"
        )

    def refuse_unless(self, now: Mapping[str, Any]) -> None:
        """Check that the current search is the saved one.

        Raises:
            InputError: the searches differ; the message names the first difference.
        """
        keys = self.about.keys() | now.keys()
        # Another protocol has other properties and sources. Then the message names the protocol.
        for key in sorted(keys, key=lambda key: (key == "sources", key == "properties", key)):
            saved, here = self.about.get(key), now.get(key)
            if saved == here:
                continue
            if key == "sources":
                raise InputError(
                    f"the checkpoint {str(self.folder)!r} was written before "
                    f"{_changed(_table(saved), _table(here))} changed; start again"
                )
            raise InputError(
                f"the checkpoint {str(self.folder)!r} is of another check: {key} is "
                f"{_brief(saved)} there and {_brief(here)} here"
            )


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _table(value: Any) -> Mapping[str, str]:
    return value if isinstance(value, dict) else {}


def _changed(saved: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return the names of modules and values that differ, as text; at most `MOST_NAMED` names."""
    names = sorted(saved.keys() | here.keys())
    different = [name for name in names if saved.get(name) != here.get(name)]
    if len(different) > MOST_NAMED:
        different[MOST_NAMED:] = [f"{len(different) - MOST_NAMED} more"]
    return " and ".join(different)


def last_in(folder: Path) -> Saved:
    """Return the last complete checkpoint in a folder, of which only the manifest was checked.

    Raises:
        InputError: there is no such folder or no complete checkpoint in it, the manifest is
            damaged, or another version of antecede wrote it.
    """
    if not folder.is_dir():
        raise InputError(f"cannot resume: there is no folder {str(folder)!r}")
    done = _complete(folder)
    if not done:
        raise InputError(f"cannot resume: there is no complete checkpoint in {str(folder)!r}")
    path = done[-1][1]
    if not os.path.lexists(path / _MANIFEST):
        raise InputError(f"the checkpoint {str(path)!r} lacks the file {_MANIFEST}")
    data = content_of(path / _MANIFEST, "the manifest", MOST_MANIFEST, follow=False)
    try:
        manifest = _without_checksum(data)
        if manifest["format"] == FORMAT:
            return Saved(path, *_parts_of(manifest))
    except UNFIT:
        raise Saved(path, {}, None, {}).damaged(_MANIFEST) from None
    raise InputError(
        f"the checkpoint {str(path)!r} has format {shown(manifest['format'])}, which another "
        f"version wrote; this antecede reads format {FORMAT} only: start again"
    )


def _parts_of(manifest: Mapping[str, Any]) -> tuple[Mapping[str, Any], Any, Files]:
    """Return the fingerprint, the encoded state and the files that a manifest lists.

    Raises:
        ValueError: a value has a wrong type. A missing key raises another error of UNFIT.
    """
    about = dict(manifest["about"].items())
    files = {name: (size, crc) for name, (size, crc) in manifest["files"].items()}
    threads = about.get("threads", 1)
    if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
        raise ValueError("the number of threads is none")
    if not all(type(number) is int for pair in files.values() for number in pair):
        raise ValueError("a size or checksum is no whole number")
    if any("/" in name or "\0" in name for name in files):
        raise ValueError("a name of a file leads elsewhere")
    return about, manifest["state"], files


def _with_checksum(manifest: Mapping[str, Any]) -> bytes:
    text = json.dumps(manifest, indent=1, sort_keys=True)
    return f"{text}\n{zlib.crc32(text.encode()):08x}\n".encode()


def _without_checksum(data: bytes) -> Any:
    """Return the manifest that `_with_checksum` encoded; raise ValueError if it is damaged."""
    text, checksum, end = data.decode().rsplit("\n", 2)
    if end or checksum != f"{zlib.crc32(text.encode()):08x}":
        raise ValueError("the checksum is wrong")
    return json.loads(text)


def _checksum(file: Path) -> int:
    checksum = 0
    with open(file, "rb") as content:
        while piece := content.read(PIECE):
            checksum = zlib.crc32(piece, checksum)
    return checksum


@contextlib.contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Turn errors of reading a checkpoint in a `with` block into an InputError with its folder.

    These are errors of the operating system, and the errors that malformed content raises (see
    `UNFIT`, for example KeyError and ValueError). Other exceptions pass.
    """
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read the checkpoint {str(folder)!r}: {error.strerror}") from None
    except UNFIT as error:
        raise InputError(
            f"the checkpoint {str(folder)!r} does not fit this protocol: {error}"
        ) from None
