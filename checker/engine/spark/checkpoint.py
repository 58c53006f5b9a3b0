"""Checkpoints of a search on Spark: the driver's part, and a file per partition.

They are written between two levels. The driver and all executors must see the folder under the same
name. `checker.engine.storage.checkpoint` describes its content. The files of the partitions are
further files of the folder, and each is written by the task that holds the partition.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.layout import fit
from antecede.checker.engine.rows.packing import MOST_BITS
from antecede.checker.engine.spark.codec import Codec
from antecede.checker.engine.spark.numbering import Form, fields_of, words_of
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.rows import INDEX_BITS
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.checkpoint import UNFIT, Files
from antecede.checker.engine.storage.validation import numbers, pieces, whole, wholes


def partition_name(number: int) -> str:
    """Return the name of a partition's file."""
    return f"partition-{number}.npz"


def save_task(folder: str) -> Callable[[int, Iterator[Any]], Iterator[tuple[str, int, int]]]:
    """Return a task for `mapPartitionsWithIndex` that writes each partition to a checkpoint's file.

    It yields one triple for `written`: the file's name, its size in bytes, and its CRC-32 checksum.
    """

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
    """Return the size and checksum of each file that the tasks of `save_task` wrote, by name.

    Raises:
        OSError: a file is missing or has another size, so executors wrote to another folder.
    """
    for name, size, _ in found:
        file = folder / name
        if not file.is_file() or file.stat().st_size != size:
            raise OSError(None, "the executors do not write to the driver's folder")
    return {name: (size, checksum) for name, size, checksum in found}


@frozen(eq=False)
class Bounds:
    """The bounds of the numbers that the rows of a checkpoint may have.

    Attributes:
        codec: the packing of flat rows; those of the checkpoint may have narrower columns, because
            a column that became too narrow during the last level is widened in the next one.
        sizes: per actor and column, one more than the greatest number in it.
        counts: per part, the number of composites that have numbers.
        levels: the number of levels that a transition can lead down.
        graded: as in `ClusterState`.
    """

    codec: Codec
    sizes: Sequence[Sequence[int]]
    counts: Sequence[int]
    levels: int
    graded: bool

    def check(self, partition: Partition) -> None:
        """Check a partition that was read from a file.

        A number that is too great raises ValueError, here and below.
        """
        form, flat = partition.form, self._codec_of(partition.form.columns)
        if form.numbers and len(form.numbers) != len(self.counts):
            raise ValueError("the rows have too few numbers")
        words = words_of(form.numbers) if form.numbers else flat.words
        for name in ("level", "visited", "following"):
            rows = numbers("rows", getattr(partition, name), np.int64)
            self._check_rows(rows.reshape(-1, words), form, flat)
        self.check_flat(partition.rest, flat)
        found = len(partition.level) // words
        # If states are forgotten, the level has only the rows that wait.
        waiting, most = (found, (1 << INDEX_BITS) - 1) if self.graded else (None, found - 1)
        numbers("the rows that wait", partition.todo, np.int64, (waiting,), most=most)
        rest = len(partition.rest) // flat.words
        marked = len(partition.following) // words + rest if len(partition.marks) else 0
        lead = 1 << g.LEAD_BITS
        numbers("marks", partition.marks, np.int32, (marked,), -lead, self.levels * lead)

    def _codec_of(self, columns: Sequence[int]) -> Codec:
        """Return the packing with columns of these widths, which a checkpoint has."""
        if not fit(columns, self.codec.col_widths):
            raise ValueError("the widths of columns do not fit")
        return self.codec.with_widths(columns)

    def _check_rows(self, rows: Words, form: Form, flat: Codec) -> None:
        if form.numbers:
            fields_of(form.numbers).check("states", rows, self.counts)
        else:
            self.check_flat(rows.ravel(), flat)

    def check_flat(self, rows: Any, codec: Codec) -> None:
        """Check that the tables have every number in some flat rows."""
        numbers("flat rows", rows, np.int64)
        for piece in pieces(rows.reshape(-1, codec.words)):
            local = codec.unpacked(piece.ravel())
            for column, sizes in enumerate(zip(*self.sizes, strict=True)):
                if (codec.column(local, column) >= np.array(sizes)).any():
                    raise ValueError("states have a part that does not exist")

    def check_records(self, records: Words, columns: Sequence[int]) -> None:
        """Check that the tables have every number in records for `CompositeStore.add`."""
        codec = self._codec_of(columns)
        if records.shape[1] != 1 + codec.placed.words:
            raise ValueError("the composites have too few words")
        each = 1 + codec.parted
        numbers("composites", records[:, 0], np.int64, most=codec.actors * each - 1)
        for part in range(codec.actors * each):
            words = records[records[:, 0] == part, 1:]
            codec.placed.check(words, part % each, self.sizes[part // each])


def load_task(folder: str) -> Callable[[int], list[tuple[int, Partition]]]:
    """Return a task for `flatMap` that reads a partition from its file in a checkpoint."""
    return lambda number: [(number, _partition_in(folder, number))]


def check_task(folder: str, bounds: Bounds) -> Callable[[int], str | None]:
    """Return a task for `map` that returns what is wrong with the file of a partition, or None.

    A stranger may have written the file, so its numbers are compared with bounds before use. The
    task raises OSError if the file is missing.
    """

    def check(number: int) -> str | None:
        try:
            bounds.check(_partition_in(folder, number))
        except UNFIT as error:
            return str(error) or type(error).__name__
        return None

    return check


def _partition_in(folder: str, number: int) -> Partition:
    with np.load(Path(folder) / partition_name(number), allow_pickle=False) as saved:
        arrays = dict(saved)
    columns, widths = (
        tuple(wholes("widths", arrays.pop(name).tolist(), 0, MOST_BITS))
        for name in ("columns", "numbers")
    )
    piece = whole("a piece", arrays.pop("piece").item())
    return Partition(form=Form(columns, widths), piece=piece, **arrays)
