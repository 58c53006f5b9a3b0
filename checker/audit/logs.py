"""Logs of real systems: detects a log's format, and reads its events once from front to back.

* `jsonl`: one JSON object per line,
  {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob", "carol"]};
* `csv`: a table with these fields, named in its first line;
* `otel`: spans of OpenTelemetry; see `checker.audit.spans`;
* `shiviz`: the format of ShiViz; see `checker.audit.shiviz`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import field, frozen

from antecede.checker.audit.events import Event, Stamp
from antecede.checker.audit.records import Fields, looks_like_csv, object_events, table_events
from antecede.checker.audit.shiviz import Layout, layout_of, looks_like_shiviz, shiviz_events
from antecede.checker.audit.sources import Source
from antecede.checker.audit.spans import looks_like_spans
from antecede.checker.support.errors import InputError, unknown

FORMATS = ("jsonl", "csv", "otel", "shiviz")

NAMES = {"jsonl": "JSON objects", "csv": "records", "otel": "spans"}


@frozen(eq=False)
class Log:
    """A log and its format.

    Attributes:
        source: the bytes of the log, not yet used.
        format: one of FORMATS.
        layout: the format of the events of a ShiViz log.
    """

    source: Source
    format: str
    fields: Fields = field(factory=Fields)
    layout: Layout | None = None


def open_log(
    source: Source,
    format: str | None = None,
    event: str | None = None,
    fields: Fields | None = None,
) -> Log:
    """Detect the format of a log, if it is not given, from the first line; nothing is used up.

    `event` is the expression that finds causal-sends and deliveries in a ShiViz log.

    Raises:
        InputError: the log cannot be read, or an argument does not fit the format.
    """
    if format not in (None, *FORMATS):
        raise unknown("log format", str(format), FORMATS)
    first = source.first_line()
    if not first:
        raise InputError(f"{source.name} is empty: there is nothing to judge")
    fields = fields or Fields()
    if format is None:
        format = _guessed(first, fields)
    if format == "shiviz":
        return Log(source, format, layout=layout_of(source.name, first, event))
    if event is not None:
        raise InputError(
            f"{source.name} is a log of {NAMES[format]}, whose events need no expression; leave "
            "out --event, or give --log-format shiviz"
        )
    return Log(source, format, fields=fields)


def _guessed(first: str, fields: Fields) -> str:
    if looks_like_shiviz(first):
        return "shiviz"
    if looks_like_spans(first):
        return "otel"
    return "csv" if looks_like_csv(first, fields) else "jsonl"


def events(log: Log, watch: Callable[[Stamp], None] = lambda _stamp: None) -> Iterator[Event]:
    """Yield the causal-sends and deliveries of a log without spans.

    `watch` is called with the clock of every event of a ShiViz log, including other events.

    Raises:
        InputError: the file cannot be read, or a line is not an event.
    """
    if log.layout is not None:
        return shiviz_events(log.source, log.layout, watch)
    if log.format == "csv":
        return table_events(log.source, log.fields)
    return object_events(log.source, log.fields)
