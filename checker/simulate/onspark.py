"""Runs on a Spark cluster, a task per run; `experiment.here` yields equal rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from antecede.checker.errors import ClusterError
from antecede.checker.simulate.experiment import GAVE_UP
from antecede.checker.simulate.results import RESULTS
from antecede.checker.simulate.rows import Asked, row_of
from antecede.checker.sweep.elsewhere import found_anywhere, on_spark
from antecede.checker.sweep.kept import Row


def runs(wanted: Sequence[Asked], master: str | None, log: bool) -> Iterator[Row]:
    """Do runs in the executors of a cluster.

    A run whose worker dies is repeated. If Spark gives up on a run, its row has no results.
    """
    for run, row in on_spark(row_of, wanted, _elsewhere, master, log=log):
        if isinstance(row, ClusterError):
            yield {**run.columns, **dict.fromkeys(RESULTS), "error": f"{GAVE_UP}{row}"}
        else:
            yield {**row, **run.columns}


def _elsewhere(run: Asked) -> Asked:
    return evolve(run, protocol=found_anywhere(run.protocol))
