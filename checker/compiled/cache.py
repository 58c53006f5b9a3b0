"""The cache of compiled kernels, so that they are compiled only once.

The folder is named by a digest of all kernel sources. A kernel contains the kernels that it calls,
so an edit of one source must invalidate all of them. A file has one kernel for arguments of certain
kinds: a digest, a description, and an object file (see `loading`).

This module does not import Numba.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from antecede.checker.support import interrupts, memory
from antecede.checker.support.errors import InputError
from antecede.checker.support.private import changed_by_others, create, private_folder
from antecede.checker.support.reading import content_of

ENTRY = "antecede_entry"
"""The name of the function that a compiled kernel offers."""

SUFFIX = ".kernel"
"""The ending of the file of a compiled kernel."""

KEPT_DAYS = 30
"""Days without use after which kernels of other sources are removed."""

LOADING, COMPILING = 140 << 20, 400 << 20
"""Bytes of memory that kernels need: cached ones, and kernels that must be compiled.

Measured with Numba 0.68 and Python 3.11 on Linux: the process takes 105 MB after it has loaded all
kernels of breadth-first search, and 370 MB after it has compiled them.
"""

SPACE, COMPILING_SPACE = 600 << 20, 600 << 20
"""Bytes of address space for cached kernels, and for compiling in addition; plus cores and threads.

Measured on two cores when Numba still loaded the kernels: LLVM and the C library aborted searches
on one thread up to 575 MB (`ulimit -v`), on eight threads up to 650 MB, and compiling up to 650 MB.
A search needs more than it maps, because the tables reserve half of what is left. Without Numba,
400 MB suffice for one thread.
"""

SPACE_PER_CORE = 40 << 20
"""OpenBLAS, which NumPy loads, maps a buffer of 32 MB and a stack of 8 MB per core."""

SPACE_PER_THREAD = 20 << 20
"""A stack of 8 MB, twice, and the C library's overhead; a heap per thread is optional."""

EACH, EACH_COMPILED = 32 << 20, 150 << 20
"""Bytes that must be free to load one more kernel, and to compile one."""

_CHECKER = Path(__file__).parents[1]
_SOURCES = ("compiled/*.py", "engine/rows/geometry.py", "engine/*/*_kernels.py")
"""The files that compiled code of a search is made from: the compiler, constants, and kernels."""


def home_of(file: str) -> Path | None:
    """Return the folder of the checker with a file of kernels, or None if that is the engine.

    A kernel is a function that Numba compiles. A search uses the kernels of the engine, which are
    in `checker/engine`. The kernels in another folder, such as `checker/logs`, have a disk cache of
    their own; so a change of one of them does not make the kernels of a search compile again. A
    file outside the checker belongs to its own folder.

    Args:
        file: the path of a Python file with kernels.

    Examples:
        >>> home_of(str(_CHECKER / "logs" / "judge" / "judging_kernels.py")).name
        'logs'
        >>> home_of(str(_CHECKER / "engine" / "visited" / "sets_kernels.py")) is None
        True
    """
    folders = Path(file).parents
    home = next((folder for folder in folders if folder.parent == _CHECKER), folders[0])
    return None if home == _CHECKER / "engine" else home


def sources(home: Path | None = None) -> list[Path]:
    """Return the files on which a kernel's machine code depends, always in the same order.

    A kernel is a function that Numba compiles. It contains the kernels that it calls. So each
    kernel of a search depends on all files with kernels in `checker/engine`, and on the compiler's
    files. The kernels in another folder may call the kernels of a search, so they depend on these
    files and on the files of their own folder. `digest` reads the files in the order of the result:
    if one of them changes, or if the order did, the kernels are compiled again.

    Args:
        home: None for the kernels of a search. For other kernels, their folder, such as
            `checker/logs`; see `home_of`.

    Returns:
        If `home` is None, the sorted paths of the engine's files. Otherwise, these paths first, and
        then the sorted paths of the files with kernels in the folder `home`: of a part of the
        checker those whose names say so, and of any other folder all Python files.
    """
    ours = {file for pattern in _SOURCES for file in _CHECKER.glob(pattern)}
    own = home.glob("*/*_kernels.py" if home.parent == _CHECKER else "*.py") if home else ()
    return [*sorted(ours), *sorted(own)]


