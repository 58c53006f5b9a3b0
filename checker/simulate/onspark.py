"""On a Spark cluster: runs as tasks, and what their rows say as DataFrames.

The same rows and the same numbers come from `experiment.here` and `statistics.Summary`.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from antecede.checker.errors import ClusterError
from antecede.checker.simulate.experiment import GAVE_UP
from antecede.checker.simulate.results import RESULTS
from antecede.checker.simulate.rows import Asked, row_of
from antecede.checker.simulate.statistics import (
    CONTROL_EACH,
    Cell,
    Estimate,
    Summary,
    cell_of,
    ranks,
)
from antecede.checker.spark import aggregate
from antecede.checker.spark.cluster import Cluster
from antecede.checker.spark.pool import scattered
from antecede.checker.sweep.kept import Row


class RunFailedError(Exception):
    """A run raised what nobody expected, on an executor: a bug of ours."""


def runs(wanted: Sequence[Asked], master: str | None, log: bool) -> Iterator[Row]:
    """Do runs in the executors of a cluster, a task per run.

    A run whose worker dies is done again; one that Spark gives up on has no result in its row.
    """
    asked = [(run, _found_anywhere(run)) for run in wanted]
    for (run, _), found in scattered(_row_or_traceback, asked, master, log=log):
        if isinstance(found, str):
            raise RunFailedError(f"a run of {run.protocol} failed on an executor:\n{found}")
        if isinstance(found, ClusterError):
            yield {**run.columns, **dict.fromkeys(RESULTS), "error": f"{GAVE_UP}{found}"}
        else:
            yield {**found, **run.columns}


def _row_or_traceback(pair: tuple[Asked, Asked]) -> Row | str:
    """Return the row of the second run, which is the first one as executors find it."""
    try:
        return row_of(pair[1])
    except Exception:
        return traceback.format_exc()


def _found_anywhere(run: Asked) -> Asked:
    """Return `run` with the whole path of a protocol that is a file."""
    path, ending, name = run.protocol.partition(".py")
    return evolve(run, protocol=f"{Path(path + ending).resolve()}{name}") if ending else run


@contextmanager
def summary(rows: Sequence[Row], master: str | None, log: bool) -> Iterator[Summary]:
    """Yield what rows say, computed on a cluster."""
    cluster = Cluster.start(master, log=log)
    try:
        cells = {cell: place for place, cell in enumerate(dict.fromkeys(map(cell_of, rows)))}
        numbers = ", ".join(f"{name} BIGINT" for name in RESULTS)
        values = [
            (row["protocol"], cells[cell_of(row)], row["seed"], *(row[name] for name in RESULTS))
            for row in rows
        ]
        schema = f"protocol STRING, cell INT, seed INT, {numbers}"
        frame = cluster.session.createDataFrame(values, schema)
        each = f"control_bytes / messages_sent AS {CONTROL_EACH}"
        yield OnSpark(rows, cluster, frame.selectExpr("*", each), tuple(cells))
    finally:
        cluster.stop()


@frozen(eq=False)
class OnSpark(Summary):
    """A summary whose rows are a DataFrame; its column `cell` is a place in `cells`."""

    cluster: Cluster
    frame: Any
    cells: tuple[Cell, ...]

    def medians(self, measure: str) -> dict[tuple[str, Cell], Estimate]:
        """See `Summary.medians`."""
        found = self._medians(self.frame, ("protocol", "cell"), measure)
        return {(key[0], self.cells[key[1]]): about for key, about in found.items()}

    def speedups(self, measure: str, of: str, over: str) -> dict[Cell, Estimate]:
        """See `Summary.speedups`."""
        how = f"its.{measure} / nullif(mine.{measure}, 0)"
        ratios = aggregate.paired(self.frame, ("cell", "seed"), "protocol", of, over, how)
        found = self._medians(ratios, ("cell",), "value")
        return {self.cells[key[0]]: about for key, about in found.items()}

    def _medians(
        self, frame: Any, groups: tuple[str, ...], measure: str
    ) -> dict[tuple[Any, ...], Estimate]:
        most = len({row["seed"] for row in self.rows})
        found = aggregate.medians(self.cluster, frame, groups, measure, ranks, most)
        return {key: Estimate(*about) for key, about in found.items()}
