"""The space-time diagram as SVG.

Colour is never the only sign. Marks differ in shape, control packets are dashed, the late message
is a double line, the happens-before chain has a broad band below it, shaded spans have their own
patterns, and all of them have labels. Colours follow the reader's light or dark scheme. On paper
they are light.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.about import About, about
from antecede.checker.render.geometry import (
    BOLD,
    BUFFER,
    TEXT,
    Arrow,
    Bracket,
    Label,
    Layout,
    Row,
    Span,
    cut,
    text_width,
)
from antecede.checker.render.markup import Markup, joined, number, tag
from antecede.checker.render.spacetime import layout_of
from antecede.checker.render.svg_shapes import (
    draw_arrow,
    draw_arrow_text,
    draw_label,
    draw_mark,
    draw_mark_text,
    draw_shape,
)
from antecede.checker.render.svg_style import CLASS, style


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as an SVG file."""
    return drawing(path, about(path, report)) + "\n"


def drawing(path: Path, said: About, *, inside: bool = False) -> Markup:
    """Return the drawing; `inside` a page it needs no heading, style sheet, or targets."""
    layout, below = layout_of(path), f"{said.verdict} · {said.question}"
    heading = () if inside else _heading(layout, said.headline, said.explanation.text, below)
    title = f"{said.headline}. {said.question}. {said.verdict}"
    return _framed(layout, [*heading], title, said.explanation.text or said.verdict, inside=inside)


def sheet(layout: Layout, headline: str) -> str:
    """Return a layout with a heading as an SVG file."""
    return _framed(layout, [*_heading(layout, headline, "", "")], headline, headline) + "\n"


def _framed(
    layout: Layout,
    heading: Sequence[tuple[Label, str]],
    title: str,
    description: str,
    *,
    inside: bool = False,
) -> Markup:
    """Return a drawing with its heading above it and its legend below it."""
    across = layout.notes if inside else layout.width
    wide = max([across, *(label.box[2] + 14 for label, _ in heading), _NARROWEST])
    shift = heading[-1][0].y + 8 if heading else 4.0
    legend, legend_height = _legend(layout, wide)
    foot = 14 if layout.height > _TALL else 0
    high = shift + layout.height + foot + legend_height + 10
    return tag(
        "svg",
        "" if inside else tag("style", Markup(style())),
        tag("title", title),
        tag("desc", description),
        _patterns(layout),
        tag("rect", class_="paper", width=wide, height=high),
        *(tag("text", label.text, class_=look, x=label.x, y=label.y) for label, look in heading),
        tag("g", *_body(layout, wide, inside=inside), transform=f"translate(0 {number(shift)})"),
        tag("g", *legend, transform=f"translate(0 {number(shift + layout.height + foot)})"),
        xmlns="http://www.w3.org/2000/svg",
        class_=CLASS,
        role="group" if inside else "img",
        id="whole-drawing" if inside else None,
        aria_label="space-time diagram" if inside else None,
        viewBox=f"0 0 {number(wide)} {number(high)}",
        width=wide,
        height=high,
    )


_NARROWEST = 560.0
_TALL = 640.0
"""The height from which the actors' names are repeated at the bottom."""


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


def _patterns(layout: Layout) -> Markup:
    """Return the fills of the shaded spans: strokes for buffers, then a pattern per witness."""
    signs = [
        tag("path", d="M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6", class_="shade", stroke_width="1.6"),
        tag("circle", cx=2.5, cy=2.5, r=1.15, class_="mode"),
        tag("path", d="M0 2.5 H8", class_="mode", stroke_width="1"),
        tag("path", d="M0 4 H8 M4 0 V8", class_="mode", stroke_width="0.8"),
    ]
    used = {_pattern(span.kind, layout.modes) for span in layout.spans}
    return tag(
        "defs",
        *(
            tag(
                "pattern",
                sign,
                id=f"{CLASS}-{at}",
                width=size,
                height=size,
                patternUnits="userSpaceOnUse",
            )
            for at, (sign, size) in enumerate(zip(signs, (8, 5, 5, 8), strict=True))
            if at in used
        ),
    )


