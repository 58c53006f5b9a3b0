"""`antecede list`."""

from __future__ import annotations

import click

from antecede.checker.commands import console
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import Named
from antecede.checker.render import catalogue
from antecede.checker.support import interrupts


@click.command("list", cls=CommandWithExamples)
@click.argument("names", nargs=-1, type=Named("listed"), metavar="[NAME|FILE.py]…")
def command(names: tuple[str, ...]) -> int:
    """List the protocols, properties, networks, workloads, histories, searches and engines.

    If you give names, antecede shows only these, in detail. If you give a Python file, it shows the
    protocols that the file defines.
    """
    text = "\n\n".join(map(catalogue.listing, names)) if names else catalogue.catalogue()
    interrupts.conclude()
    console.say(text)
    return 0
