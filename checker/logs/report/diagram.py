"""A violation as a space-time diagram: its events, with the log's own names and line numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from antecede.checker.logs.events.event import DELIVER, MISSING, SEND, Event
from antecede.checker.logs.judge.evidence import is_about
from antecede.checker.logs.judge.findings import KINDS, Finding
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
    trail = points[:-1] if finding.what == "late" else points if finding.chain else []
    return Layout(
        width=notes + max(text_width(row.short, bold=row.wrong) for row in rows) + 12,
        height=rows[-1].bottom + 26,
        columns=tuple(zip(x.values(), names, strict=True)),
        top=HEAD - 14,
        notes=notes,
        rows=rows,
        spans=(),
        trail=tuple(pairwise(trail)),
        arrows=tuple(_arrows(finding, points, labels)),
        marks=tuple(
            Mark(event.kind, *point, at + 1, wrong=bad)
            for at, (event, point, bad) in enumerate(zip(events, points, wrong, strict=True))
        ),
        modes=(),
        undrawn=(),
        words=WORDS,
    )


WORDS = {SEND: "sent", DELIVER: "processed", MISSING: "never processed", "wrong": "wrong"}
"""The words of the legend."""


def is_wrong(finding: Finding, event: Event) -> bool:
    """Return whether an event is wrong; of a late delivery and the one before it, both are."""
    if finding.what == "late":
        messages = (finding.first, finding.second)
        return event.kind == DELIVER and event.actor == finding.actor and event.message in messages
    if finding.missing:
        return event.kind == MISSING
    return is_about(finding, event)


def remark(finding: Finding, event: Event) -> str:
    """Return what is wrong with an event, or an empty text."""
    if not is_wrong(finding, event):
        return ""
    return "too early" if event.message == finding.second else KINDS[finding.what][2]


def note(finding: Finding, event: Event, several: bool) -> str:
    """Return the line and the words of an event; with `several` logs, also the name of its log."""
    where = f"{Path(event.log).name}:{event.line}" if several else f"line {event.line}"
    if event.kind == MISSING:
        return _words(event)
    said = remark(finding, event)
    return f"{printable(where)}: {_words(event)}{f' ({said})' if said else ''}"


def _words(event: Event) -> str:
    verb = {SEND: "sends", DELIVER: "processes", MISSING: "never processes"}[event.kind]
    return f"{cut(printable(event.actor))} {verb} {cut(printable(event.message))}"


def flights(events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each send and of each event that receives or lacks its message."""
    for start, sent in enumerate(events):
        for end, other in enumerate(events):
            if SEND == sent.kind != other.kind and sent.message == other.message:
                yield start, end


def _arrows(finding: Finding, points: Sequence[Point], labels: Sequence[str]) -> Iterator[Arrow]:
    """Yield an arrow for each message from its send to its delivery, or to the lack of one."""
    last = len(points) - 1
    for start, end in flights(finding.events):
        (x1, y1), (x2, y2) = ends = points[start], points[end]
        late = finding.what == "late" and end == last
        aside = end < start or finding.events[end].kind == MISSING
        # Apart from the other labels:
        along, below = (0.75, 15) if late else (0.25, -5) if aside else (0.5, -5)
        label = Label(labels[start], x1 + (x2 - x1) * along, y1 + (y2 - y1) * along + below)
        fate = "in-flight" if finding.events[end].kind == MISSING else "received"
        role = "late" if late else "chain" if finding.chain else ""
        yield Arrow(ends, fate, role, label, start + 1, end + 1, False, x1 == x2)
