"""Line charts as SVG: panels side by side, medians with their intervals, a common legend.

Colours follow the reader's light or dark scheme, as in `checker.formats.svg`; series differ in
their marks and dashes, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from attrs import field, frozen

from antecede.checker.formats.geometry import text_width
from antecede.checker.formats.markup import Markup, number, tag
from antecede.checker.formats.svg_style import DARK, LIGHT

WIDE, HIGH = 330.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 14.0, 34.0, 48.0
SIZE = 12.0
LEGEND_LINE = 22.0

_INKS = ("chain", "late", "mode", "green", "shade", "ink", "brown", "pink", "teal", "muted")
_LIGHT = {**LIGHT, "green": "#1a7f37", "brown": "#8a6100", "pink": "#bf3989", "teal": "#0b7285"}
_DARK = {**DARK, "green": "#57d17a", "brown": "#d9a521", "pink": "#ff8ac7", "teal": "#4fd0e0"}
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 4", "1 4", "12 4", "none", "7 3", "2 3")


@frozen
class Point:
    """A median and its interval, at a place of the horizontal axis."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@frozen
class Series:
    """A line; those of one name look the same in every panel."""

    name: str
    points: tuple[Point, ...]
    joined: bool = True


@frozen
class Axis:
    """An axis.

    Attributes:
        label: what it measures, with its unit.
        log: logarithmic; then all values are positive.
        ticks: where it has numbers; none: chosen.
        shown: how a number is written.
        least: the axis reaches down to this at least.
    """

    label: str
    log: bool = False
    ticks: tuple[float, ...] = ()
    shown: Callable[[float], str] = lambda x: f"{x:g}"
    least: float | None = None


@frozen
class Panel:
    """A chart with axes of its own; `level` is drawn across, if there is one."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    level: float | None = None


@frozen
class _Scale:
    """Maps values to places between two coordinates."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, value = (
            (math.log(max(v, 1e-300)) if self.log else v) for v in (self.low, self.high, value)
        )
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)


