"""Puts rows of `antecede simulate` into docs/simulation.md and benchmarks/simulation.md.

python benchmarks/simulation.py ROWS.jsonl…    # the rows of all figures; see the second page
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from attrs import evolve
from drawings import keep_chart
from page import put

from antecede.checker.papers.simulate.experiment import kept_in
from antecede.checker.papers.simulate.figures import FIGURES, HYBRID, Grid
from antecede.checker.papers.simulate.plots import charts
from antecede.checker.papers.simulate.scenario import MS, parameters, written
from antecede.checker.papers.simulate.statistics import (
    CONTROL_EACH,
    THROUGHPUT,
    Estimate,
    added,
    cell_of,
    medians,
)
from antecede.checker.papers.simulate.timed_claims import decide, markdown, timed_claims
from antecede.checker.sweep.kept import Row

ROOT = Path(__file__).resolve().parent.parent
PAGE, IMAGES = ROOT / "docs" / "simulation.md", ROOT / "docs" / "images" / "simulation"
DATA = ROOT / "benchmarks" / "simulation.md"
"""The page with the rulings, and with a row for each point of a figure."""


def wanted(rows: Sequence[Row], grid: Grid) -> list[Row]:
    """Return the rows of a grid that have no error."""
    cells = {cell_of(scenario) for scenario in grid.scenarios}
    return [
        row
        for row in rows
        if row["error"] is None
        and row["protocol"] in grid.protocols
        and 1 <= row["seed"] <= grid.seeds
        and cell_of(row) in cells
    ]


def complete(name: str, rows: Sequence[Row]) -> Grid:
    """Return a figure's grid with the seeds whose rows are complete."""
    grid, seeds = FIGURES[name].grid(name, 1, quick=False), 0
    while True:
        there = wanted(rows, evolve(grid, seeds=seeds + 1))
        if len(there) < len(grid.scenarios) * len(grid.protocols) * (seeds + 1):
            return evolve(grid, seeds=seeds)
        seeds += 1


def shown(found: Estimate, scale: float, digits: int) -> str:
    """Return a median with its interval, if there is one."""
    middle = f"{found.median / scale:,.{digits}f}"
    if found.low is None or found.high is None:
        return middle
    return f"{middle} [{found.low / scale:,.{digits}f}, {found.high / scale:,.{digits}f}]"


def which_when(rows: Sequence[Row], protocols: Sequence[str]) -> str:
    """Return the table of the hybrid evaluation: a row per protocol, requests every 50 ms."""
    load = next(
        s
        for s in HYBRID["load"].scenarios(quick=False)
        if s.workload == "requests" and s.interval == 50 * MS
    )
    far, large = (
        next(
            s
            for s in HYBRID[part].scenarios(quick=False)
            if s.workload == workload and getattr(s, axis) == value
        )
        for part, workload, axis, value in (
            ("distance", "requests", "delay", 20 * MS),
            ("size", "random", "actors", 32),
        )
    )
    columns = (
        ("added, median, ms", added(rows, "latency_p50_ns", "unordered"), load, 1e6, 1),
        ("added, p99, ms", added(rows, "latency_p99_ns", "unordered"), load, 1e6, 1),
        ("held to send", medians(rows, "sender_buffer"), load, 1, 0),
        ("held received", medians(rows, "receiver_buffer"), load, 1, 0),
        ("control B, 32 processes", medians(rows, CONTROL_EACH), large, 1, 0),
        ("deliveries/s at 20 ms", medians(rows, THROUGHPUT), far, 1, 0),
    )
    head = ["protocol", *(name for name, *_ in columns)]
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * len(columns)}"]
    for protocol in protocols:
        cells = [
            shown(found[protocol, cell_of(point)], scale, digits)
            for _, found, point, scale, digits in columns
        ]
        lines.append(f"| {protocol} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def assumptions() -> str:
    """Return the table of the parameters that the papers do not state."""
    lines = ["| Parameter | Default | What it is, and why | Tried |", "| --- | --- | --- | --- |"]
    for name, about in parameters().items():
        if not about.reason:
            continue
        meaning = about.choices.get(about.default, "")
        says = about.says + (f": {meaning}" if meaning else "")
        tried = ", ".join(written(name, value) for value in about.others)
        lines.append(
            f"| `{name.replace('_', '-')}` | {written(name, about.default)} | "
            f"{says}. *{about.reason}.* | {tried} |"
        )
    return "\n".join(lines) + "\n"


def about(counts: dict[str, int], chosen: list[Row]) -> str:
    """Return what the results depend on: the number of programs, and the code that ran.

    Args:
        counts: name of a figure -> the number of programs for each of its points.
        chosen: all rows that the page uses.
    """
    digests: dict[str, set[str]] = {}
    for row in chosen:
        digests.setdefault(row["protocol"], set()).add(row["sources"])
    figures = [f"| `{name}` | {number} |" for name, number in counts.items()]
    codes = [f"| `{name}` | {', '.join(sorted(digests[name]))} |" for name in sorted(digests)]
    text = (
        f"The rulings come from {len(chosen):,} simulated runs. The first table says how many "
        "programs (seeds) we ran for each point of a figure. A ruling on a point of two figures "
        "uses the programs of both. The second table has a digest of the code of each protocol, "
        "without comments and docstrings. If today's code has another digest, it has changed since "
        "the runs."
    )
    return "\n".join(
        [
            textwrap.fill(text, 120),
            "",
            "| figure | programs |",
            "| --- | ---: |",
            *figures,
            "",
            "| protocol | digest |",
            "| --- | --- |",
            *codes,
            "",
        ]
    )


def rows_in(files: Sequence[str]) -> list[Row]:
    """Return the rows of several files that have no error, each run once."""
    found: dict[tuple[object, ...], Row] = {}
    for file in files:
        kept = kept_in(Path(file))
        found |= {kept.key(row): row for row in kept.rows() if row["error"] is None}
    return list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="ROWS.jsonl")
    rows = rows_in(parser.parse_args().files)
    IMAGES.mkdir(parents=True, exist_ok=True)
    used: dict[tuple[object, ...], Row] = {}
    counts: dict[str, int] = {}
    for name in FIGURES:
        grid = complete(name, rows)
        there = wanted(rows, grid)
        if grid.seeds:
            counts[name] = grid.seeds
        used |= {(row["protocol"], row["seed"], cell_of(row)): row for row in there}
        if name != "tornado-4" and grid.seeds:
            more = wanted(rows, complete("tornado-4", rows)) if name == "tornado" else []
            for picture, made in charts(grid, [*there, *more]).items():
                keep_chart(made, IMAGES / f"{picture}.json")
    chosen = list(used.values())
    rulings = markdown([decide(claim, chosen) for claim in timed_claims()])
    put(DATA, {"claims": rulings, "runs": about(counts, chosen)})
    which = which_when(chosen, FIGURES["hybrid"].protocols)
    put(PAGE, {"which": which, "assumptions": assumptions()})


if __name__ == "__main__":
    main()
