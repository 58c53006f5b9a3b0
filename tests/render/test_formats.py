"""Traces in all formats: every file is made from the same path, and read back by a reader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import jinja2
import pytest
from attrs import frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Lose, Message, Receive
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path, transition_key
from antecede.checker.render import html, pages
from antecede.checker.render import json as own
from antecede.checker.render.itf import encoded
from antecede.checker.render.markup import Markup, escaped, number, plain
from antecede.checker.render.prose import Wording
from antecede.checker.render.spacetime import layout_of
from antecede.checker.render.trace_formats import FORMATS, format_of, trace_text, write_trace
from antecede.checker.search.options import Options
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from tests import readers, runs
from tests.runs import FIGURE_3, RUNS, VIOLATIONS

EVERY_RUN = pytest.mark.parametrize("path", [f() for f in RUNS.values()], ids=list(RUNS))
EVERY_FORMAT = pytest.mark.parametrize("name", list(FORMATS))


def received(path: Path) -> list[Any]:
    """Return the transitions that end an arrow."""
    return [s.transition for s in path.steps if isinstance(s.transition, Receive | Lose)]


# Choosing a format


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("trace.json", "json"),
        ("trace.itf.json", "itf"),
        ("a.b/TRACE.ITF.JSON", "itf"),
        ("trace.shiviz", "shiviz"),
        ("trace.shiviz.log", "shiviz"),
        ("trace.mmd", "mermaid"),
        ("trace.mermaid", "mermaid"),
        ("trace.puml", "puml"),
        ("trace.svg", "svg"),
        ("trace.html", "html"),
        ("trace.txt", "txt"),
    ],
)
def test_the_ending_tells_the_format(file: str, name: str) -> None:
    assert name == format_of(file)


def test_an_ending_that_tells_nothing_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match=r"'trace\.gif'.*\.itf\.json.*\.svg.*\.png"):
        format_of("trace.gif")


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    run = next(iter(VIOLATIONS.values()))()
    with pytest.raises(InputError, match=r"unknown trace format 'mermiad'; did you mean 'merm"):
        trace_text(run, "mermiad")


# Writing


@EVERY_FORMAT
def test_a_trace_is_written_as_its_text_and_leaves_nothing_beside_it(
    name: str, tmp_path: FilePath
) -> None:
    file = tmp_path / f"trace{FORMATS[name].endings[0]}"
    write_trace(runs.secret_mode(), str(file))
    assert [file] == list(tmp_path.iterdir())
    assert trace_text(runs.secret_mode(), name) == file.read_text(encoding="utf-8")


def test_a_trace_that_cannot_be_made_leaves_the_old_file(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> str:
        raise InputError("no")

    monkeypatch.setattr("antecede.checker.render.json.trace_text", fail)
    file = tmp_path / "trace.json"
    file.write_text("old")
    with pytest.raises(InputError, match="no"):
        write_trace(runs.long_run(), str(file))
    assert "old" == file.read_text()
    assert [file] == list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_trace(runs.secret_mode(), str(tmp_path / "missing" / "trace.svg"))


@EVERY_FORMAT
def test_the_same_path_gives_the_same_text(name: str) -> None:
    assert trace_text(runs.secret_mode(), name) == trace_text(runs.secret_mode(), name)


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("itf", "json", "svg", "html")])
def test_every_message_and_actor_is_named_as_on_the_terminal(name: str) -> None:
    text = trace_text(runs.secret_mode(), name)
    missing = [w for w in ("m1", "m2", "m3", "m4", "m5", "Alice", "Bob", "Carol") if w not in text]
    assert not missing


# The own format


@pytest.mark.parametrize(
    "path", [f() for n, f in VIOLATIONS.items() if n not in ("hostile", "relayed")]
)
def test_the_own_format_replays_to_the_same_path(path: Path, tmp_path: FilePath) -> None:
    file = tmp_path / "trace.json"
    write_trace(path, str(file))
    again, prop, _ = own.replay_file(str(file))
    assert path.violates == prop == again.violates
    assert [transition_key(s.transition) for s in path.steps] == [
        transition_key(s.transition) for s in again.steps
    ]


@pytest.mark.parametrize("run", [runs.long_run, runs.lossy, runs.to_oneself, runs.empty])
def test_a_run_that_violates_nothing_is_saved_and_replayed_too(
    run: Callable[[], Path], tmp_path: FilePath
) -> None:
    file = tmp_path / "run.json"
    write_trace(run(), str(file))
    again, prop, _ = own.replay_file(str(file))
    assert prop is None is again.violates
    assert [transition_key(s.transition) for s in run().steps] == [
        transition_key(s.transition) for s in again.steps
    ]


def test_a_trace_of_a_check_names_the_protocol_as_it_was_asked_for() -> None:
    protocol = protocol_named("cykas-secret-mode")
    spec = Spec("mine.py:THEIRS", workload=FIGURE_3)
    found = check(spec, Options(engine="plain"), protocol=protocol, selfcheck="off").result
    assert found.counterexample is not None
    assert "mine.py:THEIRS" == json.loads(trace_text(found.counterexample, "json"))["protocol"]


# ITF


@EVERY_RUN
def test_itf_has_a_state_before_and_after_every_transition(path: Path) -> None:
    states = readers.itf_trace(trace_text(path, "itf"))
    assert path.length + 1 == len(states)


def test_itf_holds_the_values_of_the_states() -> None:
    path = runs.secret_mode()
    states = readers.itf_trace(trace_text(path, "itf"))
    locals_ = dict(states[6]["actors"])
    tag, carol = locals_[2]
    assert "CykasSecretMode" == tag
    assert (False, False, False) == carol["UNACK"]
    assert 2 == carol["MODE"]
    assert 0 == carol["confidant"]
    assert ("Nothing", {}) == locals_[0][1]["confidant"]
    assert [(i, list(c)) for i, c in enumerate(path.steps[5].clocks)] == states[6]["clocks"]
    assert ["m4", "m2"] == [m["name"] for m in dict(states[6]["delivered"])[2]]
    assert ["m1", "m2", "m3", "m4"] == [m["name"] for m in states[6]["sent"]]
    assert [("Ack", {})] == dict(states[6]["network"])[2, 1]


def test_itf_encodes_every_kind_of_value() -> None:
    state = runs.Strange()
    tag, fields = readers.itf_value(encoded(state))
    assert "Strange" == tag
    assert state.said == fields["said"]
    assert "CALM" == fields["mood"]
    assert [1, 2**70, 3] == fields["many"]
    assert ((), (True, (1, "x"))) == fields["nested"]
    assert "0.5" == fields["ratio"]
    assert "b'<b>'" == fields["raw"]
    assert [("a", 1), ("b", (2,))] == readers.itf_value(encoded({"b": (2,), "a": 1}))
    assert -3 == readers.itf_value(encoded(-3))


def test_itf_writes_whole_numbers_of_any_size_as_bigints() -> None:
    assert {"#bigint": "1180591620717411303424"} == encoded(2**70)
    assert encoded(True) is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"#bigint": 3},
        {"#bigint": "3.5"},
        {"#set": [], "#tup": []},
        1.5,
        None,
    ],
)
def test_the_itf_reader_refuses_what_is_no_expression(wrong: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 any reason will do
        readers.itf_value(wrong)


@pytest.mark.parametrize("damage", ["vars", "index"])
def test_the_itf_reader_refuses_a_state_without_its_variables(damage: str) -> None:
    trace = json.loads(trace_text(runs.secret_mode(), "itf"))
    if damage == "vars":
        del trace["states"][3]["clocks"]
    else:
        trace["states"][3]["#meta"]["index"] = 4
    with pytest.raises(ValueError, match="state 3"):
        readers.itf_trace(json.dumps(trace))


@pytest.mark.parametrize("name", [n for n in RUNS if n != "hostile"])
def test_itf_is_read_by_the_library_of_its_authors(name: str) -> None:
    itf_py = pytest.importorskip("itf_py")
    path = RUNS[name]()
    trace = itf_py.trace_from_json(json.loads(trace_text(path, "itf")))
    assert path.length + 1 == len(trace.states)
    for state, ours in zip(trace.states[1:], path.steps, strict=True):
        for actor, clock in enumerate(ours.clocks):
            assert list(clock) == state.values["clocks"][actor]
        for actor, local in enumerate(ours.state.actors):
            for field in getattr(local, "__attrs_attrs__", ()):
                value = getattr(local, field.name)
                if isinstance(value, bool | int) or _is_plain_tuple(value):
                    assert value == getattr(state.values["actors"][actor], field.name)


def _is_plain_tuple(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain_tuple, value))
    return isinstance(value, bool | int | str)


# ShiViz


@EVERY_RUN
def test_a_shiviz_log_has_one_event_per_transition_with_lawful_clocks(path: Path) -> None:
    events = readers.shiviz_log(trace_text(path, "shiviz")) if path.length else []
    assert path.length == len(events)
    words = Wording.of(path)
    for event, step in zip(events, path.steps, strict=True):
        happened = plain(words.transition(step.transition, step.message))
        said = event.event.replace(" causal-sends ", " sends ", 1)
        assert said.startswith(f"{step.number}. {happened}")


@EVERY_RUN
def test_a_shiviz_reception_knows_of_its_network_send(path: Path) -> None:
    if not path.length:
        return
    events, flights = readers.shiviz_log(trace_text(path, "shiviz")), flights_of(path)
    for step, event in zip(path.steps, events, strict=True):
        flight = flights.met.get(step.number)
        if flight is not None:
            sent = events[flight.since - 1]
            assert sent.clock[sent.host] <= event.clock[sent.host]


def test_a_shiviz_event_does_not_know_of_what_is_concurrent() -> None:
    events = readers.shiviz_log(trace_text(runs.secret_mode(), "shiviz"))
    assert {"Carol": 1, "Bob": 2} == events[4].clock
    assert {"Alice": 4, "Bob": 2, "Carol": 3} == events[8].clock


def test_losses_are_events_of_the_network_in_shiviz() -> None:
    events = readers.shiviz_log(trace_text(runs.lossy(), "shiviz"))
    lost = [event for event in events if event.host == "Network"]
    assert 3 == len(lost)
    assert all("is lost" in event.event for event in lost)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('Alice {"Alice": 2}', 'Alice {"Alice": 3}'),
        ('Carol {"Carol": 1, "Bob": 2}', 'Carol {"Carol": 1, "Bob": 3}'),
        ('Carol {"Carol": 1, "Bob": 2}', 'Carol {"Carol": 1, "Dave": 1}'),
        ('Carol {"Carol": 1, "Bob": 2}', "Carol"),
        ('"Carol": 3, "Bob": 2, "Alice": 2}', '"Carol": 3, "Bob": 2}'),
    ],
)
def test_the_shiviz_reader_refuses_a_damaged_log(old: str, new: str) -> None:
    text = trace_text(runs.secret_mode(), "shiviz")
    assert old in text
    with pytest.raises(ValueError):  # noqa: PT011 the reason differs
        readers.shiviz_log(text.replace(old, new))


# Mermaid and PlantUML

Reader = Callable[[str], readers.Drawn]
SEQUENCES = pytest.mark.parametrize(
    ("name", "reader"),
    [("mermaid", readers.mermaid_drawn), ("puml", readers.puml_drawn)],
    ids=["mermaid", "puml"],
)


@SEQUENCES
@EVERY_RUN
def test_a_sequence_diagram_keeps_to_the_grammar_and_shows_every_packet(
    path: Path, name: str, reader: Reader
) -> None:
    drawn, words = reader(trace_text(path, name)), Wording.of(path)
    assert path.system.actors == len(drawn.actors)
    assert [(f"p{t.src}", f"p{t.dst}") for t in received(path)] == [
        (src, dst) for src, dst, _ in drawn.arrows
    ]
    for transition, (_, _, text) in zip(received(path), drawn.arrows, strict=True):
        assert plain(words.value(transition.packet)) in text


@SEQUENCES
def test_a_sequence_diagram_says_what_is_wrong(name: str, reader: Reader) -> None:
    drawn = reader(trace_text(runs.secret_mode(), name))
    assert "Alice delivers m5 before m3, which was sent earlier" == drawn.title
    assert "Alice delivers m5 (too early), sends Ack to Carol" in drawn.notes
    assert "4. Bob sends m4 to Carol, as Eager(m4)" in drawn.notes
    assert drawn.notes[-1].startswith("Alice delivers m5 before m3, although m3")
    assert ("p1", "p0", "9. Normal(m3)") == drawn.arrows[-1]


@SEQUENCES
def test_lost_and_control_packets_have_arrows_of_their_own(name: str, reader: Reader) -> None:
    text = trace_text(runs.lossy(), name)
    reader(text)
    heads = {"mermaid": ("-x", "--x", "--)"), "puml": (" ->x ", " -->x ", " -->> ")}[name]
    counts = [sum(head in line for line in text.splitlines()) for head in heads]
    assert 2 <= counts[0]
    assert 1 == counts[1]
    assert counts[2]


@SEQUENCES
@pytest.mark.parametrize("line", ["end\nclick p0", "!include x", "p0->>p9: ;", "note: <b>"])
def test_the_grammar_refuses_what_is_not_used(name: str, reader: Reader, line: str) -> None:
    text = trace_text(runs.secret_mode(), name)
    head, tail = text.rsplit("\n", 2)[0], text.rsplit("\n", 2)[1]
    with pytest.raises(ValueError, match="not in the grammar"):
        reader(f"{head}\n{line}\n{tail}\n")


@pytest.mark.integration
def test_mermaid_reads_its_diagrams_itself(tmp_path: FilePath, pytestconfig: pytest.Config) -> None:
    files = []
    for name, run in RUNS.items():
        files.append(tmp_path / f"{name}.mmd")
        write_trace(run(), str(files[-1]))
    found = readers.run_node(pytestconfig, "mermaid.mjs", *files)
    for file, understood in zip(files, found, strict=True):
        drawn = readers.mermaid_drawn(file.read_text(encoding="utf-8"))
        lines = understood["lines"]
        assert drawn.title == understood["title"]
        assert list(drawn.actors) == understood["actors"]
        assert list(drawn.notes) == [line["text"] for line in lines if line["note"]]
        assert list(drawn.arrows) == [
            (line["from"], line["to"], line["text"]) for line in lines if not line["note"]
        ]


@pytest.mark.integration
@pytest.mark.parametrize("name", ["secret-mode", "hostile", "lossy"])
def test_plantuml_draws_its_diagrams_itself(name: str, tmp_path: FilePath) -> None:
    text = trace_text(RUNS[name](), "puml")
    shown = readers.plantuml_texts(tmp_path, text).replace(" ", "")
    for _, _, said in readers.puml_drawn(text).arrows:
        assert said.replace(" ", "") in shown


# Text


@EVERY_RUN
def test_the_text_has_every_step(path: Path) -> None:
    text, words = " ".join(trace_text(path, "txt").split()), Wording.of(path)
    for step in path.steps:
        said = words.transition(step.transition, step.message)
        assert " ".join(f"{step.number}. {said}".split()) in text


def test_the_text_of_a_check_is_what_the_terminal_shows() -> None:
    text = trace_text(runs.undelivered(), "txt")
    assert text.startswith("m2 and m4 are never delivered\n")
    assert "all-delivered is violated after 8 transitions:" in text


# Flights


@EVERY_RUN
def test_every_reception_and_loss_has_its_network_send(path: Path) -> None:
    flights = flights_of(path)
    for step in path.steps:
        if isinstance(step.transition, Receive | Lose):
            flight, transition = flights.met[step.number], step.transition
            assert (transition.src, transition.dst) == (flight.src, flight.dst)
            assert flight.sent is not None
            assert flight.sent.number < step.number
            assert transition.packet in [packet for _, packet in flight.sent.step.sends]


@EVERY_RUN
def test_what_is_in_flight_at_the_end_is_in_the_last_state(path: Path) -> None:
    last = path.steps[-1].state if path.steps else path.initial
    left = [p for channel in last.channels for p in channel]
    for flight in flights_of(path).in_flight:
        left.remove(flight.packet)
    received_before = [f.packet for f in flights_of(path).every if f.receptions]
    assert all(packet in received_before for packet in left)


# Markup


def test_text_is_escaped_once_and_markup_is_not() -> None:
    assert "&lt;b&gt;&amp;" == escaped("<b>&")
    assert "<b>" == escaped(Markup("<b>"))


def test_a_template_escapes_what_is_no_markup_and_hides_what_is_invisible() -> None:
    values = {"name": "<b>&\u202e", "sentence": Markup("<i>x</i>"), "before": '"\x00', "where": ""}
    page = pages.page("refusal.html", title="", search=None, **values)
    assert "Exploring &lt;b&gt;&amp; </h1>" in page
    assert "<p><i>x</i></p>" in page
    assert 'href="/?path=&quot; "' in page


def test_a_template_refuses_to_leave_a_hole() -> None:
    with pytest.raises(jinja2.UndefinedError, match="'sentence' is undefined"):
        pages.page("refusal.html", title="", search=None, name="", before="", where="")


def test_invisible_characters_become_spaces() -> None:
    assert "a b c d" == plain("a\nb\u202ec\x00d")


@frozen
class Case:
    """A number and how it is written."""

    value: float
    text: str


@pytest.mark.parametrize(
    "case", [Case(1.0, "1"), Case(1.26, "1.3"), Case(-0.04, "0"), Case(-2.5, "-2.5")]
)
def test_coordinates_are_short(case: Case) -> None:
    assert case.text == number(case.value)


def test_messages_carry_their_names() -> None:
    path = runs.secret_mode()
    assert "m1" == encoded(path.messages[0], Wording.of(path))["name"]
    assert {"sender", "number", "destinations"} == set(encoded(Message(0, 1, (1,))))


def test_a_long_diagram_is_printed_in_pieces_that_end_between_rows() -> None:
    path = runs.long_run()
    boxes = re.findall(r'<svg viewBox="0 ([\d.]+) [\d.]+ ([\d.]+)"><use', html.text(path))
    tops = [float(top) for top, _ in boxes]
    ends = [float(top) + float(high) for top, high in boxes]
    layout = layout_of(path)
    assert len(boxes) >= 2
    assert 0 == tops[0]
    assert ends[-1] > layout.height
    for end, top in pairwise(zip(ends, tops, strict=True)):
        assert abs(end[0] - top[1]) < 0.2
        assert min(abs(end[0] - row.bottom) for row in layout.rows) < 0.2
    assert "<use" not in html.text(runs.secret_mode())
