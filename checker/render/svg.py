"""The space-time diagram as SVG.

Colour is never the only sign. Marks differ in shape, control packets are dashed, the late message
is a double line, the happens-before chain has a broad band below it, shaded spans have their own
patterns, and all of them have labels. Colours follow the reader's light or dark scheme. On paper
they are light. The template `spacetime.svg` has the shapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from attrs import frozen

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.about import About, about
from antecede.checker.render.geometry import (
    BOLD,
    BUFFER,
    TEXT,
    Arrow,
    Label,
    Layout,
    Point,
    Span,
    cut,
    text_width,
)
from antecede.checker.render.markup import Markup, number
from antecede.checker.render.pages import page
from antecede.checker.render.spacetime import layout_of
from antecede.checker.render.svg_style import style

_NARROWEST = 560.0
_TALL = 640.0
"""The height from which the actors' names are repeated at the bottom."""


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as an SVG file."""
    return drawing(path, about(path, report)) + "\n"


def drawing(path: Path, said: About, *, inside: bool = False) -> Markup:
    """Return the drawing; `inside` a page it needs no heading, style sheet, or targets."""
    layout, below = layout_of(path), f"{said.verdict} · {said.question}"
    heading = () if inside else _heading(layout, said.headline, said.explanation.text, below)
    title = f"{said.headline}. {said.question}. {said.verdict}"
    return _framed(layout, [*heading], title, said.explanation.text or said.verdict, inside=inside)


def sheet(layout: Layout, headline: str, *, inside: bool = False) -> Markup:
    """Return a layout with a heading as an SVG file; `inside` a page it needs no heading."""
    heading = () if inside else _heading(layout, headline, "", "")
    return Markup(_framed(layout, [*heading], headline, headline, inside=inside) + "\n")


def _framed(
    layout: Layout,
    heading: Sequence[tuple[Label, str]],
    title: str,
    description: str,
    *,
    inside: bool = False,
) -> Markup:
    """Return a drawing with its heading above it and its legend below it."""
    across = layout.width
    if inside:  # the page lists the notes; only the text of a cycle is drawn
        across = layout.notes + (text_width(layout.loop.shown, bold=True) if layout.loop else 0.0)
    wide = max([across, *(label.box[2] + 14 for label, _ in heading), _NARROWEST])
    shift = heading[-1][0].y + 8 if heading else 4.0
    legend_top = shift + layout.height + (14 if layout.height > _TALL else 0)
    legend, y = _placed(_legend_items(layout), wide)
    undrawn = []
    if layout.undrawn:
        said = f"Still in flight, not drawn: {', '.join(layout.undrawn)}."
        for line in wrapped_lines(said, wide - 40, TEXT):
            y += 20
            undrawn.append((line, y + 4))

    def width_of(kind: str) -> float:
        return _width(kind, layout)

    def pattern_of(kind: str) -> int:
        return 0 if kind == BUFFER else 1 + layout.modes.index(kind) % 3

    return Markup(
        page(
            "spacetime.svg",
            layout=layout,
            heading=heading,
            title=title,
            description=description,
            inside=inside,
            style=Markup("" if inside else style()),
            wide=wide,
            high=legend_top + y + 22,
            shift=shift,
            tall=layout.height > _TALL,
            spans=sorted(layout.spans, key=lambda span: -width_of(span.kind)),  # outer first
            arrows=sorted(layout.arrows, key=lambda a: (a.role == "late", a.role == "chain")),
            patterns={pattern_of(span.kind) for span in layout.spans},
            legend=legend,
            legend_top=legend_top,
            undrawn=undrawn,
            shaft_of=_shaft,
            width_of=width_of,
            pattern_of=pattern_of,
            BUFFER=BUFFER,
            Markup=Markup,
        )
    )


def _heading(
    layout: Layout, headline: str, explanation: str, below: str
) -> Iterator[tuple[Label, str]]:
    """Yield the lines on top, each with its style."""
    wide = max(layout.width, 680.0) - 28
    y = 30.0
    for line in wrapped_lines(headline, wide, 18 * BOLD):
        yield Label(line, 14, y, "start"), "title"
        y += 23
    for line in wrapped_lines(explanation, wide, TEXT):
        yield Label(line, 14, y, "start"), "said"
        y += 17
    y += 3
    for line in wrapped_lines(below, wide, TEXT):
        yield Label(line.removeprefix("· "), 14, y, "start"), "muted"
        y += 17


def wrapped_lines(text: str, wide: float, size: float) -> Iterator[str]:
    """Yield the lines of a paragraph; a word that is too long is cut, preferably at a comma."""
    most = max(int(wide / size / 0.6), 8)
    line = ""
    for word in text.split():
        for at, piece in enumerate(_pieces(word, most)):
            longer = f"{line}{'' if at else ' '}{piece}".strip()
            if line and text_width(longer, size) > wide:
                yield line
                line = piece
            else:
                line = longer
    if line:
        yield line


def _pieces(word: str, most: int) -> Iterator[str]:
    while len(word) > most:
        end = word.rfind(",", most // 2, most) + 1 or most
        yield word[:end]
        word = word[end:]
    yield word


def _width(kind: str, layout: Layout) -> float:
    """Return the width of a span; a wider one stays visible behind the others."""
    return 12.0 if kind == BUFFER else 22.0 + 8 * layout.modes.index(kind)


# Arrows


@frozen
class _Shaft:
    """The line of an arrow as an SVG path, its end, and the corners of the arrowhead there."""

    route: str
    tip: Point
    head: tuple[Point, ...]


def _shaft(arrow: Arrow) -> _Shaft:
    """Return the line of an arrow, which ends beside the mark of its reception."""
    (x1, y1), (x2, y2) = arrow.points
    stop = 7.0 if arrow.end == "received" else 0.0
    if arrow.loops:
        out = x1 + 42
        tip, toward = (x2 + stop, y2), (out, y2)
        route = f"M {_point(x1, y1)} C {_point(out, y1)} {_point(out, y2)} {_point(*tip)}"
    else:
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        across, down = (x2 - x1) / length, (y2 - y1) / length
        back = 8.0 if arrow.end == "received" else 0.0
        tip, toward = (x2 - across * stop, y2 - down * stop), (x1, y1)
        route = f"M {_point(x1, y1)} L {_point(tip[0] - across * back, tip[1] - down * back)}"
    return _Shaft(route, tip, tuple(_head(tip, toward, 12 if arrow.role == "late" else 9.5)))


def _point(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def _head(tip: Point, toward: Point, size: float) -> Iterator[Point]:
    """Yield the corners of an arrowhead at `tip` for a line from `toward`."""
    angle = math.atan2(tip[1] - toward[1], tip[0] - toward[0])
    yield tip
    for turn in (math.pi - 0.42, math.pi + 0.42):
        yield tip[0] + size * math.cos(angle + turn), tip[1] + size * math.sin(angle + turn)


# Legend

_MARKS = {
    "causal-send": "causal-send",
    "network-send": "network-send",
    "wait": "has to wait",
    "deliver": "deliver",
    "receive": "receive only",
    "timeout": "timeout",
    "internal": "internal action",
    "arm": "decides to send",
    "failure": "failure",
    "missing": "delivery that never happens",
}


@frozen
class _Item:
    """An item of the legend.

    Attributes:
        sign: mark, both, wrong, arrow, chain or span.
        part: the arrow or span to draw.
    """

    sign: str
    room: float
    words: str
    kind: str = ""
    part: Arrow | Span | None = None


def _placed(items: Iterator[_Item], wide: float) -> tuple[list[tuple[_Item, float, float]], float]:
    """Return the items of the legend in lines, each with its place, and the last line's y."""
    placed = []
    x, y = 20.0, 16.0
    for item in items:
        long = item.room + text_width(item.words) + 22
        if x > 20 and x + long > wide - 10:
            x, y = 20.0, y + 22
        placed.append((item, x, y))
        x += long
    return placed, y


