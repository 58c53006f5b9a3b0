"""`antecede sweep`."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import click

from antecede.checker import interrupts
from antecede.checker.check.spec import (
    Spec,
)
from antecede.checker.check.targets import targets_of
from antecede.checker.commands import console, outputs, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Given, Named, record, several
from antecede.checker.commands.shared import BOUNDS, ENGINE_OF_MANY, WORKERS, where
from antecede.checker.errors import InputError
from antecede.checker.exit_codes import INCOMPLETE
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.settings import names_in, taken
from antecede.checker.sweep import parquet
from antecede.checker.sweep import sweep as sweeps


@click.command("sweep", cls=CommandWithExamples)
@click.argument("targets", nargs=-1, type=Named("target"), metavar="[NAME|SPEC.toml|FOLDER]…")
@click.option(
    "--protocol",
    "protocols",
    type=Named("registered"),
    metavar="NAME,…",
    help="Protocols to check. They replace the protocols of the specs.",
)
@several(Question, "actors", "2,3")
@several(Question, "messages", "1,2,3")
@several(Question, "network", "unordered,fifo,duplicating+lossy")
@several(Question, "workload", "any,broadcast")
@several(Question, "sends", "joint,split")
@several(Question, "clock_at", "causal-send,network-send")
@several(Question, "history", "knowledge,clocks,full")
@record(Question, "properties")
@record(Options, "symmetry", "memory")
@ENGINE_OF_MANY
@where("Where to run the checks: here (on this machine), or on a Spark cluster.")
@click.option(
    "--workers",
    type=Given(WORKERS),
    help="Number of checks that run at the same time on this machine.  [default: one per core]",
)
@BOUNDS
@click.option(
    "--output",
    type=A_FILE,
    metavar="FILE.jsonl",
    default="sweep.jsonl",
    show_default=True,
    help="Append each finished check to this file, as a line of JSON. Checks that are already in "
    "the file are skipped.",
)
@click.option(
    "--parquet",
    "parquet_file",
    type=A_FILE,
    metavar="FILE",
    help="At the end, also write all finished checks as a Parquet file.",
)
@click.option("--quiet", is_flag=True, help="Print only the table of verdicts at the end.")
def command(
    targets: tuple[str, ...],
    protocols: str | None,
    place: str,
    workers: int | None,
    output: str,
    parquet_file: str | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Check every combination of protocols, sizes, networks and workloads.

    Give several values with commas: --actors 2,3 checks two sizes. The result is a table with the
    verdict of each combination.
    """
    names = names_in(protocols)
    if not targets and not names:
        raise InputError("there is nothing to check; name protocols or specs")
    specs = targets_of(targets).strictly()
    axes = {"protocol": names, **parameters.given(**taken(values, Question))}
    wanted = sweeps.combined(specs or [Spec(protocol=names[0])], axes)
    outputs.check_rows(output, parquet_file)
    bounds, given = (
        Bounds(**parameters.taken_from(values, Bounds)),
        parameters.taken_from(values, Options),
    )
    master, spark_log = given.pop("master", None), given.pop("spark_log", False)
    options = Options(**{"threads": 1, **given})
    if place == "spark":
        if workers is not None:
            raise InputError("--workers is for --on here; on Spark, each core runs one check")
        run = partial(sweeps.in_executors, master=master, log=spark_log)
    else:
        if master is not None or spark_log:
            raise InputError("--master and --spark-log are for --on spark")
        count = workers or os.cpu_count() or 1
        run = partial(sweeps.in_processes, processes=count, ticker=Ticker(quiet=quiet))
    file, gave_up = Path(output), False
    begun = len(sweeps.asked_for(wanted, file, options, bounds))
    if begun and not quiet:
        console.complain(
            f"{begun} of {len(wanted)} rows are in {output} already, and are not run again."
        )
    with sweeps.kept_in(file).noted():
        for row in sweeps.sweep(wanted, run, file, options, bounds):
            gave_up |= row["verdict"] == sweeps.GAVE_UP
            if not quiet:
                console.complain(sweeps.line(row))
    interrupts.conclude()
    rows = sweeps.asked_for(wanted, file, options, bounds)
    if parquet_file is not None:
        parquet.write(sweeps.kept_in(file).rows(), parquet_file)
    console.say(sweeps.matrix(rows))
    if gave_up or any(row["verdict"] not in ("HOLDS", "VIOLATED") for row in rows):
        return INCOMPLETE
    return 0
