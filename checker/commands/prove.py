"""`antecede prove`."""

from __future__ import annotations

from pathlib import Path

import click

from antecede.checker.commands import console, outputs
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import Given, Named
from antecede.checker.commands.shared import JSON_FILE, JUNIT_FILE
from antecede.checker.render.files import write_whole
from antecede.checker.render.ticker import Ticker
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.support import interrupts
from antecede.checker.support.amounts import counted
from antecede.checker.support.extras import check_installed
from antecede.checker.support.settings import Setting

TIMEOUT = Setting("timeout", float, "", 20.0, above=0.0)


@click.command("prove", cls=CommandWithExamples)
@click.argument("target", type=Named("protocol"), metavar="NAME|FILE.py:OBJECT")
@click.option(
    "--timeout", type=Given(TIMEOUT), default=TIMEOUT.default, show_default=True, metavar="SECONDS"
)
@click.option("--expect", type=click.Choice(["proved", "failed"]))
@click.option("--mutants", "mutated", is_flag=True)
@click.option("--suggest", "suggests", is_flag=True)
@click.option("--link", "links", is_flag=True)
@click.option("--actors", type=int, default=3, show_default=True)
@click.option("--messages", type=int, default=1, show_default=True)
@click.option(
    "--history", type=click.Choice(list(HISTORIES)), default="knowledge", show_default=True
)
@click.option("--max-states", type=click.IntRange(min=1))
@JSON_FILE
@JUNIT_FILE
@click.option(
    "--smt2", "smt2_folder", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER"
)
@click.option("--quiet", is_flag=True)
def command(
    target: str,
    timeout: float,
    expect: str | None,
    mutated: bool,
    suggests: bool,
    links: bool,
    actors: int,
    messages: int,
    history: str,
    max_states: int | None,
    json_file: str | None,
    junit_file: str | None,
    smt2_folder: Path | None,
    quiet: bool,
) -> int:
    """Prove a protocol's abstract model for every number of actors and messages.

    The model is a description of the protocol that a person wrote. PROVED says that the model is
    correct. It says nothing about the Python code. LINKED (with --link) says that the model and the
    Python code agree for the given number of actors and messages.
    """
    outputs.check_outputs(("json", json_file), ("junit", junit_file))
    # An exception of a signal's handler would be lost in z3's import or in one of its finalizers.
    with interrupts.looking():
        check_installed("prove", "prove")
        # Importing z3 takes a while.
        from antecede.checker.prove import front, obligations, report, suggest

        model = front.model_named(target, expect)
        if smt2_folder is not None:
            files = counted(report.write_smt2(model, smt2_folder), "file")
            if not quiet:
                console.complain(f"{files} in {smt2_folder}")
        ticker = Ticker(quiet=quiet)
        if suggests:
            suggested = front.suggestion(model, actors, messages, timeout, ticker)
            interrupts.conclude()
            console.say(suggest.text(suggested))
            return front.exit_code(suggested.proof)
        proof = obligations.prove(model, timeout, front.watching(ticker))
        tried = found = None
        if mutated and proof.stopped_by is None:
            tried = front.strength(proof, timeout, ticker)
        if links and proof.stopped_by is None:
            found = front.linked(model, actors, messages, history, max_states)
        ticker.clear()
        interrupts.conclude()
        if json_file != "-":
            console.say(front.whole_text(proof, found, tried, quiet=quiet))
        if json_file is not None:
            outputs.write_object(json_file, front.whole_object(proof, found, tried))
        if junit_file is not None:
            write_whole(junit_file, report.junit(proof))
        return front.exit_code(proof, found, tried)
