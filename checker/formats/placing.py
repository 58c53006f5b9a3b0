"""Places the states of a graph: a row per depth, few crossings, no two at one place.

Rows are ordered by barycentres, swept down and up (K. Sugiyama, S. Tagawa, M. Toda: Methods for
visual understanding of hierarchical system structures, IEEE Transactions on Systems, Man, and
Cybernetics 11(2), 1981); within a row everything stands as near as possible to where its
neighbours pull it. Where Graphviz and its Python package are installed, `dot` places instead.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

Point: TypeAlias = tuple[float, float]
Size: TypeAlias = tuple[float, float]
"""Width and height."""

TURNS = 12
"""How often rows are put in order, downwards and upwards in turn."""
GAP = 18.0
"""Pixels between two neighbours of a row."""
INCH = 72.0
"""Pixels of what Graphviz calls an inch."""


@frozen
class Placed:
    """Where everything stands, in pixels from the top left.

    Attributes:
        size: of the whole.
        centers: state -> its middle.
        routes: per edge in order the points it goes through: a line, or the control points of a
            chain of cubic curves (3n + 1 of them).
        spots: per edge the middle of its label.
    """

    size: Size
    centers: Mapping[int, Point]
    routes: tuple[tuple[Point, ...], ...]
    spots: tuple[Point, ...]


def placed(
    sizes: Mapping[int, Size],
    depths: Mapping[int, int],
    edges: Sequence[tuple[int, int, str]],
    down: float,
) -> Placed:
    """Place a graph.

    Args:
        sizes: state -> the room it takes.
        depths: state -> the row it belongs to.
        edges: (from, to, label).
        down: pixels between two rows.
    """
    graphviz = _graphviz()
    if graphviz is not None:
        return _by_graphviz(graphviz, sizes, edges, down)
    return in_rows(sizes, depths, [(a, b) for a, b, _ in edges], down)


# Our own layout


def in_rows(
    sizes: Mapping[int, Size],
    depths: Mapping[int, int],
    edges: Sequence[tuple[int, int]],
    down: float,
) -> Placed:
    """Place a graph without Graphviz; cost: edges times TURNS."""
    rows: dict[int, list[int]] = {}
    for state, depth in depths.items():
        rows.setdefault(depth, []).append(state)
    ordered = [rows[depth] for depth in sorted(rows)]
    near: dict[int, list[int]] = {state: [] for state in sizes}
    for a, b in edges:
        if a != b:
            near[a].append(b)
            near[b].append(a)
    x = {state: float(at) for row in ordered for at, state in enumerate(row)}
    for turn in range(TURNS):
        upwards = turn % 2
        for row in reversed(ordered) if upwards else ordered:
            pull = {s: _pull(s, near[s], depths, x, upwards=bool(upwards)) for s in row}
            row.sort(key=lambda state: (pull[state], state))
            wides = [sizes[state][0] + GAP for state in row]
            for state, where in zip(row, spread([pull[s] for s in row], wides), strict=True):
                x[state] = where
    left = min(x[s] - sizes[s][0] / 2 for s in x) - GAP
    high = max(size[1] for size in sizes.values())
    step = high + down
    places = {s: (x[s] - left, (depths[s] - 1) * step + high / 2 + GAP) for s in x}
    wide = max(places[s][0] + sizes[s][0] / 2 for s in x) + GAP
    routes = tuple(_route(places, sizes, a, b) for a, b in edges)
    right = max((p[0] for route in routes for p in route), default=0.0) + GAP
    whole = (max(wide, right), len(ordered) * step - down + 2 * GAP)
    return Placed(whole, places, routes, tuple(_middle(route) for route in routes))


def _pull(
    state: int,
    near: Sequence[int],
    depths: Mapping[int, int],
    x: Mapping[int, float],
    *,
    upwards: bool,
) -> float:
    """Return where the neighbours on one side pull a state; without any it stays."""
    side = [
        o for o in near if (depths[o] > depths[state] if upwards else depths[o] < depths[state])
    ]
    return sum(x[other] for other in side) / len(side) if side else x[state]


def spread(wanted: Sequence[float], wides: Sequence[float]) -> list[float]:
    """Return places in this order, apart by the widths, as near as possible to those wanted.

    Nearest in the sense of least squares: pooled averages of what would overlap (isotonic
    regression by pool-adjacent-violators).
    """
    offsets, at = [], 0.0
    for index, wide in enumerate(wides):
        at += 0.0 if index == 0 else (wides[index - 1] + wide) / 2
        offsets.append(at)
    pools: list[tuple[float, int]] = []  # (mean, how many)
    for want, offset in zip(wanted, offsets, strict=True):
        mean, count = want - offset, 1
        while pools and pools[-1][0] >= mean:
            other, many = pools.pop()
            mean, count = (mean * count + other * many) / (count + many), count + many
        pools.append((mean, count))
    means = [mean for mean, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _route(
    places: Mapping[int, Point], sizes: Mapping[int, Size], a: int, b: int
) -> tuple[Point, ...]:
    """Return an edge's way: down straight, to itself or back up around the side."""
    (x1, y1), (x2, y2) = places[a], places[b]
    if a == b:
        side = x1 + sizes[a][0] / 2
        return ((side, y1 - 6), (side + 34, y1 - 22), (side + 34, y1 + 22), (side, y1 + 6))
    if y2 > y1:
        return ((x1, y1 + sizes[a][1] / 2), (x2, y2 - sizes[b][1] / 2))
    if y1 == y2:
        low = y1 + sizes[a][1] / 2
        return ((x1, low), (x1, low + 28), (x2, low + 28), (x2, low))
    side1, side2 = x1 + sizes[a][0] / 2, x2 + sizes[b][0] / 2
    out = max(side1, side2) + 30
    return ((side1, y1), (out, y1), (out, y2), (side2, y2))


