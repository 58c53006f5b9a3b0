"""A counterexample as one HTML page that needs nothing else: no network, no server.

Everything is in the page as markup; the script only selects what is shown. Names and payloads are
escaped, and a content security policy lets only this page's own style and script run, known by
their hashes, in case one should slip through.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from antecede.checker.check import CheckReport
from antecede.checker.formats.geometry import Layout
from antecede.checker.formats.json import own_version
from antecede.checker.formats.markup import Markup, joined, number, tag
from antecede.checker.formats.spacetime import layout_of
from antecede.checker.formats.svg import drawing
from antecede.checker.formats.svg_style import style
from antecede.checker.model import State
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.report.about import About, about
from antecede.checker.report.prose import Wording
from antecede.checker.semantics.values import field_names

FIRST_PAGE, PAGE = 1.3, 1.6
"""How much of a diagram goes on a page of paper, as its height to its width, where it is 155 mm."""
LEGEND = 110.0
"""Room for the legend below a diagram."""
WHOLE_ID = "whole"

WHOLE = "state"
"""The name of the only row of a state that is no attrs class."""


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as an HTML file of its own."""
    said = about(path, report)
    looks, script = Markup(_asset("page.css") + style()), Markup(_asset("page.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(looks)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{said.headline} – antecede"),
        tag("style", looks),
    )
    body = tag(
        "body",
        _header(said),
        _bar(path),
        tag("main", _diagram(path, said), _side(path, said)),
        tag("footer", f"Made by antecede {own_version()}."),
        tag("script", script),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _asset(name: str) -> str:
    return resources.files("antecede.checker.formats").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"


# Header and bar


def _header(said: About) -> Markup:
    word, look = ("VIOLATED", "badge") if said.violates else ("RUN", "badge run")
    after = f" {said.violates}, after {said.length}" if said.violates else f" of {said.length}"
    lines = [
        tag("h1", said.headline),
        tag("p", tag("span", word, class_=look), after),
        tag("p", said.explanation.text) if said.explanation.text else "",
        tag("ul", *(tag("li", d) for d in said.explanation.details), class_="details")
        if said.explanation.details
        else "",
        tag("p", said.question, class_="question"),
    ]
    if said.figures:
        pairs = [joined(tag("dt", name), tag("dd", value)) for name, value in said.figures]
        lines.append(tag("details", tag("summary", "What was explored"), tag("dl", *pairs)))
    return tag("header", *lines)


def _bar(path: Path) -> Markup:
    buttons = [
        tag("button", sign, id=name, type="button", aria_label=label)
        for name, sign, label in (
            ("first", "«", "to the start"),
            ("back", "‹", "one step back"),
            ("forth", "›", "one step forward"),
            ("last", "»", "to the end"),
        )
    ]
    place = tag("output", f"Step {path.length} of {path.length}", id="place", aria_live="polite")
    boxes = [
        _box("control", "control packets", "c", checked=True),
        _box("changed", "only what changed", "o", checked=False),
    ]
    keys = [tag("kbd", key) for key in ("j", "k", "←", "→")]
    hint = tag("span", joined(*keys, by=" "), " step", class_="muted")
    return tag(
        "nav", tag("span", joined(*buttons, by=" ")), place, *boxes, hint, class_="bar",
        aria_label="steps",
    )  # fmt: skip


def _box(name: str, words: str, key: str, *, checked: bool) -> Markup:
    box = tag("input", type="checkbox", id=name, checked=checked)
    return tag("label", box, f"{words} ", tag("kbd", key))


def _diagram(path: Path, said: About) -> Markup:
    drawn = tag("div", drawing(path, said, inside=True), id=WHOLE_ID)
    pieces = list(_pieces(layout_of(path)))
    return tag(
        "section",
        drawn,
        tag("div", *pieces, class_="pieces", aria_hidden="true") if pieces else "",
        class_="diagram tall" if pieces else "diagram",
        tabindex=0,
        aria_label="Space-time diagram: time runs downwards, one line per actor",
    )


def _pieces(layout: Layout) -> Iterator[Markup]:
    """Yield a tall diagram in pieces for paper, cut between rows; nothing of one that fits a page.

    A browser prints a picture on one page or slices it anywhere, and leaves pages empty.
    """
    wide, bottom = layout.notes, layout.height + LEGEND
    if bottom <= wide * FIRST_PAGE:
        return
    top, room = 0.0, wide * FIRST_PAGE
    while top < bottom:
        ends = [row.bottom for row in layout.rows if top < row.bottom <= top + room]
        end = bottom if bottom <= top + room else max(ends, default=top + room)
        yield tag(
            "svg",
            tag("use", href=f"#{WHOLE_ID}-drawing"),
            viewBox=f"0 {number(top)} {number(wide)} {number(end - top)}",
        )
        top, room = end, wide * PAGE


# Steps and states


def _side(path: Path, said: About) -> Markup:
    words, texts = Wording.of(path), ["At the start"]
    texts += [words.step(step, said.explanation.remarks) for step in path.steps]
    items = [_item(path, said, number, said_of) for number, said_of in enumerate(texts)]
    states = [path.initial, *(step.state for step in path.steps)]
    articles = [
        _article(path, words, number, said_of, states) for number, said_of in enumerate(texts)
    ]
    return tag(
        "div",
        tag("section", tag("h2", "Steps"), tag("ol", *items, class_="steps", tabindex=0)),
        tag("section", tag("h2", "State"), *articles),
        class_="side",
        tabindex=0,
        role="region",
        aria_label="Steps and states",
    )


def _item(path: Path, said: About, number: int, words: str) -> Markup:
    looks = []
    if number:
        step = path.steps[number - 1]
        if any((number, d.message) in said.explanation.remarks for d in step.deliveries):
            looks.append("wrong")
        if _is_control(path, step):
            looks.append("control")
    link = tag(
        "a", tag("span", f"{number}", class_="number"), tag("span", words), href=f"#step-{number}"
    )
    return tag("li", link, class_=" ".join(looks) or None, data_step=number)


def _is_control(path: Path, step: PathStep) -> bool:
    flights = flights_of(path)
    flight = flights.met.get(step.number)
    if flight is None or not flight.control or step.deliveries:
        return False
    return all(f.control for f in flights.sent[step.number])


def _article(
    path: Path, words: Wording, number: int, said_of: str, states: Sequence[State]
) -> Markup:
    """Return the state after a step, compared with the state before it."""
    after, before = states[number], states[max(number - 1, 0)]
    heading = said_of if not number else f"After step {number}: {said_of}"
    acts = path.steps[number - 1].actor if number else None
    return tag(
        "article",
        tag("h3", heading),
        actors_table(path, words, before, after, acts),
        tag("h4", "In flight"),
        network_list(path, words, before, after),
        id=f"step-{number}",
        data_step=number,
    )


def actors_table(
    path: Path, words: Wording, before: State, after: State, acts: int | None
) -> Markup:
    """Return the actors' fields and clocks in `after`, compared with `before`; one actor `acts`."""
    names = [
        tag("th", words.actor(i), scope="col", class_="acts" if i == acts else None)
        for i in range(path.system.actors)
    ]
    was, now = _fields(words, before), _fields(words, after)
    keys = dict.fromkeys(key for row in (*was, *now) for key in row)
    lines = []
    for key in keys:
        cells = [(w.get(key, ""), n.get(key, "")) for w, n in zip(was, now, strict=True)]
        same = all(w == n for w, n in cells)
        line = [tag("th", key, scope="row"), *(_cell(w, n) for w, n in cells)]
        lines.append(tag("tr", *line, class_="same" if same else None))
    return tag(
        "table",
        tag("caption", "Actors"),
        tag("thead", tag("tr", tag("th", "field", scope="col"), *names)),
        tag("tbody", *lines),
    )


def _cell(was: str, now: str) -> Markup:
    if was == now:
        return tag("td", now)
    return tag("td", tag("del", was), tag("ins", now), class_="changed")


def _fields(words: Wording, state: State) -> list[dict[str, str]]:
    """Return per actor field -> value; the clock comes last."""
    rows = []
    for local, ghost in zip(state.actors, state.history, strict=True):
        row = _local(words, local)
        row["vector clock"] = " ".join(map(str, ghost.knows))
        rows.append(row)
    return rows


def _local(words: Wording, local: Any) -> dict[str, str]:
    names = field_names(local)
    if names is None:
        return {WHOLE: words.value(local)}
    return {name: words.value(getattr(local, name)) for name in names}


def network_list(path: Path, words: Wording, before: State, after: State) -> Markup:
    """Return what is in flight in `after`, compared with `before`."""
    was, now = Counter(_envelopes(path, words, before)), Counter(_envelopes(path, words, after))
    lines = []
    for text in {**was, **now}:
        kept = min(was[text], now[text])
        lines += [tag("li", text, class_="same")] * kept
        lines += [tag("li", tag("ins", text))] * (now[text] - kept)
        lines += [tag("li", tag("del", text), " has left the network")] * (was[text] - kept)
    if not lines:
        return tag("p", "nothing", class_="muted")
    return tag("ul", *lines, class_="network")


def _envelopes(path: Path, words: Wording, state: State) -> Iterator[str]:
    for (src, dst), channel in zip(path.system.pairs, state.channels, strict=True):
        for packet in channel:
            yield f"{words.actor(src)} → {words.actor(dst)}: {words.value(packet)}"
