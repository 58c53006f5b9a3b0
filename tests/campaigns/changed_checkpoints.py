"""Hostile tests of checkpoints: one number is changed, and all checksums are made anew.

A checksum finds damage, but everybody can compute it. So a search must also be able to go on from
a checkpoint that somebody changed on purpose, or refuse it: it must not crash, hang or end in an
internal error, whatever number was changed.
"""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from tests.campaigns.hostile import run

PATIENCE = 240.0
"""Seconds after which a resumed search counts as endless; it takes two or three alone."""

SOON = ("--checkpoint-seconds", "0.000001", "--quiet")


@frozen
class Search:
    """A search that is saved, and continued from what it saved.

    Attributes:
        line: the command.
        states: it is saved when it knows this many states.
    """

    line: tuple[str, ...]
    states: int


def _search(line: str, states: int) -> Search:
    return Search(("check", *line.split()), states)


SEARCHES: dict[str, Search] = {
    "by depth": _search("mfss --actors 3 --messages 2", 500),
    "without symmetry": _search(
        "cykas --actors 3 --workload script:[[2,1],[2],[0]] --no-symmetry", 200
    ),
    "with histories": _search("mfss --actors 3 --messages 2 --history full", 500),
    "with losses": _search("hybrid-basic --actors 2 --messages 2 --network unordered+lossy:1", 100),
    "with ways back": _search(
        "rst --actors 3 --messages 2 --property causal-delivery,can-deliver", 500
    ),
    "that found witnesses": _search("cykas-secret-mode --actors 3 --messages 2", 300),
    "of an endless workload": _search(
        "cykas --actors 2 --workload endless:2 --property causal-delivery", 50
    ),
}
"""Kind -> search."""

ON_SPARK = _search(
    "mfss --actors 3 --messages 2 --no-symmetry --engine spark --spark-threshold 300 "
    "--partitions 4 --forget never",
    3_000,
)


def changed_checkpoint(chance: random.Random, folder: Path) -> list[str]:
    """Change one number of a checkpoint, and continue from it."""
    return change(SEARCHES[chance.choice(list(SEARCHES))], chance, folder)


def changed_on_spark(chance: random.Random, folder: Path) -> list[str]:
    """Change one number of a checkpoint of a search on Spark, and continue from it."""
    return change(ON_SPARK, chance, folder)


def change(search: Search, chance: random.Random, folder: Path) -> list[str]:
    """Save a search, change one number of its checkpoint, and continue; return the faults."""
    saved = save(search, folder)
    if isinstance(saved, str):
        return [saved]
    said = change_number(saved, chance)
    return resumed(search, folder, said)


def save(search: Search, folder: Path) -> Path | str:
    """Return the folder of a search's checkpoint, or a fault."""
    limit = ("--checkpoint", "saved", "--max-states", str(search.states))
    first = run((*search.line, *limit, *SOON), folder)
    found = list(folder.glob("saved/checkpoint-*"))
    if first.code != 3 or len(found) != 1:
        return f"{' '.join(search.line)}: saved {len(found)}, exit {first.code}: {first.text}"
    return found[0]


def resumed(search: Search, folder: Path, said: str) -> list[str]:
    """Continue from a changed checkpoint; `said` is the change."""
    line = (*search.line, "--resume", "saved", "--max-states", "2000000", "--quiet")
    done = run(line, folder, after=PATIENCE)
    faults = [*done.faults(line)]
    if done.code < 0:
        faults.append(f"{' '.join(line)}: it hangs, or signal {-done.code}: {done.text[-300:]}")
    elif done.code not in (0, 1, 2, 3):
        faults.append(f"{' '.join(line)}: exit {done.code}: {done.text[-300:]}")
    elif done.code == 2 and len(done.text) > 2_000:
        faults.append(f"{' '.join(line)}: says too much: {done.text[-2000:]}")
    return [f"{said}: {fault}" for fault in faults]


# Changes.