@functools.cache
def digest(home: Path | None = None) -> str:
    """Return a digest of the kernels' sources and of the versions of Python and the compiler.

    The name of the folder with the compiled kernels has this digest. So after a change of a source
    or of a version, the kernels have a new folder, and are compiled again.

    Args:
        home: None for the kernels of a search. For other kernels, their folder, such as
            `checker/logs`: the digest then covers both, because they may call the kernels
            of a search.

    Returns:
        16 hexadecimal digits.
    """
    hasher = hashlib.blake2b(sys.version.encode(), digest_size=8)
    for package in ("numba", "llvmlite"):
        hasher.update(_version_file(package))
    for file in sources(home):
        hasher.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return hasher.hexdigest()


def _version_file(package: str) -> bytes:
    """Return the source of a package's version, without importing the package; or nothing."""
    spec = importlib.util.find_spec(package)
    for folder in spec.submodule_search_locations or () if spec else ():
        with contextlib.suppress(OSError):
            return (Path(folder) / "_version.py").read_bytes()
    return b""


CHOSEN = "NUMBA_CACHE_DIR"
"""The environment variable that names the folder for compiled kernels."""

made_for_command: list[str] = []
"""The temporary folder that this process has made, if any; it goes when the process ends."""

ALL_USUAL = "usual"
"""A file without content, beside the kernels of the usual searches if all of them are there."""


def _private() -> tuple[list[Path], list[str]]:
    """Return the folders where kernels may be cached, the best one first; and why others may not.

    If `CHOSEN` is set, only its folder counts. Otherwise they are the user's cache folder and the
    folder of the sources. Other users could put their machine code into a folder that is not
    private, so such a folder is left out.
    """
    found = [private_folder(place) for place in _named()]
    places = [place for place, _ in found if place is not None]
    return places, [reason for place, reason in found if place is None]


