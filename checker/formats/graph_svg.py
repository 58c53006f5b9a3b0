"""A state space as SVG: states with what is special about them, transitions with what happens.

Small ones are boxes that say how each state differs from the start, with words on the transitions;
larger ones are numbered circles, whose words come with the pointer. Nothing is told by colour
alone: the start has a heavy border, final states a double one, violations a cross. Colours are
those of the space-time diagram (`checker.formats.svg`), light or dark as the reader has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antecede.checker.amounts import counted
from antecede.checker.formats.geometry import BOLD, cut, overlap, text_width
from antecede.checker.formats.markup import Markup, number, tag
from antecede.checker.formats.placing import Placed, Point, placed
from antecede.checker.formats.svg import wrapped_lines
from antecede.checker.formats.svg_style import DARK, LIGHT

MOST_WORDED, MOST_IN_A_ROW = 60, 8
"""States of the largest graph that is drawn with words, in all and in a row."""
SMALL, LINE, RADIUS = 11.0, 14.0, 13.0
LONGEST_LINE, MOST_LINES, LONGEST_LABEL = 34, 6, 26
MARGIN, NARROWEST = 16.0, 560.0

_SHAPE = """
.graph { font: 11px system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
.graph .title { font-size: 18px; font-weight: 650; }
.graph .caption { font-size: 12.5px; }
.graph .edge path { fill: none; stroke-width: 1.2; }
.graph .edge text { paint-order: stroke; stroke-width: 3px; stroke-linejoin: round; }
.graph .edge:hover path { stroke-width: 3; }
.graph .state .frame { stroke-width: 1.3; }
.graph .state .inner { fill: none; stroke-width: 1; }
.graph .initial .frame { stroke-width: 4; }
.graph .number, .graph .wrong text { font-weight: 650; }
.graph .number, .graph .edge text { text-anchor: middle; }
"""
_PAINT = """
.graph .paper {{ fill: {paper}; }}
.graph text {{ fill: {ink}; }}
.graph .muted {{ fill: {muted}; }}
.graph .edge path {{ stroke: {muted}; }}
.graph .edge text {{ fill: {muted}; stroke: {paper}; }}
.graph .edge:hover path {{ stroke: {chain}; }}
.graph .head {{ fill: {muted}; }}
.graph .state .frame {{ fill: {strip}; stroke: {ink}; }}
.graph .state .inner {{ stroke: {ink}; }}
.graph .wrong .frame, .graph .wrong .inner {{ stroke: {late}; }}
.graph .wrong .cross {{ fill: {late}; }}
"""


def style() -> str:
    """Return the style sheet of the drawing."""
    dark = _PAINT.format(**DARK)
    return (
        f"{_SHAPE}{_PAINT.format(**LIGHT)}@media screen and (prefers-color-scheme: dark) {{{dark}}}"
    )


def drawing(
    states: Mapping[int, Mapping[str, Any]],
    edges: Sequence[tuple[int, int, Mapping[str, Any]]],
    title: str,
    question: str,
) -> Markup:
    """Return the drawing.

    Args:
        states: number -> what the graph knows of a state, see `graph.state_graph`.
        edges: (from, to, what the graph knows of the transition).
        title: the heading.
        question: what was asked.
    """
    worded = _is_worded([int(data["depth"]) for data in states.values()])
    merged = _merged(edges, worded=worded)
    lines = {n: _lines(n, data) if worded else [str(n)] for n, data in states.items()}
    sizes = {n: _size(text, worded=worded) for n, text in lines.items()}
    depths = {n: int(data["depth"]) for n, data in states.items()}
    ways = [(a, b, label) for a, b, label, _ in merged]
    where = placed(sizes, depths, ways, 62.0 if worded else 44.0)
    wide = max(where.size[0] + 2 * MARGIN, NARROWEST)
    caption = list(_caption(states, len(edges), title, question, wide, worded=worded))
    top, left = caption[-1][1] + 18, (wide - where.size[0]) / 2
    legend = list(_legend(states, wide))
    high = top + where.size[1] + 22 * len(legend) + 14
    body = [*_edges(where, merged, sizes)]
    body += [
        _state(where.centers[n], sizes[n], lines[n], states[n], f"{n}: {data['text']}")
        for n, data in states.items()
    ]
    return tag(
        "svg",
        tag("style", Markup(style())),
        tag("title", f"{title}. {question}"),
        _HEAD,
        tag("rect", class_="paper", width=wide, height=high),
        *(tag("text", said, class_=look, x=MARGIN, y=y) for said, y, look in caption),
        tag("g", *body, transform=f"translate({number(left)} {number(top)})"),
        *(
            tag(
                "text", said, class_="muted caption", x=MARGIN, y=top + where.size[1] + 22 * at + 18
            )
            for at, said in enumerate(legend)
        ),
        xmlns="http://www.w3.org/2000/svg",
        class_="graph",
        width=wide,
        height=high,
        viewBox=f"0 0 {number(wide)} {number(high)}",
        role="img",
    )


def _is_worded(depths: Sequence[int]) -> bool:
    """Return whether there is room for words, given the row of each state."""
    return len(depths) <= MOST_WORDED and max(map(depths.count, depths)) <= MOST_IN_A_ROW


_HEAD = tag(
    "defs",
    tag(
        "marker",
        tag("path", d="M0,0 L8,4 L0,8 z", class_="head"),
        id="arrow",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        markerUnits="userSpaceOnUse",
        orient="auto",
    ),
)


def _caption(
    states: Mapping[int, Mapping[str, Any]],
    transitions: int,
    title: str,
    question: str,
    wide: float,
    *,
    worded: bool,
) -> Iterator[tuple[str, float, str]]:
    """Yield the lines on top: text, height and look."""
    final = sum(bool(data["final"]) for data in states.values())
    wrong = sum(bool(data["violates"]) for data in states.values())
    said = [counted(len(states), "state"), counted(transitions, "transition")]
    said += [counted(final, "final state"), f"{counted(wrong, 'state')} in violation"]
    y = 30.0
    for line in wrapped_lines(title, wide - 2 * MARGIN, 18 * BOLD):
        yield line, y, "title"
        y += 23
    how = "A state says how it differs from the start." if worded else (
        "Point at a state or a transition to read what it is."
    )  # fmt: skip
    for line in wrapped_lines(f"{', '.join(said)}. {how}", wide - 2 * MARGIN, 12.5):
        yield line, y, "caption"
        y += 17
    for line in wrapped_lines(question, wide - 2 * MARGIN, 12.5):
        yield line, y, "muted caption"
        y += 17


def _legend(states: Mapping[int, Mapping[str, Any]], wide: float) -> Iterator[str]:
    signs = ["heavy border: the start"]
    if any(data["final"] for data in states.values()):
        signs.append("double border: a final state")
    if any(data["violates"] for data in states.values()):
        signs.append("✗: a property is violated there, or on the way there")
    yield from wrapped_lines("; ".join(signs), wide - 2 * MARGIN, 12.5)


# States


def _lines(state: int, data: Mapping[str, Any]) -> list[str]:
    """Return the text of a box."""
    said = [cut(line, LONGEST_LINE) for line in str(data["label"]).split("\n") if line]
    if len(said) > MOST_LINES:
        said = [*said[: MOST_LINES - 1], f"… {len(said) - MOST_LINES + 1} more"]
    wrong = [f"✗ {cut(name, LONGEST_LINE)}" for name in str(data["violates"]).split()]
    return [str(state), *said, *wrong]


def _size(lines: Sequence[str], *, worded: bool) -> tuple[float, float]:
    if not worded:
        return 2 * RADIUS, 2 * RADIUS
    wide = max(text_width(line, SMALL, bold=line.startswith("✗")) for line in lines)
    return max(wide + 22, 36.0), LINE * len(lines) + 10


def _state(
    center: Point,
    size: tuple[float, float],
    lines: Sequence[str],
    data: Mapping[str, Any],
    said: str,
) -> Markup:
    (x, y), (wide, high) = center, size
    looks = ["state", "initial" if data["initial"] else "", "wrong" if data["violates"] else ""]
    said += f"; violates {data['violates']}" if data["violates"] else ""
    shapes = [tag("title", said), *_frames(x, y, wide, high, double=bool(data["final"]))]
    if len(lines) == 1 and wide == 2 * RADIUS:
        shapes.append(tag("text", lines[0], class_="number", x=x, y=y + 4))
        if data["violates"]:
            shapes.append(tag("text", "✗", class_="cross", x=x + RADIUS, y=y - RADIUS + 4))
        return tag("g", *shapes, class_=" ".join(filter(None, looks)))
    top = y - high / 2
    shapes.append(tag("text", lines[0], class_="number", x=x, y=top + LINE))
    for at, line in enumerate(lines[1:], 2):
        look = "cross" if line.startswith("✗") else None
        shapes.append(tag("text", line, class_=look, x=x - wide / 2 + 8, y=top + LINE * at))
    return tag("g", *shapes, class_=" ".join(filter(None, looks)))


def _frames(x: float, y: float, wide: float, high: float, *, double: bool) -> Iterator[Markup]:
    """Yield the border of a state; a final one has two."""
    for look, inset in (("frame", 0.0), ("inner", 3.5))[: 2 if double else 1]:
        box = {"width": wide - 2 * inset, "height": high - 2 * inset}
        round_ = RADIUS - inset if wide == 2 * RADIUS else 6.0
        yield tag(
            "rect", class_=look, x=x - wide / 2 + inset, y=y - high / 2 + inset, rx=round_, **box
        )


# Transitions


def _merged(
    edges: Sequence[tuple[int, int, Mapping[str, Any]]], *, worded: bool
) -> list[tuple[int, int, str, str]]:
    """Return one edge for all that go the same way: from, to, label, and the whole text."""
    same: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for a, b, data in edges:
        same.setdefault((a, b), []).append(data)
    found = []
    for (a, b), several in same.items():
        labels = list(dict.fromkeys(str(data["label"]) for data in several))
        label = cut("; ".join(labels), LONGEST_LABEL) if worded else ""
        found.append((a, b, label, "; ".join(str(data["text"]) for data in several)))
    return found


def _edges(
    where: Placed,
    merged: Sequence[tuple[int, int, str, str]],
    sizes: Mapping[int, tuple[float, float]],
) -> Iterator[Markup]:
    """Yield the lines first and then the labels, each where it covers least."""
    taken = []
    for state, (x, y) in where.centers.items():
        wide, high = sizes[state]
        taken.append((x - wide / 2, y - high / 2, x + wide / 2, y + high / 2))
    for (a, b, _, text), route in zip(merged, where.routes, strict=True):
        said = tag("title", f"{a} → {b}: {text}")
        yield tag("g", said, tag("path", d=_path(route), marker_end="url(#arrow)"), class_="edge")
    for (_, _, label, _), route, spot in zip(merged, where.routes, where.spots, strict=True):
        if not label:
            continue
        half = text_width(label, SMALL) / 2
        options = [((x - half, y - 10, x + half, y + 3), x, y) for x, y in _along(route, spot)]
        box, x, y = min(options, key=lambda o: sum(overlap(o[0], other) for other in taken))
        taken.append(box)
        yield tag("g", tag("text", label, x=x, y=y), class_="edge")


def _along(route: Sequence[Point], spot: Point) -> Iterator[Point]:
    """Yield places for a label: where it belongs, and others on a straight line."""
    yield spot[0], spot[1] + 3
    if len(route) != 2:
        return
    (x1, y1), (x2, y2) = route
    for part in (0.4, 0.6, 0.3, 0.7, 0.22, 0.78):
        yield x1 + (x2 - x1) * part, y1 + (y2 - y1) * part + 3


def _path(route: Sequence[Point]) -> str:
    start, *others = (f"{number(x)},{number(y)}" for x, y in route)
    return f"M{start} {'L' if len(route) == 2 else 'C'}{' '.join(others)}"