def _middle(route: Sequence[Point]) -> Point:
    if len(route) == 2:
        (x1, y1), (x2, y2) = route
        return (x1 + x2) / 2, (y1 + y2) / 2
    (a, b), (c, d), (e, f), (g, h) = route[:4]
    return (a + 3 * c + 3 * e + g) / 8, (b + 3 * d + 3 * f + h) / 8


# Graphviz


def _graphviz() -> Any:
    """Return the Python package of Graphviz, if it and the program are there."""
    if shutil.which("dot") is None:
        return None
    try:
        return importlib.import_module("graphviz")
    except ModuleNotFoundError:
        return None


def _by_graphviz(
    graphviz: Any, sizes: Mapping[int, Size], edges: Sequence[tuple[int, int, str]], down: float
) -> Placed:
    lines = [f"graph [ranksep={down / INCH:.3f}, nodesep=0.3]", "node [shape=box, fixedsize=true]"]
    lines.append("edge [arrowhead=none]")  # ours ends where the line does
    for state, (wide, high) in sizes.items():
        lines.append(f'{state} [label="", width={wide / INCH:.3f}, height={high / INCH:.3f}]')
    for number, (a, b, label) in enumerate(edges):
        room = "" if not label else f', label="{"n" * len(label)}", fontsize=10'
        lines.append(f'{a} -> {b} [id="{number}"{room}]')
    source = graphviz.Source("digraph {\n" + "\n".join(lines) + "\n}")
    return _read_plain(source.pipe(format="plain", encoding="utf-8"), edges)


def _read_plain(text: str, edges: Sequence[tuple[int, int, str]]) -> Placed:
    """Read Graphviz's plain format: lengths in inches, from the bottom left."""
    centers: dict[int, Point] = {}
    found: dict[tuple[int, int], list[tuple[tuple[Point, ...], Point]]] = {}
    size = (0.0, 0.0)
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            size = (float(words[1]) * INCH, float(words[2]) * INCH)
        elif kind == "node":
            centers[int(words[0])] = _point(words[1:3], size)
        elif kind == "edge":
            count = int(words[2])
            numbers = words[3 : 3 + 2 * count]
            route = tuple(_point(numbers[at : at + 2], size) for at in range(0, 2 * count, 2))
            rest = words[3 + 2 * count :]
            spot = _point(rest[1:3], size) if len(rest) > 3 else route[len(route) // 2]
            found.setdefault((int(words[0]), int(words[1])), []).append((route, spot))
    ways = [found[a, b].pop(0) for a, b, _ in edges]
    return Placed(size, centers, tuple(way for way, _ in ways), tuple(spot for _, spot in ways))


def _point(words: Sequence[str], size: Size) -> Point:
    return float(words[0]) * INCH, size[1] - float(words[1]) * INCH
