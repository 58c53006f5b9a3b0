"""The parts of a space-time diagram, in pixels: marks, arrows, spans, labels.

Time runs downwards, and there is one vertical line per actor. `checker.render.spacetime` places
the parts, and `checker.render.svg` draws them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import field, frozen

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""

TEXT = 12.5
"""The size of labels and notes."""
NAME = 14.5
"""The size of the actors' names."""
HEAD, ROW, SLOT = 46.0, 31.0, 16.0
"""Height of the names on top, of a transition, and of each further mark of a transition."""
NARROWEST, WIDEST = 150.0, 260.0
"""Distance between two actors' lines."""
BESIDE = 17.0
"""The distance of a mark's label from its line; it is beyond the spans."""
NUMBERS = 34.0
"""The width of the steps' numbers."""
LONGEST_NOTE, LONGEST_LABEL, LONGEST_BESIDE = 64, 24, 16
"""The greatest lengths, in characters, of a note, a label, and a name beside a line.

A tooltip has the full note.
"""
BUFFER = "buffer"
"""The kind of span during which a message waits; other kinds are the protocol's witnesses."""


@frozen
class Label:
    """Text at a point; `anchor` is start, middle or end, `turned` means upwards."""

    text: str
    x: float
    y: float
    anchor: str = "middle"
    turned: bool = False

    @property
    def box(self) -> Box:
        """The bounding box."""
        wide = text_width(self.text)
        if self.turned:
            return (self.x - TEXT, self.y - wide / 2, self.x + 2, self.y + wide / 2)
        left = self.x - {"start": 0.0, "middle": wide / 2, "end": wide}[self.anchor]
        return (left, self.y - TEXT, left + wide, self.y + 3)


@frozen
class Bracket:
    """The bracket around the steps that repeat forever, with its text."""

    top: float
    bottom: float
    text: str

    @property
    def shown(self) -> str:
        """The text as it is drawn beside the bracket."""
        return f"↺ {self.text}"


@frozen
class Mark:
    """An event on an actor's line.

    Attributes:
        kind: causal-send, network-send, receive, wait, deliver, timeout, internal, arm, failure of
            the protocol, or missing: a delivery that never happens.
        wrong: whether it is part of the violation.
        control: whether it concerns control packets only.
    """

    kind: str
    x: float
    y: float
    step: int
    label: Label | None = None
    wrong: bool = False
    control: bool = False


@frozen
class Arrow:
    """A packet from its network-send to its reception or loss, or without an end.

    Attributes:
        points: start and end; the arrow of a self-addressed packet bulges to the right.
        end: received, lost or in-flight.
        role: late or chain if it is part of a violation, else empty.
        label: the packet; empty until it is placed.
        sent: the number of the step that sends it.
        met: the number of the step that receives or loses it, or None.
        loops: whether it is addressed to its sender.
    """

    points: tuple[Point, Point]
    end: str
    role: str
    label: Label
    sent: int
    met: int | None
    control: bool
    loops: bool


@frozen
class Span:
    """A stretch of an actor's line, such as the time while a message waits or a witness holds."""

    kind: str
    x: float
    top: float
    bottom: float
    label: Label | None = None


@frozen
class Row:
    """The strip of one transition."""

    step: int
    top: float
    bottom: float
    y: float
    note: str
    wrong: bool
    control: bool

    @property
    def short(self) -> str:
        """The note, cut to LONGEST_NOTE."""
        return cut(self.note, LONGEST_NOTE)


@frozen
class Layout:
    """A space-time diagram.

    Attributes:
        columns: (x, name) of each actor's line.
        notes: the distance of the notes from the left edge.
        trail: the happens-before chain from the first to the second message, in straight pieces.
        modes: the other kinds of spans besides buffers: the protocol's witnesses, drawn or not.
        undrawn: control packets that are not received, in words.
        loop: the steps that repeat forever, if some do.
        words: kind of mark, or `wrong` -> its words in the legend, if they are not the usual ones.
    """

    width: float
    height: float
    columns: tuple[tuple[float, str], ...]
    top: float
    notes: float
    rows: tuple[Row, ...]
    spans: tuple[Span, ...]
    trail: tuple[tuple[Point, Point], ...]
    arrows: tuple[Arrow, ...]
    marks: tuple[Mark, ...]
    modes: tuple[str, ...]
    undrawn: tuple[str, ...]
    loop: Bracket | None = None
    words: Mapping[str, str] = field(factory=dict)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of all marks, spans and arrows."""
        parts: tuple[Mark | Span | Arrow, ...] = (*self.marks, *self.spans, *self.arrows)
        return tuple(part.label for part in parts if part.label is not None and part.label.text)


BOLD = 1.12
"""The width of bold text, relative to normal text."""

_NARROW, _WIDE = frozenset("ijl.,:;|!'()[] -ftr"), frozenset("mwMW@%—…")


def text_width(text: str, size: float = TEXT, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of `text` in a sans-serif font."""
    ems = sum(
        0.36 if ch in _NARROW else 0.92 if ch in _WIDE else 1.0 if ord(ch) > 0x2E80 else 0.6
        for ch in text
    )
    return ems * size * (BOLD if bold else 1.0)


def cut(text: str, most: int = LONGEST_LABEL) -> str:
    """Return `text`, cut to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def overlap(one: Box, other: Box) -> bool:
    """Return whether two boxes have a point in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def crosses(line: tuple[Point, Point], box: Box) -> bool:
    """Return whether one of some sample points of a line is in a box."""
    (x1, y1), (x2, y2) = line
    left, top, right, bottom = box
    if max(y1, y2) < top or min(y1, y2) > bottom or max(x1, x2) < left or min(x1, x2) > right:
        return False
    for at in range(25):
        x, y = x1 + (x2 - x1) * at / 24, y1 + (y2 - y1) * at / 24
        if left <= x <= right and top <= y <= bottom:
            return True
    return False
