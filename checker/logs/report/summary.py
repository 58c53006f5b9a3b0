"""The report of an audit, as text and as JSON values."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from antecede.checker.logs.events.event import DELIVER, SEND
from antecede.checker.logs.judge.findings import Audit, Finding
from antecede.checker.logs.readers.sources import skipped_lines
from antecede.checker.render.json import AUDIT_SCHEMA
from antecede.checker.render.prose import printable
from antecede.checker.render.terminal import rate, wrapped
from antecede.checker.render.ticker import Ticker, fitting
from antecede.checker.support.amounts import counted, quoted

MOST_TORN_SHOWN = 10
"""The most torn lines that a report names."""


VIOLATED, HOLDS, NOTHING = "VIOLATED", "HOLDS", "NOTHING TO JUDGE"
UNDECIDED = "UNDECIDED"
STOPPED = "INCOMPLETE"

EXIT_CODES = {HOLDS: 0, VIOLATED: 1, NOTHING: 3, UNDECIDED: 3, STOPPED: 3}


def verdict(found: Audit) -> str:
    """Return the verdict."""
    if found.every:
        return VIOLATED
    if found.undecided:
        return UNDECIDED
    return HOLDS if found.deliveries else NOTHING


def as_object(found: Audit) -> dict[str, Any]:
    """Return an audit as JSON values."""
    return {
        "schema": AUDIT_SCHEMA,
        "logs": list(found.logs),
        "verdict": verdict(found),
        "stopped_by": None,
        "unfinished": found.unfinished,
        "actors": found.actors,
        "causal_sends": found.causal_sends,
        "deliveries": found.deliveries,
        "lines": found.events,
        "undelivered_copies": found.open,
        "causal_sends_without_destinations": found.unaddressed,
        "torn_lines": [{"log": log, "line": line} for log, line in found.torn],
        "foreign_lines": [
            {"log": each.log, "lines": each.lines, "first_line": each.first, "why": each.why}
            for each in found.foreign
        ],
        "clocks": found.clocks,
        "executions": [{"name": name, "verdict": verdict(each)} for name, each in found.executions],
        "left_out": list(found.left_out),
        "undecided": found.undecided or None,
        "warnings": list(found.warnings),
        "findings": [_object(finding) for finding in found.every],
    }


def stopped_object(logs: Sequence[str], stopped_by: str) -> dict[str, Any]:
    """Return an audit that was stopped as JSON values; nothing else is known of the logs."""
    return {
        "schema": AUDIT_SCHEMA,
        "logs": list(logs),
        "verdict": STOPPED,
        "stopped_by": stopped_by,
    }


def stopped_text(logs: Sequence[str], stopped_by: str) -> str:
    """Return an audit that was stopped as text."""
    what = wrapped(f"  {stopped_by} before everything was read and judged.", "  ")
    return f"{printable(', '.join(logs))}: {STOPPED}\n\n{what}"


def _object(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "log": finding.log,
        "line": finding.line,
        "text": finding.text,
        "actor": finding.actor,
        "first": finding.first,
        "second": finding.second,
        "chain": list(finding.chain),
        "events": [
            {"log": e.log, "line": e.line, "actor": e.actor, "event": e.kind, "message": e.message}
            for e in finding.events
        ],
    }


def text(found: Audit, *, most: int = 50) -> str:
    """Return an audit as text, with at most `most` findings."""
    said = verdict(found)
    counts = (
        f"{counted(found.events, 'event')} of {counted(found.actors, 'actor')}: "
        f"{found.causal_sends:,} sent, {found.deliveries:,} processed"
    )
    if found.clocks and not found.events:
        counts = f"{counted(found.clocks, 'event')} of {counted(found.actors, 'host')} with clocks"
    lines = [f"{printable(', '.join(found.logs))}: {said}", ""]
    if found.executions:
        lines += [*_executions(found), ""]
    if said != VIOLATED:
        lines.append(wrapped(f"  {counts}; {_checked(found)}.", "  "))
        return "\n".join([*lines, *_remarks(found)])
    lines += [f"  {counts}.", ""]
    for finding in found.every[:most]:
        lines += _finding(finding, several=len(found.logs) > 1)
    if len(found.every) > most:
        lines.append(f"  … and {len(found.every) - most:,} more.")
    if found.unfinished and found.open:
        lines += ["", f"  {counted(found.open, 'copy', 'copies')} not processed so far."]
    return "\n".join([*lines, *_remarks(found)])


def _executions(found: Audit) -> list[str]:
    """Return a line for each execution of a log."""
    return [
        wrapped(printable(f"  {name}: {verdict(each)}"), "    ") for name, each in found.executions
    ]


def _remarks(found: Audit) -> list[str]:
    """Return lines that limit what the verdict says."""
    undecided = [f"  Undecided: {found.undecided}."] if found.undecided else []
    skipped = [*map(skipped_lines, found.foreign), *_torn(found), *found.left_out]
    left_out = [f"  Left out: {'; '.join(skipped)}."] if skipped else []
    warnings = [f"  Warning: {each}." for each in found.warnings]
    lines = [*left_out, *undecided, *warnings]
    wrapped_lines = [wrapped(printable(line), "    ") for line in lines]
    return [*([""] if lines else []), *wrapped_lines]


def _checked(found: Audit) -> str:
    """Return a sentence about the extent of the checks; the log has no findings."""
    if not found.events:
        return (
            "the vector clocks are possible, but no event names a message, so there is no order of "
            "messages to judge; give an expression that finds messages with --parser"
        )
    if not found.deliveries:
        return "nothing was processed, so there is no order to judge"
    if found.undecided:
        return "some possible orders of the events may violate causal order"
    parts = ["no message was processed out of causal order"]
    if found.open:
        parts.append(f"{counted(found.open, 'copy', 'copies')} not processed so far")
    if found.unaddressed:
        number = counted(found.unaddressed, "message")
        names = "names" if found.unaddressed == 1 else "name"
        parts.append(f"{number} {names} no destinations, so lost messages cannot be found")
    if not (found.open or found.unaddressed or found.torn or found.left_out):
        return "every message was processed, in causal order"
    return "; ".join(parts)


def _torn(found: Audit) -> list[str]:
    """Return a clause that names the torn lines, because their events may be missing."""
    if not found.torn:
        return []
    several = len(found.logs) > 1
    places = [f"{log}:{line}" if several else str(line) for log, line in found.torn]
    shown = ", ".join(places[:MOST_TORN_SHOWN]) + (", …" if len(places) > MOST_TORN_SHOWN else "")
    one = len(places) == 1
    return [
        f"{counted(len(places), 'line')} {'is' if one else 'are'} torn, so "
        f"{'an event' if one else 'events'} may be missing ({'line' if one else 'lines'} {shown})"
    ]


def _finding(finding: Finding, *, several: bool) -> list[str]:
    """Return the lines of a finding; with `several` logs, it names its log."""
    log = f"{printable(finding.log)}, " if several else ""
    lines = [f"  {log}line {finding.line}: {finding.kind}: {printable(finding.text)}."]
    if finding.chain:
        lines.append(f"    {printable(' → '.join(map(quoted, finding.chain)))}")
        lines.append(f"    {_places(finding, several=several)}")
    return [wrapped(line, "    " if n == 0 else "      ") for n, line in enumerate(lines)]


def _places(finding: Finding, *, several: bool) -> str:
    """Return the lines where messages were sent and processed: two, or those of a circle."""
    parts = []
    for name in (finding.first, finding.second) if finding.second else finding.chain[1:]:
        sent = next(e for e in finding.events if e.message == name and e.kind == SEND)
        come = next(e for e in reversed(finding.events) if e.message == name and e.kind == DELIVER)
        there = [f"{printable(e.log)}:{e.line}" if several else f"{e.line}" for e in (sent, come)]
        parts.append(
            f"{printable(quoted(str(name)))} sent in line {there[0]}, processed in line {there[1]}"
        )
    return "; ".join(parts)


def watching(
    ticker: Ticker, now: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Return a function that shows how much was read, and how fast."""
    began = now()

    def watch(size: int, events: int) -> None:
        """Show the bytes of the current log, and the events of all logs."""

        def line(width: int) -> str:
            speed = rate(events, now() - began)
            parts = (
                f"{events:,} events",
                f"{size / 1e6:,.0f} MB of this log",
                f"{speed} events/s" if speed else "",
            )
            return fitting(list(enumerate(parts)), width, ", ")

        ticker.show(line)

    return watch