def change_number(saved: Path, chance: random.Random) -> str:
    """Change one number in a checkpoint, renew the checksums, and return what was changed."""
    manifest = json.loads((saved / "manifest.json").read_text().rsplit("\n", 2)[0])
    if manifest["files"] and chance.random() < 0.5:
        said = _change_array(saved, manifest, chance)
    else:
        said = _change_leaf(manifest, chance)
    text = json.dumps(manifest, indent=1, sort_keys=True)
    (saved / "manifest.json").write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")
    return said


def _change_leaf(manifest: dict[str, Any], chance: random.Random) -> str:
    """Change a number, string or truth value of a manifest."""
    leaves = list(_leaves(manifest["state"], "state"))
    # Every place of the record has an equal chance, although some have many numbers.
    group = chance.choice(sorted({name for name, _, _ in leaves}))
    name, old, put = chance.choice([leaf for leaf in leaves if leaf[0] == group])
    new = _other(old, chance)
    put(new)
    return f"{name}: {old!r} -> {new!r}"


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any, Callable[[Any], None]]]:
    """Yield the name of every leaf's place, its value, and a function that puts another value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:

        def put(new: Any, key: Any = key) -> None:
            value[key] = new

        if isinstance(item, dict | list):
            shown = f"{name}.{key}" if isinstance(value, dict) else name
            if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and key:
                shown = f"{name}.{value[0]}"
            yield from _leaves(item, shown)
        else:
            shown = name
            if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and key:
                shown = f"{name}.{value[0]}"
            yield shown, item, put


def _other(old: Any, chance: random.Random) -> Any:
    """Return another value in the place of `old`."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, str):
        return chance.choice(["", "<i8", "|O", "<f8", "|V0", "S9", old[:-1], old + "1"])
    number = old if isinstance(old, int | float) else 0
    near = [number + 1, number - 1, 2 * number + 1, -number - 1, number ^ 1 << chance.randrange(62)
            ] if not isinstance(number, float) else [-number, float("nan"), 1e308]  # fmt: skip
    far = [0, -1, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 63) - 1, -(1 << 63), 1 << 64, 0.5]
    odd = [None, "", True, [], [0]]
    return chance.choice(chance.choice([near, near, far, odd]))


def _change_array(saved: Path, manifest: dict[str, Any], chance: random.Random) -> str:
    """Change a number, the shape or the type of an array in a file."""
    name = chance.choice(sorted(manifest["files"]))
    with (saved / name).open("rb") as file:
        loaded = np.load(file)
        arrays = dict(loaded) if name.endswith(".npz") else {"": loaded}
    part = chance.choice(sorted(arrays))
    array, way = arrays[part], chance.random()
    if way < 0.1:
        arrays[part] = array.ravel()[: chance.randrange(array.size + 1)]
        said = f"{array.shape} -> {arrays[part].shape}"
    elif way < 0.2:
        arrays[part] = array.astype(chance.choice([np.int32, np.uint8, np.float64, bool, "S3"]))
        said = f"{array.dtype} -> {arrays[part].dtype}"
    elif array.size == 0:
        arrays[part] = np.zeros(1, array.dtype)
        said = "() -> 0"
    else:
        said = _change_element(array, chance)
    with (saved / name).open("wb") as file:
        if name.endswith(".npz"):
            np.savez(file, **arrays)
        else:
            np.save(file, arrays[""])
    data = (saved / name).read_bytes()
    manifest["files"][name] = [len(data), zlib.crc32(data)]
    return f"{name} {part} {said}"


def _change_element(array: Any, chance: random.Random) -> str:
    flat = array.reshape(-1)
    known = np.flatnonzero(flat != -1) if chance.random() < 0.8 else np.arange(flat.size)
    at = int(chance.choice(known if len(known) else np.arange(flat.size)))
    old, room = int(flat[at]), np.iinfo(array.dtype)
    bit = old ^ (1 << chance.randrange(room.bits - 1))
    new = chance.choice([old + 1, old - 1, bit, bit, 0, room.max, room.min, room.max // 2])
    flat[at] = min(max(new, int(room.min)), int(room.max))
    return f"[{at}]: {old} -> {flat[at]}"
