"""`antecede explore`."""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import click

from antecede.checker.commands import console, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import Given, Named, record
from antecede.checker.commands.shared import TRACED
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import Question
from antecede.checker.support.settings import Setting

PORT = Setting(
    "port",
    int,
    "Port of the page; 0 for any free port. Only this machine can open it.",
    8642,
    least=0,
    most=65_535,
)


@click.command("explore", cls=CommandWithExamples)
@click.argument("target", type=Named("traced"), metavar="NAME|FILE.py:OBJECT|SPEC.toml|TRACE.json")
@record(Question)
@click.option(
    "--port",
    type=Given(PORT),
    default=PORT.default,
    show_default=True,
    help=PORT.says,
)
@TRACED
@click.option("--no-browser", is_flag=True)
@record(Bounds, "max_states", "max_seconds")
def command(
    target: str,
    port: int,
    no_browser: bool,
    **values: Any,
) -> int:
    """Step through the runs of a protocol by hand, on a local web page.

    antecede prints the address of the page, with a secret token that lets only you open it. Later
    addresses name the state that the page shows, so a colleague who runs the same command can open
    the same state. Press Ctrl-C to end.
    """
    # Only this command needs a web server.
    from antecede.checker.explore import start
    from antecede.checker.explore.server import Server
    from antecede.checker.explore.site import BOUNDS, Site

    bounds = attrs.evolve(BOUNDS, **parameters.taken_from(values, Bounds))
    tree, numbers = start.opened(target, parameters.given(**values))
    site = Site(tree, bounds)
    with Server(site, port) as server, contextlib.suppress(KeyboardInterrupt):
        address = start.address_of(server.address, numbers)
        console.say(f"Exploring {tree.spec.protocol} at {address}\nCtrl-C ends it.")
        if not no_browser:
            start.show(address)
        server.serve_forever()
    return 0