def _pattern(kind: str, modes: Sequence[str]) -> int:
    return 0 if kind == BUFFER else 1 + modes.index(kind) % 3


def _body(layout: Layout, wide: float, *, inside: bool) -> Iterator[Markup]:
    for row in layout.rows:
        yield _row(row, layout, wide, inside=inside)
    if layout.loop is not None:
        yield _bracket(layout.loop, layout.notes)
    for x, name in layout.columns:
        bottom = layout.height - 10
        yield tag("line", class_="life", x1=x, y1=layout.top, x2=x, y2=bottom)
        yield tag("text", name, class_="name", x=x, y=layout.top - 9, text_anchor="middle")
        if layout.height > _TALL:
            yield tag("text", name, class_="name", x=x, y=bottom + 15, text_anchor="middle")
    outer_first = sorted(layout.spans, key=lambda s: -_width(s.kind, layout.modes))
    yield from (_span(span, layout.modes) for span in outer_first)
    for (x1, y1), (x2, y2) in layout.trail:
        yield tag("line", class_="band", x1=x1, y1=y1, x2=x2, y2=y2)
    for x, _ in layout.columns if layout.trail or layout.spans else ():
        yield tag("line", class_="life", x1=x, y1=layout.top, x2=x, y2=layout.height - 10)
    ordered = sorted(layout.arrows, key=lambda a: (a.role == "late", a.role == "chain"))
    yield from (draw_arrow(arrow) for arrow in ordered)
    yield from (
        tag("g", draw_label(span.label, "halo"), class_="span")
        for span in layout.spans
        if span.label is not None
    )
    yield from (
        draw_mark(mark) for mark in layout.marks
    )  # drawn last, so that no label covers them
    yield from (draw_arrow_text(arrow) for arrow in ordered)
    yield from (draw_mark_text(mark) for mark in layout.marks if mark.label is not None)
    if inside:
        yield tag(
            "rect",
            class_="paper veil",
            data_top=layout.rows[0].top if layout.rows else layout.height,
            x=0,
            y=layout.height,
            width=wide,
            height=0,
        )


def _bracket(loop: Bracket, notes: float) -> Markup:
    """Return the bracket around the steps that repeat: an arrow from the last back to the first."""
    left, right = 3.5, 11.0
    route = f"M{right} {number(loop.bottom)} H{left} V{number(loop.top)} H{right}"
    tip = f"M{right - 4} {number(loop.top - 3.5)} L{right} {number(loop.top)} "
    tip += f"L{right - 4} {number(loop.top + 3.5)}"
    return tag(
        "g",
        tag("title", loop.text),
        tag("path", d=route, class_="turn"),
        tag("path", d=tip, class_="turn"),
        tag("text", f"↺ {loop.text}", class_="wrong", x=notes, y=loop.bottom + 22),
        class_="loop",
    )


def _row(row: Row, layout: Layout, wide: float, *, inside: bool) -> Markup:
    """Return the strip of a transition: its number and note, or (inside a page) a link."""
    odd = row.step % 2
    strip = tag(
        "rect",
        class_="strip" if odd else "strip even",
        x=0,
        y=row.top,
        width=wide,
        height=row.bottom - row.top,
    )
    content = [
        tag("title", f"{row.step}. {row.note}"),
        strip,
        tag("text", str(row.step), class_="muted", x=26, y=row.y + 4.5, text_anchor="end"),
    ]
    if inside:
        link = tag("a", *content, href=f"#step-{row.step}", tabindex=-1)
        return tag("g", link, class_="row", data_step=row.step, data_bottom=row.bottom)
    look = "wrong" if row.wrong else "note"
    note = tag("text", row.short, class_=look, x=layout.notes, y=row.y + 4.5)
    content.append(tag("g", note, class_="control" if row.control else None))
    return tag("g", *content, class_="row", data_step=row.step, id=f"step-{row.step}")


