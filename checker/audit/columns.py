"""Logs as CSV tables: a line of names, then one record per line."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any

from antecede.checker.audit.events import Event
from antecede.checker.audit.records import Fields, record_event
from antecede.checker.audit.sources import Source
from antecede.checker.errors import InputError


def looks_like_csv(first: str, fields: Fields) -> bool:
    """Return whether the first line of a log has the names of a table's columns."""
    try:
        names = next(csv.reader([first]), [])
    except csv.Error:  # for example, a carriage return within the line
        return False
    return {fields.actor, fields.event, fields.message} <= {name.strip() for name in names}


def table_events(source: Source, fields: Fields) -> Iterator[Event]:
    """Yield the events of a table; spaces, semicolons or bars separate destinations.

    Raises:
        InputError: a line is not a record, or not an event; the message says which and why.
    """
    names: list[str] | None = None
    for number, line in source.lines():
        if not line.strip():
            continue
        where = f"{source.name}, line {number}"
        try:
            values = next(csv.reader([line], strict=True))
        except csv.Error as error:
            raise InputError(f"{where}: no CSV ({error})") from None
        if names is None:
            names = [name.strip() for name in values]
            _check_names(where, names, fields)
            continue
        if len(values) != len(names):
            raise InputError(f"{where}: {len(values)} values for {len(names)} columns")
        record: dict[str, Any] = dict(zip(names, values, strict=True))
        if fields.to in record:
            to = [name for name in re.split(r"[\s;|]+", record[fields.to]) if name]
            record[fields.to] = to or None
        event = record_event(where, source.name, number, record, fields)
        if event is not None:
            yield event


def _check_names(where: str, names: list[str], fields: Fields) -> None:
    for name in (fields.actor, fields.event, fields.message):
        if name not in names:
            raise InputError(
                f"{where}: no column {name!r} among {', '.join(names)}; name the columns with "
                "--fields"
            )
