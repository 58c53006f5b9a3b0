"""A violation as a picture: its events, with the log's own names and line numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from math import hypot
from pathlib import Path

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Audit, Finding
from antecede.checker.errors import InputError, unknown
from antecede.checker.render.prose import printable
from antecede.checker.render.scheme import darkening
from antecede.checker.render.svg_style import DARK

FORMATS = ("svg", "html", "shiviz", "json")

LANE, ROW, LEFT, TOP = 190, 44, 110, 112
TOO_LATE, CHAIN, INK, PAPER = "#b94700", "#0b63a5", "#1b1f24", "#ffffff"
LINE, MUTED = "#9aa3ad", "#57606a"
IN_THE_DARK = {
    TOO_LATE: DARK["late"],
    CHAIN: DARK["chain"],
    INK: DARK["ink"],
    PAPER: DARK["paper"],
    LINE: DARK["shade"],
    MUTED: DARK["muted"],
}


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
    image = svg(drawn, several=len(found.logs) > 1)
    if format == "svg":
        return image
    title = _shown(drawn.text)
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
    events = finding.events
    actors = list(dict.fromkeys(event.actor for event in events))
    width, height = LEFT + LANE * len(actors) + 150, TOP + ROW * len(events) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13" fill="{INK}">',
        f"<title>{_shown(finding.text)}</title>",
        f"<style>{darkening(IN_THE_DARK)}</style>",
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        *_heading(finding, width),
    ]
    for lane, actor in enumerate(actors):
        x = LEFT + LANE * lane
        parts.append(
            f'<text x="{x}" y="{TOP - 32}" text-anchor="middle" font-weight="bold">'
            f"{_shown(actor, 22)}</text>"
            f'<path d="M{x} {TOP - 24}V{height - 30}" stroke="{LINE}"/>'
        )
    places = [
        (LEFT + LANE * actors.index(e.actor), TOP + ROW * row) for row, e in enumerate(events)
    ]
    parts += _arrows(finding, events, places)
    for event, (x, y) in zip(events, places, strict=True):
        parts += _event(finding, event, x, y, several=several)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _heading(finding: Finding, width: int) -> list[str]:
    """Return the sentence above the picture, broken into lines."""
    words, lines = printable(finding.text).split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > width / 8.8:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [
        f'<text x="12" y="{22 + 18 * at}" font-weight="bold">{escape(line)}</text>'
        for at, line in enumerate(lines[:3])
    ]


def _arrows(
    finding: Finding, events: Sequence[Event], places: Sequence[tuple[int, int]]
) -> list[str]:
    """Return an arrow from each causal-send to the deliveries of its message."""
    parts = []
    for start, sent in enumerate(events):
        for end, delivered in enumerate(events):
            if sent.kind != SEND or delivered.kind != DELIVER or sent.message != delivered.message:
                continue
            late = sent.message == finding.first and end == len(events) - 1
            parts.append(_arrow(*places[start], *places[end], TOO_LATE if late else CHAIN))
    return parts


def _arrow(x1: int, y1: int, x2: int, y2: int, colour: str) -> str:
    """Return an arrow that ends just before the mark at its end."""
    length = hypot(x2 - x1, y2 - y1) or 1
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    tip = (x2 - 7 * dx, y2 - 7 * dy)
    base = (x2 - 17 * dx, y2 - 17 * dy)
    head = [tip, (base[0] - 4 * dy, base[1] + 4 * dx), (base[0] + 4 * dy, base[1] - 4 * dx)]
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
    return (
        f'<path d="M{x1} {y1}L{base[0]:.1f} {base[1]:.1f}" stroke="{colour}" stroke-width="2"/>'
        f'<polygon points="{corners}" fill="{colour}"/>'
    )


def _event(finding: Finding, event: Event, x: int, y: int, *, several: bool) -> list[str]:
    wrong = event.kind == DELIVER and event.message in (finding.first, finding.second)
    wrong &= event.actor == finding.actor
    remark = " (too late)" if event.message == finding.first else " (too early)"
    colour = TOO_LATE if wrong else INK
    where = f"{Path(event.log).name}:{event.line}" if several else f"line {event.line}"
    word = "delivers" if event.kind == DELIVER else "causal-sends"
    return [
        f'<circle cx="{x}" cy="{y}" r="5" fill="{colour if event.kind == DELIVER else PAPER}" '
        f'stroke="{colour}" stroke-width="2"/>',
        f'<text x="{x + 11}" y="{y - 6}" fill="{colour}" stroke="{PAPER}" stroke-width="3" '
        f'paint-order="stroke">{word} {_shown(event.message, 26)}{remark if wrong else ""}</text>',
        f'<text x="12" y="{y + 4}" fill="{MUTED}" font-size="12">{_shown(where, 14)}</text>',
    ]


def _shown(text: str, most: int = 400) -> str:
    """Return text from a log, escaped for markup and cut to `most` characters."""
    text = printable(text)
    return escape(text if len(text) <= most else text[: most - 1] + "…")
