"""The bytes of logs: files, standard input and pipes, plain or compressed, each read once."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from attrs import Factory, define, field, frozen

from antecede.checker.logs.readers.parquet import MAGIC, ParquetLines
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError
from antecede.checker.support.extras import check_installed, install_command

STANDARD_INPUT = "-"
CHUNK = 1 << 20
LONGEST_LINE = 1 << 26
"""The greatest length of a line in bytes; a file without line ends must not fill the memory."""

MOST_TORN = 1_000
"""The most torn lines in a log. A log with more of them has another format."""

_GZIP, _ZSTD, MARK = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"

PACKED = (_GZIP, _ZSTD)
"""The first bytes of compressed files."""


@define(eq=False)
class Source:
    """The bytes of one log, which are read once, from front to back.

    Attributes:
        name: the name in messages.
        ahead: bytes that were read but not used yet.
        whole: the name of the log that it is a part of; usually its own name.
        taken: the number of bytes used.
        skipped: the number of blank lines left out at the beginning.
        torn: the numbers of torn lines.
        foreign: the number of lines that are no events.
        odd: the number of these lines for which the log's own words do not say so.
        first_foreign: the first of these, and why it is no event.
    """

    name: str
    stream: BinaryIO
    ahead: bytes = b""
    whole: str = field(default=Factory(lambda self: self.name, takes_self=True))
    taken: int = field(default=0, init=False)
    skipped: int = field(default=0, init=False)
    torn: list[int] = field(factory=list, init=False)
    foreign: int = field(default=0, init=False)
    odd: int = field(default=0, init=False)
    first_foreign: tuple[int, str] | None = field(default=None, init=False)

    def read(self) -> bytes:
        """Return the next chunk of complete lines; only the last line of all may lack its end.

        At the end of the log, the result is b''.

        Raises:
            InputError: the log cannot be read, or a line is too long.
        """
        parts, size = [self.ahead], len(self.ahead)
        self.ahead = b""
        while True:
            chunk = self._more()
            end = chunk.rfind(b"\n") + 1
            if end or not chunk:
                parts.append(chunk[:end] if chunk else b"")
                self.ahead = chunk[end:]
                break
            parts.append(chunk)
            size += len(chunk)
            if size > LONGEST_LINE:
                raise InputError(
                    f"{self.name}: a line is longer than {LONGEST_LINE >> 20} MiB; if it is one "
                    "JSON document, write it on several lines, as `jq .` does"
                )
        lines = b"".join(parts)
        self.taken += len(lines)
        return lines

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the remaining lines, with their numbers in the log.

        Raises:
            InputError: they cannot be read, or are not UTF-8 text.
        """
        number = self.skipped
        while chunk := self.read():
            for line in self.check_text(chunk, number).removesuffix("\n").split("\n"):
                number += 1
                yield number, line.removesuffix("\r")

    def check_text(self, chunk: bytes, number: int) -> str:
        """Return a chunk as text; `number` lines of the log come before it.

        Raises:
            InputError: it is not UTF-8 text; the message names the line.
        """
        try:
            return chunk.decode()
        except UnicodeDecodeError as error:
            line = number + 1 + chunk.count(b"\n", 0, error.start)
            wide = number == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            text = "UTF-8 text; it is UTF-16, which PowerShell writes; convert it first"
            raise InputError(
                f"cannot read {self.name!r}: line {line} is not {text if wide else 'UTF-8 text'}"
            ) from None

    def has_at_least(self, size: int) -> bool:
        """Return whether at least `size` bytes are left, without using them."""
        parts, length = [self.ahead], len(self.ahead)
        while length < size and (chunk := self._more()):
            parts.append(chunk)
            length += len(chunk)
        self.ahead = b"".join(parts)
        return length >= size

    def first_line(self) -> str:
        """Return the first line that is not blank; reading starts there."""
        while chunk := self.read():
            if chunk.strip():
                self.ahead, self.taken = chunk + self.ahead, self.taken - len(chunk)
                first = next(line for line in chunk.split(b"\n") if line.strip())
                return first.decode(errors="replace").removesuffix("\r")
            self.skipped += chunk.count(b"\n")
        return ""

    def lines_ahead(self, most: int) -> list[str]:
        """Return the lines from `first_line` on, as far as they were read already.

        Blank lines are left out. Of the lines with them, there are at most `most`.
        """
        lines = self.ahead[:CHUNK].split(b"\n", most)[:most]
        return [line.decode(errors="replace").removesuffix("\r") for line in lines if line.strip()]

    def note_foreign(self, number: int, why: str) -> None:
        """Count a line that is no event; without `why`, the log's own words say so."""
        self.foreign += 1
        if why:
            self.odd += 1
            self.first_foreign = self.first_foreign or (number, why)

    def note_torn(self, number: int) -> None:
        """Record a torn line.

        Raises:
            InputError: the log has more than `MOST_TORN` torn lines.
        """
        self.torn.append(number)
        if len(self.torn) > MOST_TORN:
            raise InputError(
                f"{self.name}, line {number}: more than {MOST_TORN:,} lines are torn; give a log "
                "with a whole JSON object in each line"
            )

    def _more(self) -> bytes:
        try:
            # Return whatever a pipe has, so that a log can be followed while it is written.
            read = getattr(self.stream, "read1", self.stream.read)
            return bytes(read(CHUNK))
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(self.name, error) from None
        except Exception as error:
            if not _is_of_zstd(error):
                raise
            raise _unreadable(self.name, error) from None


