"""Hostile tests of stored files: checkpoints, specs, and compiled kernels.

Each function runs commands in processes of their own and returns the faults as sentences.
"""

from __future__ import annotations

import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from antecede.checker.compiled import cache
from tests.campaigns.hostile import Ended, address_space, run

PROTOCOL = """\
from attrs import evolve
from antecede.checker.support.registry import protocol_named
{limit}
def limited(states):
    return sum(sum(map(sum, state.SENT)) for state in states) != {use}
OWN = evolve(
    protocol_named("rst"), name="own", normal=None, witnesses={{}}, invariants={{}},
    joint_invariants={{"limit": limited}},
)
"""
"""The protocol rst with an invariant that holds or not, depending on a constant."""

WAYS: dict[str, tuple[dict[str, str], str, str]] = {
    "from": ({"limits.py": "LIMIT = {0}"}, "from limits import LIMIT", "LIMIT"),
    "module": ({"limits.py": "LIMIT = {0}"}, "import limits", "limits.LIMIT"),
    "package": (
        {"p/__init__.py": "", "p/near.py": "from .far import LIMIT", "p/far.py": "LIMIT = {0}"},
        "from p.near import LIMIT as MOST",
        "MOST",
    ),
    "computed": (
        {"limits.py": "from others import HALF\nLIMIT = 2 * HALF", "others.py": "HALF = {0} / 2"},
        "from limits import LIMIT",
        "LIMIT",
    ),
    "function": (
        {"limits.py": "LIMIT = {0}"},
        "def limit():\n    from limits import LIMIT\n    return LIMIT",
        "limit()",
    ),
    "file": (
        {"limits.json": '{{"limit": {0}}}'},
        "import json\nfrom pathlib import Path\n"
        "LIMIT = json.loads(Path(__file__).with_name('limits.json').read_text())['limit']",
        "LIMIT",
    ),
    "class": (
        {"limits.py": "class Limits:\n    least = {0}"},
        "from limits import Limits",
        "Limits.least",
    ),
    "default": (
        {"limits.txt": "{0}"},
        "from pathlib import Path\n"
        "def limit(given=int(Path(__file__).with_name('limits.txt').read_text())): return given",
        "limit()",
    ),
}
"""Ways of a constant to a predicate: (files, code in the protocol's file, expression)."""

HOLDS, VIOLATED = 100, 1
"""The constant for which the invariant holds, and the one for which it is violated."""

QUESTION = (
    *("check", "own_protocol.py:OWN", "--actors", "3", "--messages", "1", "--no-symmetry"),
    *("--property", "invariant:limit,integrity", "--quiet"),
)


def changed_constants(chance: random.Random, folder: Path) -> list[str]:
    """Save a search, change an external constant of its protocol or nothing, and resume it."""
    way = chance.choice(list(WAYS))
    _write(folder, way, HOLDS)
    save = ("--checkpoint-seconds", "0.000001", "--max-states", "200")
    first = run((*QUESTION, "--checkpoint", "saved", *save), folder)
    faults = list(first.faults(QUESTION))
    if first.code != 3:
        return [*faults, f"a constant by {way}: exit {first.code} for a search with a bound"]
    changes = chance.random() < 0.7
    if changes:
        _write(folder, way, VIOLATED)
    again = run((*QUESTION, "--resume", "saved"), folder)
    return [*faults, *again.faults(QUESTION), *_wrong(way, again, changes=changes)]


def _write(folder: Path, way: str, constant: int) -> None:
    files, limit, use = WAYS[way]
    (folder / "own_protocol.py").write_text(PROTOCOL.format(limit=limit, use=use))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.format(constant))


def _wrong(way: str, again: Ended, *, changes: bool) -> list[str]:
    """Return the faults of a resumed search."""
    said = " ".join(again.text.split())
    if changes and (again.code != 2 or "was written before" not in said):
        return [f"a constant by {way} was changed, and exit {again.code}: {said[-300:]}"]
    if not changes and again.code != 0:
        return [f"a constant by {way} was left alone, and exit {again.code}: {said[-300:]}"]
    return []


def _nested(file: Path) -> None:
    text = "[" * 100_000 + "]" * 100_000
    file.write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")


def _large(file: Path) -> None:
    file.touch()
    os.truncate(file, 1 << 33)


def _wrong_type(file: Path) -> None:
    file.write_text(f"[]\n{zlib.crc32(b'[]'):08x}\n")


ODD: dict[str, Callable[[Path], Any]] = {
    "a symbolic link": lambda file: file.symlink_to("/dev/zero"),
    "a directory": lambda file: file.mkdir(),
    "a pipe": os.mkfifo,
    "a large file": _large,
    "a nested list": _nested,
    "a list": _wrong_type,
    "a long key": lambda file: file.write_text(".".join("a" * 50_000) + " = 1"),
}
"""Kind -> function that replaces a stored file by something odd."""

SAVED = (
    *("check", "mfss", "--actors", "3", "--messages", "1", "--quiet"),
    *("--property", "integrity,all-delivered"),
)


def odd_files(chance: random.Random, folder: Path) -> list[str]:
    """Put something odd in the place of a checkpoint's manifest or arrays, or of a spec."""
    return odd_file(chance.choice(list(ODD)), chance.choice(FILES), folder)


FILES = ("manifest.json", "array-0.npy", "a.toml")


def odd_file(kind: str, name: str, folder: Path) -> list[str]:
    """Put something odd in the place of a file; it is refused in few words."""
    line: tuple[str, ...] = ("check", "a.toml")
    file = folder / name
    if name != "a.toml":
        save = ("--checkpoint-seconds", "0.000001", "--max-states", "100")
        run((*SAVED, "--checkpoint", "saved", *save), folder)
        (file,) = folder.glob(f"saved/checkpoint-*/{name}")
        file.unlink()
        line = (*SAVED, "--resume", "saved")
    ODD[kind](file)
    done = run(line, folder)
    faults = list(done.faults(line))
    if done.code != 2 or len(done.text) > 1_000:
        faults.append(f"{kind} as {name}: exit {done.code}: {done.text[-300:]}")
    return faults


def odd_kernels(chance: random.Random, folder: Path) -> list[str]:
    """Put a pipe, or another kernel, in the place of a kept kernel."""
    return odd_kernel(chance, chance.choice(("a pipe", "another kernel")), folder)


def odd_kernel(chance: random.Random, kind: str, folder: Path) -> list[str]:
    """Replace a kept kernel in a copy of all; it is compiled anew, and the answer is the same."""
    kept = cache.compiled_in()
    if kept is None:
        return []
    copy = folder / "kernels" / "antecede" / kept.name
    shutil.copytree(kept, copy)
    # A kernel is kept for each of its uses, and the check needs only some of them.
    files = sorted(copy.glob(f"sets_kernels.insert-*{cache.SUFFIX}"))
    other = chance.choice(sorted({*copy.glob(f"*{cache.SUFFIX}")} - {*files}))
    for file in files:
        file.unlink()
        os.mkfifo(file) if kind == "a pipe" else shutil.copy(other, file)
    # Called in place of `insert`, a kernel may say that the visited states need the whole memory.
    few = address_space(3_000)
    done = run(SAVED, folder, limit=few, NUMBA_CACHE_DIR=str(folder / "kernels"))
    faults = list(done.faults(SAVED))
    if done.code != 0 or "compiled anew" not in done.text:
        faults.append(f"{kind} as levels.insert: exit {done.code}: {done.text[-300:]}")
    return faults
