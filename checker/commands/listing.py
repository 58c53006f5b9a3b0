"""`antecede list`."""

from __future__ import annotations

import click

from antecede.checker.commands import console
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import Named
from antecede.checker.render import catalogue
from antecede.checker.render.schemas import SCHEMAS, schema_text
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError


@click.command("list", cls=CommandWithExamples)
@click.argument("names", nargs=-1, type=Named("listed"), metavar="[NAME|FILE.py]…")
@click.option(
    "--schema",
    type=click.Choice(list(SCHEMAS)),
    metavar="NAME",
    help="Print the JSON schema of a kind of file, for editors and other programs: "
    f"{', '.join(SCHEMAS)}.",
)
@click.option("--all", "everything", is_flag=True)
def command(names: tuple[str, ...], schema: str | None, *, everything: bool) -> int:
    """List the protocols, properties, networks, workloads, histories, searches and engines.

    Variants of protocols come with --all. If you give names, antecede shows only these, in detail.
    If you give a Python file, it shows the protocols that the file defines.
    """
    if schema is not None:
        if names:
            raise InputError(f"--schema prints the schema {schema!r} alone; leave out {names[0]!r}")
        console.emit(schema_text(schema))
        return 0
    if names:
        text = "\n\n".join(map(catalogue.listing, names))
    else:
        text = catalogue.catalogue(everything=everything)
    interrupts.conclude()
    console.say(text)
    return 0
