"""A matrix of verdicts as a picture: a line per question, and a column per size."""

from __future__ import annotations

from collections.abc import Sequence

from antecede.checker.render.geometry import TEXT, text_width
from antecede.checker.render.pages import page
from antecede.checker.render.svg_style import DARK, LIGHT

_KINDS = {"HOLDS": "good", "VIOLATED": "wrong", "ERROR": "wrong"}
"""Verdict -> the look of its cell. The text in the cell says it, too."""

_HIGH, _GAP = 28.0, 12.0
"""The height of a line, and the space beside a text."""


CAPITALS = 1.2
"""The width of a text that begins with a word in capitals, relative to other text."""


def matrix_svg(table: Sequence[Sequence[str]], legend: str) -> str:
    """Return a table as an SVG file. Its first line has the heads, and its first column the names.

    A cell begins with a verdict, or is empty. The lines of the legend are below the table.
    """
    widths = [max(map(_width, column)) + 2 * _GAP for column in zip(*table, strict=True)]
    lefts = [sum(widths[:number]) for number in range(len(widths))]
    cells = [
        (lefts[column], line * _HIGH, widths[column], text, _look(text, line, column))
        for line, row in enumerate(table)
        for column, text in enumerate(row)
        if text
    ]
    below = legend.splitlines()
    wide = max([sum(widths), *(_width(line) + 2 * _GAP for line in below)])
    return (
        page(
            "matrix.svg",
            cells=cells,
            below=[(line, _HIGH * len(table) + 20 * n) for n, line in enumerate(below, 1)],
            width=wide,
            height=_HIGH * len(table) + 20 * len(below) + 8,
            high=_HIGH,
            gap=_GAP,
            size=TEXT,
            light=LIGHT,
            dark=DARK,
        )
        + "\n"
    )


def _width(text: str) -> float:
    return text_width(text, TEXT, bold=True) * CAPITALS


def _look(text: str, line: int, column: int) -> str:
    if line == 0 or column == 0:
        return "head"
    return _KINDS.get(text.split()[0], "open")
