"""A violation as a picture: its events, with the log's own names and line numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Audit, Finding
from antecede.checker.render.geometry import (
    HEAD,
    NAME,
    NARROWEST,
    NUMBERS,
    ROW,
    WIDEST,
    Arrow,
    Label,
    Layout,
    Mark,
    Point,
    Row,
    cut,
    text_width,
)
from antecede.checker.render.pictures import PICTURES, check_picture, converted_picture
from antecede.checker.render.prose import printable
from antecede.checker.render.svg import sheet
from antecede.checker.support.errors import InputError, unknown

FORMATS = ("svg", "html", "shiviz", "json", *PICTURES)


def check_format(file: str) -> str:
    """Return the format of a file, from the ending of its name.

    Raises:
        InputError: the ending is not in FORMATS, or a package is missing.
    """
    ending = Path(file).suffix.removeprefix(".")
    if ending not in FORMATS:
        raise unknown("ending of a picture", ending, FORMATS)
    if ending in PICTURES:
        check_picture(ending)
    return ending


def file_content(found: Audit, format: str) -> str | bytes:
    """Return the content of a file with a picture of the first violation with a chain.

    Raises:
        InputError: there is no such violation, or a package is missing.
    """
    if format in PICTURES:
        return converted_picture(picture(found, "svg"), format)
    return picture(found, format)


def picture(found: Audit, format: str) -> str:
    """Return the text of a picture of the first violation with a chain; its format is no PICTURE.

    Raises:
        InputError: there is no such violation.
    """
    drawn = next((finding for finding in found.findings if finding.events), None)
    if drawn is None:
        raise InputError("there is nothing to draw: no violation of causal delivery was found")
    if format == "json":
        events = [
            {"actor": e.actor, "event": e.kind, "message": e.message, "log": e.log, "line": e.line}
            for e in drawn.events
        ]
        return json.dumps({"text": drawn.text, "events": events}, indent=2) + "\n"
    if format == "shiviz":
        return shiviz(drawn)
    image = svg(drawn, several=len(found.logs) > 1)
    if format == "svg":
        return image
    title = escape(printable(drawn.text))
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        f'<meta name="color-scheme" content="light dark"><title>{title}</title>\n'
        f"<body>{image}</body></html>\n"
    )


def shiviz(finding: Finding) -> str:
    """Return the events as a log of ShiViz, with vector clocks that count only these events."""
    lines = [r"(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)", ""]
    clocks: dict[str, dict[str, int]] = {}
    sent: dict[str, dict[str, int]] = {}
    for event in finding.events:
        host = printable(event.actor).replace(" ", "-")
        clock = clocks.setdefault(host, {})
        if event.kind == DELIVER:
            for other, count in sent[event.message].items():
                clock[other] = max(clock.get(other, 0), count)
        clock[host] = clock.get(host, 0) + 1
        if event.kind == SEND:
            sent[event.message] = dict(clock)
        verb = "causal-sends" if event.kind == SEND else "delivers"
        name = printable(event.message).replace(" ", "-").replace(",", "").replace(";", "")
        lines += [f"{host} {json.dumps(clock)}", f"{verb} {name} (line {event.line})"]
    return "\n".join(lines) + "\n"


def svg(finding: Finding, *, several: bool = False) -> str:
    """Return a space-time diagram; with `several` logs, each line number also names its log."""
    return sheet(_layout(finding, several=several), printable(finding.text))


def _layout(finding: Finding, *, several: bool) -> Layout:
    """Place the actors from left to right, and the events from top to bottom."""
    events = finding.events
    names = [cut(printable(name)) for name in dict.fromkeys(event.actor for event in events)]
    actors = dict.fromkeys(event.actor for event in events)
    wide = max(text_width(name, NAME, bold=True) for name in names) + 16
    labels = [cut(printable(event.message)) for event in events]
    gap = min(max(NARROWEST, wide, *(text_width(label) + 70 for label in labels)), WIDEST)
    x = {actor: NUMBERS + wide / 2 + at * gap for at, actor in enumerate(actors)}
    points = [(x[event.actor], HEAD + (at + 0.5) * ROW) for at, event in enumerate(events)]
    wrong = [_is_wrong(finding, event) for event in events]
    rows = tuple(
        Row(at + 1, y - ROW / 2, y + ROW / 2, y, _note(finding, event, several), bad, False)
        for at, (event, (_, y), bad) in enumerate(zip(events, points, wrong, strict=True))
    )
    notes = max(x.values()) + wide / 2 + 12
    return Layout(
        width=notes + max(text_width(row.short, bold=row.wrong) for row in rows) + 12,
        height=rows[-1].bottom + 26,
        columns=tuple(zip(x.values(), names, strict=True)),
        top=HEAD - 14,
        notes=notes,
        rows=rows,
        spans=(),
        trail=tuple(pairwise(points[:-1])),
        arrows=tuple(_arrows(events, points, labels)),
        marks=tuple(
            Mark(event.kind, *point, at + 1, wrong=bad)
            for at, (event, point, bad) in enumerate(zip(events, points, wrong, strict=True))
        ),
        modes=(),
        undrawn=(),
    )


def _is_wrong(finding: Finding, event: Event) -> bool:
    """Return whether an event is one of the two deliveries in the wrong order."""
    messages = (finding.first, finding.second)
    return event.kind == DELIVER and event.actor == finding.actor and event.message in messages


def _note(finding: Finding, event: Event, several: bool) -> str:
    where = f"{Path(event.log).name}:{event.line}" if several else f"line {event.line}"
    verb = "delivers" if event.kind == DELIVER else "causal-sends"
    remark = ""
    if _is_wrong(finding, event):
        remark = " (too late)" if event.message == finding.first else " (too early)"
    name = cut(printable(event.message))
    return f"{printable(where)}: {cut(printable(event.actor))} {verb} {name}{remark}"


def _arrows(
    events: Sequence[Event], points: Sequence[Point], labels: Sequence[str]
) -> Iterator[Arrow]:
    """Yield an arrow from each causal-send to the deliveries of its message."""
    for start, sent in enumerate(events):
        for end, delivered in enumerate(events):
            if sent.kind != SEND or delivered.kind != DELIVER or sent.message != delivered.message:
                continue
            (x1, y1), (x2, y2) = ends = points[start], points[end]
            late = end == len(events) - 1
            along, below = (0.75, 15) if late else (0.5, -5)  # apart from the other labels
            label = Label(labels[start], x1 + (x2 - x1) * along, y1 + (y2 - y1) * along + below)
            role = "late" if late else "chain"
            yield Arrow(ends, "received", role, label, start + 1, end + 1, False, x1 == x2)
