"""Checkpoints of a search on Spark: the driver's part, and a file per partition.

They are written between two levels. The folder must be one that the driver and all executors see
under the same name. What stands in it is described in `checker.tables.checkpoint`; the
partitions are further files of it, each written by the task that holds the partition.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict

from antecede.checker.spark.numbering import Form
from antecede.checker.spark.partition import Partition
from antecede.checker.tables.checkpoint import Files


def partition_name(number: int) -> str:
    """Return the name of a partition's file."""
    return f"partition-{number}.npz"


def save_task(folder: str) -> Callable[[int, Iterator[Any]], Iterator[tuple[str, int, int]]]:
    """Return a task that writes its partition: -> name, size and checksum of the file."""

    def task(number: int, partitions: Iterator[Any]) -> Iterator[tuple[str, int, int]]:
        partition = Partition.joined([piece for _, piece in partitions])
        buffer = io.BytesIO()
        data = asdict(partition, recurse=False)
        np.savez(buffer, **data | asdict(data.pop("form")))
        content = buffer.getvalue()
        file = Path(folder) / partition_name(number)
        # Another attempt at this task may be at it, too.
        partial = file.with_name(f"{file.name}.{os.getpid()}")
        with partial.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        partial.rename(file)
        yield file.name, len(content), zlib.crc32(content)

    return task


def written(folder: Path, found: list[tuple[str, int, int]]) -> Files:
    """Return the files of the partitions, once all of them are there.

    Raises:
        OSError: this process does not see what the tasks wrote.
    """
    for name, size, _ in found:
        file = folder / name
        if not file.is_file() or file.stat().st_size != size:
            raise OSError(None, "the executors do not write to the driver's folder")
    return {name: (size, checksum) for name, size, checksum in found}


def load_task(folder: str) -> Callable[[int], list[tuple[int, Partition]]]:
    """Return a function from a partition's number to its pieces, read from a checkpoint."""

    def load(number: int) -> list[tuple[int, Partition]]:
        with np.load(Path(folder) / partition_name(number), allow_pickle=False) as saved:
            arrays = dict(saved)
        columns, numbers = (arrays.pop(name).astype(int) for name in ("columns", "numbers"))
        form = Form(tuple(columns.tolist()), tuple(numbers.tolist()))
        return [(number, Partition(form=form, piece=int(arrays.pop("piece")), **arrays))]

    return load
