"""Checkpoints: a search is written to disk now and then, and goes on from there after its death.

A folder of checkpoints holds one that is complete, `checkpoint-000007` say, in which there are

* `manifest.json`: what was being checked, and size and checksum of every other file;
* `state.pickle`: the explorer, its tables and all values that the protocol has made so far;
* `array-0`, …: the big arrays as they are in memory.

The next one is written as `checkpoint-000008.partial`, forced to the disk and renamed; then its
predecessor goes. So whenever the process dies, a complete checkpoint is there.

A search goes on only with what it began with. A checkpoint of another system, of other sources, of
another checker or with a wrong byte is refused with the reason. Like every pickle, a checkpoint can
run code when it is read: resume your own only.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import inspect
import io
import json
import os
import pickle
import re
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from attrs import asdict, define, field, frozen

from antecede.checker.errors import ClusterError, InputError
from antecede.checker.model import Protocol
from antecede.checker.semantics.transition import System
from antecede.checker.tables.arena import Arena

FORMAT = 1
PIECE = 1 << 24
"""Bytes that are written or read, and added to the checksum, at a time."""

SMALL = 1 << 16
"""Arrays of fewer bytes stay in the pickle."""

SHARE = 10
"""A checkpoint is not begun before so many times the time that the last one took has passed."""

_NAME = re.compile(r"checkpoint-(\d{6,})")
_MANIFEST, _STATE = "manifest.json", "state.pickle"
_UNPICKLABLE = (pickle.PicklingError, AttributeError, TypeError)


@frozen(eq=False)
class Contents:
    """What a checkpoint is made of.

    Attributes:
        state: what to save, by name; big arrays may be anywhere in it.
        used: id of an arena -> how many of its elements to save.
        scratch: ids of arrays whose content does not matter.
        outside: id of an object -> its name, for objects that are given again when it is read.
        others: writes further files into a folder; returns name -> size and checksum.
    """

    state: Mapping[str, Any]
    used: Mapping[int, int]
    scratch: frozenset[int]
    outside: Mapping[int, str]
    others: Callable[[Path], Mapping[str, tuple[int, int]]] | None = None


@define(eq=False)
class Checkpoints:
    """Writes the checkpoints of one search into one folder.

    Attributes:
        folder: where; it is locked, so that no other run writes there.
        about: what is being checked, see `about`.
        seconds_between: from the end of one to the beginning of the next, at least.
        resumed: the folder holds a checkpoint of this very search, which may be replaced.
        written: how many were.
        seconds: spent on them.
        problem: why the last one could not be written, or None.
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
    _lock: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Take possession of the folder.

        Raises:
            InputError: it cannot be written, or holds the checkpoint of another search.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder, os.O_RDONLY)
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
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another run is writing checkpoints to the folder {str(self.folder)!r}"
            ) from None
        except OSError:
            pass  # a file system without locks
        if not self.resumed and _complete(self.folder):
            raise InputError(
                f"the folder {str(self.folder)!r} holds a checkpoint; go on from it with --resume, "
                "remove it, or give another folder"
            )

    @property
    def due(self) -> bool:
        """It is time for the next one."""
        wait = max(self.seconds_between, SHARE * self._took)
        return time.monotonic() - self._ended >= wait

    def save(self, contents: Contents) -> None:
        """Write a checkpoint; if that fails, the one before remains and `problem` says why."""
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
        except _UNPICKLABLE as error:
            self.problem = (
                f"a value cannot be saved: {error}; classes of states and packets must stand at "
                "the top of their module"
            )
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

        def store(name: str, array: Any) -> None:
            with _Checked(folder / name) as file:
                for piece in _pieces(array):
                    file.write(piece)
            files[name] = file.size, file.checksum

        with _Checked(folder / _STATE) as file:
            _Pickler(file, contents, store).dump(contents.state)
        files[_STATE] = file.size, file.checksum
        if contents.others is not None:
            files |= contents.others(folder)
        manifest = {"format": FORMAT, "about": self.about, "files": files}
        with _Checked(folder / _MANIFEST) as file:
            file.write(_with_checksum(manifest))
        _force(folder)

    def _remove_all_but(self, kept: list[tuple[int, Path]]) -> None:
        """Remove older checkpoints, and what a dying process left half-written."""
        paths = [path for _, path in kept]
        for path in self.folder.glob("checkpoint-*"):
            if path not in paths and _NAME.match(path.name):
                shutil.rmtree(path, ignore_errors=True)

    def figures(self) -> dict[str, Any]:
        """Return figures for the statistics."""
        return {
            "folder": str(self.folder),
            "written": self.written,
            "seconds": self.seconds,
            "problem": self.problem,
        }

    def close(self) -> None:
        """Leave the folder to others."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _complete(folder: Path) -> list[tuple[int, Path]]:
    """Return the complete checkpoints in `folder` with their numbers, the latest last."""
    named = ((_NAME.fullmatch(path.name), path) for path in folder.glob("checkpoint-*"))
    return sorted((int(match[1]), path) for match, path in named if match)


def _force(folder: Path) -> None:
    """Have the disk remember the names in `folder`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _pieces(array: Any) -> Iterator[Any]:
    """Yield the bytes of a contiguous array in pieces, without copying."""
    flat = array.reshape(-1).view(np.uint8)
    for start in range(0, len(flat), PIECE):
        yield flat[start : start + PIECE].data


