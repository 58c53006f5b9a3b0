"""`antecede replay`."""

from __future__ import annotations

import shutil
import sys

import click

from antecede.checker.commands import console, outputs
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Named
from antecede.checker.commands.shared import JSON_FILE, TRACED
from antecede.checker.explore.stepper import Stepper, interact
from antecede.checker.render import json as formats
from antecede.checker.render import text as reports
from antecede.checker.render.trace_formats import write_trace
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError


@click.command("replay", cls=CommandWithExamples)
@click.argument("trace", type=Named("trace"), metavar="TRACE.json")
@click.option("--trace", "trace_files", multiple=True, type=A_FILE, metavar="FILE")
@TRACED
@JSON_FILE
@click.option("--property", "prop", type=Named("property"), metavar="NAME|FILE.py:NAME")
@click.option("--interactive", is_flag=True)
def command(
    trace: str,
    trace_files: tuple[str, ...],
    protocol: str | None,
    json_file: str | None,
    prop: str | None,
    interactive: bool,
) -> int:
    """Replay a saved counterexample in plain Python.

    antecede takes the transitions of the saved run again, with the present code of the protocol,
    and reports whether the run still violates its property.
    """
    outputs.check_traces(trace_files)
    outputs.check_outputs(("json", json_file), *(("trace", file) for file in trace_files))
    if interactive and json_file == "-":
        raise InputError("--interactive shows its steps on standard output; give --json FILE")
    path, judged, saved = formats.replay_file(trace, protocol, prop)
    for file in trace_files:
        write_trace(path, file)
    if json_file is not None:
        outputs.write_object(json_file, formats.replay_object(path, judged, trace))
    if interactive:
        interact(Stepper(path), _read, console.say, shutil.get_terminal_size().columns - 1)
    elif json_file != "-":
        interrupts.conclude()
        console.say(reports.replay_text(path, judged, saved, trace))
    return 0 if path.violates is None else 1


def _read() -> str | None:
    """Return the next line that the user types, None at the end."""
    try:
        return input("> " if sys.stdin.isatty() else "")
    except EOFError:
        return None
