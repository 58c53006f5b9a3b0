"""`antecede mcp`."""

from __future__ import annotations

from typing import Any

import click

from antecede.checker.agents.tools import Ceilings
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import given, record
from antecede.checker.support.extras import check_installed


@click.command("mcp", cls=CommandWithExamples)
@record(Ceilings)
def command(**values: Any) -> int:
    """Offer checks to an agent over the Model Context Protocol (MCP).

    An agent, such as a coding assistant, starts this command, and calls its tools over standard
    input and output: list, validate, check, replay and explain. Like antecede check, they run the
    protocol files that a call names.
    """
    check_installed("mcp", "antecede mcp")
    # Only this command needs the package.
    from antecede.checker.agents.server import serve

    serve(Ceilings(**given(**values)))
    return 0
