"""The steps of `antecede simulate`, from its options to the report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from antecede.checker.papers.claims.claim import Ruling
from antecede.checker.papers.simulate import report, timed_claims
from antecede.checker.papers.simulate.experiment import (
    KEYS,
    PARQUET,
    Runner,
    experiment,
    failed,
    gave_up,
    here,
    kept_in,
    on_cluster,
    rows_of,
    runs_of,
)
from antecede.checker.papers.simulate.figures import Grid, combined, figure_named
from antecede.checker.papers.simulate.scenario import FIELDS, Scenario, parsed_list
from antecede.checker.render.ticker import Ticker
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, check_known
from antecede.checker.support.exit_codes import (
    AS_EXPECTED,
    INCOMPLETE,
    INPUT_ERROR,
    NOT_AS_EXPECTED,
    most_urgent,
)
from antecede.checker.support.extras import check_installed
from antecede.checker.sweep.kept import Row

__all__ = ["NEVER_NULL", "PARQUET", "Found", "draw", "grids_of", "run", "runner_of"]

ASKED = "asked"
"""The name of the grid for protocols on the command line, without a figure."""

NEVER_NULL = len(KEYS)
"""The number of columns of PARQUET that every row has; they come first."""


@frozen
class Found:
    """The result of the command.

    Attributes:
        rows: the rows of the requested runs, new or from earlier.
    """

    rows: list[Row]
    text: str
    exit_code: int


def grids_of(
    protocols: Sequence[str],
    figures: Sequence[str],
    values: Mapping[str, str | None],
    seeds: int | None,
    *,
    quick: bool,
    drawn: bool,
) -> list[Grid]:
    """Return the grids to run, in order.

    Args:
        protocols: names of protocols; they replace a figure's own protocols.
        figures: names of figures, `cykas` for all of its paper; empty: one grid of the values.
        values: for each parameter a list such as `25,50`, or None.
        seeds: the number of seeds, or None for the figures' own numbers.
        quick: use the figures' smaller grids.
        drawn: the figures will be drawn.

    Raises:
        InputError: a value cannot be read, there is nothing to run, or Matplotlib is missing.
    """
    axes = _axes(values)
    if drawn:
        check_installed("plot", "--svg")
    if not figures:
        if not protocols:
            raise InputError("there is nothing to simulate; name protocols, or a --figure")
        if quick or drawn:
            raise InputError(f"{'--quick' if quick else '--svg'} is for --figure")
        return [Grid(ASKED, "", tuple(protocols), combined(Scenario(), axes), seeds or 30)]
    if any(len(listed) > 1 for listed in axes.values()):
        raise InputError(
            "with --figure give one value of a parameter, in place of the figure's own"
        )
    fixed = {name: listed[0] for name, listed in axes.items()}
    names = dict.fromkeys(
        name for figure in figures for name in (CYKAS if figure == "cykas" else (figure,))
    )
    grids = [figure_named(name).grid(name, seeds, quick=quick) for name in names]
    return [
        evolve(
            grid,
            scenarios=tuple(dict.fromkeys(evolve(s, **fixed) for s in grid.scenarios)),
            protocols=tuple(protocols) or grid.protocols,
        )
        for grid in grids
    ]


def named_values(settings: Sequence[str], **given: str | None) -> dict[str, str | None]:
    """Return the values of parameters by name, from texts such as `delay=1ms,5ms`.

    Raises:
        InputError: a text has no name of a parameter, or a parameter is set twice.
    """
    values = dict(given)
    for text in settings:
        written, equals, value = text.partition("=")
        name = written.strip().replace("-", "_")
        if not equals:
            raise InputError(f"--set is {text!r}; give NAME=VALUE, such as delay=5ms")
        check_known("parameter", name, FIELDS)
        if values.get(name) is not None:
            raise InputError(f"{name.replace('_', ' ')} is set twice; give a list with commas")
        values[name] = value
    return values


CYKAS = ("cykas-4", "cykas-5", "cykas-6")
"""The figures of the Cykas paper."""


def check_drawable(grids: Sequence[Grid]) -> None:
    """Refuse to draw if there is no figure, or if Matplotlib is missing."""
    if not grids:
        raise InputError("there is nothing to draw; simulate a figure of a paper")
    check_installed("plot", "a chart")


def _axes(values: Mapping[str, str | None]) -> dict[str, list[Any]]:
    """Return the parsed values of the given parameters."""
    return {name: parsed_list(name, text) for name, text in values.items() if text is not None}


def runner_of(name: str, workers: int | None, master: str | None) -> Runner:
    """Return the function that does runs in the place that the options choose."""
    if name == "spark":
        return partial(on_cluster, master=master)
    return partial(here, workers=workers or os.cpu_count() or 1)


def run(
    grid: Grid, file: Path, runner: Runner, ticker: Ticker, *, twins: bool, kept: bool = True
) -> Found:
    """Do the missing runs of a grid, and report all of its runs.

    `kept`: the file remains after the runs, so the report names it.

    Raises:
        InputError: a scenario is impossible, or the file does not contain rows.
    """
    runs = runs_of(grid, twins=twins)
    before = len(rows_of(runs, file))
    progress, errors = report.RunProgress(len(runs) - before, ticker), []
    with kept_in(file).noted():
        for row in experiment(runs, runner, file):
            if row["error"] is not None:
                errors.append(row)
            progress(row)
    ticker.clear()
    rows = rows_of(runs, file)
    wrong = [row for row in rows if row["error"] is not None]
    lost = [row for row in errors if gave_up(row)]
    right = [row for row in rows if row["error"] is None]
    parts = [grid.title] if grid.title else []
    old = f"; {before:,} of the rows were there before" if kept and before else ""
    parts += [f"{counted(len(runs), 'run')}{f', saved in {file}' if kept else ''}{old}"]
    parts += report.wrong(wrong + lost)
    if right:
        shown = report.table(right, grid)
        parts += [shown, report.legend(shown)]
        parts += report.faster(right, grid)
    violations = report.violations(right, figure=grid.name != ASKED)
    parts += violations
    told = [timed_claims.decide(claim, right) for claim in timed_claims.timed_claims(grid.name)]
    open_claims = [each for each in told if grid.quick and each.ruling is Ruling.UNDECIDED]
    told = [each for each in told if each not in open_claims]
    if right and told:
        parts.append(f"Claims of the paper:\n{timed_claims.lines(told)}")
    if right and open_claims:
        parts.append(report.too_quick(len(open_claims)))
    # A figure's controls violate causality on purpose.
    unexpected = wrong or (violations and grid.name == ASKED)
    codes = (
        INPUT_ERROR if any(map(failed, wrong)) else AS_EXPECTED,
        NOT_AS_EXPECTED if unexpected else AS_EXPECTED,
        INCOMPLETE if lost else AS_EXPECTED,  # the cluster gave up
    )
    return Found(rows, "\n\n".join(parts), most_urgent(codes))


def draw(grid: Grid, rows: Sequence[Row], folder: str) -> None:
    """Draw a figure into a folder, which is created if necessary.

    Raises:
        InputError: there is nothing to draw, or the folder cannot be created.
    """
    from antecede.checker.papers.simulate.plots import drawn
    from antecede.checker.render.files import make_folder, write_whole

    place = Path(folder)
    make_folder(place)
    for name, text in drawn(grid, rows).items():
        write_whole(str(place / f"{name}.svg"), text)
