"""A violation as a picture, a page, a log of ShiViz or data."""

from __future__ import annotations

import json
from pathlib import Path

from antecede.checker.logs.events.event import DELIVER, MISSING, SEND
from antecede.checker.logs.judge.findings import Audit, Finding
from antecede.checker.logs.readers.shiviz import HOST_FIRST
from antecede.checker.logs.report.diagram import svg
from antecede.checker.render.pictures import PICTURES, check_picture, converted_picture
from antecede.checker.render.prose import printable
from antecede.checker.support.errors import InputError, check_known

FORMATS = ("svg", "html", "shiviz", "json", *PICTURES)


def check_format(file: str) -> str:
    """Return the format of a file, from the ending of its name.

    Raises:
        InputError: the ending is not in FORMATS, or a package is missing.
    """
    ending = Path(file).suffix.removeprefix(".")
    check_known("ending of a picture", ending, FORMATS)
    if ending in PICTURES:
        check_picture(ending)
    return ending


def why_not(found: Audit) -> str:
    """Return why an audit has no finding that can be drawn."""
    if not found.every:
        return "there is nothing to draw, because nothing is wrong"
    if all(each.kind == "clock" for each in found.every):
        return "the audit found wrong clocks only, which have no picture"
    return "the audit keeps the events of its first findings only"


def file_content(found: Audit, format: str) -> str | bytes:
    """Return the content of a file with a picture of a finding.

    Raises:
        InputError: no finding can be drawn, or a package is missing.
    """
    if format in PICTURES:
        return converted_picture(picture(found, "svg"), format)
    return picture(found, format)


def picture(found: Audit, format: str) -> str:
    """Return the text of a picture of a finding; its format is no PICTURE.

    Raises:
        InputError: no finding can be drawn.
    """
    drawn = found.drawn
    if drawn is None:
        raise InputError(f"no picture: {why_not(found)}")
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
    # Only the page needs these imports, which take as long as the audit of a small log.
    from antecede.checker.logs.report import page

    return page.html(drawn, several=len(found.logs) > 1)


def shiviz(finding: Finding) -> str:
    """Return the events as a log of ShiViz, with vector clocks that count only these events."""
    lines = [HOST_FIRST, ""]
    clocks: dict[str, dict[str, int]] = {}
    sent: dict[str, dict[str, int]] = {}
    for event in (each for each in finding.events if each.kind != MISSING):
        host = printable(event.actor).replace(" ", "-")
        clock = clocks.setdefault(host, {})
        if event.kind == DELIVER:
            for other, count in sent.get(event.message, {}).items():
                clock[other] = max(clock.get(other, 0), count)
        clock[host] = clock.get(host, 0) + 1
        if event.kind == SEND:
            sent[event.message] = dict(clock)
        verb = "causal-sends" if event.kind == SEND else "delivers"
        name = printable(event.message).replace(" ", "-").replace(",", "").replace(";", "")
        lines += [f"{host} {json.dumps(clock)}", f"{verb} {name} (line {event.line})"]
    return "\n".join(lines) + "\n"
