"""The arrows, marks and labels of space-time diagrams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from antecede.checker.render.geometry import Arrow, Label, Mark, Point
from antecede.checker.render.markup import Markup, number, tag


def draw_arrow(arrow: Arrow) -> Markup:
    """Return the arrow of a packet."""
    tip, toward, route = _shaft(arrow)
    parts = [tag("path", d=route, class_="shaft")]
    if arrow.role == "late":
        parts.append(tag("path", d=route, class_="core"))
    if arrow.end == "lost":
        parts.append(_cross(tip, 5, "shaft solid"))
    elif arrow.end == "in-flight":
        parts.append(tag("circle", class_="open", cx=tip[0], cy=tip[1], r=2.6))
    else:
        parts.append(_head(tip, toward, 12 if arrow.role == "late" else 9.5))
    return tag("g", *parts, **_arrow_attributes(arrow))


def _arrow_attributes(arrow: Arrow) -> dict[str, str | int | None]:
    looks = ["arrow", "control" if arrow.control else "", arrow.role]
    looks.append("" if arrow.end == "received" else arrow.end)
    return {
        "class_": " ".join(filter(None, looks)),
        "data_step": arrow.sent,
        "data_met": arrow.met,
    }


def draw_arrow_text(arrow: Arrow) -> Markup:
    """Return the text beside the arrow of a packet."""
    return tag("g", draw_label(arrow.label, "halo"), **_arrow_attributes(arrow))


def _shaft(arrow: Arrow) -> tuple[Point, Point, str]:
    """Return the end of the shaft, the point before it, and the SVG path."""
    (x1, y1), (x2, y2) = arrow.points
    stop = 7.0 if arrow.end == "received" else 0.0
    if arrow.loops:
        tip = (x2 + stop, y2)
        out = x1 + 42
        route = _joined("M", x1, y1, "C", out, y1, out, y2, *tip)
        return tip, (out, y2), route
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    tip = (x2 - (x2 - x1) / length * stop, y2 - (y2 - y1) / length * stop)
    back = 8.0 if arrow.end == "received" else 0.0
    end = (tip[0] - (x2 - x1) / length * back, tip[1] - (y2 - y1) / length * back)
    return tip, (x1, y1), _joined("M", x1, y1, "L", *end)


def _joined(*parts: str | float) -> str:
    return " ".join(p if isinstance(p, str) else number(p) for p in parts)


def _head(tip: Point, toward: Point, size: float) -> Markup:
    """Return a filled arrowhead at `tip` for a line from `toward`."""
    angle = math.atan2(tip[1] - toward[1], tip[0] - toward[0])
    corners = [tip]
    for turn in (math.pi - 0.42, math.pi + 0.42):
        corners.append(
            (tip[0] + size * math.cos(angle + turn), tip[1] + size * math.sin(angle + turn))
        )
    return tag("polygon", class_="head", points=_points(corners))


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def _cross(center: Point, size: float, look: str) -> Markup:
    x, y = center
    route = _joined("M", x - size, y - size, "L", x + size, y + size)
    route += _joined(" M", x - size, y + size, "L", x + size, y - size)
    return tag("path", d=route, class_=look)


def draw_mark(mark: Mark) -> Markup:
    """Return the mark of an event at its position."""
    looks = ["mark", mark.kind, "wrong" if mark.wrong else "", "control" if mark.control else ""]
    return tag(
        "g",
        *draw_shape(mark.kind, mark.x, mark.y, wrong=mark.wrong),
        class_=" ".join(filter(None, looks)),
        data_step=mark.step,
    )


def draw_shape(kind: str, x: float, y: float, *, wrong: bool = False) -> Iterator[Markup]:
    """Yield the shapes of a mark at a position."""
    if kind == "causal-send":
        yield tag("circle", class_="ring", cx=x, cy=y, r=6.6)
    elif kind == "network-send":
        yield tag("circle", class_="dot", cx=x, cy=y, r=3)
    elif kind == "receive":
        yield tag("circle", class_="open", cx=x, cy=y, r=2.8)
    elif kind == "wait":
        corners = [(x - 4.5, y - 6), (x + 4.5, y - 6), (x - 4.5, y + 6), (x + 4.5, y + 6)]
        yield tag("polygon", class_="glass", points=_points(corners))
    elif kind == "timeout":
        yield tag("circle", class_="ring", cx=x, cy=y, r=7)
        yield tag("path", class_="shaft", d=_joined("M", x, y - 4.5, "V", y, "H", x + 3.5))
    elif kind == "internal":
        yield tag("circle", class_="ring", cx=x, cy=y, r=7)
        yield tag("circle", class_="dot", cx=x, cy=y, r=2.2)
        yield tag("path", class_="shaft", d=_joined("M", x - 3.8, y - 3.8, "H", x + 3.8))
    elif kind == "arm":
        corners = [(x - 5, y - 5), (x + 5, y - 5), (x + 5, y + 5), (x - 5, y + 5)]
        yield tag("polygon", class_="glass", points=_points(corners))
    elif kind == "failure":
        yield _cross((x, y), 9, "turn")
    elif kind == "missing":
        corners = [(x, y - 8), (x + 8, y), (x, y + 8), (x - 8, y)]
        yield tag("polygon", class_="gap", points=_points(corners))
    else:
        size = 9 if wrong else 7
        corners = [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
        yield tag("polygon", class_="diamond", points=_points(corners))
        if wrong:
            yield _cross((x, y), 2.6, "cross")


def draw_mark_text(mark: Mark) -> Markup:
    """Return the text beside a mark."""
    assert mark.label is not None
    return tag(
        "g",
        draw_label(mark.label, "halo"),
        class_="mark wrong" if mark.wrong else "mark",
        data_step=mark.step,
    )


def draw_label(label: Label, look: str) -> Markup:
    """Return a label as an element."""
    turn = f"rotate(-90 {number(label.x)} {number(label.y)})" if label.turned else None
    return tag(
        "text",
        label.text,
        class_=look,
        x=label.x,
        y=label.y,
        text_anchor=label.anchor,
        transform=turn,
    )
