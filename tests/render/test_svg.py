"""The space-time diagram: shapes and their places, read back from the picture."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import CausalSend, Lose, Receive, Timeout
from antecede.checker.paths.path import Loop, Path
from antecede.checker.render import svg, svg_style
from antecede.checker.render.about import about
from antecede.checker.render.geometry import (
    BUFFER,
    NAME,
    NUMBERS,
    TEXT,
    WIDEST,
    Arrow,
    Layout,
    cut,
    overlap,
    text_width,
)
from antecede.checker.render.prose import Wording, waiting
from antecede.checker.render.spacetime import layout_of
from antecede.checker.search.options import Options
from antecede.checker.semantics.names import names_from
from antecede.checker.semantics.values import message_in
from antecede.checker.support.registry import protocol_named
from tests import runs
from tests.conftest import ROOT
from tests.runs import EVIL, RUNS, walk

Element = ElementTree.Element

EVERY_RUN = pytest.mark.parametrize("path", [f() for f in RUNS.values()], ids=list(RUNS))
NAMESPACE = "{http://www.w3.org/2000/svg}"
DRAWN = {
    *("svg", "style", "title", "desc", "defs", "pattern", "g"),
    *("rect", "text", "line", "path", "circle", "polygon"),
}
"""The elements of a picture."""


def picture(path: Path) -> Element:
    """Return the root of the picture; it must be well-formed."""
    return ElementTree.fromstring(svg.text(path))


def classes(element: Element) -> list[str]:
    """Return the classes of an element."""
    return element.get("class", "").split()


def of_class(root: Element, *names: str) -> list[Element]:
    """Return all elements that have all these classes."""
    return [each for each in root.iter() if set(names) <= set(classes(each))]


def words_of(root: Element) -> list[str]:
    """Return all texts that are drawn."""
    return [each.text or "" for each in root.iter(f"{NAMESPACE}text")]


def arrows_of(layout: Layout, role: str) -> list[Arrow]:
    """Return the arrows that play a role in the violation."""
    return [arrow for arrow in layout.arrows if arrow.role == role]


# Everything is drawn


@EVERY_RUN
def test_the_picture_is_well_formed_and_has_only_shapes_and_text(path: Path) -> None:
    root = picture(path)
    assert {each.tag.removeprefix(NAMESPACE) for each in root.iter()} <= DRAWN
    assert not [key for each in root.iter() for key in each.attrib if key.startswith("on")]


@EVERY_RUN
def test_every_event_has_its_mark(path: Path) -> None:
    marks = Counter(mark.kind for mark in layout_of(path).marks)
    kinds = Counter(type(step.transition) for step in path.steps)
    assert kinds[CausalSend] == marks["causal-send"]
    assert kinds[Timeout] == marks["timeout"]
    assert sum(len(step.deliveries) for step in path.steps) == marks["deliver"]
    assert sum(waiting(step) is not None for step in path.steps) == marks["wait"]


@EVERY_RUN
def test_every_reception_and_loss_has_its_arrow(path: Path) -> None:
    ends = Counter(arrow.end for arrow in layout_of(path).arrows)
    kinds = Counter(type(step.transition) for step in path.steps)
    assert kinds[Receive] == ends["received"]
    assert kinds[Lose] == ends["lost"]


@EVERY_RUN
def test_every_message_in_flight_is_drawn_and_every_control_packet_is_named(path: Path) -> None:
    layout = layout_of(path)
    last = path.steps[-1].state if path.steps else path.initial
    left = [packet for channel in last.channels for packet in channel]
    messages = [packet for packet in left if message_in(packet) is not None]
    stubs = [arrow for arrow in layout.arrows if arrow.end == "in-flight"]
    assert len(stubs) <= len(left)
    assert len(layout.undrawn) <= len(left) - len(messages)
    if path.system.network.name == "unordered":
        assert len(left) == len(stubs) + len(layout.undrawn)


@EVERY_RUN
def test_arrows_run_downwards_from_line_to_line(path: Path) -> None:
    layout = layout_of(path)
    lines = {x for x, _ in layout.columns}
    for arrow in layout.arrows:
        (x1, y1), (x2, y2) = arrow.points
        assert y1 < y2
        assert x1 in lines
        assert arrow.end != "received" or x2 in lines


@EVERY_RUN
def test_marks_stand_in_the_rows_of_their_steps(path: Path) -> None:
    layout = layout_of(path)
    rows = {row.step: row for row in layout.rows}
    assert [step.number for step in path.steps] == list(rows)
    for mark in layout.marks:
        if mark.kind != "missing":
            assert rows[mark.step].top < mark.y < rows[mark.step].bottom


@EVERY_RUN
def test_everything_fits_into_the_picture(path: Path) -> None:
    root, layout = picture(path), layout_of(path)
    wide = float(root.get("width", "0"))
    for label in (m.label for m in layout.marks if m.label is not None):
        assert 0 < label.box[0]
        assert label.box[2] < wide
    assert all(0 < x < wide for x, _ in layout.columns)


def test_forty_transitions_of_three_actors_are_not_too_large() -> None:
    root = picture(runs.long_run())
    assert 960 > float(root.get("width", "0"))
    assert 48 * 41 > float(root.get("height", "0"))


# The violation


def test_the_late_message_and_the_chain_are_marked() -> None:
    layout = layout_of(runs.secret_mode())
    assert ["Normal(m3)"] == [a.label.text for a in arrows_of(layout, "late")]
    assert ["Eager(m4)", "Normal(m5)"] == [a.label.text for a in arrows_of(layout, "chain")]
    wrong = [m.label.text for m in layout.marks if m.kind == "deliver" and m.wrong and m.label]
    assert ["m5 too early", "m3 too late"] == wrong


@pytest.mark.parametrize("name", ["secret-mode", "alice-bob-carol", "relayed", "hostile"])
def test_the_chain_leads_without_a_gap_from_the_first_message_to_the_early_delivery(
    name: str,
) -> None:
    layout = layout_of(RUNS[name]())
    sends = [m for m in layout.marks if m.kind == "causal-send"]
    early = next(m for m in layout.marks if m.kind == "deliver" and m.wrong)
    point = layout.trail[0][0]
    assert point in [(m.x, m.y) for m in sends]
    for start, end in layout.trail:
        assert point == start
        point = end
    assert (early.x, early.y) == point


def test_a_late_message_is_followed_through_its_relays() -> None:
    layout = layout_of(runs.relayed())
    assert ["Detour(m1)", "Direct(m1)"] == [a.label.text for a in arrows_of(layout, "late")]
    assert ["Direct(m2)", "Direct(m3)"] == [a.label.text for a in arrows_of(layout, "chain")]


def test_messages_that_are_never_delivered_leave_a_gap_where_they_should_be() -> None:
    layout = layout_of(runs.undelivered())
    missing = [m.label.text for m in layout.marks if m.kind == "missing" and m.label is not None]
    assert ["m4 never delivered", "m2 never delivered"] == missing
    assert not layout.trail


def test_a_run_that_violates_nothing_highlights_nothing() -> None:
    layout = layout_of(runs.long_run())
    assert not layout.trail
    assert {""} == {arrow.role for arrow in layout.arrows}
    assert not [mark for mark in layout.marks if mark.wrong]


# Spans


def test_secret_mode_is_a_span_from_the_eager_delivery_to_the_last_yct() -> None:
    layout = layout_of(runs.secret_mode())
    rows = {row.step: row for row in layout.rows}
    (span,) = (s for s in layout.spans if s.kind == "secret-mode")
    assert layout.columns[2][0] == span.x
    assert rows[5].y == span.top
    assert rows[9].bottom < span.bottom
    assert span.label is not None
    assert "secret mode" == span.label.text


def test_a_buffer_is_a_span_from_the_wait_to_the_network_send() -> None:
    path = runs.long_run()
    layout = layout_of(path)
    carol = [s for s in layout.spans if s.kind == BUFFER and s.x == layout.columns[2][0]]
    sends = {m.step: m.y for m in layout.marks if m.kind == "network-send" and m.x == carol[0].x}
    rows = {row.step: row for row in layout.rows}
    assert [(rows[11].y, sends[14]), (rows[17].y, 0.0)] == [
        (carol[0].top, carol[0].bottom),
        (carol[1].top, 0.0),
    ]


def test_a_buffer_at_the_receiver_ends_with_the_delivery() -> None:
    layout = layout_of(runs.held_back())
    waits = [m for m in layout.marks if m.kind == "wait"]
    deliveries = {(m.x, m.y) for m in layout.marks if m.kind == "deliver"}
    buffers = [s for s in layout.spans if s.kind == BUFFER]
    assert waits
    assert all(any(s.top <= w.y <= s.bottom for s in buffers) for w in waits)
    assert all((s.x, s.bottom) in deliveries for s in buffers)


# Looks


def test_nothing_is_told_by_colour_alone() -> None:
    root = picture(runs.secret_mode())
    assert of_class(root, "core"), "the late message is a double line"
    assert len(of_class(root, "cross")) > 1, "wrong deliveries are crossed"
    style = next(root.iter(f"{NAMESPACE}style")).text or ""
    assert re.search(r"\.control \.shaft \{ stroke-dasharray: ", style)
    assert re.search(r"\.in-flight \.shaft \{ stroke-dasharray: ", style)
    fills = {each.get("fill") for each in root.iter() if each.get("fill", "").startswith("url(")}
    assert {"url(#spacetime-1)", "url(#spacetime-2)"} == fills


def test_control_packets_are_dashed_and_can_be_switched_off() -> None:
    root = picture(runs.long_run())
    arrows = [e for e in of_class(root, "arrow", "control") if e.get("data-step")]
    assert arrows
    style = next(root.iter(f"{NAMESPACE}style")).text or ""
    assert ".spacetime.hide-control .control { display: none; }" in style


def test_colours_follow_the_scheme_of_the_screen_and_paper_is_light() -> None:
    style = svg_style.style()
    before, dark = style.split("@media screen and (prefers-color-scheme: dark)")
    assert svg_style.LIGHT["paper"] in before
    assert svg_style.DARK["paper"] not in before
    assert svg_style.DARK["paper"] in dark


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("palette", [svg_style.LIGHT, svg_style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["ink", "muted", "late", "chain"])
@pytest.mark.parametrize("on", ["paper", "strip"])
def test_words_stand_out_from_what_is_behind_them(
    palette: dict[str, str], name: str, on: str
) -> None:
    lighter, darker = sorted((luminance(palette[name]), luminance(palette[on])), reverse=True)
    assert 4.5 <= (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", ["secret-mode", "alice-bob-carol", "undelivered", "relayed"])
def test_no_label_covers_another(name: str) -> None:
    layout = layout_of(RUNS[name]())
    labels = [arrow.label for arrow in layout.arrows]
    labels += [mark.label for mark in layout.marks if mark.label is not None]
    labels += [span.label for span in layout.spans if span.label is not None]
    assert not [(a.text, b.text) for a, b in combinations(labels, 2) if overlap(a.box, b.box)]


def test_labels_hardly_cover_one_another_in_a_long_run() -> None:
    layout = layout_of(runs.long_run())
    labels = [arrow.label for arrow in layout.arrows]
    labels += [mark.label for mark in layout.marks if mark.label is not None]
    found = [(a.text, b.text) for a, b in combinations(labels, 2) if overlap(a.box, b.box)]
    assert 2 >= len(found), found


def test_the_heading_says_what_is_wrong_why_and_where() -> None:
    path = runs.secret_mode()
    root, said = picture(path), about(path)
    shown = " ".join(words_of(root))
    assert said.headline in shown
    for word in f"{said.explanation.text} {said.question} {said.verdict}".split():
        assert word in shown
    assert "Figure" not in shown
    assert said.headline in (next(root.iter(f"{NAMESPACE}title")).text or "")


def test_the_legend_explains_what_is_drawn_and_nothing_else() -> None:
    shown = words_of(picture(runs.secret_mode()))
    for word in ("causal-send", "deliver", "happens-before chain", "secret mode", "never received"):
        assert word in shown
    for word in ("timeout", "lost", "control packet", "a message waits"):
        assert word not in shown
    for word in ("timeout", "lost", "control packet", "a message waits"):
        assert word in words_of(picture(runs.lossy()))


def test_long_names_are_cut_and_harmless() -> None:
    root = picture(runs.hostile())
    labels = [text for text in words_of(root) if text.startswith("Evil<")]
    assert labels
    assert all(len(text) <= 24 for text in labels)
    assert any(EVIL[:12] in text for text in words_of(root))
    assert "abc…" == cut("abcdef", 4)


def test_widths_grow_with_the_text() -> None:
    assert text_width("mm") > text_width("ii") > 0
    assert text_width("字字") > text_width("ab")


def test_every_transition_can_be_linked_to() -> None:
    ids = [each.get("id") for each in of_class(picture(runs.secret_mode()), "row")]
    assert [f"step-{number}" for number in range(1, 10)] == ids


def test_notes_say_in_few_words_what_happens() -> None:
    path = runs.long_run()
    notes = {row.step: row.note for row in layout_of(path).rows}
    assert "Carol sends m1 to Alice" == notes[1]
    assert "Bob delivers m3" == notes[4]
    assert "Bob sends m5 to Carol; m5 waits" == notes[7]
    assert "Carol receives Ack from Bob, sends Eager(m9)" == notes[14]
    assert "Bob receives Ack from Alice" == notes[18]
    assert all(Wording.of(path).label(a.label.text) for a in layout_of(path).arrows)


def test_the_picture_in_the_readme_is_up_to_date() -> None:
    shown = (ROOT / "docs" / "images" / "secret-mode.svg").read_text(encoding="utf-8")
    assert svg.text(runs.secret_mode()) == shown


LONG = {
    "actors": ("the customer who orders everything", "bank", "the shop around the corner"),
    "messages": ((f"an order of {'x' * 28}", "m2"), (), ("the confirmation of everything",)),
}


def with_long_names() -> Path:
    spec = Spec("fifo", workload="script:[[1,2],[],[1]]", names=names_from(LONG))
    path = check(spec, Options(engine="plain"), selfcheck="off").result.counterexample
    assert path is not None
    return path


def test_long_names_push_no_actor_away_and_stay_in_the_picture() -> None:
    layout = layout_of(with_long_names())
    at = [x for x, _ in layout.columns]
    assert all(right - left <= WIDEST for left, right in pairwise(at))
    for x, name in layout.columns:
        assert len(name) <= 24
        assert x - text_width(name, NAME, bold=True) / 2 > -1
    labels = [mark.label for mark in layout.marks if mark.label is not None]
    assert labels
    assert all(label.box[0] >= 0 and label.box[2] < layout.width for label in labels)


def test_a_row_about_what_is_wrong_has_room_for_its_heavier_letters() -> None:
    layout = layout_of(with_long_names())
    wrong = [row for row in layout.rows if row.wrong]
    assert wrong
    for row in wrong:
        assert layout.notes + text_width(row.short, bold=True) <= layout.width


@pytest.mark.parametrize("protocol", ["cykas-secret-mode", "hybrid-basic", "unordered"])
def test_every_label_is_inside_the_picture_after_every_step(protocol: str) -> None:
    """The explore page draws unfinished runs: witnesses that just began, and packets in flight."""
    for seed in range(4):
        whole = walk(protocol, seed=seed, most=12, actors=2 + seed % 2)
        for length in range(whole.length + 1):
            layout = layout_of(evolve(whole, steps=whole.steps[:length]))
            for label in layout.labels:
                left, _, right, _ = label.box
                assert left >= NUMBERS, f"{label.text} covers the numbers of the steps"
                assert right < layout.notes, f"{label.text} covers the notes"


def test_the_text_of_a_cycle_fits_into_the_drawing_within_a_page() -> None:
    path = runs.relayed()
    path = evolve(path, loop=Loop(1, path.messages[0], "stuck"))
    layout = layout_of(path)
    assert layout.loop is not None
    drawn = ElementTree.fromstring(svg.drawing(path, about(path), inside=True))
    wide = float(drawn.attrib["width"])
    # The drawing writes its width with one decimal.
    assert round(layout.notes + text_width(layout.loop.shown, bold=True), 1) <= wide


def test_nothing_covers_the_hourglass_of_a_message_that_waits() -> None:
    path = walk("hybrid-basic", seed=5, most=14)
    layout = layout_of(path)
    glasses = [(m.x - 5, m.y - 6, m.x + 5, m.y + 6) for m in layout.marks if m.kind == "wait"]
    texts = [s.label.box for s in layout.spans if s.label is not None]
    assert glasses
    assert texts
    assert not any(overlap(glass, text) for glass in glasses for text in texts)


def test_a_long_word_is_cut_after_a_comma() -> None:
    word = 'reaction:[{"name":"m1","from":0},{"name":"m2","from":10}]'
    lines = list(svg.wrapped_lines(f"workload {word}", 25 * TEXT * 0.6, TEXT))
    assert word == "".join(lines[1:])
    assert all(line.endswith(",") for line in lines[1:-1])
    assert ["x" * 8, "x" * 4] == list(svg.wrapped_lines("x" * 12, 8 * TEXT * 0.6, TEXT))


def test_a_protocol_that_fails_is_drawn_up_to_where_it_fails() -> None:
    """Its witnesses are spans, and cannot be asked about what stands in for the failed state."""
    asked = Spec(protocol="cykas", workload="broadcast", messages=1)
    path = check(asked).result.counterexample
    assert path is not None
    (mark,) = of_class(picture(path), "mark", "failure")
    assert "1" == mark.get("data-step")
    texts = ["".join(each.itertext()) for each in picture(path).iter(f"{NAMESPACE}text")]
    assert {"fails", "failure"} <= set(texts)


def test_a_witness_that_fails_is_no_span() -> None:
    def fails(_state: object) -> bool:
        raise SystemExit(3)

    protocol = evolve(protocol_named("unordered"), witnesses={"broken": fails})
    asked = Spec(protocol="unordered", actors=3, messages=2, properties=("causal-delivery",))
    path = check(asked, protocol=protocol).result.counterexample
    assert path is not None
    assert [] == list(layout_of(path).spans)
