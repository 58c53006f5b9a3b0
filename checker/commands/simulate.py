"""`antecede simulate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from antecede.checker import interrupts
from antecede.checker.commands import console, outputs
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Given, Named, options
from antecede.checker.commands.shared import PROCESSES, where
from antecede.checker.settings import names_in
from antecede.checker.simulate.figures import FIGURES
from antecede.checker.simulate.scenario import FIELDS, written
from antecede.checker.sweep import parquet


def assumption(name: str) -> Callable[[Any], Any]:
    """Return the option of a simulation for one of its parameters."""
    about = FIELDS[name]
    choices = about.metadata["choices"]
    flags = ["--processes", "--actors"] if name == "actors" else [f"--{name.replace('_', '-')}"]
    says = about.metadata["says"]
    says = f"{says[0].upper()}{says[1:]}{': ' + ', '.join(choices) if choices else ''}."
    shown = written(name, about.default)
    return click.option(*flags, name, metavar="LIST", help=f"{says}  [default: {shown}]")


@click.command("simulate", cls=CommandWithExamples)
@click.argument("protocols", required=False, type=Named("registered"), metavar="[NAME,…]")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Choice(["cykas", *FIGURES]),
    metavar="NAME",
    help=f"Reproduce a paper's figure: {', '.join(FIGURES)}, or cykas for all three of its paper. "
    "You can give it several times.",
)
@click.option(
    "--quick", is_flag=True, help="With --figure: fewer and smaller runs; takes a minute."
)
@options(*map(assumption, FIELDS))
@click.option(
    "--seeds",
    type=click.IntRange(1, 100_000),
    help="Number of random programs per point.  [default: 30; with --quick 3]",
)
@click.option(
    "--own-handlers",
    is_flag=True,
    help="Run the checked handlers themselves, not faster copies of them.",
)
@where(
    "Run in processes of this machine, or as tasks of a Spark cluster.",
    click.option(
        "--workers",
        type=Given(PROCESSES),
        help="Number of runs at once on this machine.  [default: one per core]",
    ),
)
@click.option(
    "--output",
    type=A_FILE,
    metavar="FILE.jsonl",
    default="simulate.jsonl",
    show_default=True,
    help="Append a row per finished run. Runs that already have a row are skipped.",
)
@click.option(
    "--parquet",
    "parquet_file",
    type=A_FILE,
    metavar="FILE",
    help="Also write the rows of these runs as Parquet.",
)
@click.option(
    "--svg",
    "folder",
    type=Named("dir"),
    metavar="FOLDER",
    help="With --figure: draw it into a folder. Needs Matplotlib: pip install 'antecede[plot]'.",
)
@click.option("--quiet", is_flag=True, help="Print no progress.")
def command(
    protocols: str | None,
    figures: tuple[str, ...],
    quick: bool,
    seeds: int | None,
    own_handlers: bool,
    place: str,
    workers: int | None,
    master: str | None,
    spark_log: bool,
    output: str,
    parquet_file: str | None,
    folder: str | None,
    quiet: bool,
    **values: str | None,
) -> int:
    """Run protocols in simulated time, and compare how long they take.

    A LIST is one or more values with commas between them. antecede runs every combination, and runs
    all protocols on the same programs. Times are medians over the seeds, with 95 % confidence
    intervals in brackets.
    """
    # It needs NumPy, which takes as long to load as all the rest of the command.
    from antecede.checker.simulate import command as simulations

    grids = simulations.grids_of(
        names_in(protocols), figures, values, seeds, quick=quick, drawn=folder is not None
    )
    outputs.check_rows(output, parquet_file)
    runner = simulations.runner_of(place, workers, master, log=spark_log)
    rows, code = [], 0
    for grid in grids:
        found = simulations.run(grid, Path(output), runner, twins=not own_handlers, quiet=quiet)
        rows += found.rows
        code = max(code, found.exit_code)
        if grid is grids[-1]:
            interrupts.conclude()
        if folder is not None:
            simulations.draw(grid, found.rows, folder)
        console.say(found.text)
    if parquet_file is not None:
        parquet.write(rows, parquet_file, simulations.PARQUET, simulations.NEVER_NULL)
    return code
