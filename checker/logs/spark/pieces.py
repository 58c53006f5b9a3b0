"""Logs in pieces that are read in parallel: the division into pieces, and the content of a piece.

A piece is a range of the lines of a file, or row groups of a Parquet file. Names become numbers
that are valid only within the piece; `spread` maps them to global numbers.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from attrs import define, field, frozen

from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.batches import Batch
from antecede.checker.logs.events.event import Event
from antecede.checker.logs.events.space import Array
from antecede.checker.logs.readers import names_kernels as n
from antecede.checker.logs.readers.formats import NAMES, open_log
from antecede.checker.logs.readers.parquet import MAGIC, ParquetLines, row_counts
from antecede.checker.logs.readers.parser import Parser
from antecede.checker.logs.readers.records import Fields, line_events
from antecede.checker.logs.readers.sources import (
    MARK,
    PACKED,
    STANDARD_INPUT,
    Foreign,
    Source,
    foreign_of,
    opened,
    parts_of_logs,
)
from antecede.checker.support.errors import InputError

SPLIT = 1 << 26
"""The size of a piece in bytes."""

ROWS = 1 << 20
"""The least rows of a piece of a Parquet file."""


@frozen
class Split:
    """A piece of a log.

    Attributes:
        start, end: a range of bytes; the piece has the lines that begin in it.
        groups: the row groups of a Parquet file; None for other files.
        alone: the piece is the whole file, which may therefore be compressed.
    """

    whole: str
    path: str
    start: int = 0
    end: int = 0
    groups: tuple[int, ...] | None = None
    alone: bool = True


@frozen(eq=False)
class Piece:
    """The content of a piece.

    Attributes:
        lines: the number of lines, including empty lines.
        events: int64; rows as in `columns_kernels`, whose places are lines in the piece.
        hashes: int64 (messages, 2); the hashes of the messages' names.
        sets: the destination sets, as tuples of actors.
        named: names of messages from lines with several events, by their numbers.
        error: the reason why it cannot be read, or None.
    """

    lines: int = 0
    events: Array = field(factory=lambda: np.zeros((0, c.COLUMNS), np.int64))
    hashes: Array = field(factory=lambda: np.zeros((0, 2), np.int64))
    actors: tuple[str, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    named: Mapping[int, str] = field(factory=dict)
    torn: tuple[int, ...] = ()
    foreign: Foreign | None = None
    error: str | None = None


def splits_of(
    names: Sequence[str], format: str | None, fields: Fields, size: int = SPLIT
) -> list[Split]:
    """Return the pieces of logs, in order.

    Raises:
        InputError: a log is missing or empty, or has neither JSON objects nor Parquet rows.
    """
    if STANDARD_INPUT in names:
        raise InputError("standard input is read once, by one machine; leave out --on spark")
    splits: list[Split] = []
    parts = parts_of_logs(names)
    full = [part for part in parts if part[0] in names or Path(part[0]).stat().st_size]
    for name in dict.fromkeys(name for _, name in parts):
        if name not in {whole for _, whole in full}:
            raise InputError(f"{name} is empty: there is nothing to judge")
    for part, name in full:
        splits += _splits_of(name, part, format, fields, size)
    return splits


def _splits_of(
    whole: str, part: str, format: str | None, fields: Fields, size: int
) -> Iterator[Split]:
    with opened(part, None, fields.used, fields.to) as source:
        log = open_log(source, format, fields=fields)
        if log.format != "jsonl" or not fields.simple:
            raise InputError(
                f"{part} is a log of {NAMES.get(log.format, log.format)}"
                f"{'' if fields.simple else ' whose fields are inside of others'}; --on spark "
                "reads JSON objects with plain fields, and Parquet"
            )
    with Path(part).open("rb") as file:
        head = file.read(4)
    length = Path(part).stat().st_size
    if head == MAGIC:
        yield from _row_splits(whole, part)
    elif head.startswith(PACKED) or length <= size:
        yield Split(whole, part, 0, length)
    else:
        for start in range(0, length, size):
            yield Split(whole, part, start, min(start + size, length), alone=False)


def _row_splits(whole: str, part: str) -> Iterator[Split]:
    groups: list[int] = []
    rows = 0
    for group, count in enumerate(row_counts(part)):
        groups.append(group)
        rows += count
        if rows >= ROWS:
            yield Split(whole, part, groups=tuple(groups))
            groups, rows = [], 0
    if groups:
        yield Split(whole, part, groups=tuple(groups))


@define(eq=False)
class _Slice:
    """The next `left` bytes of a file."""

    file: BinaryIO
    left: int

    def read(self, size: int) -> bytes:
        content = self.file.read(min(size, self.left))
        self.left -= len(content)
        return content


def _line_from(file: BinaryIO, at: int) -> int:
    """Return the start of the first line that begins at byte `at` or later."""
    if at == 0:
        return 0
    file.seek(at - 1)
    file.readline()
    return file.tell()


@contextlib.contextmanager
def _opened(split: Split, fields: Fields) -> Iterator[Source]:
    """Open a piece: the lines that begin in a range of bytes, or rows, or a whole file."""
    stream: Any
    if split.groups is not None:
        rows = ParquetLines(split.path, split.groups, fields.used, fields.to)
        yield Source(split.path, rows)  # type: ignore[arg-type]
    elif split.alone:
        with opened(split.path, None, fields.used, fields.to) as source:
            yield source
    else:
        with Path(split.path).open("rb") as file:
            start, end = _line_from(file, split.start), _line_from(file, split.end)
            file.seek(start)
            stream = _Slice(file, end - start)
            source = Source(split.path, stream)
            if start == 0:
                source.ahead = source._more().removeprefix(MARK)
            yield source


@define(eq=False)
class _Reading(Parser):
    """Reads the lines of a piece.

    Attributes:
        before: the number of lines before the piece, for errors.
        rows: the events of each batch.
        sets: the destination sets.
        named: the names of messages from lines with several events, by their numbers.
    """

    hand_over: Callable[[Batch], Batch] = field(init=False)
    before: int = field(default=0, kw_only=True)
    rows: list[Array] = field(factory=list)
    sets: list[tuple[int, ...]] = field(factory=list)
    named: dict[int, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Keep the events here."""
        self.hand_over = self._keep

    def _keep(self, batch: Batch) -> Batch:
        """Copy what a batch has, and return it."""
        rows = batch.rows[: batch.events].copy()
        rows[:, c.PLACE] -= self.before
        self.rows.append(rows)
        members = np.split(batch.members, batch.set_ends)[:-1]
        self.sets += [tuple(each.tolist()) for each in members]
        return batch

    def _keep_names(self) -> None:
        self.tables.counter[n.NAMES] = 0

    def _begin(self, source: Source) -> None:
        self.tables.counter[n.LINES] = self.before

    def _line(self, events: list[Event], log: int) -> None:
        super()._line(events, log)
        if len(events) > 1:
            self.named |= {self._number(n.message_of, e.message): e.message for e in events}

    def piece(self, source: Source) -> Piece:
        """Return the content of a source that was read."""
        t = self.tables
        keys = t.message_keys[t.message_keys[:, n.INDEX] >= 0]
        hashes = np.zeros((t.counter[n.MESSAGES], 2), np.int64)
        hashes[keys[:, n.INDEX]] = keys[:, [n.HASH, n.OTHER_HASH]]
        return Piece(
            int(t.counter[n.LINES]) - self.before,
            np.concatenate(self.rows) if self.rows else np.zeros((0, c.COLUMNS), np.int64),
            hashes,
            tuple(self.actor(number) for number in range(t.counter[n.ACTORS])),
            tuple(self.sets),
            self.named,
            tuple(line - self.before for line in source.torn),
            foreign_of(source, self.before) if source.foreign else None,
        )


