"""`antecede table`."""

from __future__ import annotations

from typing import Any

import click

from antecede.checker.commands import console, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, record
from antecede.checker.commands.shared import BOUNDS, METHOD, search_from
from antecede.checker.papers.claims import table as tables
from antecede.checker.render.files import check_writable, write_whole
from antecede.checker.render.progress import watching
from antecede.checker.render.ticker import Ticker
from antecede.checker.semantics.question import Question
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.exit_codes import INCOMPLETE, INPUT_ERROR, most_urgent


@click.command("table", cls=CommandWithExamples)
@click.option("--bounds", "size", default="3x3", show_default=True, metavar="ACTORSxMESSAGES")
@click.option("--history", default="knowledge", show_default=True, metavar="NAME|all")
@record(Question, "crashes", "to_crashed")
@METHOD
@BOUNDS
@click.option(
    "--format", "form", type=click.Choice(tables.FORMATS), default="text", show_default=True
)
@click.option("--output", type=A_FILE, metavar="FILE")
@click.option("--quiet", is_flag=True)
def command(
    size: str,
    history: str,
    crashes: str | None,
    to_crashed: str | None,
    form: str,
    output: str | None,
    quiet: bool,
    selfcheck: str,
    **values: Any,
) -> int:
    """Reproduce the verification table of the Cykas paper, beside the printed numbers.

    The paper prints results for 3 actors with 3 messages each (3x3). For other sizes, antecede
    does not compare the verdicts.
    """
    bounds, method = search_from(values)
    actors, messages = tables.parsed_bounds(size)
    histories = tables.parsed_histories(history)
    for name in ("checkpoint", "resume"):
        if getattr(method, name) is not None:
            raise InputError(f"--{name} is for one check; the table makes several")
    if output is not None:
        check_writable(output)
    model = parameters.given(
        actors=actors, messages=messages, crashes=crashes, to_crashed=to_crashed
    )
    specs = tables.specs(model, histories)
    ticker = Ticker(quiet=quiet)
    found = []
    for row in tables.rows(specs, method, bounds, watching(ticker, many=True)):
        ticker.clear()
        found.append(row)
        if not quiet:
            console.complain("  ".join(tables.cells(row)[:6]))
    interrupts.conclude()
    text = tables.rendered(found, method, form)
    if output is not None:
        write_whole(output, text + "\n")
    console.say(text)
    return most_urgent(
        row.report.exit_code
        if row.report.exit_code in (INPUT_ERROR, INCOMPLETE)
        else int(row.agrees is False)
        for row in found
    )
