"""Experiments: the runs of a grid, here or on a cluster, and their rows in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
from attrs import frozen

from antecede.checker.papers.simulate.figures import Grid
from antecede.checker.papers.simulate.handlers import digest, handlers_of
from antecede.checker.papers.simulate.results import RESULTS, results
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import FIELDS, Scenario, parameters
from antecede.checker.papers.simulate.workload import plan_of
from antecede.checker.support import interrupts
from antecede.checker.support.errors import AntecedeError, CapacityError, ClusterError, InputError
from antecede.checker.sweep.elsewhere import on_spark
from antecede.checker.sweep.kept import Kept, Row
from antecede.checker.sweep.processes import Workers

GAVE_UP = "GAVE UP: "
"""The prefix of an error that a cluster's failure caused; such a row is shown, not saved."""

FAILED = "FAILED: "
"""The prefix of an error if the run had unusable input, for example a handler that raises."""

CONTROLS = ("unordered", "fifo")
"""Protocols that do not promise causal delivery; their violations are counted."""


@frozen
class Asked:
    """A requested run.

    Attributes:
        protocol: the name as on the command line.
        scenario, seed: see `simulate`.
        twins: call a twin if the protocol has one.
        sources: a digest of all sources that the run depends on.
    """

    protocol: str
    scenario: Scenario
    seed: int
    twins: bool
    sources: str


KEYS = ("protocol", "seed", *FIELDS, "handlers", "sources")
"""The columns that identify a run: the first columns of a row."""


_TYPES = {"name": "string", "share": "float64"}

PARQUET = {
    "protocol": "string",
    "seed": "int32",
    **{name: _TYPES.get(about.kind, "int64") for name, about in parameters().items()},
    "handlers": "string",
    "sources": "string",
    **dict.fromkeys(RESULTS, "int64"),
    "error": "string",
}
"""The columns of Parquet files, with their types; the keys are never null."""

Runner: TypeAlias = Callable[[Sequence[Asked]], Iterator[Row]]


def runs_of(grid: Grid, *, twins: bool) -> list[Asked]:
    """Return the runs of a grid, the first seed's runs first.

    Raises:
        InputError: a protocol is unknown, or a scenario is impossible.
    """
    sources = {name: digest(name, twins=twins) for name in grid.protocols}
    has_twin = {name: handlers_of(name, twins=twins).twin for name in grid.protocols}
    for scenario in grid.scenarios:
        check(scenario)
    return [
        Asked(name, scenario, seed, has_twin[name], sources[name])
        for seed in range(1, grid.seeds + 1)
        for scenario in grid.scenarios
        for name in grid.protocols
    ]


def check(scenario: Scenario) -> None:
    """Refuse an impossible scenario before anything is run."""
    plan_of(attrs.evolve(scenario, messages=1), 0)
    if scenario.messages * scenario.actors > 10**7:
        raise InputError(
            f"{scenario.actors:,} actors with {scenario.messages:,} messages each are more than "
            "10,000,000 messages; give fewer"
        )


def row_of(wanted: Asked) -> Row:
    """Run a simulation and return its row; a violation or an error appears in the row."""
    row = columns_of(wanted)
    try:
        handlers = handlers_of(wanted.protocol, twins=wanted.twins)
        tolerant = wanted.protocol in CONTROLS
        with interrupts.at_work(f"the simulation of {wanted.protocol} with seed {wanted.seed}"):
            run = simulate(handlers, wanted.scenario, wanted.seed, tolerant=tolerant)
    except AntecedeError as error:
        prefix = FAILED if isinstance(error, InputError) else ""
        return {**row, **dict.fromkeys(RESULTS), "error": f"{prefix}{error}"}
    return {**row, **results(run), "error": None}


def kept_in(file: Path) -> Kept:
    """Return the rows of a file."""
    return Kept(file, KEYS, "simulate", PARQUET, _is_whole)


def _is_whole(row: Row) -> bool:
    """Return whether a row has an error, or all results that every run has."""
    if not row.keys() >= PARQUET.keys():
        return False
    return row["error"] is not None or None not in (row["violations"], row["deliveries"])


def experiment(runs: Sequence[Asked], run: Runner, file: Path) -> Iterator[Row]:
    """Do the runs that are missing in `file`; yield each row when it is in the file."""
    return kept_in(file).run(runs, columns_of, run, lambda row: not gave_up(row))


def rows_of(runs: Sequence[Asked], file: Path) -> list[Row]:
    """Return the rows of these runs that are in a file, in the order of the runs."""
    return kept_in(file).rows_of(runs, columns_of)


def columns_of(run: Asked) -> Row:
    """Return the columns that identify a run."""
    return {
        "protocol": run.protocol,
        "seed": run.seed,
        **attrs.asdict(run.scenario),
        "handlers": "twin" if run.twins else "own",
        "sources": run.sources,
    }


def gave_up(row: Row) -> bool:
    """Return whether there is no result because a cluster failed."""
    return str(row["error"] or "").startswith(GAVE_UP)


def failed(row: Row) -> bool:
    """Return whether there is no result because of unusable input, such as a handler that raises.

    Rows of earlier versions do not say so; they count as wrong runs.
    """
    return str(row["error"] or "").startswith(FAILED)


def here(runs: Sequence[Asked], workers: int) -> Iterator[Row]:
    """Do runs in this process, or in several processes of this machine, in their order.

    Raises:
        CapacityError: a process was killed.
    """
    if workers == 1:
        yield from map(row_of, runs)
        return
    with Workers(min(workers, len(runs))) as processes:
        for _, row in processes.spread(row_of, runs):
            if isinstance(row, CapacityError):
                raise row
            yield row


def on_cluster(runs: Sequence[Asked], master: str | None) -> Iterator[Row]:
    """Do runs in the executors of a Spark cluster.

    A run whose worker dies is repeated. If Spark gives up on a run, its row has no results.
    """
    for run, row in on_spark(row_of, runs, master):
        if isinstance(row, ClusterError):
            yield {**columns_of(run), **dict.fromkeys(RESULTS), "error": f"{GAVE_UP}{row}"}
        else:
            yield {**row, **columns_of(run)}
