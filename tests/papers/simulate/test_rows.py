"""Rows: one per run, the same from everywhere, kept, and keyed by all that they depend on."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.papers.simulate.experiment import (
    KEYS,
    experiment,
    here,
    kept_in,
    row_of,
    rows_of,
    runs_of,
)
from antecede.checker.papers.simulate.figures import FIGURES, Grid, combined
from antecede.checker.papers.simulate.handlers import digest
from antecede.checker.papers.simulate.results import RESULTS, mean, percentile
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.papers.simulate.statistics import estimate

SMALL = Scenario(actors=5, messages=6, interval=4_000_000, job_share=0.3)
GRID = Grid("asked", "", ("mfss", "cykas", "rst"), combined(SMALL, {"delay": (1, 5_000_000)}), 3)
ONE = partial(here, workers=1)


def test_a_row_says_what_was_run_and_what_came_out(tmp_path: Path) -> None:
    rows = list(experiment(runs_of(GRID, twins=True), ONE, tmp_path / "rows.jsonl"))
    assert 3 * 2 * 3 == len(rows)
    for row in rows:
        assert [*KEYS, *RESULTS, "error"] == list(row)
        assert row["error"] is None
        assert 30 == row["messages_sent"] == row["deliveries"]
        assert row["latency_p50_ns"] <= row["latency_p99_ns"] <= row["latency_max_ns"]
        assert row["last_delivery_ns"] <= row["execution_ns"] <= row["finish_ns"]
        waits = row["sender_wait_ns"] + row["receiver_wait_ns"]
        assert waits < row["latency_mean_ns"]
        assert 0 == row["violations"]


def test_the_same_seed_gives_the_same_row() -> None:
    run = runs_of(GRID, twins=True)[0]
    assert row_of(run) == row_of(run)
    assert row_of(run)["execution_ns"] != row_of(evolve(run, seed=2))["execution_ns"]


def test_twins_give_the_rows_of_the_handlers_themselves() -> None:
    for own, twin in zip(runs_of(GRID, twins=False), runs_of(GRID, twins=True), strict=True):
        ours, its = row_of(own), row_of(twin)
        if own.protocol != "mfss":
            assert ("own", "twin") == (ours["handlers"], its["handlers"])
        assert [ours[name] for name in RESULTS] == [its[name] for name in RESULTS]


def test_two_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    runs = runs_of(evolve(GRID, seeds=1), twins=True)
    for workers, name in ((1, "one"), (2, "two")):
        list(experiment(runs, partial(here, workers=workers), tmp_path / name))
    assert rows_of(runs, tmp_path / "one") == rows_of(runs, tmp_path / "two")


def test_what_is_in_the_file_is_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    some = runs_of(evolve(GRID, seeds=1), twins=True)
    list(experiment(some, ONE, file))
    with file.open("a") as out:
        out.write('{"protocol": "mf')  # cut off by a kill
    rest = list(experiment(runs_of(GRID, twins=True), ONE, file))
    assert {2, 3} == {row["seed"] for row in rest}
    assert 18 == len(kept_in(file).rows()) == len(rows_of(runs_of(GRID, twins=True), file))


def test_other_code_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    runs = runs_of(evolve(GRID, seeds=1), twins=True)
    list(experiment(runs, ONE, file))
    changed = [evolve(run, sources="another") for run in runs]
    assert len(runs) == len(list(experiment(changed, ONE, file)))


def test_the_digest_is_that_of_the_code(tmp_path: Path) -> None:
    """A protocol's own file and its local imports count; comments and docstrings do not."""
    (tmp_path / "helper_of_mine.py").write_text("LATE = False\n")
    own = tmp_path / "mine.py"
    source = (
        "from antecede import Protocol, Step\n"
        "from helper_of_mine import LATE\n"
        "import helper_of_mine\n"
        "def late(): return LATE\n"
        "def send(state, m): return Step(state, ((m.receiver, (m,)),))\n"
        "def receive(state, src, packet): return Step(state, deliveries=packet)\n"
        "MINE = Protocol('mine', lambda i, n: 0, send, receive)\n"
    )
    own.write_text(source)
    first = digest(f"{own}:MINE")
    own.write_text(source.replace("lambda i, n: 0", "lambda i, n: 1"))
    assert first != digest(f"{own}:MINE")
    own.write_text(source)
    (tmp_path / "helper_of_mine.py").write_text('"""Helps."""\n\nLATE = False  # never\n')
    assert first == digest(f"{own}:MINE")
    (tmp_path / "helper_of_mine.py").write_text("LATE = True\n")
    assert first != digest(f"{own}:MINE")
    assert digest("rst") != digest("cykas") != digest("mfss")
    assert digest("rst") != digest("rst", twins=False)


def test_an_error_is_a_row() -> None:
    scenario = Scenario(actors=3, messages=2)
    (run,) = runs_of(Grid("asked", "", ("newtop",), (scenario,), 1), twins=True)
    row = row_of(run)
    assert re.match(r"all-delivered: \d messages never arrive, the first", str(row["error"]))
    assert row["execution_ns"] is None
    assert json.loads(json.dumps(row)) == row


def test_twice_the_seeds_narrow_the_interval() -> None:
    """Four times as many halve it, up to chance."""
    scenario = Scenario(actors=3, messages=3, jitter=20_000_000)
    runs = runs_of(Grid("asked", "", ("mfss",), (scenario,), 400), twins=True)
    times = [row_of(run)["latency_mean_ns"] for run in runs]

    def width(values: list[int]) -> float:
        found = estimate(values)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    few = [width(times[at : at + 25]) for at in range(0, 400, 25)]
    more = [width(times[at : at + 50]) for at in range(0, 400, 50)]
    many = [width(times[at : at + 100]) for at in range(0, 400, 100)]
    averages = [sum(widths) / len(widths) for widths in (few, more, many)]
    assert averages[0] > averages[1] > averages[2]
    assert 0.35 < averages[2] / averages[0] < 0.65


def test_the_figures_grids_are_the_papers() -> None:
    cells = {
        name: len(figure.grid(name, None, quick=False).scenarios)
        for name, figure in FIGURES.items()
    }
    assert {"cykas-4": 20, "cykas-5": 20, "cykas-6": 8} == {
        name: count for name, count in cells.items() if name.startswith("cykas")
    }
    for name in ("cykas-4", "cykas-5", "cykas-6"):
        grid = FIGURES[name].grid(name, None, quick=False)
        assert 30 == grid.seeds
        assert {100} == {s.messages for s in grid.scenarios}
        assert {5_000_000} == {s.delay for s in grid.scenarios}


@pytest.mark.parametrize(
    ("percent", "expected"), [(50, 2), (75, 3), (76, 4), (90, 4), (99, 4), (1, 1)]
)
def test_a_percentile_is_one_of_the_values(percent: int, expected: int) -> None:
    assert expected == percentile([1, 2, 3, 4], percent)


def test_a_mean_is_rounded_half_up() -> None:
    assert (2, 3, None) == (mean([1, 2, 3]), mean([2, 3]), mean([]))
