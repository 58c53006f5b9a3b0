"""`antecede sweep`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from antecede.checker.check.exploring import starting
from antecede.checker.check.spec import Spec
from antecede.checker.check.targets import targets_of
from antecede.checker.commands import console, outputs, parameters
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import Given, Named, record, several
from antecede.checker.commands.shared import BOUNDS, ENGINE_OF_MANY, PLACE, kept_rows
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError, check_place
from antecede.checker.support.exit_codes import AS_EXPECTED, INCOMPLETE, INPUT_ERROR, most_urgent
from antecede.checker.support.settings import Setting, names_in, taken
from antecede.checker.sweep import parquet
from antecede.checker.sweep import smallest as smallests
from antecede.checker.sweep import sweep as sweeps
from antecede.checker.sweep.kept import Row

MAX_MESSAGES = Setting("max_messages", int, "", None, least=1, most=12)


@click.command("sweep", cls=CommandWithExamples)
@click.argument("targets", nargs=-1, type=Named("target"), metavar="[NAME|SPEC.toml|FOLDER]…")
@click.option("--protocol", "protocols", type=Named("registered"), metavar="NAME,…")
@several(Question, "actors", "2,3")
@several(Question, "messages", "1,2,3")
@several(Question, "network", "unordered,fifo,duplicating+lossy")
@several(Question, "workload", "any,broadcast")
@several(Question, "history", "knowledge,clocks,full")
@record(Question, "labels", "crashes", "to_crashed", "properties")
@record(Options, "symmetry", "forget")
@click.option("--smallest", is_flag=True)
@click.option(
    "--max-messages",
    type=Given(MAX_MESSAGES),
    help="With --smallest: the greatest number of messages of all actors together.  "
    f"[default: {smallests.MESSAGES}]",
)
@ENGINE_OF_MANY
@PLACE
@BOUNDS
@kept_rows("sweep.jsonl")
@click.option("--quiet", is_flag=True)
def command(
    targets: tuple[str, ...],
    protocols: str | None,
    place: str,
    workers: int | None,
    output: str,
    parquet_file: str | None,
    quiet: bool,
    smallest: bool,
    max_messages: int | None,
    **values: Any,
) -> int:
    """Check every combination of protocols, sizes, networks and workloads.

    Give several values with commas: --actors 2,3 checks two sizes. The result is a table with the
    verdict of each combination.
    """
    names = names_in(protocols)
    if not targets and not names:
        raise InputError("there is nothing to check; name protocols or specs")
    bounds = Bounds(**parameters.taken_from(values, Bounds))
    with starting(bounds):
        specs = targets_of(targets).strictly()
    axes = {"protocol": names, **parameters.given(**taken(values, Question))}
    axes |= {name: (axes[name],) for name in ("labels", "crashes", "to_crashed") if name in axes}
    check_place(place, values["master"], workers)
    actors = _numbers_of_actors(axes, place) if smallest else ()
    if max_messages is not None and not smallest:
        raise InputError("--max-messages is for --smallest; give --messages")
    wanted = sweeps.combined(specs or [Spec(protocol=names[0])], axes)
    outputs.check_rows(output, parquet_file)
    given = parameters.taken_from(values, Options)
    master = given.pop("master", None)
    options = Options(**{"threads": 1, **given})
    count = workers or os.cpu_count() or 1
    told = _silent if quiet else console.complain
    file, ticker = Path(output), Ticker(quiet=quiet)
    told(f"The rows of all checks go to {file}.")
    if smallest:
        most = max_messages or smallests.MESSAGES
        search = smallests.Search(actors, most, options, bounds, count, file, ticker, told)
        code = _smallest(search, wanted)
    else:
        run: sweeps.Runner = partial(sweeps.in_processes, processes=count, ticker=ticker)
        if place == "spark":
            run = partial(sweeps.in_executors, master=master)
        code = _every(wanted, run, file, options, bounds, told)
    if parquet_file is not None:
        parquet.write(sweeps.kept_in(file).rows(), parquet_file)
    return code


def _silent(_line: str) -> None:
    """Print nothing."""


def _numbers_of_actors(axes: dict[str, Any], place: str) -> tuple[int, ...]:
    """Return the numbers of actors that --smallest tries; refuse what it does not combine."""
    if place == "spark":
        raise InputError("--smallest is for --on here")
    if axes.pop("messages", None):
        raise InputError("--smallest counts messages in total; give --max-messages")
    return tuple(axes.pop("actors", smallests.ACTORS))


def _every(
    wanted: Sequence[Spec],
    run: sweeps.Runner,
    file: Path,
    options: Options,
    bounds: Bounds,
    told: Callable[[str], None],
) -> int:
    """Run every check that has no row yet, print the matrix, and return the exit code."""
    begun, given_up = len(sweeps.asked_for(wanted, file, options, bounds)), list[Row]()
    if begun:
        told(f"{begun} of {len(wanted)} rows are in {file} already, and are not run again.")
    with sweeps.kept_in(file).noted():
        for row in sweeps.sweep(wanted, run, file, options, bounds):
            if row["verdict"] == sweeps.GAVE_UP:
                given_up.append(row)
            told(sweeps.line(row))
    interrupts.conclude()
    rows = sweeps.asked_for(wanted, file, options, bounds)
    console.say(sweeps.matrix(rows))
    return most_urgent(map(sweeps.exit_code_of, rows + given_up))


def _smallest(search: smallests.Search, wanted: Sequence[Spec]) -> int:
    """Search for the smallest bound of each question, print them, and return the exit code."""
    codes = []
    for found in search.of(wanted):
        console.say(smallests.text(found))
        codes.append(
            INPUT_ERROR if found.failures else AS_EXPECTED if found.decided else INCOMPLETE
        )
    interrupts.conclude()
    return most_urgent(codes)
