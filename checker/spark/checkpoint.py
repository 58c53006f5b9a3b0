"""Checkpoints of a search on Spark: the driver's part, and a file per partition.

They are written between two levels. The folder must be one that the driver and all executors see
under the same name. What stands in it is described in
`checker.tables.checkpoint`; the partitions' shares
are further files of it, each written by the task that holds the share.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import asdict, astuple, fields

from antecede.checker.local.breadth import LocalBreadthFirst
from antecede.checker.paths.places import places_of, transitions_at
from antecede.checker.search.loop import Found
from antecede.checker.spark.conservation import Held
from antecede.checker.spark.tasks import Share
from antecede.checker.tables.checkpoint import Contents, Saved, readable
from antecede.checker.tables.encoding import filled, from_bytes, to_bytes

NOT_SAVED = (
    "system",
    "max_depth",
    "options",
    "local",
    "cluster",
    "run",
    "checkpoints",
    "began",
    "_between",
    "_shares",
    "_reports",
    "_growths",
    "_renamed",
    "_version",
    "_folder",
    "_own",
    "_code_sent",
    "_jobs",
)
"""Attributes of the explorer that are not in its checkpoints; all others are."""

Files = dict[str, tuple[int, int]]
"""Name -> size and checksum."""


def contents(explorer: Any, write_shares: Callable[[Path], Files] | None) -> Contents:
    """Return what to save of a `checker.spark.breadth.SparkBreadthFirst` between two levels."""
    own = {f.name: getattr(explorer, f.name) for f in fields(type(explorer))}
    state = {name: value for name, value in own.items() if name not in NOT_SAVED}
    state["found"] = {
        name: places_of(explorer.system, f.transitions) for name, f in explorer.found.items()
    }
    state["_held"] = {p: astuple(held) for p, held in explorer._held.items()}
    local, on_cluster = explorer.local.record(), write_shares is not None
    return Contents({**state, "local": local, "on_cluster": on_cluster}, write_shares)


def restored(explorer: Any, local: LocalBreadthFirst, saved: Saved) -> bool:
    """Give an explorer what was saved; return whether it had moved to the cluster.

    Raises:
        InputError: a file is damaged.
    """
    for name in saved.files:
        if name.startswith(share_name("")):
            saved.verify(name)
    with readable(saved.folder):
        state = saved.restore()
        local.adopt(state.pop("local"), saved)
        on_cluster = bool(state.pop("on_cluster"))
        found = {name: transitions_at(explorer.system, p) for name, p in state["found"].items()}
        state["found"] = {name: Found(transitions) for name, transitions in found.items()}
        state["_held"] = {p: Held(*counts) for p, counts in state["_held"].items()}
        names = {f.name for f in fields(type(explorer))}.difference(NOT_SAVED)
        for name in names:
            setattr(explorer, name, filled(state[name], saved.array))
    return on_cluster


def share_name(partition: int | str) -> str:
    """Return the name of the file with a partition's share."""
    return f"share-{partition}"


def save_task(folder: str) -> Callable[[int, Iterator[Any]], Iterator[tuple[str, int, int]]]:
    """Return a task that writes its partition's share: -> name, size and checksum of the file."""

    def task(partition: int, shares: Iterator[Any]) -> Iterator[tuple[str, int, int]]:
        share = Share.joined([piece for _, piece in shares])
        data = to_bytes(asdict(share, recurse=False))
        file = Path(folder) / share_name(partition)
        # Another attempt at this task may be at it, too.
        partial = file.with_name(f"{file.name}.{os.getpid()}")
        with partial.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        partial.rename(file)
        yield file.name, len(data), zlib.crc32(data)

    return task


def written(folder: Path, found: list[tuple[str, int, int]]) -> Files:
    """Return the files of the shares, once all of them are there.

    Raises:
        OSError: this process does not see what the tasks wrote.
    """
    for name, size, _ in found:
        file = folder / name
        if not file.is_file() or file.stat().st_size != size:
            raise OSError(None, "the executors do not write to the driver's folder")
    return {name: (size, checksum) for name, size, checksum in found}


def load_task(folder: str) -> Callable[[int], list[tuple[int, Share]]]:
    """Return a function from a partition to the pieces of its share, read from a checkpoint."""

    def load(partition: int) -> list[tuple[int, Share]]:
        share = Share(**from_bytes((Path(folder) / share_name(partition)).read_bytes()))
        return [(partition, share)]

    return load
