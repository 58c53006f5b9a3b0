"""Events as a CSV table: a line with the names of the columns, then one record after the other.

Commas, semicolons or tabs separate the columns. A value with line breaks is in quotes.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field

from antecede.checker.logs.events.event import Event
from antecede.checker.logs.readers.records import Fields, NoEvent, record_event
from antecede.checker.logs.readers.sources import Source
from antecede.checker.support.errors import InputError

DELIMITERS = ",;\t"

MOST_LINES = 100
"""The most lines of a record; behind a quote that is never closed, the records are read again."""


def looks_like_table(first: str, fields: Fields) -> bool:
    """Return whether a line has the names of the columns of an event."""
    return _delimiter(first, fields) is not None


def _delimiter(line: str, fields: Fields) -> str | None:
    """Return the delimiter of a line with the columns of an event; None for any other line."""
    for delimiter in DELIMITERS:
        try:
            _columns(line, delimiter, fields)
        except NoEvent:
            continue
        return delimiter
    return None


def _columns(line: str, delimiter: str, fields: Fields) -> list[str]:
    """Return the names of the columns in a line.

    Raises:
        NoEvent: the line lacks the name of a field of an event.
    """
    names = [name.strip() for name in _values(line, delimiter)]
    for name in (fields.actor, fields.event, fields.message):
        if name not in names:
            raise NoEvent(
                f"no column {name!r} among {', '.join(names)}; name the columns with --fields"
            )
    return names


def _check_repeated(where: str, names: Sequence[str], fields: Fields) -> None:
    """Refuse a table if two of its columns have the name of one field of an event.

    Raises:
        InputError: there are two.
    """
    for name in fields.used:
        if names.count(name) > 1:
            raise InputError(
                f"{where}: {names.count(name)} columns are named {name!r}; keep one of them"
            )


@define(eq=False)
class _Lines:
    """The numbered lines of a table; `again` has lines that are read once more."""

    rest: Iterator[tuple[int, str]]
    again: deque[tuple[int, str]] = field(factory=deque)

    def next(self) -> tuple[int, str] | None:
        return self.again.popleft() if self.again else next(self.rest, None)


def table_events(source: Source, fields: Fields) -> Iterator[Event]:
    """Yield the events of a table; spaces, commas, semicolons or bars separate destinations.

    Raises:
        InputError: an event lacks something, or a column is repeated; the message names the line
            and the reason.
    """
    names: Sequence[str] = []
    delimiter, lines = ",", _Lines(source.lines())
    while (line := lines.next()) is not None:
        if not line[1].strip():
            continue
        try:
            if not names:
                delimiter = _delimiter(line[1], fields) or ","
                names = _columns(line[1], delimiter, fields)
                _check_repeated(f"{source.name}, line {line[0]}", names, fields)
                continue
            record: dict[str, Any] = dict(
                zip(names, _record(lines, line[1], delimiter, len(names)), strict=True)
            )
            if fields.to in record:
                to = [name for name in re.split(r"[\s,;|]+", record[fields.to]) if name]
                record[fields.to] = to or None
            yield record_event(source.name, line[0], record, fields)
        except NoEvent as error:
            source.note_foreign(line[0], str(error))


def _record(lines: _Lines, first: str, delimiter: str, width: int) -> list[str]:
    """Return the values of a record that begins with a line; its values may have line breaks.

    Raises:
        NoEvent: no record begins there. Then the lines behind the first one are read again.
    """
    text, more = first, list[tuple[int, str]]()
    why: NoEvent | None = None
    while True:
        try:
            values = _values(text, delimiter)
            if len(values) == width:
                return values
            raise NoEvent(f"{len(values)} values for {width} columns")
        except NoEvent as error:
            why = why or error
            is_open = isinstance(error.__cause__, csv.Error) and "end of data" in str(error)
            after = lines.next() if is_open and len(more) < MOST_LINES else None
            if after is None:
                lines.again.extendleft(reversed(more))
                raise why from None
            more.append(after)
            text += f"\n{after[1]}"


def _values(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise NoEvent(f"no CSV ({error})") from error