def _legend_items(layout: Layout) -> Iterator[_Item]:
    """Yield the items for the signs that are drawn."""
    kinds = {m.kind for m in layout.marks}
    for kind, words in _MARKS.items():
        if kind in kinds:
            yield _Item("mark", 16, layout.words.get(kind, words), kind)
    both = {(m.x, m.y) for m in layout.marks if m.kind == "causal-send"}
    if both & {(m.x, m.y) for m in layout.marks if m.kind == "network-send"}:
        yield _Item("both", 16, "both at once")
    if any(m.kind == "deliver" and m.wrong for m in layout.marks):
        yield _Item("wrong", 18, layout.words.get("wrong", "wrong delivery"))
    roles = {a.role for a in layout.arrows} | {a.end for a in layout.arrows}
    if "late" in roles:
        yield _Item("arrow", 48, "the message that was overtaken", part=_sample("received", "late"))
    if "lost" in roles:
        yield _Item("arrow", 48, "lost", part=_sample("lost"))
    if layout.trail:
        yield _Item("chain", 44, "happens-before chain", part=_sample("received", "chain"))
    if any(a.control for a in layout.arrows):
        yield _Item("arrow", 44, "control packet", part=_sample("received", control=True))
    if "in-flight" in roles:
        yield _Item("arrow", 44, "never received", part=_sample("in-flight"))
    for kind in sorted({span.kind for span in layout.spans}):
        words = "a message waits" if kind == BUFFER else cut(kind.replace("-", " "))
        wide = _width(kind, layout)
        yield _Item("span", wide + 1, words, part=Span(kind, wide / 2, -8, 8))


def _sample(end: str, role: str = "", *, control: bool = False) -> Arrow:
    label = Label("", 0, 0)
    return Arrow(((2, 0), (44, 0)), end, role, label, 0, None, control, False)
