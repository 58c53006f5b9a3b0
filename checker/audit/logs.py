"""Logs of real systems: detects a log's format, and reads its events once from front to back.

* `jsonl`: one JSON object per line,
  {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob", "carol"]};
* `csv`: a table with these fields, named in its first line;
* `otel`: spans of OpenTelemetry; see `checker.audit.spans`;
* `shiviz`: the format of ShiViz; see `checker.audit.shiviz`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from attrs import evolve, field, frozen

from antecede.checker.audit.events import Begin, Event, Stamp
from antecede.checker.audit.records import Fields, looks_like_objects, object_events
from antecede.checker.audit.shiviz import (
    Expressions,
    Layout,
    is_expression,
    layout_of,
    looks_like_shiviz,
    shiviz_events,
)
from antecede.checker.audit.sources import Source
from antecede.checker.audit.span_formats import looks_like_spans
from antecede.checker.audit.tables import looks_like_table, table_events
from antecede.checker.support.errors import InputError, check_known

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
    given: Expressions | None = None,
    fields: Fields | None = None,
) -> Log:
    """Detect the format of a log, if it is not given, from its first lines; nothing is used up.

    `given` are expressions for a ShiViz log.

    Raises:
        InputError: the log cannot be read, or an argument does not fit the format.
    """
    if format is not None:
        check_known("log format", format, FORMATS)
    first = source.first_line()
    if not first:
        raise InputError(f"{source.name} is empty: there is nothing to judge")
    fields, given = fields or Fields(), given or Expressions()
    if format is None and (given.parser or given.delimiter):
        format = "shiviz"
    if format is None:
        format = _guessed(source, first, fields)
    if format == "shiviz":
        return Log(
            source, format, layout=layout_of(source.name, source.lines_ahead(MOST_TRIED), given)
        )
    for option in given.given():
        raise InputError(
            f"{source.name} is a log of {NAMES[format]}, whose events need no expression; leave "
            f"out {option}, or give --log-format shiviz"
        )
    if format == "otel" and evolve(fields, actor=Fields().actor) != Fields():
        raise InputError(
            f"{source.name} is a log of spans, of which --fields names the actor only, such as "
            "actor=service.name+k8s.pod.name"
        )
    return Log(source, format, fields=fields)


CSV = re.compile(r"\.csv(?:\.gz|\.zst)?$", re.IGNORECASE)

MOST_TRIED = 1_000
"""The most lines at the start of a log that are tried to detect its format."""


def _guessed(source: Source, first: str, fields: Fields) -> str:
    """Detect the format from the first line that has one, and otherwise from the file's name."""
    if CSV.search(source.name):
        return "csv"
    if is_expression(first):
        return "shiviz"
    lines = source.lines_ahead(MOST_TRIED)
    for at, line in enumerate(lines):
        if looks_like_spans(lines[at:], fields):
            return "otel"
        if looks_like_shiviz(line):
            return "shiviz"
        if looks_like_table(line, fields):
            return "csv"
        if looks_like_objects(line, fields):
            return "jsonl"
    return "jsonl"


def events(
    log: Log, watch: Callable[[Stamp], None] = lambda _stamp: None
) -> Iterator[Event | Begin]:
    """Yield the causal-sends and deliveries of a log without spans.

    `watch` is called with the clock of every event of a ShiViz log, including other events. If such
    a log has several executions, their starts are among the events.

    Raises:
        InputError: the file cannot be read, or a line is not an event.
    """
    if log.layout is not None:
        return shiviz_events(log.source, log.layout, watch)
    if log.format == "csv":
        return table_events(log.source, log.fields)
    return object_events(log.source, log.fields)
