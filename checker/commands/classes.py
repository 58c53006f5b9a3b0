"""`antecede classes`."""

from __future__ import annotations

from typing import Any

import click

from antecede.checker.check.exploring import limited
from antecede.checker.check.spec import Spec
from antecede.checker.commands import console, outputs, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Given, Named, record
from antecede.checker.commands.shared import JSON_FILE
from antecede.checker.papers.computations import placement as placements
from antecede.checker.papers.computations import report
from antecede.checker.papers.computations.classes import NAMES
from antecede.checker.render.ticker import Ticker
from antecede.checker.render.trace_formats import format_of, write_trace
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import Question
from antecede.checker.support import interrupts
from antecede.checker.support.exit_codes import AS_EXPECTED, INCOMPLETE, NOT_AS_EXPECTED
from antecede.checker.support.settings import Setting, names_in, taken

MESSAGES = Setting("messages", int, "", 2, least=1, most=12)
MAX_MESSAGES = Setting("max_messages", int, "", placements.MESSAGES, least=1, most=12)


@click.command("classes", cls=CommandWithExamples)
@click.argument("target", type=Named("protocol"), metavar="NAME|FILE.py:OBJECT")
@record(Question, "actors")
@click.option("--messages", type=Given(MESSAGES), default=MESSAGES.default, show_default=True)
@click.option(
    "--max-messages",
    type=Given(MAX_MESSAGES),
    default=MAX_MESSAGES.default,
    show_default=True,
)
@record(Question, "network")
@click.option("--workload", "workloads", multiple=True, type=Named("anything"), metavar="VALUE,…")
@click.option("--expect", type=click.Choice(NAMES))
@record(Bounds, "max_states", "max_seconds", "max_memory")
@JSON_FILE
@click.option("--trace", "trace_file", type=A_FILE, metavar="FILE")
@click.option("--quiet", is_flag=True)
def command(
    target: str,
    workloads: tuple[str, ...],
    max_messages: int,
    expect: str | None,
    json_file: str | None,
    trace_file: str | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Find the class of computations that a protocol generates.

    A computation says which messages each actor sends and delivers, and in which order. The command
    enumerates all complete computations of small programs, and compares those that the protocol
    generates with the classes synchronous, n-n, 1-n, mailbox, causal and fifo. The result is about
    these programs. It is no proof for larger ones.
    """
    outputs.check_outputs(("json", json_file), ("trace", trace_file))
    if trace_file is not None:
        format_of(trace_file)
    bounds = Bounds(**parameters.taken_from(values, Bounds))
    spec = Spec(target, **parameters.given(**taken(values, Question)))
    ticker = Ticker(quiet=quiet)
    with limited(bounds):
        found = placements.placed(
            spec,
            [one for text in workloads for one in names_in(text)] or ["any"],
            max_messages,
            bounds,
            watch=lambda now: ticker.show(report.progress(now)),
        )
    ticker.clear()
    interrupts.conclude()
    if json_file != "-":
        console.say(report.text(found))
    if json_file is not None:
        outputs.write_object(json_file, report.placement_object(found))
    if trace_file is not None:
        _save(found, trace_file)
    return exit_code(found, expect)


def _save(found: placements.Placement, file: str) -> None:
    path = report.missing_run(found)
    if path is None:
        console.complain(f"No computation is missing, so {file} was not written.")
    else:
        write_trace(path, file)


def exit_code(found: placements.Placement, expect: str | None) -> int:
    """Return the exit code of a placement; `expect` is the class that it should generate."""
    if found.stopped_by is not None:
        return INCOMPLETE
    return AS_EXPECTED if expect is None or expect in found.exactly else NOT_AS_EXPECTED