def _width(kind: str, modes: Sequence[str]) -> float:
    return 12.0 if kind == BUFFER else 22.0 + 8 * modes.index(kind)


def _look(kind: str) -> str:
    return "shade" if kind == BUFFER else "mode"


def _span(span: Span, modes: Sequence[str]) -> Markup:
    wide = _width(span.kind, modes)
    box = {"x": span.x - wide / 2, "y": span.top, "width": wide, "height": span.bottom - span.top}
    return tag(
        "g",
        tag("rect", class_=_look(span.kind), rx=4, fill_opacity="0.13", **box),
        tag("rect", fill=f"url(#{CLASS}-{_pattern(span.kind, modes)})", rx=4, opacity="0.6", **box),
        class_="span",
        data_kind=span.kind,
    )


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
    "failure": "the protocol fails",
    "missing": "delivery that never happens",
}


def _legend(layout: Layout, wide: float) -> tuple[list[Markup], float]:
    """Return the legend of the signs that are drawn, in lines, and its height."""
    drawn: list[Markup] = []
    x, y = 20.0, 16.0
    items = list(_legend_items(layout))
    for sign, room, words in items:
        long = room + text_width(words) + 22
        if x > 20 and x + long > wide - 10:
            x, y = 20.0, y + 22
        drawn.append(
            tag(
                "g",
                sign,
                tag("text", words, class_="muted", x=room + 6, y=4),
                transform=f"translate({number(x)} {number(y)})",
            )
        )
        x += long
    if layout.undrawn:
        said = f"Still in flight, not drawn: {', '.join(layout.undrawn)}."
        for line in wrapped_lines(said, wide - 40, TEXT):
            y += 20
            drawn.append(tag("text", line, class_="muted", x=20, y=y + 4))
    return [tag("line", class_="tick", x1=14, y1=0, x2=wide - 14, y2=0), *drawn], y + 12


def _legend_items(layout: Layout) -> Iterator[tuple[Markup, float, str]]:
    """Yield (sign, width of the sign, text) for each item of the legend."""
    kinds = {m.kind for m in layout.marks}
    for kind, words in _MARKS.items():
        if kind in kinds:
            yield joined(*draw_shape(kind, 7, 0)), 16, words
    both = {(m.x, m.y) for m in layout.marks if m.kind == "causal-send"}
    if both & {(m.x, m.y) for m in layout.marks if m.kind == "network-send"}:
        sign = joined(*draw_shape("causal-send", 7, 0), *draw_shape("network-send", 7, 0))
        yield sign, 16, "both at once"
    if any(m.kind == "deliver" and m.wrong for m in layout.marks):
        sign = tag("g", *draw_shape("deliver", 8, 0, wrong=True), class_="wrong")
        yield sign, 18, "wrong delivery"
    roles = {a.role for a in layout.arrows} | {a.end for a in layout.arrows}
    for role, words in (("late", "the message that was overtaken"), ("lost", "lost")):
        if role in roles:
            end = role if role == "lost" else "received"
            yield _sample(end, role if role == "late" else ""), 48, words
    if layout.trail:
        band = tag("line", class_="band", x1=8, y1=0, x2=36, y2=0)
        yield joined(band, _sample("received", "chain")), 44, "happens-before chain"
    if any(a.control for a in layout.arrows):
        yield _sample("received", "", control=True), 44, "control packet"
    if "in-flight" in roles:
        yield _sample("in-flight", ""), 44, "never received"
    shown = dict.fromkeys(sorted(s.kind for s in layout.spans))
    for kind in shown:
        words = "a message waits" if kind == BUFFER else cut(kind.replace("-", " "))
        wide = _width(kind, layout.modes)
        yield _span(Span(kind, wide / 2, -8, 8), layout.modes), wide + 1, words


def _sample(end: str, role: str, *, control: bool = False) -> Markup:
    label = Label("", 0, 0)
    return draw_arrow(Arrow(((2, 0), (44, 0)), end, role, label, 0, None, control, False))
