"""Where compiled kernels are kept, so that they are compiled once.

The folder is named by a digest of all sources that kernels are made of: a kernel contains those
that it calls, so whoever edits one of them must get all of them anew. Numba's own cache looks at
the file of the outermost one only.

Nothing here imports Numba.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KEPT_DAYS = 30
"""After this many days without use, kernels of other sources are removed."""

_SOURCES = Path(__file__).parent / "kernels"


def home_of(file: str) -> Path | None:
    """Return the folder of kernels that stand alone, and None for one of those of the search."""
    folder = Path(file).parent
    return None if folder == _SOURCES else folder


@functools.cache
def digest(home: Path | None = None) -> str:
    """Return a digest of the kernels' sources and of the Python that runs them.

    Args:
        home: the folder of other kernels; those of the search may be called by them.
    """
    found = hashlib.blake2b(sys.version.encode(), digest_size=8)
    for sources in filter(None, (_SOURCES, home)):
        for file in sorted(sources.glob("*.py")):
            found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def places() -> list[Path]:
    """Return the folders where compiled kernels may be kept, the best one first.

    They are the one that NUMBA_CACHE_DIR names; if there is none, the user's folder for caches and
    that of the sources.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return [Path(chosen) / "antecede"]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [Path(home) / "antecede", _SOURCES / "__pycache__"]


def compiled_in(home: Path | None = None) -> Path | None:
    """Return the folder that has the kernels of these sources, or None: they must be compiled."""
    folders = (place / f"kernels-{digest(home)}" for place in places())
    wanted = "levels.expand-*.nbi" if home is None else "*.nbi"
    return next((folder for folder in folders if _holds(folder, wanted)), None)


def _holds(folder: Path, wanted: str) -> bool:
    try:
        return any(folder.glob(wanted))
    except OSError:
        return False


@functools.cache
def folder(home: Path | None = None) -> Path | None:
    """Return the folder where compiled kernels are kept; None if no place can be written to."""
    found = compiled_in(home)
    if found is not None and _writable(found):
        os.utime(found)
        return found
    for place in places():
        here = place / f"kernels-{digest(home)}"
        if _writable(here):
            _remove_old(place, here)
            return here
    return found


def _writable(folder: Path) -> bool:
    """Make a folder if it is not there; return whether files can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove_old(place: Path, kept: Path) -> None:
    """Remove kernels of other sources that nobody used for long."""
    old = time.time() - KEPT_DAYS * 24 * 3600
    for other in place.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if other != kept and other.stat().st_mtime < old:
                shutil.rmtree(other, ignore_errors=True)


def sealed(data: bytes) -> bytes:
    """Return data with a digest, by which `opened` knows whether it is as it was."""
    return hashlib.blake2b(data, digest_size=16).digest() + data


def opened(data: bytes) -> bytes | None:
    """Return what was sealed, or None if it is damaged."""
    content = data[16:]
    return content if hashlib.blake2b(content, digest_size=16).digest() == data[:16] else None


def unpickled(data: bytes) -> Any:
    """Return what Numba wrote; only for files in a folder of ours that are as they were written."""
    return pickle.loads(data)


_said: set[str] = set()


def say(problem: str) -> None:
    """Write on standard error, once, what is wrong with the kept kernels and what is done."""
    if problem not in _said:
        _said.add(problem)
        print(f"antecede: {problem}", file=sys.stderr, flush=True)
