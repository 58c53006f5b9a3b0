"""Logs of real systems: detects a log's format, and reads its events once from front to back.

* `jsonl`: one JSON object per line,
  {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob", "carol"]};
* `csv`: a table with these fields, named in its first line;
* `otel`: spans of OpenTelemetry; see `readers.spans`;
* `shiviz`: the format of ShiViz; see `readers.shiviz`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from antecede.checker.logs.events.event import Begin, Event, Stamp
from antecede.checker.logs.readers.csv_tables import looks_like_table, table_events
from antecede.checker.logs.readers.records import Fields, looks_like_objects, object_events
from antecede.checker.logs.readers.shiviz import (
    Layout,
    is_expression,
    is_of_whole_events,
    layout_of,
    looks_like_shiviz,
    shiviz_events,
)
from antecede.checker.logs.readers.sources import Foreign, Source
from antecede.checker.logs.readers.span_formats import looks_like_spans
from antecede.checker.support.amounts import counted
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
    given: str | None = None,
    fields: Fields | None = None,
) -> Log:
    """Detect the format of a log, if it is not given, from its first lines; nothing is used up.

    `given` is an expression for a ShiViz log.

    Raises:
        InputError: the log cannot be read, or an argument does not fit the format.
    """
    if format is not None:
        check_known("log format", format, FORMATS)
    first = source.first_line()
    if not first:
        raise InputError(f"{source.name} is empty: there is nothing to judge")
    fields = fields or Fields()
    if format is None and given is not None and is_of_whole_events(given):
        format = "shiviz"
    if format is None:
        format = _guessed(source, first, fields)
    if format == "shiviz":
        return Log(
            source, format, layout=layout_of(source.name, source.lines_ahead(MOST_TRIED), given)
        )
    if given is not None:
        raise InputError(
            f"{source.name} is a log of {NAMES[format]}, whose events need no expression; leave "
            "out --parser, or give --log-format shiviz"
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


def check_events(
    found: Mapping[str, int],
    logs: Sequence[tuple[str, str]],
    foreign: Sequence[Foreign],
    wholes: Sequence[str],
) -> None:
    """Refuse logs, given as (name, format), without events or with more other lines than events.

    A part of a log may have no events. If the log's own words say that a line is no event, the line
    does not count.

    Args:
        found: log -> the number of its events.
        foreign: for some logs and parts, their lines that are no events.
        wholes: for each of these, the log.
    """
    others: Counter[str] = Counter()
    first: dict[str, Foreign] = {}
    for each, whole in zip(foreign, wholes, strict=True):
        if each.odd:
            others[whole] += each.odd
            first.setdefault(whole, each)
    for name, format in logs:
        if others[name] > found[name]:
            raise InputError(_mostly(first[name], others[name], found[name]))
        if not found[name]:
            raise _nothing_in(name, format)


def _mostly(first: Foreign, lines: int, events: int) -> str:
    text = f"{first.log}, line {first.first}: {first.why}"
    if lines == 1:
        return text
    if not events:
        return f"{text}. None of the {lines:,} lines of the log is an event"
    return f"{text}. Only {events:,} of {counted(lines + events, 'line')} of the log are events"


def _nothing_in(name: str, format: str) -> InputError:
    how = (
        "no event says that a message is sent or processed, as 'causal-sends m1 to bob' or "
        "'delivers m1' do; give an expression that finds these events with --parser"
        if format == "shiviz"
        else "it has no spans of producers and consumers, so no message was sent or received"
        if format == "otel"
        else "no message is sent or processed in it; name the log's fields with --fields"
    )
    return InputError(f"{name}: {how}")
