"""A violation as a space-time diagram: its events, with the log's own names and line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Finding
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
from antecede.checker.render.prose import printable
from antecede.checker.render.svg import sheet


def svg(finding: Finding, *, several: bool = False) -> str:
    """Return a space-time diagram; with `several` logs, each line number also names its log."""
    return sheet(layout_of(finding, several=several), printable(finding.text))


def layout_of(finding: Finding, *, several: bool) -> Layout:
    """Place the actors from left to right, and the events from top to bottom."""
    events = finding.events
    names = [cut(printable(name)) for name in dict.fromkeys(event.actor for event in events)]
    actors = dict.fromkeys(event.actor for event in events)
    wide = max(text_width(name, NAME, bold=True) for name in names) + 16
    labels = [cut(printable(event.message)) for event in events]
    gap = min(max(NARROWEST, wide, *(text_width(label) + 70 for label in labels)), WIDEST)
    x = {actor: NUMBERS + wide / 2 + at * gap for at, actor in enumerate(actors)}
    points = [(x[event.actor], HEAD + (at + 0.5) * ROW) for at, event in enumerate(events)]
    wrong = [is_wrong(finding, event) for event in events]
    rows = tuple(
        Row(at + 1, y - ROW / 2, y + ROW / 2, y, note(finding, event, several), bad, False)
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


def is_wrong(finding: Finding, event: Event) -> bool:
    """Return whether an event is one of the two deliveries in the wrong order."""
    messages = (finding.first, finding.second)
    return event.kind == DELIVER and event.actor == finding.actor and event.message in messages


def note(finding: Finding, event: Event, several: bool) -> str:
    """Return the line and the words of an event; with `several` logs, also the name of its log."""
    where = f"{Path(event.log).name}:{event.line}" if several else f"line {event.line}"
    remark = ""
    if is_wrong(finding, event):
        remark = " (too late)" if event.message == finding.first else " (too early)"
    return f"{printable(where)}: {_words(event)}{remark}"


def _words(event: Event) -> str:
    verb = "processes" if event.kind == DELIVER else "sends"
    return f"{cut(printable(event.actor))} {verb} {cut(printable(event.message))}"


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
