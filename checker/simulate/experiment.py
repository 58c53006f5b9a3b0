"""Runs a grid; each row is saved as soon as its run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from antecede.checker.errors import CapacityError
from antecede.checker.simulate.figures import Grid
from antecede.checker.simulate.results import RESULTS
from antecede.checker.simulate.rows import KEYS, Asked, asked, row_of
from antecede.checker.simulate.scenario import FIELDS
from antecede.checker.sweep.kept import Kept, Row
from antecede.checker.sweep.processes import spread

Runner: TypeAlias = Callable[[Sequence[Asked]], Iterator[Row]]

GAVE_UP = "GAVE UP: "
"""The prefix of an error that a cluster's failure caused; such a row is shown, not saved."""

_TYPES = {"name": "string", "share": "float64"}

PARQUET = {
    "protocol": "string",
    "seed": "int32",
    **{name: _TYPES.get(about.metadata["kind"], "int64") for name, about in FIELDS.items()},
    "handlers": "string",
    "sources": "string",
    **dict.fromkeys(RESULTS, "int64"),
    "error": "string",
}
"""The columns of Parquet files, with their types; the keys are never null."""


def kept_in(file: Path) -> Kept:
    """Return the rows of a file."""
    return Kept(file, KEYS, "simulate", PARQUET, _is_whole)


def _is_whole(row: Row) -> bool:
    """Return whether a row has an error, or all results that every run has."""
    if not row.keys() >= PARQUET.keys():
        return False
    return row["error"] is not None or None not in (row["violations"], row["deliveries"])


def runs_of(grid: Grid, *, twins: bool) -> list[Asked]:
    """Return the runs of a grid.

    Raises:
        InputError: a protocol is unknown, or a scenario is impossible.
    """
    return asked(grid.protocols, grid.scenarios, range(1, grid.seeds + 1), twins=twins)


def missing(runs: Sequence[Asked], file: Path) -> int:
    """Return the number of runs without a row in a file."""
    store = kept_in(file)
    done = {store.key(row) for row in store.rows()}
    return sum(store.key(run.columns) not in done for run in runs)


def experiment(runs: Sequence[Asked], run: Runner, file: Path) -> Iterator[Row]:
    """Do the runs that are missing in `file`; yield each row when it is in the file."""
    return kept_in(file).run(runs, lambda wanted: wanted.columns, run, lambda row: not gave_up(row))


def rows_of(runs: Sequence[Asked], file: Path) -> list[Row]:
    """Return the rows of these runs that are in a file, in the order of the runs."""
    store = kept_in(file)
    found = {store.key(row): row for row in store.rows()}
    keys = [store.key(run.columns) for run in runs]
    return [found[key] for key in keys if key in found]


def gave_up(row: Row) -> bool:
    """Return whether there is no result because a cluster failed."""
    return str(row["error"] or "").startswith(GAVE_UP)


def here(runs: Sequence[Asked], workers: int) -> Iterator[Row]:
    """Do runs in this process, or in several processes of this machine, in their order.

    Raises:
        CapacityError: a process was killed.
    """
    if workers == 1:
        yield from map(row_of, runs)
        return
    for _, row in spread(row_of, runs, workers):
        if isinstance(row, CapacityError):
            raise row
        yield row