def _named() -> list[Path]:
    chosen = os.environ.get(CHOSEN)
    if chosen:
        return [Path(chosen) / "antecede"]
    # XDG's rule is to ignore a path that is not absolute. Nor is ~ one, if the user has no home.
    homes = (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache"))
    own = [Path(home) / "antecede" for home in homes if os.path.isabs(home)]
    return [*own[:1], _CHECKER / "compiled" / "__pycache__"]


def is_temporary() -> bool:
    """Return whether the kernels of this command go when it ends."""
    return bool(made_for_command)


def _temporary(reasons: list[str]) -> Path | None:
    """Return a folder for the kernels of this process and the processes that it starts."""
    try:
        made = tempfile.mkdtemp(prefix="antecede-kernels-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    os.environ[CHOSEN] = made
    made_for_command.append(made)
    say(
        f"compiled search code is kept only until this command ends, because {'; '.join(reasons)}. "
        f"Name a folder that only you can write to with {CHOSEN}."
    )
    return private_folder(Path(made))[0]


def compiled_in(home: Path | None = None) -> Path | None:
    """Return the folder of the disk cache with compiled kernels of the present sources, or None.

    Kernels are functions that Numba compiles. The folder's name has a digest of their sources and
    of the versions of Python and the compiler. The result is None if no such folder has the main
    kernel, or if other users can change the folder.

    Args:
        home: None for the kernels of a search. For the audit's kernels, their folder,
            `checker/logs`.
    """
    folders = (place / f"kernels-{digest(home)}" for place in _private()[0])
    wanted = ALL_USUAL if home is None else f"judging_kernels.judge-*{SUFFIX}"
    return next((folder for folder in folders if _holds(folder, wanted)), None)


def _holds(folder: Path, wanted: str) -> bool:
    try:
        return changed_by_others(folder) is None and any(folder.glob(wanted))
    except OSError:
        return False


def lacking(threads: int = 1, home: Path | None = None) -> str | None:
    """Return the reason why kernels cannot be used here, as a text for users, or None if they can.

    Kernels are functions that Numba compiles. The reason is that Numba is missing, or that there is
    too little memory or address space to load the kernels, or to compile them if the disk cache
    lacks them. The result is also None if this process has imported the kernels already. Call the
    function before NumPy and Numba are imported: if LLVM gets no memory, it ends the process
    without an exception.

    Args:
        threads: the number of threads that run the kernels.
        home: None for the kernels of a search. For the audit's kernels, their folder,
            `checker/logs`.
    """
    if f"{__package__}.jit" in sys.modules:
        return None
    if importlib.util.find_spec("numba") is None:
        return "Numba, which compiles the search code, is not installed"
    compiled = compiled_in(home) is not None
    space = SPACE + (os.cpu_count() or 1) * SPACE_PER_CORE + threads * SPACE_PER_THREAD
    needed = (LOADING, space) if compiled else (COMPILING, space + COMPILING_SPACE)
    lacks = memory.lacking(*needed)
    what = "load the compiled search code" if compiled else "compile the search code"
    return lacks and f"there is too little memory to {what}: {lacks}"


@functools.cache
def folder(home: Path | None = None) -> Path | None:
    """Return the folder of the disk cache for compiled kernels of the present sources.

    Kernels are functions that Numba compiles. The folder is created if needed, and folders of other
    sources that were not used for `KEPT_DAYS` are then removed. If no place is private and can be
    written to, the result is a folder with these kernels that can only be read; without one, a
    temporary folder, which is removed when the command ends; without that, None.

    Args:
        home: None for the kernels of a search. For other kernels, their folder, such as
            `checker/logs`; see `home_of`.
    """
    compiled = compiled_in(home)
    if compiled is not None and _writable(compiled):
        os.utime(compiled)
        return compiled
    name = f"kernels-{digest(home)}"
    places, reasons = _private()
    for place in places:
        if _writable(place / name):
            _remove_old(place, place / name)
            return place / name
    if compiled is not None:
        return compiled
    made = _temporary([*reasons, *(f"{place} cannot be written to" for place in places)])
    return made / name if made is not None and _writable(made / name) else None


def _writable(folder: Path) -> bool:
    """Create a folder if it does not exist; return whether files can be written to it."""
    try:
        create(folder)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove_old(place: Path, kept: Path) -> None:
    """Remove kernels of other sources that were not used for `KEPT_DAYS`."""
    old = time.time() - KEPT_DAYS * 24 * 3600
    for other in place.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if other != kept and other.stat().st_mtime < old:
                shutil.rmtree(other, ignore_errors=True)


MOST_BYTES = 1 << 28
"""The size in bytes that a cached kernel stays below."""


def sealed(data: bytes, file: str) -> bytes:
    """Return `data` with a digest that binds the data to this file; see `opened`."""
    return _seal(data, file) + data


def opened(file: str) -> bytes | None:
    """Return the content of a file of the disk cache that `keep` wrote.

    Every file has a seal, a checksum of its name and its content, which finds damage. The seal is
    no signature: anyone can make one. So files that other users can change are refused.

    Args:
        file: the path of the file.

    Returns:
        The content; None if it is damaged, or the file was written under another name.

    Raises:
        InputError: the file cannot be read, is not a regular file, or others can change it.
    """
    if (reason := changed_by_others(Path(file))) is not None:
        raise InputError(reason)
    data = content_of(file, "the kernel", MOST_BYTES)
    content = data[16:]
    return content if _seal(content, file) == data[:16] else None


def _seal(data: bytes, file: str) -> bytes:
    """Return a digest of the data and of the file's name, which identifies the kernel."""
    name = os.fsencode("/".join(Path(file).parts[-2:]))
    return hashlib.blake2b(name + b"\0" + data, digest_size=16).digest()


writing = threading.Lock()
"""Held while a file of the cache is written; a process that ends by itself waits for it."""


def keep(file: str | None, content: bytes) -> None:
    """Write a compiled kernel to its file in the disk cache.

    A kernel is a function that Numba compiles. If it cannot be written, a message on standard error
    says so, and the next process compiles the kernel again.

    Args:
        file: the path of the file; None: there is no folder for kernels.
        content: the kernel as `loading.packed` returns it; `opened` reads it back.
    """
    if file is None:
        say(
            "compiled search code cannot be kept, so every start compiles it. Name a folder that "
            f"only you can write to with {CHOSEN}."
        )
        return
    new = f"{file}.{os.getpid()}.new"
    try:
        with interrupts.shielded(), writing:
            with open(new, "wb") as written:
                written.write(sealed(content, file))
            os.replace(new, file)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(new)
        say(f"compiled search code cannot be kept: {error}; the next start compiles it")


_said: set[str] = set()


def say(problem: str) -> None:
    """Print a problem with the disk cache on standard error, but each problem only once.

    Args:
        problem: the problem and its consequence, for the user.
    """
    if problem not in _said:
        _said.add(problem)
        print(f"antecede: {problem}", file=sys.stderr, flush=True)