@define(eq=False)
class _Checked:
    """A new file, with the size and checksum of what was written to it; forced to the disk."""

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


class _Pickler(pickle.Pickler):
    """Puts big arrays into files of their own, and leaves out what is outside."""

    def __init__(
        self, file: _Checked, contents: Contents, store: Callable[[str, Any], None]
    ) -> None:
        super().__init__(file, protocol=5)
        self._contents = contents
        self._store = store
        self._names: dict[int, str] = {}

    def persistent_id(self, value: Any) -> Any:
        """Return what stands for `value` in the pickle, or None to pickle it."""
        if isinstance(value, np.ndarray):
            if id(value) in self._contents.scratch:
                return ("scratch", value.dtype.str, value.shape)
            if value.nbytes < SMALL and id(value) not in self._names:
                return None
            return ("array", value.dtype.str, value.shape, self._file_of(value, value))
        if isinstance(value, Arena):
            used = value.array[: self._contents.used[id(value)]]
            if used.nbytes < SMALL:
                return ("small arena", value.name, used.copy(), id(value))
            return ("arena", used.dtype.str, value.name, len(used), self._file_of(value, used))
        if id(value) in self._contents.outside:
            return ("outside", self._contents.outside[id(value)])
        return None

    def _file_of(self, value: Any, array: Any) -> str:
        """Store an array once, and return the name of its file."""
        if id(value) not in self._names:
            name = f"array-{len(self._names)}"
            self._names[id(value)] = name
            self._store(name, np.ascontiguousarray(array))
        return self._names[id(value)]


class _Unpickler(pickle.Unpickler):
    """Reads what a `_Pickler` wrote."""

    def __init__(
        self,
        file: io.BufferedReader,
        saved: Saved,
        make: Callable[[Any, str], Arena],
        outside: Mapping[str, Any],
    ) -> None:
        super().__init__(file)
        self._saved = saved
        self._make = make
        self._outside = outside
        self._read: dict[str, Any] = {}

    def persistent_load(self, what: Any) -> Any:
        """Return what `persistent_id` stands for."""
        kind, *details = what
        if kind == "outside":
            return self._outside[details[0]]
        if kind == "scratch":
            return np.empty(details[1], details[0])
        key = details[-1]  # a file or, of small arenas, a number of each one's own
        if key not in self._read:
            self._read[key] = _READERS[kind](self, *details)
        return self._read[key]

    def _array(self, dtype: str, shape: tuple[int, ...], name: str) -> Any:
        array = np.empty(shape, dtype)
        self._saved.read(name, array)
        return array

    def _arena(self, dtype: str, what: str, size: int, name: str) -> Arena:
        arena = self._make(np.dtype(dtype), what)
        arena.ensure(size)
        self._saved.read(name, arena.array[:size])
        return arena

    def _small_arena(self, what: str, used: Any, _number: int) -> Arena:
        arena = self._make(used.dtype, what)
        arena.ensure(len(used))
        arena.array[: len(used)] = used
        return arena


