"""A violation as a picture: its events, with the log's own names and line numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Audit, Finding
from antecede.checker.errors import InputError, unknown
from antecede.checker.render.about import About
from antecede.checker.render.explanation import Explanation
from antecede.checker.render.geometry import (
    HEAD,
    LONGEST_NOTE,
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
from antecede.checker.render.html import Carried, Cell, Shown, Table, stepping
from antecede.checker.render.prose import printable
from antecede.checker.render.svg import sheet

FORMATS = ("svg", "html", "shiviz", "json")


def check_format(file: str) -> str:
    """Return the format of a file, from the ending of its name.

    Raises:
        InputError: the ending is not in FORMATS.
    """
    ending = Path(file).suffix.removeprefix(".")
    if ending not in FORMATS:
        raise unknown("ending of a picture", ending, FORMATS)
    return ending


def picture(found: Audit, format: str) -> str:
    """Return the text of a picture of the first violation with a chain.

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
    if format == "svg":
        return svg(drawn, several=len(found.logs) > 1)
    return html(drawn, len(found.logs) > 1)


def html(finding: Finding, several: bool) -> str:
    """Return a page to step through the events, as for a counterexample of a check."""
    layout = _layout(finding, several=several)
    text = printable(finding.text)
    said = About(
        headline=f"{printable(finding.actor)} processes a message too late",
        violates=finding.kind,
        length=f"{len(finding.events)} events",
        explanation=Explanation(f"{text}."),
        question=printable(" → ".join(finding.chain)),
    )
    return stepping(said, layout, sheet(layout, text, inside=True), _steps(finding, several))


def _steps(finding: Finding, several: bool) -> Iterator[Shown]:
    """Yield the start and each event, with the messages that actors sent, processed and know of."""
    actors = [*dict.fromkeys(event.actor for event in finding.events)]
    names = [cut(printable(actor)) for actor in actors]
    sent: dict[str, list[str]] = {actor: [] for actor in actors}
    processed: dict[str, list[str]] = {actor: [] for actor in actors}
    knows: dict[str, list[str]] = {actor: [] for actor in actors}
    causes: dict[str, list[str]] = {}
    was = _state(actors, sent, processed, knows)
    yield Shown(0, "At the start", "", _table(names, None, was, was), [])
    for number, event in enumerate(finding.events, 1):
        own = knows[event.actor]
        if event.kind == SEND:
            sent[event.actor].append(event.message)
            causes[event.message] = [*dict.fromkeys([*own, event.message])]
        else:
            processed[event.actor].append(event.message)
        own += [each for each in causes[event.message] if each not in own]
        now = _state(actors, sent, processed, knows)
        looks = "wrong" if _is_wrong(finding, event) else ""
        words = _note(finding, event, several)
        table = _table(names, actors.index(event.actor), was, now)
        yield Shown(number, words, looks, table, [*_in_flight(finding, number)])
        was = now


def _state(actors: Sequence[str], *parts: dict[str, list[str]]) -> list[list[str]]:
    """Return the values of the fields: sent, processed and known messages, for each actor."""
    return [[printable(", ".join(part[actor])) for actor in actors] for part in parts]


def _table(
    actors: list[str], acts: int | None, was: list[list[str]], now: list[list[str]]
) -> Table:
    fields = ("sent", "processed", "knows of")
    rows = {
        field: [Cell(*pair) for pair in zip(before, after, strict=True)]
        for field, before, after in zip(fields, was, now, strict=True)
    }
    return Table(actors, acts, rows)


def _in_flight(finding: Finding, number: int) -> Iterator[Carried]:
    """Yield the messages in flight after an event, compared with before it."""
    for at, event in enumerate(finding.events, 1):
        for end, other in enumerate(finding.events, 1):
            is_arrow = event.kind == SEND and other.kind == DELIVER
            if is_arrow and event.message == other.message and at <= number <= end:
                text = f"{event.actor} → {other.actor}: {event.message}"
                fate = "new" if at == number else "gone" if end == number else "same"
                yield cut(printable(text), LONGEST_NOTE), fate


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
    remark = ""
    if _is_wrong(finding, event):
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
