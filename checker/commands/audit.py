"""`antecede audit`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from antecede.checker.commands import console, outputs
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, record, taken_from
from antecede.checker.commands.shared import JSON_FILE, PLACE
from antecede.checker.logs.audit import audit_at
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.readers import formats as logs
from antecede.checker.logs.readers.records import fields_from
from antecede.checker.logs.readers.sources import shown_name
from antecede.checker.logs.report import picture as pictures
from antecede.checker.logs.report import summary as audit_report
from antecede.checker.render.files import write_whole
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Bounds
from antecede.checker.support import interrupts
from antecede.checker.support.errors import check_place
from antecede.checker.support.exit_codes import INCOMPLETE


@click.command("audit", cls=CommandWithExamples)
@click.argument("names", type=A_FILE, metavar="LOG|FOLDER|-…", nargs=-1, required=True)
@click.option("--log-format", type=click.Choice(logs.FORMATS))
@click.option("--parser", metavar="REGEX")
@click.option("--fields", metavar="NAME=FIELD,…")
@JSON_FILE
@click.option("--trace", "trace_files", multiple=True, type=A_FILE, metavar="FILE")
@click.option("--unfinished", is_flag=True)
@click.option("--redelivery", type=click.Choice(["error", "ok"]), default="error")
@click.option("--from-middle", is_flag=True)
@record(Bounds, "max_seconds")
@click.option("--quiet", is_flag=True)
@PLACE
def command(
    names: tuple[str, ...],
    log_format: str | None,
    parser: str | None,
    fields: str | None,
    json_file: str | None,
    trace_files: tuple[str, ...],
    unfinished: bool,
    redelivery: str,
    from_middle: bool,
    quiet: bool,
    place: str,
    master: str | None,
    **values: Any,
) -> int:
    """Find messages that a real system processed out of causal order, in its logs.

    The logs say which messages each actor sent and processed: JSON lines, CSV, Parquet, spans of
    OpenTelemetry, Jaeger or Zipkin, or logs of ShiViz and GoVector, compressed or not. All events
    of an actor must be in one log; a folder or a rotated log is one. Write - for standard input.
    """
    seconds = Bounds(**taken_from(values, Bounds)).max_seconds
    until = None if seconds is None else time.monotonic() + seconds
    reached = f"--max-seconds {seconds:g} reached" if seconds is not None else ""
    for file in trace_files:
        pictures.check_format(file)
    outputs.check_outputs(("json", json_file), *(("trace", file) for file in trace_files))
    check_place(place, master)
    known = fields_from(fields)
    ticker = Ticker(quiet=quiet)
    try:
        with interrupts.within(seconds, reached):
            found = audit_at(
                place,
                names,
                log_format,
                known,
                given=parser,
                how=How(unfinished, redelivery == "ok", from_middle),
                ticker=ticker,
                master=master,
            )
    except interrupts.Ended as ended:
        if str(ended) != reached:
            raise
        ticker.clear()
        return _stopped(names, json_file, reached)
    ticker.clear()
    interrupts.conclude()
    left = None if until is None else max(until - time.monotonic(), 0.0)
    return _reported(found, json_file, trace_files, left, reached, quiet=quiet)


def _reported(
    found: Audit,
    json_file: str | None,
    trace_files: Sequence[str],
    left: float | None,
    reached: str,
    *,
    quiet: bool,
) -> int:
    """Print the report and write its files in the seconds that are left; return the exit code."""
    if json_file != "-":
        console.say(audit_report.text(found))
    try:
        with interrupts.within(left, reached):
            if json_file is not None:
                outputs.write_object(json_file, audit_report.as_object(found))
            _draw(found, trace_files, quiet=quiet)
    except interrupts.Ended as ended:
        if str(ended) != reached:
            raise
        console.complain(f"Error: {reached} before all files were written")
        return INCOMPLETE
    return audit_report.EXIT_CODES[audit_report.verdict(found)]


def _stopped(names: Sequence[str], json_file: str | None, reached: str) -> int:
    """Report that the time was over, and return the exit code."""
    logs = [*map(shown_name, names)]
    interrupts.conclude()
    if json_file is not None:
        outputs.write_object(json_file, audit_report.stopped_object(logs, reached))
    if json_file != "-":
        console.say(audit_report.stopped_text(logs, reached))
    return audit_report.EXIT_CODES[audit_report.STOPPED]


def _draw(found: Audit, files: Sequence[str], *, quiet: bool) -> None:
    """Draw a finding into files, if one can be drawn."""
    for file in files:
        if found.drawn is not None:
            write_whole(file, pictures.file_content(found, pictures.check_format(file)))
        elif not quiet:
            console.complain(f"{file} was not written: {pictures.why_not(found)}.")
