"""Which assumption matters: each changed alone, and what a figure's key numbers become.

A key number is a speedup at one point of a figure. The picture has a panel for each, with a bar per
alternative from the number under the defaults to that under the alternative, the longest on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from antecede.checker.formats.markup import Markup, number, tag
from antecede.checker.simulate.chart import style
from antecede.checker.simulate.keynumbers import KEY_NUMBERS, KeyNumber
from antecede.checker.simulate.scenario import written
from antecede.checker.simulate.statistics import Estimate, cell_of, speedups
from antecede.checker.sweep.kept import Row


@frozen
class Bar:
    """What one alternative makes of a key number."""

    field: str
    value: Any
    found: Estimate

    @property
    def label(self) -> str:
        """The alternative, as people write it."""
        return f"{self.field.replace('_', ' ')}: {written(self.field, self.value)}"


def bars(key: KeyNumber, rows: Sequence[Row]) -> tuple[Estimate, list[Bar]] | None:
    """Return a key number under the defaults and under each alternative, the farthest first.

    None if there are no rows of the defaults.
    """
    found = speedups(rows, "execution_ns", key.of, key.over)
    base = found.get(cell_of(key.scenario))
    if base is None:
        return None
    made = [
        Bar(name, value, found[cell_of(scenario)])
        for name, value, scenario in key.alternatives()
        if cell_of(scenario) in found
    ]
    return base, sorted(made, key=lambda bar: -abs(bar.found.median - base.median))


ROW, HEAD, LABEL, WIDE = 17.0, 40.0, 150.0, 460.0


def drawn(rows: Sequence[Row], note: str) -> str:
    """Return the tornado of all key numbers that there are rows of, as SVG."""
    panels = [(key, *made) for key in KEY_NUMBERS.values() if (made := bars(key, rows)) is not None]
    x, y, low, parts = 0.0, 44.0, 44.0, list[Markup]()
    for k, (key, base, listed) in enumerate(panels):
        if k % 2 == 0:
            x, y = 0.0, low
        high = HEAD + ROW * len(listed) + 26
        body = _panel(key, base, listed)
        parts.append(tag("g", *body, transform=f"translate({number(x)} {number(y)})"))
        x, low = WIDE, max(low, y + high)
    title = "What another assumption makes of the Cykas paper's key numbers"
    return (
        tag(
            "svg",
            tag("style", Markup(style())),
            tag("title", title),
            tag("rect", class_="paper", width=2 * WIDE, height=low + 24),
            tag("text", title, class_="title", x=14.0, y=26.0),
            *parts,
            tag("text", note, class_="muted", x=14.0, y=low + 10),
            xmlns="http://www.w3.org/2000/svg",
            class_="chart",
            role="img",
            viewBox=f"0 0 {number(2 * WIDE)} {number(low + 24)}",
            width=2 * WIDE,
            height=low + 24,
        )
        + "\n"
    )


def _panel(key: KeyNumber, base: Estimate, listed: Sequence[Bar]) -> Iterator[Markup]:
    values = [base.median, 1.0, *(bar.found.median for bar in listed)]
    least, most = min(values), max(values)
    room = (most - least) or 1.0
    left, right = LABEL, WIDE - 90

    def across(value: float) -> float:
        return left + (right - left) * (value - least) / room

    bottom = HEAD + ROW * len(listed)
    yield tag("text", f"{key.says}: {base.median:.2f}", class_="name", x=14.0, y=18.0)
    yield tag("line", class_="level", x1=across(1), x2=across(1), y1=HEAD - 8, y2=bottom + 4)
    yield tag("text", "1", class_="tick", x=across(1), y=bottom + 16, text_anchor="middle")
    yield tag(
        "line",
        class_="frame",
        x1=across(base.median),
        x2=across(base.median),
        y1=HEAD - 8,
        y2=bottom,
    )
    for place, bar in enumerate(listed):
        y = HEAD + ROW * place
        flips = (bar.found.median - 1) * (base.median - 1) < 0
        start, end = sorted((across(base.median), across(bar.found.median)))
        shown = f"{bar.found.median:.2f}{' (flips)' if flips else ''}"
        yield tag(
            "g",
            tag("text", bar.label, class_="tick", x=LABEL - 8, y=y + 9, text_anchor="end"),
            tag("rect", class_="mark", x=start, y=y, width=max(end - start, 1.5), height=ROW - 6),
            tag("text", shown, class_="tick", x=end + 5, y=y + 9),
            class_="s1" if flips else "s0",
        )
