"""`antecede simulate`."""

from __future__ import annotations

from pathlib import Path

import click

from antecede.checker.commands import console, outputs
from antecede.checker.commands.help import CommandWithExamples, section
from antecede.checker.commands.parameters import Named, options
from antecede.checker.commands.shared import PLACE, kept_rows
from antecede.checker.papers.simulate.figures import FIGURES
from antecede.checker.papers.simulate.scenario import FIELDS, parameters, written
from antecede.checker.render.ticker import Ticker
from antecede.checker.support import interrupts
from antecede.checker.support.errors import check_place
from antecede.checker.support.exit_codes import most_urgent
from antecede.checker.support.settings import names_in
from antecede.checker.sweep import parquet

SIZES = ("actors", "messages")
"""The parameters with an option of their own, as in other commands; --set has the others."""


def described(name: str) -> str:
    """Return the description of a parameter, with its default."""
    about = parameters()[name]
    meanings = [f"{choice}: {meaning}." for choice, meaning in about.choices.items()]
    says = " ".join([f"{about.says[0].upper()}{about.says[1:]}.", *meanings])
    return f"{says}  [default: {written(name, about.default)}]"


class CommandWithParameters(CommandWithExamples):
    """A command whose `--help-all` also describes the parameters of `--set`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and after all of them the parameters."""
        super().format_options(ctx, formatter)
        if ctx.meta.get("all options"):
            others = [name for name in FIELDS if name not in SIZES]
            lines = [(name.replace("_", "-"), described(name)) for name in others]
            section(formatter, "Parameters of --set", lines)


@click.command("simulate", cls=CommandWithParameters)
@click.argument("protocols", required=False, type=Named("registered"), metavar="[NAME,…]")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Choice(["cykas", *FIGURES]),
    metavar="NAME",
    help=f"Reproduce a figure of a paper: {', '.join(FIGURES)}; cykas stands for cykas-4, cykas-5 "
    "and cykas-6. You can repeat this option.",
)
@click.option("--quick", is_flag=True)
@options(
    *(click.option(f"--{name}", metavar="LIST", help=described(name)) for name in SIZES),
    click.option("--set", "settings", multiple=True, metavar="NAME=LIST"),
)
@click.option("--seeds", type=click.IntRange(1, 100000))
@click.option("--own-handlers", is_flag=True)
@PLACE
@kept_rows("simulate.jsonl")
@click.option("--svg", "folder", type=Named("dir"), metavar="FOLDER")
@click.option("--quiet", is_flag=True)
def command(
    protocols: str | None,
    figures: tuple[str, ...],
    quick: bool,
    seeds: int | None,
    own_handlers: bool,
    place: str,
    workers: int | None,
    master: str | None,
    output: str,
    parquet_file: str | None,
    folder: str | None,
    quiet: bool,
    actors: str | None,
    messages: str | None,
    settings: tuple[str, ...],
) -> int:
    """Run protocols in simulated time, and compare how long they take.

    antecede makes random programs, which say who sends which message when, and runs every protocol
    on the same programs. The report gives the median time over the programs, with a 95 % confidence
    interval in brackets.

    A LIST is one value, or several values with commas between them. antecede runs every
    combination of the values.
    """
    # It needs NumPy, which takes as long to load as all the rest of the command.
    from antecede.checker.papers.simulate import command as simulations

    values = simulations.named_values(settings, actors=actors, messages=messages)
    grids = simulations.grids_of(
        names_in(protocols), figures, values, seeds, quick=quick, drawn=folder is not None
    )
    outputs.check_rows(output, parquet_file)
    check_place(place, master, workers)
    runner = simulations.runner_of(place, workers, master)
    if not quiet:
        console.complain(f"The rows of all runs go to {output}.")
    rows, codes = [], []
    for grid in grids:
        ticker = Ticker(quiet=quiet)
        found = simulations.run(grid, Path(output), runner, ticker, twins=not own_handlers)
        rows += found.rows
        codes.append(found.exit_code)
        if grid is grids[-1]:
            interrupts.conclude()
        if folder is not None:
            simulations.draw(grid, found.rows, folder)
        console.say(found.text)
    if parquet_file is not None:
        parquet.write(rows, parquet_file, simulations.PARQUET, simulations.NEVER_NULL)
    return most_urgent(codes)