def read(split: Split, fields: Fields) -> Piece:
    """Return the content of a piece; an error names the line in the file."""
    try:
        return _read(split, fields, 0)
    except InputError:
        before = _lines_before(split)
        try:
            return _read(split, fields, before)
        except InputError as error:
            return Piece(error=str(error))


def _read(split: Split, fields: Fields, before: int) -> Piece:
    reading = _Reading(before=before)
    try:
        with _opened(split, fields) as source:
            reading.read(source, fields, lambda _bytes, _events: None)
            return reading.piece(source)
    finally:
        reading.close()


def _lines_before(split: Split) -> int:
    """Return the number of lines of the file before a piece."""
    if split.groups is not None:
        return sum(row_counts(split.path)[: split.groups[0]])
    with Path(split.path).open("rb") as file:
        bytes_left, count = _line_from(file, split.start), 0
        file.seek(0)
        while bytes_left and (chunk := file.read(min(bytes_left, io.DEFAULT_BUFFER_SIZE << 6))):
            count += chunk.count(b"\n")
            bytes_left -= len(chunk)
    return count


def names_at(split: Split, fields: Fields, wanted: dict[int, int]) -> dict[int, str]:
    """Return the names of messages by their numbers.

    `wanted` maps a line of the piece to the number of the message of its only event.
    """
    names, last = {}, max(wanted)
    with _opened(split, fields) as source:
        for number, line in source.lines():
            if number in wanted:
                (event,) = line_events(source, number, line, fields)
                names[wanted[number]] = event.message
            if number >= last:
                break
    return names
