"""Charts drawn by Matplotlib, as SVG with colours for light and dark schemes.

Series differ in colour, marker and dashes, so that a reader can distinguish them in grey.
Matplotlib comes with the extra `plot`; it is imported only when a chart is drawn.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.render.svg_style import DARK, LIGHT, darkening

DARK_OF: Mapping[str, str] = {
    **{LIGHT[name]: DARK[name] for name in LIGHT},
    "#1a7f37": "#57d17a",
    "#8a6100": "#d9a521",
    "#bf3989": "#ff8ac7",
    "#0b7285": "#4fd0e0",
}
"""Every colour of a chart -> its colour in a dark scheme."""

INKS = (LIGHT["chain"], LIGHT["late"], LIGHT["mode"], "#1a7f37", LIGHT["shade"], LIGHT["ink"])
LOOKS = [
    {"color": ink, "marker": marker, "linestyle": dashes}
    for ink, marker, dashes in zip(
        (*INKS, "#8a6100", "#bf3989", "#0b7285", LIGHT["muted"]),
        "os^Dv<>phX",
        cycle(("-", (0, (6, 2)), (0, (2, 2)), (0, (7, 2, 1, 2)))),
    )
]
"""The looks of a chart's series, in the order in which they first appear."""

COLOURS: Any = {
    "grid.color": LIGHT["faint"],
    **dict.fromkeys(("text.color", "axes.titlecolor"), LIGHT["ink"]),
    **dict.fromkeys(
        ("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), LIGHT["muted"]
    ),
}
"""The colours of charts; the rest of their style is in `chart.mplstyle`."""

TITLE_CHARACTERS_PER_INCH = 9.0
"""The most characters of a title that fit into an inch."""


@frozen
class Point:
    """A value, its interval if there is one, and a label beside it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@frozen
class Panel:
    """A chart with its own axes.

    Attributes:
        x, y: the labels of its axes, with units.
        series: name -> points; series with the same name look the same in every panel.
        log: the logarithmic axes: some of the letters x and y.
        ticks: the values of the horizontal axis' ticks; empty: Matplotlib chooses.
        level: the height of a horizontal line, or None.
        joined: whether lines join the points.
        from_zero: whether the vertical axis starts at 0.
    """

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[Point]]
    log: str = ""
    ticks: Sequence[float] = ()
    level: float | None = None
    joined: bool = True
    from_zero: bool = False


@frozen
class Chart:
    """Panels with equal vertical axes under a title, with one legend.

    Attributes:
        note: the text below the panels.
        across: the most panels in a row.
        inches: the width and the height; by default, they depend on the number of panels.
    """

    title: str
    panels: Sequence[Panel]
    note: str = ""
    across: int = 2
    inches: tuple[float, float] | None = None

    def svg(self) -> str:
        """Return the chart as SVG."""
        columns = min(self.across, len(self.panels))
        rows = -(-len(self.panels) // columns)

        def fill(figure: Any) -> None:
            self._fill(figure, rows, columns)

        inches = self.inches or (max(3.4 * columns, 7.0), 2.7 * rows + 1.1)
        return picture(self.title, inches, fill)

    def _fill(self, figure: Any, rows: int, columns: int) -> None:
        names = dict.fromkeys(name for panel in self.panels for name in panel.series)
        looks = dict(zip(names, cycle(LOOKS), strict=False))
        grid = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
        lines: dict[str, Any] = {}
        for place, (axes, panel) in enumerate(zip(grid, self.panels, strict=False)):
            lines |= _drawn(axes, panel, looks)
            if place % columns:
                axes.set_ylabel("")
        for axes, panel in zip(grid, self.panels, strict=False):
            if panel.from_zero:  # once all panels are drawn: shared axes have room for all of them
                axes.set_ylim(bottom=0)
        for axes in grid[len(self.panels) :]:
            axes.remove()
        shown = [name for name in names if name in lines]
        figure.legend(
            [lines[name] for name in shown],
            shown,
            loc="outside lower center",
            ncols=min(len(shown), columns * 3),
            title=self.note,
        )


def picture(title: str, inches: tuple[float, float], fill: Callable[[Any], None]) -> str:
    """Return the drawing that `fill` makes in a Matplotlib figure, as SVG.

    `inches` are the width and the height. The drawing may use the colours of `DARK_OF`.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    drawing = io.StringIO()
    with mpl.rc_context(COLOURS, Path(__file__).with_name("chart.mplstyle")):
        figure = Figure(figsize=inches, layout="constrained")
        lines = textwrap.fill(title, int(TITLE_CHARACTERS_PER_INCH * inches[0]))
        figure.suptitle(lines, x=0.01, horizontalalignment="left")
        fill(figure)
        figure.savefig(drawing, format="svg", metadata={"Date": None, "Creator": None})
    return _following_the_scheme(drawing.getvalue())


def _drawn(axes: Any, panel: Panel, looks: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Draw a panel; return its series by name."""
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    for letter in panel.log:
        axes.set(**{f"{letter}scale": "log"})
    if panel.level is not None:
        axes.axhline(panel.level, color=LIGHT["muted"], linestyle=(0, (4, 3)), linewidth=1.2)
    single = {} if panel.joined else {"linestyle": "none"}
    lines = {
        name: _series(axes, name, points, {**looks[name], **single})
        for name, points in panel.series.items()
        if points
    }
    for letter in panel.log:
        _number(getattr(axes, f"{letter}axis"))
    if panel.ticks:
        axes.set_xticks(panel.ticks, [f"{tick:g}" for tick in panel.ticks])
        axes.set_xticks([], minor=True)
    return lines


def _number(axis: Any) -> None:
    """Use plain numbers on a logarithmic axis: 1,000 instead of a power."""
    from matplotlib.ticker import LogLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter("")


def _series(axes: Any, name: str, points: Sequence[Point], look: Mapping[str, Any]) -> Any:
    """Draw points with their intervals; return the drawn series."""
    nothing = float("nan")
    below = [nothing if p.low is None else p.y - p.low for p in points]
    above = [nothing if p.high is None else p.high - p.y for p in points]
    for p in points:
        axes.annotate(p.label, (p.x, p.y), (3, 4), textcoords="offset points", fontsize=8)
    return axes.errorbar(
        [p.x for p in points],
        [p.y for p in points],
        yerr=[below, above],
        capsize=2.5,
        markersize=6,
        markeredgecolor=LIGHT["paper"],
        markeredgewidth=0.7,
        label=name,
        **look,
    )


def _following_the_scheme(drawing: str) -> str:
    """Return a Matplotlib picture with an added style sheet for dark schemes."""
    start = drawing.index(">", drawing.index("<svg ")) + 1
    return f"{drawing[:start]}\n <style>{darkening(DARK_OF)}</style>{drawing[start:]}"
