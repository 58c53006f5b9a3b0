"""Simulations on Spark: equal rows, no loss when workers die, and reports of exceptions."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.papers.simulate import experiment as experiments
from antecede.checker.papers.simulate.experiment import (
    Asked,
    experiment,
    on_cluster,
    row_of,
    rows_of,
    runs_of,
)
from antecede.checker.papers.simulate.figures import Grid, combined
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.sweep.elsewhere import TaskFailedError, found_anywhere
from antecede.checker.sweep.kept import Row
from tests.conftest import ROOT

pytestmark = pytest.mark.integration

SMALL = Scenario(actors=4, messages=4, interval=4_000_000, job_share=0.3)
GRID = Grid("asked", "", ("cykas", "mfss"), combined(SMALL, {"hotspots": (0.0, 0.5)}), 7)


@pytest.fixture(autouse=True)
def _workers_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers unpickle functions of this file. They import nothing from the current folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)


def test_spark_gives_the_rows_of_one_process(tmp_path: Path) -> None:
    runs = runs_of(GRID, twins=True)[::7]
    scattered = partial(on_cluster, master="local[2]")
    list(experiment(runs, scattered, tmp_path / "rows.jsonl"))
    assert [row_of(run) for run in runs] == rows_of(runs, tmp_path / "rows.jsonl")


def dies_once(run: Asked, mark: str) -> Row:
    """Kill the worker that comes first."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return row_of(run)
    os._exit(9)


@pytest.mark.slow
def test_a_killed_workers_runs_are_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = runs_of(evolve(GRID, seeds=2), twins=True)
    monkeypatch.setattr(experiments, "row_of", partial(dies_once, mark=str(tmp_path / "dead")))
    found = list(on_cluster(runs, "local[2,4]"))
    assert (tmp_path / "dead").exists()
    assert len(runs) == len(found)
    assert all(row["error"] is None for row in found)


def fails(run: Asked) -> Row:
    raise LookupError(f"no row of {run.protocol}")


def test_what_a_run_raises_on_an_executor_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "row_of", fails)
    with pytest.raises(TaskFailedError, match="LookupError: no row of cykas"):
        list(on_cluster(runs_of(GRID, twins=True)[:1], "local[1]"))


def test_a_protocol_in_a_file_is_found_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"{tmp_path}/mine.py:ME" == found_anywhere("mine.py:ME")
    assert "mfss" == found_anywhere("mfss")
