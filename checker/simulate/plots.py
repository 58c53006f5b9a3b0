"""The papers' figures, drawn from rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from antecede.checker.errors import InputError
from antecede.checker.simulate.chart import Axis, Chart, Panel, Point, Series
from antecede.checker.simulate.figures import Grid
from antecede.checker.simulate.scenario import Scenario, written
from antecede.checker.simulate.statistics import Cell, Estimate, cell_of, medians, speedups
from antecede.checker.sweep.kept import Row

MS, SECOND = 1e6, 1e9

SPEEDUPS = {"execution_ns": "execution time", "job_start_ns": "average job start time"}


def drawn(grid: Grid, rows: Sequence[Row]) -> dict[str, str]:
    """Return, per name, a picture of the figure that a grid is for.

    Raises:
        InputError: there are no rows.
    """
    right = [row for row in rows if row["error"] is None]
    if not right:
        raise InputError("there is nothing to draw: no run came out right")
    return {grid.name: _DRAWERS[grid.name](grid, right).svg()}


def seeds_of(rows: Iterable[Row]) -> str:
    """Return how many programs the rows are of, for a note below a figure."""
    count = len({row["seed"] for row in rows})
    bars = "; bars: 95 % intervals" if count >= 6 else "; too few for intervals"
    return f"Medians of {count} program{'s' * (count > 1)}{bars if count > 1 else ''}"


def point(x: float, found: Estimate, scale: float = 1.0) -> Point:
    """Return a median with its interval, divided by `scale`."""
    if found.low is None or found.high is None:
        return Point(x, found.median / scale)
    return Point(x, found.median / scale, found.low / scale, found.high / scale)


def _figure_4(grid: Grid, rows: Sequence[Row]) -> Chart:
    found = medians(rows, "execution_ns")

    def ratio(scenario: Scenario) -> float:
        return scenario.actors / (scenario.bandwidth / 1000)

    def panel(title: str, chosen: Sequence[Scenario]) -> Panel:
        series = tuple(
            Series(
                protocol,
                tuple(
                    point(ratio(s), found[protocol, cell_of(s)], SECOND)
                    for s in sorted(chosen, key=ratio)
                    if (protocol, cell_of(s)) in found
                ),
                joined=bool(title),
            )
            for protocol in grid.protocols
        )
        x = Axis("processes per kB/s", log=True)
        return Panel(title or "all", x, Axis("execution time, s", log=True), series)

    sizes = sorted({s.actors for s in grid.scenarios})
    panels = [panel("", grid.scenarios)] + [
        panel(f"{n} processes", [s for s in grid.scenarios if s.actors == n]) for n in sizes
    ]
    return Chart(grid.title, tuple(panels), seeds_of(rows), across=3, alike=True)


def _speedup_series(
    rows: Sequence[Row], name: str, measure: str, points: Iterable[tuple[float, Cell]]
) -> Series:
    found = speedups(rows, measure)
    return Series(name, tuple(point(x, found[cell]) for x, cell in points if cell in found))


def _figure_5(grid: Grid, rows: Sequence[Row]) -> Chart:
    panels = []
    for interval in dict.fromkeys(s.interval for s in grid.scenarios):
        chosen = [s for s in grid.scenarios if s.interval == interval]
        points = [(s.job_length / MS, cell_of(s)) for s in chosen]
        series = [
            _speedup_series(rows, name, measure, points) for measure, name in SPEEDUPS.items()
        ]
        panels.append(
            Panel(
                f"interval {written('interval', interval)}",
                Axis("job length, ms", ticks=(0, 10, 20, 30, 40, 50)),
                Axis("speedup of Cykas over MFSS"),
                tuple(s for s in series if s.points),
                level=1.0,
            )
        )
    return Chart(grid.title, tuple(panels), seeds_of(rows), alike=True)


def _figure_6(grid: Grid, rows: Sequence[Row]) -> Chart:
    series = []
    for share in dict.fromkeys(s.job_share for s in grid.scenarios):
        chosen = [s for s in grid.scenarios if s.job_share == share]
        points = [(s.hotspots * 100, cell_of(s)) for s in chosen]
        name = f"jobs on {written('job_share', share)} of the messages" if share else "no jobs"
        series.append(_speedup_series(rows, name, "execution_ns", points))
    panel = Panel(
        "execution time",
        Axis("hotspot processes, %", ticks=(0, 5, 10, 20)),
        Axis("speedup of Cykas over MFSS"),
        tuple(series),
        level=1.0,
    )
    return Chart(grid.title, (panel,), seeds_of(rows))


_DRAWERS: Mapping[str, Callable[[Grid, Sequence[Row]], Chart]] = {
    "cykas-4": _figure_4,
    "cykas-5": _figure_5,
    "cykas-6": _figure_6,
}