@frozen
class Chart:
    """Panels under a title.

    Attributes:
        across: how many of them stand in a row.
        alike: their vertical axes are the same.
    """

    title: str
    panels: tuple[Panel, ...]
    note: str = ""
    across: int = 4
    alike: bool = False
    marks: dict[str, int] = field(init=False)

    def __attrs_post_init__(self) -> None:
        names = dict.fromkeys(s.name for panel in self.panels for s in panel.series)
        object.__setattr__(self, "marks", {name: k for k, name in enumerate(names)})

    def svg(self) -> str:
        """Return the chart as a file."""
        columns = min(self.across, len(self.panels))
        rows = -(-len(self.panels) // columns)
        wide = max(columns * WIDE, 1.1 * text_width(self.title, 16) + 28)
        legend = list(self._legend(wide))
        lines = 1 + max((line for line, _ in legend), default=0)
        foot = 24.0 if self.note else 6.0
        high = 34 + rows * HIGH + lines * LEGEND_LINE + foot
        body = [
            tag("g", *self._panel(panel), transform=f"translate({number(x)} {number(y)})")
            for k, panel in enumerate(self.panels)
            for x, y in [(k % columns * WIDE, 34 + k // columns * HIGH)]
        ]
        below = 34 + rows * HIGH
        return (
            tag(
                "svg",
                tag("style", Markup(style())),
                tag("title", self.title),
                tag("rect", class_="paper", width=wide, height=high),
                tag("text", self.title, class_="title", x=14.0, y=24.0),
                *body,
                tag("g", *(mark for _, mark in legend), transform=f"translate(0 {number(below)})"),
                tag("text", self.note, class_="muted", x=14.0, y=high - 10) if self.note else "",
                xmlns="http://www.w3.org/2000/svg",
                class_="chart",
                role="img",
                viewBox=f"0 0 {number(wide)} {number(high)}",
                width=wide,
                height=high,
            )
            + "\n"
        )

    def _legend(self, wide: float) -> Iterator[tuple[int, Markup]]:
        """Yield each entry with the line that it stands on."""
        x, line = 20.0, 0
        for name, look in self.marks.items():
            long = 46 + text_width(name, SIZE)
            if x + long > wide and x > 20:
                x, line = 20.0, line + 1
            y = 14 + line * LEGEND_LINE
            yield (
                line,
                tag(
                    "g",
                    tag("line", class_="line", x1=x, x2=x + 26, y1=y, y2=y),
                    _mark(look, x + 13, y),
                    tag("text", name, x=x + 32, y=y + 4),
                    class_=f"s{look % len(_INKS)}",
                ),
            )
            x += long

    def _heights(self, panel: Panel) -> list[float]:
        """Return all values that a panel's vertical axis has to reach."""
        found = []
        for other in self.panels if self.alike else (panel,):
            found += [other.level] if other.level is not None else []
            for point in (point for series in other.series for point in series.points):
                found += [v for v in (point.y, point.low, point.high) if v is not None]
        return found

    def _panel(self, panel: Panel) -> Iterator[Markup]:
        points = [point for series in panel.series for point in series.points]
        if not points:
            return
        across = _scale(panel.x, [p.x for p in points], LEFT, WIDE - RIGHT)
        up = _scale(panel.y, self._heights(panel), HIGH - BOTTOM, TOP)
        yield tag("text", panel.title, class_="name", x=LEFT, y=TOP - 12)
        yield from _axes(panel, across, up)
        for series in panel.series:
            yield tag(
                "g",
                *_line(series, self.marks[series.name], across, up),
                class_=f"s{self.marks[series.name] % len(_INKS)}",
            )


def _scale(axis: Axis, values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min((*values, *axis.ticks)), max((*values, *axis.ticks))
    if axis.least is not None:
        low = min(low, axis.least)
    if low == high:
        low, high = (low / 2, high * 2) if axis.log and low > 0 else (low - 1, high + 1)
    if axis.log:
        room = (high / low) ** 0.04
        return _Scale(low / room, high * room, start, end, True)
    room = (high - low) * 0.05
    return _Scale(low - room if low != axis.least else low, high + room, start, end, False)


def _ticks(axis: Axis, scale: _Scale) -> tuple[float, ...]:
    """Return round numbers on an axis."""
    if axis.ticks:
        return axis.ticks
    if axis.log:
        powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
        found = [10.0**p for p in powers if scale.low <= 10.0**p <= scale.high]
        more = [m * 10.0**p for p in powers for m in (1, 2, 5)]
        return tuple(found if len(found) > 2 else [t for t in more if scale.low <= t <= scale.high])
    step = 10 ** math.floor(math.log10((scale.high - scale.low) / 2))
    step = next(step * m for m in (0.25, 0.5, 1, 2, 5) if (scale.high - scale.low) / step / m < 6)
    first = math.ceil(scale.low / step - 1e-9)
    return tuple(
        round(k * step, 10) for k in range(first, math.floor(scale.high / step + 1e-9) + 1)
    )


def _axes(panel: Panel, across: _Scale, up: _Scale) -> Iterator[Markup]:
    left, right, top, bottom = LEFT, WIDE - RIGHT, TOP, HIGH - BOTTOM
    for value in _ticks(panel.y, up):
        y = up(value)
        yield tag("line", class_="grid", x1=left, x2=right, y1=y, y2=y)
        yield tag(
            "text", panel.y.shown(value), class_="tick", x=left - 6, y=y + 4, text_anchor="end"
        )
    for value in _ticks(panel.x, across):
        x = across(value)
        yield tag("line", class_="grid", x1=x, x2=x, y1=top, y2=bottom)
        yield tag(
            "text", panel.x.shown(value), class_="tick", x=x, y=bottom + 16, text_anchor="middle"
        )
    if panel.level is not None:
        y = up(panel.level)
        yield tag("line", class_="level", x1=left, x2=right, y1=y, y2=y)
    yield tag("polyline", class_="frame", points=f"{left},{top} {left},{bottom} {right},{bottom}")
    middle = (left + right) / 2
    yield tag("text", panel.x.label, class_="muted", x=middle, y=HIGH - 12, text_anchor="middle")
    y = (top + bottom) / 2
    yield tag(
        "text",
        panel.y.label,
        class_="muted",
        text_anchor="middle",
        transform=f"translate(14 {number(y)}) rotate(-90)",
    )


def _line(series: Series, look: int, across: _Scale, up: _Scale) -> Iterator[Markup]:
    places = [(across(p.x), up(p.y), p) for p in series.points]
    if series.joined:
        joined = " ".join(f"{number(x)},{number(y)}" for x, y, _ in places)
        yield tag("polyline", class_="line", points=joined)
    for x, y, point in places:
        if point.low is not None and point.high is not None:
            low, high = up(point.low), up(point.high)
            yield tag("line", class_="bar", x1=x, x2=x, y1=low, y2=high)
            for end in (low, high):
                yield tag("line", class_="bar", x1=x - 3, x2=x + 3, y1=end, y2=end)
        yield _mark(look, x, y)


def _mark(look: int, x: float, y: float) -> Markup:
    """Return a mark of its own for each of the first ten series."""
    look %= 10
    if look == 0:
        return tag("circle", class_="mark", cx=x, cy=y, r=3.6)
    corners = {
        1: ((-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)),
        2: ((0, -4.4), (4.2, 3.2), (-4.2, 3.2)),
        3: ((0, -4.8), (4.4, 0), (0, 4.8), (-4.4, 0)),
        4: ((0, 4.4), (4.2, -3.2), (-4.2, -3.2)),
        5: ((-4.4, -1.4), (4.4, -1.4), (4.4, 1.4), (-4.4, 1.4)),
        6: ((-1.4, -4.4), (1.4, -4.4), (1.4, 4.4), (-1.4, 4.4)),
        7: ((-4, 0), (-2, -3.5), (2, -3.5), (4, 0), (2, 3.5), (-2, 3.5)),
        8: ((0, -5.5), (2, 0), (0, 5.5), (-2, 0)),
        9: ((-5.5, 0), (0, -2), (5.5, 0), (0, 2)),
    }[look]
    points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners)
    return tag("polygon", class_="mark", points=points)


_SHAPE = f"""
.chart {{ font-family: system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
  font-size: {SIZE:g}px; }}
.chart .title {{ font-size: 16px; font-weight: 650; }}
.chart .name {{ font-size: 13px; font-weight: 650; }}
.chart .tick {{ font-size: 11px; }}
.chart .line, .chart .frame {{ fill: none; stroke-width: 1.8; }}
.chart .frame, .chart .grid {{ stroke-width: 1; }}
.chart .level {{ stroke-width: 1.4; stroke-dasharray: 6 4; }}
.chart .bar {{ stroke-width: 1.2; }}
.chart .mark {{ stroke-width: 1; }}
"""


def _paint(colours: dict[str, str]) -> str:
    lines = [
        f".chart .paper {{ fill: {colours['paper']}; }}",
        f".chart text {{ fill: {colours['ink']}; }}",
        f".chart .muted, .chart .tick {{ fill: {colours['muted']}; }}",
        f".chart .grid {{ stroke: {colours['faint']}; }}",
        f".chart .frame, .chart .level {{ stroke: {colours['muted']}; }}",
        f".chart .mark {{ stroke: {colours['paper']}; }}",
    ]
    for k, (ink, dash) in enumerate(zip(_INKS, _DASHES, strict=True)):
        lines += [
            f".chart .s{k} .line {{ stroke: {colours[ink]}; stroke-dasharray: {dash}; }}",
            f".chart .s{k} .bar {{ stroke: {colours[ink]}; }}",
            f".chart .s{k} .mark {{ fill: {colours[ink]}; }}",
        ]
    return "\n".join(lines)


def style() -> str:
    """Return the style sheet of charts."""
    dark = _paint(_DARK)
    return (
        f"{_SHAPE}{_paint(_LIGHT)}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    )