@frozen
class Foreign:
    """The lines of a log that are no events.

    Attributes:
        lines: their number.
        odd: the number of these lines for which the log's own words do not say so.
        first: the first of these, or 0.
        why: why it is no event.
    """

    log: str
    lines: int
    odd: int = 0
    first: int = 0
    why: str = ""


def foreign_of(source: Source, before: int = 0) -> Foreign:
    """Return the lines of a log that are no events; `before` lines of it were not read."""
    first, why = source.first_foreign or (0, "")
    return Foreign(source.name, source.foreign, source.odd, first and first - before, why)


def skipped_lines(found: Foreign) -> str:
    """Return a clause about the lines of a log that are no events."""
    text = f"{counted(found.lines, 'line')} {'is' if found.lines == 1 else 'are'} no event"
    text += "" if found.lines == 1 else "s"
    if not found.why:
        return text
    first = "line" if found.lines == 1 else "the first is line"
    why = re.split(r"; |\. ", found.why)[0]  # without the advice that an error has
    return f"{text} ({first} {found.first} of {Path(found.log).name}: {why})"


ROTATED = re.compile(
    r"(?P<log>.+?\.[A-Za-z]\w*)[.-](?:(?P<number>\d{1,4})|(?P<date>\d{4}-?\d\d-?\d\d[\dT:_.-]*?))"
    r"(?:\.(?:gz|zst))?"
)
"""Matches the name of a rotated file, such as app.log.2.gz or app.log-20261125."""


def _rotation(file: str) -> tuple[str, int, str, int, str]:
    """Return a key that sorts files by their logs, and the files of a log from old to new.

    Dates come first. A higher number is an older file. The file without a suffix is the newest.
    """
    match = ROTATED.fullmatch(file)
    if match is None:
        return re.sub(r"\.(?:gz|zst)$", "", file), 2, "", 0, file
    number = match["number"]
    return match["log"], int(number is not None), match["date"] or "", -int(number or 0), file


def parts_of_logs(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the files of logs, in the order in which they are read, each with its log.

    The files of a folder are one log, and so are the files of one rotated log.

    Raises:
        InputError: a folder is empty.
    """
    logs: dict[str, list[str]] = {}
    for name in names:
        logs.setdefault(_rotation(name)[0] if ROTATED.fullmatch(name) else name, []).append(name)
    return [
        (part, log if len(files) > 1 else name)
        for log, files in logs.items()
        for name in sorted(files, key=_rotation)
        for part in parts_of(name)
    ]


def parts_of(name: str) -> tuple[str, ...]:
    """Return the files of a log; the files of a folder are sorted by name, rotated ones by age.

    Files whose names begin with a dot or an underscore are ignored, as in Spark.

    Raises:
        InputError: the folder is empty.
    """
    folder = Path(name)
    if name == STANDARD_INPUT or not os.path.isdir(name):
        return (name,)
    files = [file for file in folder.iterdir() if file.name[0] not in "._" and file.is_file()]
    if not files:
        raise InputError(f"the folder {name!r} contains no log files")
    return tuple(sorted(map(str, files), key=_rotation))


def check_names(names: Sequence[str]) -> None:
    """Refuse a log that is named twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{shown_name(twice)} is named twice; name each log once")


@contextlib.contextmanager
def opened(
    name: str, whole: str | None = None, used: Sequence[str] = (), optional: str = ""
) -> Iterator[Source]:
    """Open a log, or a part of one; `-` is standard input.

    `used` and `optional` are the fields of an event, as in `ParquetLines`.

    Raises:
        InputError: it cannot be opened.
    """
    with contextlib.ExitStack() as stack:
        try:
            raw = (
                sys.stdin.buffer
                if name == STANDARD_INPUT
                else stack.enter_context(Path(name).open("rb"))
            )
            stream = _unpacked(raw, stack, shown_name(name))
            if isinstance(stream, ParquetLines):
                stream.used, stream.optional = used, optional
            source = Source(shown_name(name), stream)
            source.whole = shown_name(whole or name)
            source.ahead = source._more().removeprefix(MARK)
        except (OSError, ValueError) as error:
            raise _unreadable(name, error) from None
        yield source


def shown_name(name: str) -> str:
    """Return the name of a log in messages."""
    return "standard input" if name == STANDARD_INPUT else name


def _unpacked(raw: Any, stack: contextlib.ExitStack, name: str) -> Any:
    """Return a stream of the decompressed bytes of a file, whose first bytes tell the format."""
    stream = io.BufferedReader(raw) if isinstance(raw, io.RawIOBase) else raw
    head = stream.peek(4)
    if head.startswith(_GZIP):
        return stack.enter_context(gzip.GzipFile(fileobj=stream))
    if head.startswith(_ZSTD):
        return _of_zstd(stream, name)
    if head.startswith(MAGIC):
        if name == shown_name(STANDARD_INPUT):
            raise InputError(f"{name} is a Parquet file, which is read from its end; name the file")
        check_installed("parquet", f"the Parquet file {name}")
        return ParquetLines(name)
    return stream


def _of_zstd(stream: Any, name: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError(
            f"{name} is compressed with zstd, which needs the package zstandard; "
            f"install it with: {install_command('zstd')}, or pipe it: zstd -dc FILE | … -"
        ) from None
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)


def _is_of_zstd(error: Exception) -> bool:
    """Return whether zstandard raised an error; without a compressed log it is not imported."""
    package = sys.modules.get("zstandard")
    return package is not None and isinstance(error, package.ZstdError)


def _unreadable(name: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return InputError(f"cannot read {name!r}: {reason}")
