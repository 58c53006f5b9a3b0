"""`antecede export`."""

from __future__ import annotations

from typing import Any

import click

from antecede.checker.check.exploring import limited
from antecede.checker.check.spec import overridden
from antecede.checker.check.targets import spec_named
from antecede.checker.commands import console, outputs, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Named, record
from antecede.checker.render.files import write_whole
from antecede.checker.render.systems import SYSTEM_FORMATS, finite_system
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import Question
from antecede.checker.support import interrupts


@click.command("export", cls=CommandWithExamples)
@click.argument("target", type=Named("target"), metavar="NAME|FILE.py:OBJECT|SPEC.toml")
@record(Question)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(SYSTEM_FORMATS)),
    default="aut",
    show_default=True,
    help="Format of the file: "
    + "; ".join(f"{name} ({form.summary})" for name, form in SYSTEM_FORMATS.items())
    + ".",
)
@click.option("--output", "output", type=A_FILE, metavar="FILE")
def command(target: str, form: str, output: str | None, **values: Any) -> int:
    """Write all states and transitions of a small system for another model checker.

    The file marks every state and every transition that violates a property, so that Spin, TLC,
    CADP or mCRL2 can check a verdict again without antecede.
    """
    outputs.check_outputs(("output", output))
    spec = overridden(spec_named(target), parameters.given(**values))
    with limited(Bounds()):
        found = finite_system(spec.system)
        text = SYSTEM_FORMATS[form].write(found)
    interrupts.conclude()
    if output is None:
        console.emit(text)
    else:
        write_whole(output, text)
    if found.unmarked:
        console.complain(f"Not marked in the file: {', '.join(found.unmarked)}.")
    return 0
