"""On Spark: the same rows, and the same numbers from DataFrames; workers that die cost nothing."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.simulate import onspark
from antecede.checker.simulate.experiment import experiment, rows_of, runs_of
from antecede.checker.simulate.figures import Grid, combined
from antecede.checker.simulate.rows import Asked, row_of
from antecede.checker.simulate.scenario import Scenario
from antecede.checker.simulate.statistics import CONTROL_EACH, Summary
from antecede.checker.sweep.kept import Row

SMALL = Scenario(actors=4, messages=4, interval=4_000_000, job_share=0.3)
GRID = Grid("asked", "", ("cykas", "mfss"), combined(SMALL, {"hotspots": (0.0, 0.5)}), 7)


def test_spark_gives_the_rows_of_one_process(tmp_path: Path) -> None:
    runs = runs_of(GRID, twins=True)[::7]
    scattered = partial(onspark.runs, master="local[2]", log=False)
    list(experiment(runs, scattered, tmp_path / "rows.jsonl"))
    assert [row_of(run) for run in runs] == rows_of(runs, tmp_path / "rows.jsonl")


@pytest.mark.slow
def test_data_frames_give_the_medians_of_plain_python() -> None:
    expected = [row_of(run) for run in runs_of(GRID, twins=True)]
    # One that is all alone, and one that has no jobs, so that something is null.
    expected = [row for row in expected if (row["seed"], row["protocol"]) != (3, "mfss")]
    expected[0] = {**expected[0], "job_start_ns": None}
    plain = Summary(expected)
    with onspark.summary(expected, "local[2]", False) as said:
        for measure in ("job_start_ns", CONTROL_EACH):
            assert plain.medians(measure) == said.medians(measure)
        assert plain.speedups("execution_ns", "cykas", "mfss") == said.speedups(
            "execution_ns", "cykas", "mfss"
        )


def dies_once(pair: tuple[Asked, Asked], mark: str) -> Row | str:
    """Kill the worker that comes first."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return onspark._row_or_traceback(pair)
    os._exit(9)


@pytest.mark.slow
def test_a_killed_workers_runs_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = runs_of(evolve(GRID, seeds=2), twins=True)
    monkeypatch.setattr(
        onspark, "_row_or_traceback", partial(dies_once, mark=str(tmp_path / "dead"))
    )
    found = list(onspark.runs(runs, "local[2,4]", False))
    assert (tmp_path / "dead").exists()
    assert len(runs) == len(found)
    assert all(row["error"] is None for row in found)
