"""Logs of real systems: which format one has, and its events, read once from front to back.

* `jsonl`: a JSON object a line,
  {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob", "carol"]};
* `csv`: a table with the same fields, named in its first line;
* `otel`: spans of OpenTelemetry; see `checker.audit.spans`;
* `shiviz`: what ShiViz draws; see `checker.audit.shiviz`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import field, frozen

from antecede.checker.audit.columns import looks_like_csv, table_events
from antecede.checker.audit.events import Event, Stamp
from antecede.checker.audit.records import Fields, object_events
from antecede.checker.audit.shiviz import Layout, layout_of, looks_like_shiviz, shiviz_events
from antecede.checker.audit.sources import Source
from antecede.checker.audit.spans import looks_like_spans, span_events
from antecede.checker.errors import InputError, unknown

FORMATS = ("jsonl", "csv", "otel", "shiviz")

NAMES = {"jsonl": "JSON objects", "csv": "records", "otel": "spans"}


@frozen(eq=False)
class Log:
    """A log and how to read it.

    Attributes:
        source: its bytes, of which only the format has been found out.
        format: one of FORMATS.
        fields: the names of the records' fields.
        layout: how the events of a ShiViz log are written.
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
    """Find out how a log is to be read.

    Args:
        source: the log; nothing of it is used up.
        format: one of FORMATS, or None to tell it by the first line.
        event: the expression that finds causal-sends and deliveries in a ShiViz log.
        fields: what the fields of a log's records are called.

    Raises:
        InputError: it cannot be read, or what was given does not fit; says which and why.
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
    """Yield the causal-sends and deliveries of a log.

    Args:
        log: what to read.
        watch: called with the clock of each event of a ShiViz log, of other events, too.

    Raises:
        InputError: the file cannot be read, or a line is no event; says which and why.
    """
    if log.layout is not None:
        return shiviz_events(log.source, log.layout, watch)
    if log.format == "csv":
        return table_events(log.source, log.fields)
    if log.format == "otel":
        return span_events(log.source)
    return object_events(log.source, log.fields)
