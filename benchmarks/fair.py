"""Puts rows of `antecede simulate` with cykas-fair into benchmarks/simulation.md.

python benchmarks/fair.py ROWS.jsonl…    # see the page's commands
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from drawings import keep_chart
from page import put
from simulation import DATA, IMAGES, complete, rows_in, shown, wanted, which_when

from antecede.checker.papers.simulate.plots import charts
from antecede.checker.papers.simulate.scenario import written
from antecede.checker.papers.simulate.statistics import cell_of, speedups
from antecede.checker.sweep.kept import Row

AXES = {
    "fair-4": {"processes": "actors", "bandwidth": "bandwidth"},
    "fair-5": {"interval": "interval", "job length": "job_length"},
    "fair-6": {"messages with a job": "job_share", "hotspots": "hotspots"},
}
"""Figure -> title of a column -> the parameter that it shows."""
PAIRS = (("cykas", "mfss"), ("cykas-fair", "mfss"), ("cykas-fair", "cykas"))
"""The protocols of each speedup: the time of the second one divided by the time of the first."""
COMPARED = ("unordered", "mfss", "cykas", "cykas-fair", "hybrid-basic", "hybrid-sps")
"""The rows of the comparison with the hybrid protocols."""


def table(name: str, rows: Sequence[Row]) -> str:
    """Return the speedups at each point of a figure, as a table."""
    grid = complete(name, rows)
    chosen = wanted(rows, grid)
    found = [speedups(chosen, "execution_ns", of, over) for of, over in PAIRS]
    head = [*AXES[name], *(f"`{of}` over `{over}`" for of, over in PAIRS)]
    marks = ["---:"] * len(AXES[name]) + ["---"] * len(PAIRS)
    lines = [f"| {' | '.join(cells)} |" for cells in (head, marks)]
    for scenario in grid.scenarios:
        place = [written(axis, getattr(scenario, axis)) for axis in AXES[name].values()]
        values = [shown(ratios[cell_of(scenario)], 1, 2) for ratios in found]
        lines.append(f"| {' | '.join([*place, *values])} |")
    return "\n".join(lines) + "\n"


def runs(rows: Sequence[Row]) -> str:
    """Return the numbers of programs, and the digests of the code that ran."""
    grids = [complete(name, rows) for name in AXES]
    chosen = [row for grid in grids for row in wanted(rows, grid)]
    counts = ", ".join(f"{grid.name} {grid.seeds}" for grid in grids)
    codes = sorted({f"{row['protocol']} {row['sources']}" for row in chosen})
    return (
        f"Programs (seeds) per point: {counts}. Digests of the code that ran: {', '.join(codes)}.\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="ROWS.jsonl")
    rows = rows_in(parser.parse_args().files)
    for name in AXES:
        grid = complete(name, rows)
        for picture, made in charts(grid, wanted(rows, grid)).items():
            keep_chart(made, IMAGES / f"{picture}.json")
    parts = {name: table(name, rows) for name in AXES}
    put(DATA, {**parts, "fair-hybrid": which_when(rows, COMPARED), "fair-runs": runs(rows)})


if __name__ == "__main__":
    main()
