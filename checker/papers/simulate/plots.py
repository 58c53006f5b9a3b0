"""The papers' figures, drawn from rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import field, frozen

from antecede.checker.papers.simulate import tornado
from antecede.checker.papers.simulate.chart import Chart, Panel, Point
from antecede.checker.papers.simulate.figures import HYBRID, PICTURES, Grid
from antecede.checker.papers.simulate.scenario import MS, Scenario, written
from antecede.checker.papers.simulate.statistics import (
    Cell,
    Estimate,
    added,
    cell_of,
    medians,
    speedups,
)
from antecede.checker.papers.simulate.tornado import Tornado
from antecede.checker.support.errors import InputError
from antecede.checker.sweep.kept import Row

SECOND = 1e9

SPEEDUPS = {"execution_ns": "execution time", "job_start_ns": "average job start time"}


def drawn(grid: Grid, rows: Sequence[Row]) -> dict[str, str]:
    """Return the pictures of a grid's figure as SVG, by name.

    Raises:
        InputError: there are no rows.
    """
    return {name: made.svg() for name, made in charts(grid, rows).items()}


def charts(grid: Grid, rows: Sequence[Row]) -> dict[str, Chart | Tornado]:
    """Return the pictures of a grid's figure before they are drawn, by name.

    Raises:
        InputError: there are no rows.
    """
    right = [row for row in rows if row["error"] is None]
    if not right:
        raise InputError("there is nothing to draw: no run came out right")
    if grid.name in _PAPERS:
        return {grid.name: _PAPERS[grid.name](grid, right)}
    questions = PICTURES[grid.name].items()
    return {name: GrowthPicture(**table).draw(grid, right) for name, table in questions}


def seeds_of(rows: Iterable[Row]) -> str:
    """Return the note below a figure: the number of programs that the rows come from."""
    count = len({row["seed"] for row in rows})
    bars = "; bars: 95 % intervals" if count >= 6 else "; too few for intervals"
    return f"Medians of {count} program{'s' * (count > 1)}{bars if count > 1 else ''}"


def point(x: float, found: Estimate, scale: float = 1.0) -> Point:
    """Return a median with its interval, divided by `scale`."""
    if found.low is None or found.high is None:
        return Point(x, found.median / scale)
    return Point(x, found.median / scale, found.low / scale, found.high / scale)


def _figure_4(grid: Grid, rows: Sequence[Row]) -> Chart:
    times = medians(rows, "execution_ns")

    def ratio(scenario: Scenario) -> float:
        return scenario.actors / (scenario.bandwidth / 1000)

    def panel(title: str, chosen: Sequence[Scenario], *, joined: bool = True) -> Panel:
        series = {
            protocol: [
                point(ratio(s), times[protocol, cell_of(s)], SECOND)
                for s in sorted(chosen, key=ratio)
                if (protocol, cell_of(s)) in times
            ]
            for protocol in grid.protocols
        }
        x, y = "processes per kB/s", "execution time, s"
        return Panel(title, x, y, series, log="xy", joined=joined)

    sizes = sorted({s.actors for s in grid.scenarios})
    panels = [panel("all", grid.scenarios, joined=False)] + [
        panel(f"{n} processes", [s for s in grid.scenarios if s.actors == n]) for n in sizes
    ]
    return Chart(grid.title, panels, seeds_of(rows))


def _along(
    ratios: Mapping[Cell, Estimate], places: Iterable[tuple[float, Scenario]]
) -> list[Point]:
    """Return the points of a line: a speedup at each scenario that has one."""
    cells = [(x, cell_of(scenario)) for x, scenario in places]
    return [point(x, ratios[cell]) for x, cell in cells if cell in ratios]


def _figure_5(grid: Grid, rows: Sequence[Row]) -> Chart:
    panels = []
    ratios = {name: speedups(rows, measure) for measure, name in SPEEDUPS.items()}
    for interval in dict.fromkeys(s.interval for s in grid.scenarios):
        places = [(s.job_length / MS, s) for s in grid.scenarios if s.interval == interval]
        panels.append(
            Panel(
                f"interval {written('interval', interval)}",
                "job length, ms",
                "speedup of Cykas over MFSS",
                {name: _along(found, places) for name, found in ratios.items()},
                ticks=(0, 10, 20, 30, 40, 50),
                level=1.0,
            )
        )
    return Chart(grid.title, panels, seeds_of(rows))


def _processes_5(grid: Grid, rows: Sequence[Row]) -> Chart:
    series, ratios = {}, speedups(rows, "execution_ns")
    for interval in dict.fromkeys(s.interval for s in grid.scenarios):
        places = [(s.actors, s) for s in grid.scenarios if s.interval == interval]
        series[f"interval {written('interval', interval)}"] = _along(ratios, places)
    panel = Panel("execution time", "processes", "speedup of Cykas over MFSS", series, level=1.0)
    return Chart(grid.title, [panel], seeds_of(rows))


def _figure_6(grid: Grid, rows: Sequence[Row]) -> Chart:
    series, ratios = {}, speedups(rows, "execution_ns")
    for share in dict.fromkeys(s.job_share for s in grid.scenarios):
        places = [(s.hotspots * 100, s) for s in grid.scenarios if s.job_share == share]
        name = f"jobs on {written('job_share', share)} of the messages" if share else "no jobs"
        series[name] = _along(ratios, places)
    panel = Panel(
        "execution time",
        "hotspot processes, %",
        "speedup of Cykas over MFSS",
        series,
        ticks=(0, 5, 10, 20),
        level=1.0,
    )
    return Chart(grid.title, [panel], seeds_of(rows))


def _fair(
    along: str, unit: float, x: str, by: str, ticks: Sequence[float]
) -> Callable[[Grid, Sequence[Row]], Chart]:
    """Return a function that draws the speedup of each protocol over MFSS, in panels.

    Args:
        along: the parameter on the horizontal axis, divided by `unit` there.
        x: the title of the horizontal axis.
        by: the parameter that has one value in each panel.
    """

    def draw(grid: Grid, rows: Sequence[Row]) -> Chart:
        panels, others = [], [name for name in grid.protocols if name != "mfss"]
        ratios = {name: speedups(rows, "execution_ns", name) for name in others}
        for value in dict.fromkeys(getattr(s, by) for s in grid.scenarios):
            at_value = [s for s in grid.scenarios if getattr(s, by) == value]
            places = [(getattr(s, along) / unit, s) for s in at_value]
            series = {name: _along(found, places) for name, found in ratios.items()}
            title = f"{by.replace('_', ' ')} {written(by, value)}"
            panels.append(Panel(title, x, "speedup over MFSS", series, ticks=ticks, level=1.0))
        return Chart(grid.title, panels, seeds_of(rows))

    return draw


def _tornado(_grid: Grid, rows: Sequence[Row]) -> Tornado:
    return tornado.of_rows(rows, f"{tornado.TITLE} ({seeds_of(rows).lower()})")


@frozen
class GrowthPicture:
    """A picture of the hybrid evaluation: the growth of measures along a parameter.

    Attributes:
        along: the parameter on the horizontal axis, divided by `unit` there.
        added: title -> a measure that is compared with delivery without causal order.
        measures: title -> a measure that is drawn as it is. All measures are divided by `scale`.
        part: the part of HYBRID, or None for all points.
        least_x, least: the smallest values that are drawn, because axes are logarithmic.
        control: `unordered` is drawn, too.
    """

    title: str
    x: str
    along: str
    y: str
    added: Mapping[str, str] = field(factory=dict)
    measures: Mapping[str, str] = field(factory=dict)
    part: str | None = None
    unit: int = 1
    scale: float = 1.0
    least_x: float = 0.0
    least: float = 0.1
    control: bool = False

    def draw(self, grid: Grid, rows: Sequence[Row]) -> Chart:
        """Return the chart: a panel per workload and measure.

        Raises:
            InputError: the grid has no point of this picture.
        """
        part = None if self.part is None else HYBRID[self.part]
        points = [s for s in grid.scenarios if part is None or part.has(s)]
        if not points:
            raise InputError("--svg draws the figure's own points; leave parameters as they are")
        found = {
            **{name: added(rows, measure, "unordered") for name, measure in self.added.items()},
            **{name: medians(rows, measure) for name, measure in self.measures.items()},
        }
        panels = [
            Panel(
                f"{workload}: {name}",
                self.x,
                self.y,
                self._series(grid, values, [s for s in points if s.workload == workload]),
                log="xy",
                ticks=sorted({self._place(s) for s in points}),
            )
            for workload in dict.fromkeys(s.workload for s in points)
            for name, values in found.items()
        ]
        note = f"{seeds_of(rows)}; values below {self.least:g} are drawn at {self.least:g}"
        return Chart(self.title, panels, note)

    def _place(self, scenario: Scenario) -> float:
        """Return the position of a scenario on the horizontal axis."""
        value: float = getattr(scenario, self.along)
        return max(value / self.unit, self.least_x)

    def _series(
        self, grid: Grid, found: Mapping[tuple[str, Cell], Estimate], points: Sequence[Scenario]
    ) -> dict[str, list[Point]]:
        return {
            protocol: [
                self._point(self._place(s), found[protocol, cell_of(s)])
                for s in sorted(points, key=self._place)
                if (protocol, cell_of(s)) in found
            ]
            for protocol in grid.protocols
            if protocol != "unordered" or self.control
        }

    def _point(self, x: float, found: Estimate) -> Point:
        scaled = point(x, found, self.scale)
        y, low, high = (
            None if v is None else max(v, self.least) for v in (scaled.y, scaled.low, scaled.high)
        )
        assert y is not None
        return Point(x, y, low, high)


_PAPERS: Mapping[str, Callable[[Grid, Sequence[Row]], Chart | Tornado]] = {
    "cykas-4": _figure_4,
    "cykas-5": _figure_5,
    "processes-5": _processes_5,
    "cykas-6": _figure_6,
    "fair-4": _figure_4,
    "fair-5": _fair("job_length", MS, "job length, ms", "interval", (0, 10, 20, 30, 40, 50)),
    "fair-6": _fair("hotspots", 0.01, "hotspot processes, %", "job_share", (0, 5, 10, 20)),
    "tornado": _tornado,
    "tornado-4": _tornado,
}
"""Figure -> the function that makes its only picture."""