_READERS: dict[str, Callable[..., Any]] = {
    "array": _Unpickler._array,
    "arena": _Unpickler._arena,
    "small arena": _Unpickler._small_arena,
}


@frozen(eq=False)
class Saved:
    """A complete checkpoint.

    Attributes:
        folder: of this checkpoint.
        about: what was being checked.
        files: name -> size and checksum.
    """

    folder: Path
    about: Mapping[str, Any]
    files: Mapping[str, tuple[int, int]]

    def read(self, name: str, array: Any) -> None:
        """Fill `array` from a file.

        Raises:
            InputError: it is damaged.
        """
        checksum = 0
        with open(self.folder / name, "rb") as file:
            for piece in _pieces(array):
                if file.readinto(piece) != len(piece):
                    raise self.damaged(name)
                checksum = zlib.crc32(piece, checksum)
        if checksum != self.files[name][1]:
            raise self.damaged(name)

    def verify(self, name: str) -> None:
        """Raise InputError if a file's checksum is wrong."""
        self.check_sizes()
        checksum = 0
        with open(self.folder / name, "rb") as file:
            while piece := file.read(PIECE):
                checksum = zlib.crc32(piece, checksum)
        if checksum != self.files[name][1]:
            raise self.damaged(name)

    def check_sizes(self) -> None:
        """Raise InputError if a file is missing or has a wrong size, before much is read."""
        for name, (size, _) in self.files.items():
            path = self.folder / name
            if not path.is_file():
                raise InputError(f"the checkpoint {str(self.folder)!r} lacks the file {name}")
            if path.stat().st_size != size:
                raise InputError(
                    f"the checkpoint {str(self.folder)!r} is damaged: {name} has "
                    f"{path.stat().st_size:,} bytes instead of {size:,}"
                )

    def restore(
        self, make: Callable[[Any, str], Arena], outside: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the state that was saved.

        Args:
            make: makes an arena, given its type and name.
            outside: what was left out, by name.

        Raises:
            InputError: a file is damaged.
            CapacityError: there is too little memory.
        """
        self.check_sizes()
        self.verify(_STATE)
        with open(self.folder / _STATE, "rb") as file:
            state: dict[str, Any] = _Unpickler(file, self, make, outside).load()
        return state

    def damaged(self, name: str) -> InputError:
        """Return the error for a file with a wrong byte."""
        return InputError(
            f"the checkpoint {str(self.folder)!r} is damaged: {name} is not as it was written"
        )

    def refuse_unless(self, now: Mapping[str, Any]) -> None:
        """Check that a search is the one that was saved.

        Raises:
            InputError: it is another; says in what.
        """
        for key in sorted(self.about.keys() | now.keys()):
            saved, here = self.about.get(key), now.get(key)
            if saved == here:
                continue
            if key == "sources":
                raise InputError(
                    f"the checkpoint {str(self.folder)!r} was written before "
                    f"{_changed(saved or {}, here or {})} changed; start again"
                )
            raise InputError(
                f"the checkpoint {str(self.folder)!r} is of another check: {key} is {saved!r} "
                f"there and {here!r} here"
            )


def _changed(saved: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return the modules that differ, in words."""
    names = sorted(saved.keys() | here.keys())
    return " and ".join(name for name in names if saved.get(name) != here.get(name))


def last_in(folder: Path) -> Saved:
    """Return the last complete checkpoint in `folder`.

    Raises:
        InputError: there is none, or what it says of itself is damaged.
    """
    if not folder.is_dir():
        raise InputError(f"cannot resume: there is no folder {str(folder)!r}")
    done = _complete(folder)
    if not done:
        raise InputError(f"cannot resume: there is no complete checkpoint in {str(folder)!r}")
    path = done[-1][1]
    try:
        manifest = _without_checksum((path / _MANIFEST).read_bytes())
    except FileNotFoundError:
        raise InputError(f"the checkpoint {str(path)!r} lacks the file {_MANIFEST}") from None
    except OSError as error:
        raise InputError(
            f"cannot read {str(path / _MANIFEST)!r}: {error.strerror}; the checkpoint is damaged"
        ) from None
    except ValueError:
        raise Saved(path, {}, {}).damaged(_MANIFEST) from None
    if manifest["format"] != FORMAT:
        raise InputError(
            f"the checkpoint {str(path)!r} has format {manifest['format']}; this antecede reads "
            f"format {FORMAT} only"
        )
    return Saved(path, manifest["about"], manifest["files"])


def _with_checksum(manifest: Mapping[str, Any]) -> bytes:
    text = json.dumps(manifest, indent=1, sort_keys=True)
    return f"{text}\n{zlib.crc32(text.encode()):08x}\n".encode()


def _without_checksum(data: bytes) -> Any:
    """Return what `_with_checksum` was given, or raise ValueError."""
    text, checksum, end = data.decode().rsplit("\n", 2)
    if end or checksum != f"{zlib.crc32(text.encode()):08x}":
        raise ValueError("the checksum is wrong")
    return json.loads(text)


def about(system: System, **engine: Any) -> dict[str, Any]:
    """Return everything that a checkpoint's content depends on, as JSON values.

    Args:
        system: what is being checked.
        engine: options of the engine that decide what is saved, by name.
    """
    return {
        **asdict(system.question),
        "properties": list(system.question.properties),
        "sources": _sources(system),
        **engine,
    }


_ROOMS = ("semantics", "tables", "search", "local", "spark")
"""The checker's rooms on which the content of a checkpoint depends."""


def _sources(system: System) -> dict[str, str]:
    """Return module -> hash of its file, for all that the protocol and the properties come from.

    Followed are the modules beside that of a handler or property from which it takes anything.
    """
    starts = {sys.modules[name] for name in _modules_of(system) if name in sys.modules}
    folders = {Path(file).parent for module in starts if (file := _file_of(module))}
    found: dict[str, str] = {}
    todo = list(starts)
    while todo:
        module = todo.pop()
        file = _file_of(module)
        if module.__name__ in found or not file or Path(file).parent not in folders:
            continue
        found[module.__name__] = _digest(Path(file))
        todo += _taken_from(module)
    return found | _own_sources()


@functools.cache
def _own_sources() -> dict[str, str]:
    """Return module -> hash of its file for the checker, as it was when this process began."""
    own = Path(__file__).parent.parent
    files = [own / "model.py", *(file for room in _ROOMS for file in (own / room).glob("*.py"))]
    return {_dotted(file.relative_to(own)): _digest(file) for file in sorted(files)}


def _dotted(file: Path) -> str:
    return ".".join(("antecede.checker", *file.with_suffix("").parts))


def _file_of(module: ModuleType) -> str | None:
    file: str | None = getattr(module, "__file__", None)
    return file if file is not None and Path(file).is_file() else None


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _taken_from(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules that the values in `module` come from."""
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else _module_of(value)
        if name in sys.modules:
            yield sys.modules[name]


def _module_of(value: Any) -> str:
    return str(getattr(value, "__module__", ""))


def _modules_of(system: System) -> set[str]:
    """Return the names of the modules that define the handlers and the properties."""
    functions: list[Any] = _functions(system.protocol)
    for prop in system.properties:
        functions += [
            prop.at_delivery,
            prop.at_final,
            prop.invariant,
            prop.witness,
            prop.recoverable,
            prop.at_end,
            prop.ending,
        ]
    return {_module_of(_innermost(function)) for function in functions if function is not None}


def _functions(protocol: Protocol) -> list[Any]:
    handlers = [protocol.initial, protocol.causal_send, protocol.receive, protocol.timeout]
    return [*handlers, *protocol.invariants.values(), *protocol.witnesses.values()]


def _innermost(function: Any) -> Any:
    """Return the function inside self-checks and partial applications."""
    function = inspect.unwrap(function)
    while hasattr(function, "func"):
        function = inspect.unwrap(function.func)
    return function


@contextlib.contextmanager
def readable(folder: Path) -> Iterator[None]:
    """Turn what reading a checkpoint may raise into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read the checkpoint {str(folder)!r}: {error.strerror}") from None
    except (pickle.UnpicklingError, AttributeError, ImportError, EOFError) as error:
        raise InputError(
            f"the checkpoint {str(folder)!r} does not fit this protocol: {error}"
        ) from None
