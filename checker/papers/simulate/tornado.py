"""Tornado charts: the effect of each assumption, changed alone, on a figure's key numbers.

A key number is a speedup at one point of a figure. The picture has a panel per key number, with a
bar per alternative. A bar reaches from the number under the defaults to the number under the
alternative. The longest bar is on top.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from antecede.checker.papers.simulate.chart import picture
from antecede.checker.papers.simulate.figures import KEY_NUMBERS, KeyNumber
from antecede.checker.papers.simulate.scenario import written
from antecede.checker.papers.simulate.statistics import Estimate, cell_of, speedups
from antecede.checker.render.svg_style import LIGHT
from antecede.checker.support.errors import InputError
from antecede.checker.sweep.kept import Row


@frozen
class Bar:
    """A key number under one alternative."""

    field: str
    value: Any
    found: Estimate

    @property
    def label(self) -> str:
        """The alternative as a short text."""
        return f"{self.field.replace('_', ' ')}: {written(self.field, self.value)}"


def bars(key: KeyNumber, rows: Sequence[Row]) -> tuple[Estimate, list[Bar]] | None:
    """Return a key number under the defaults and under each alternative, the farthest first.

    Returns None if there are no rows under the defaults.
    """
    estimates = speedups(rows, "execution_ns", key.of, key.over)
    base = estimates.get(cell_of(key.scenario))
    if base is None:
        return None
    listed = [
        Bar(name, value, estimates[cell_of(scenario)])
        for name, value, scenario in key.alternatives()
        if cell_of(scenario) in estimates
    ]
    return base, sorted(listed, key=lambda bar: -abs(bar.found.median - base.median))


TITLE = "What another assumption makes of the Cykas paper's key numbers"


@frozen
class KeyBars:
    """A panel: a key number under the defaults, and its bars, the longest first.

    Attributes:
        says: what the key number is.
        base: the number under the defaults.
        bars: label -> the number under the alternative.
    """

    says: str
    base: float
    bars: Mapping[str, float]


@frozen
class Tornado:
    """A tornado chart: a panel for each key number, two in a row."""

    title: str
    panels: Sequence[KeyBars]

    def svg(self) -> str:
        """Return the chart as SVG."""
        lines = -(-len(self.panels) // 2)
        longest = [
            max(len(panel.bars) for panel in self.panels[2 * line : 2 * line + 2])
            for line in range(lines)
        ]

        def fill(figure: Any) -> None:
            grid = figure.subplots(lines, 2, squeeze=False, height_ratios=[n + 4 for n in longest])
            for axes, panel in zip(grid.flatten(), self.panels, strict=False):
                _panel(axes, panel)
            for axes in grid.flatten()[len(self.panels) :]:
                axes.remove()

        return picture(self.title, (11.0, 0.21 * sum(n + 4 for n in longest) + 0.5), fill)


def of_rows(rows: Sequence[Row], title: str) -> Tornado:
    """Return the tornado chart of all key numbers that have rows.

    Raises:
        InputError: no key number has rows, as with --quick.
    """
    made = [(key.says, bars(key, rows)) for key in KEY_NUMBERS.values()]
    panels = [
        KeyBars(says, found[0].median, {bar.label: bar.found.median for bar in found[1]})
        for says, found in made
        if found is not None
    ]
    if not panels:
        raise InputError("--svg draws the figure's own points; leave out --quick and parameters")
    return Tornado(title, panels)


def _panel(axes: Any, panel: KeyBars) -> None:
    """Draw the bars of a key number; bars that change the faster protocol are also hatched."""
    base = panel.base
    axes.set_title(textwrap.fill(f"{panel.says}: {base:.2f}", 44))
    axes.grid(visible=False)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.set_yticks(range(len(panel.bars)), list(panel.bars))
    axes.axvline(1.0, color=LIGHT["muted"], linestyle=(0, (4, 3)), linewidth=1.2)
    axes.axvline(base, color=LIGHT["muted"], linewidth=1.0)
    for place, value in enumerate(panel.bars.values()):
        flips = (value - 1) * (base - 1) < 0
        axes.barh(
            place,
            value - base,
            left=base,
            height=0.65,
            color=LIGHT["late"] if flips else LIGHT["chain"],
            edgecolor=LIGHT["paper"],
            hatch="///" if flips else "",
        )
        text = f"{value:.2f}{' (flips)' if flips else ''}"
        axes.annotate(
            text, (max(value, base), place), (4, 0), textcoords="offset points", va="center"
        )
