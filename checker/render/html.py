"""A counterexample as one self-contained HTML page, which needs neither network nor server.

The template `trace.html` has everything as markup. The script only selects the visible parts. Names
and payloads are escaped. As a second protection, a content security policy allows only this page's
own style and script, identified by their hashes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from attrs import frozen

from antecede.checker.check.handler_coverage import HandlerCoverage
from antecede.checker.check.report import CheckReport
from antecede.checker.model import State
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path
from antecede.checker.render import coverage
from antecede.checker.render.about import About, about, question
from antecede.checker.render.geometry import Layout
from antecede.checker.render.markup import Markup, number
from antecede.checker.render.pages import page
from antecede.checker.render.prose import Wording, fields_of
from antecede.checker.render.spacetime import layout_of
from antecede.checker.render.svg import drawing
from antecede.checker.render.svg_style import style
from antecede.checker.support.reading import own_text

FIRST_PAGE, PAGE = 1.3, 1.6
"""The height of the piece of a diagram on a page of paper, relative to its width of 155 mm."""
LEGEND = 110.0
"""The height of the legend below a diagram."""
WHOLE_ID = "whole"

Carried: TypeAlias = tuple[str, str]
"""A packet in the network, in words, and its fate in the step: `same`, `new` or `gone`."""


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as an HTML page."""
    said = about(path, report)
    drawn = drawing(path, said, inside=True)
    covered = report.coverage if report is not None else None
    return stepping(said, layout_of(path), drawn, _steps(path, said), covered)


def stepping(
    said: About,
    layout: Layout,
    drawn: str,
    steps: Iterable[Shown],
    covered: HandlerCoverage | None = None,
) -> str:
    """Return a page to step through what happened: its picture, its steps, and their states.

    With `covered`, the page also has the lines of the handlers that the check has executed.
    """
    looks = Markup(own_text(__package__, "page.css") + style())
    script = Markup(own_text(__package__, "page.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(looks)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    shown = [*steps]
    return page(
        "trace.html",
        policy=policy,
        style=looks,
        script=script,
        said=said,
        length=len(shown) - 1,
        whole=WHOLE_ID,
        drawing=drawn,
        pieces=list(_pieces(layout)),
        steps=shown,
        covered=None if covered is None else [coverage.listing(each) for each in covered],
    )


def coverage_page(report: CheckReport, covered: HandlerCoverage) -> str:
    """Return a page with the lines of the handlers that ran, for a check without a run to show."""
    looks = Markup(own_text(__package__, "page.css"))
    return page(
        "coverage.html",
        policy=f"default-src 'none'; style-src {_hash(looks)}; base-uri 'none'; form-action 'none'",
        style=looks,
        headline=f"{report.result.verdict}: which lines of the handlers ran",
        question=question(report.system),
        covered=[coverage.listing(each) for each in covered],
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"


def _pieces(layout: Layout) -> Iterator[str]:
    """Yield the view boxes of the pieces of a tall diagram on paper, cut between rows.

    A diagram that fits a page is not cut, so nothing is yielded. Without this, a browser would cut
    the picture anywhere or leave pages empty.
    """
    wide, bottom = layout.notes, layout.height + LEGEND
    if bottom <= wide * FIRST_PAGE:
        return
    top, room = 0.0, wide * FIRST_PAGE
    while top < bottom:
        ends = [row.bottom for row in layout.rows if top < row.bottom <= top + room]
        end = bottom if bottom <= top + room else max(ends, default=top + room)
        yield f"0 {number(top)} {number(wide)} {number(end - top)}"
        top, room = end, wide * PAGE


# Steps and states


@frozen
class Shown:
    """The start, or a step with the state after it, compared with the state before it."""

    number: int
    words: str
    looks: str
    table: Table
    network: list[Carried]


def _steps(path: Path, said: About) -> Iterator[Shown]:
    """Yield the start and all steps."""
    words, remarks, flights = Wording.of(path), said.explanation.remarks, flights_of(path)
    states = [path.initial, *(step.state for step in path.steps)]
    yield Shown(0, "At the start", "", *compared(path, words, states[0], states[0], None))
    for step in path.steps:
        looks = [
            "wrong" * any((step.number, d.message) in remarks for d in step.deliveries),
            "control" * flights.is_control(step),
        ]
        before, after = states[step.number - 1], states[step.number]
        yield Shown(
            step.number,
            words.step(step, remarks),
            " ".join(filter(None, looks)),
            *compared(path, words, before, after, step.actor),
        )


@frozen
class Cell:
    """The value of an actor's field, before and after a step."""

    was: str
    now: str

    @property
    def changed(self) -> bool:
        """True if the values differ."""
        return self.was != self.now


@frozen
class Table:
    """The actors' fields and clocks.

    Attributes:
        acts: the actor that took the step, or None.
        rows: field -> a cell per actor.
    """

    actors: list[str]
    acts: int | None
    rows: dict[str, list[Cell]]


def compared(
    path: Path, words: Wording, before: State, after: State, acts: int | None
) -> tuple[Table, list[Carried]]:
    """Return the state after a step, compared with the state before it; `acts` takes the step."""
    was, now = _fields(words, before), _fields(words, after)
    rows = {
        key: [Cell(w.get(key, ""), n.get(key, "")) for w, n in zip(was, now, strict=True)]
        for key in dict.fromkeys(key for row in (*was, *now) for key in row)
    }
    actors = [words.actor(actor) for actor in range(path.system.actors)]
    return Table(actors, acts, rows), _network(path, words, before, after)


def _fields(words: Wording, state: State) -> list[dict[str, str]]:
    """Return a mapping of field to value per actor; the clock comes last."""
    rows = []
    for local, ghost in zip(state.actors, state.history, strict=True):
        row = {name: words.value(part) for name, part in fields_of(local).items()}
        row["vector clock"] = " ".join(map(str, ghost.knows))
        rows.append(row)
    return rows


def _network(path: Path, words: Wording, before: State, after: State) -> list[Carried]:
    """Return the packets in flight in `after`, compared with `before`."""
    was, now = Counter(envelopes(path, words, before)), Counter(envelopes(path, words, after))
    packets = list[Carried]()
    for text in {**was, **now}:
        kept = min(was[text], now[text])
        packets += [(text, "same")] * kept
        packets += [(text, "new")] * (now[text] - kept)
        packets += [(text, "gone")] * (was[text] - kept)
    return packets


def envelopes(path: Path, words: Wording, state: State) -> Iterator[str]:
    """Yield the packets in flight in a state, in words."""
    for (src, dst), channel in zip(path.system.pairs, state.channels, strict=True):
        for packet in channel:
            yield f"{words.actor(src)} → {words.actor(dst)}: {words.value(packet)}"
