"""Text for people: figures, sentences, diagrams, progress."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Expectation, Spec, expected_verdict, system_of
from antecede.checker.model import CausalSend, Message, Property, Protocol, Step, What, When
from antecede.checker.paths.path import Path, replay
from antecede.checker.render import text as report
from antecede.checker.render.about import question
from antecede.checker.render.advice import next_steps
from antecede.checker.render.diagram import diagram
from antecede.checker.render.explanation import explain
from antecede.checker.render.progress import progress_text, seconds_left, watching
from antecede.checker.render.prose import Wording, listed
from antecede.checker.render.terminal import elapsed, for_stream, rounded
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.loop import Progress
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.names import Names
from antecede.checker.semantics.values import message_in
from antecede.checker.support.amounts import memory
from antecede.protocols.fifo import FIFO
from tests.conftest import counterexample
from tests.goldens import check_golden
from tests.models import DELIVERS_TWICE, FORGES, KEEPS, LOSES, WRONG_ACTOR, Data

FIGURE_1 = "script:[[2,1],[2],[]]"
FIGURE_3 = "script:[[1,2],[0,2],[0]]"
PLAIN = Options(engine="plain")


def joined(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


def drawn(path: Path) -> str:
    """Return a path's diagram."""
    return "\n".join(line.rstrip() for line in diagram(path, explain(path).remarks).lines)


# Names and words


def test_actors_have_names_for_as_long_as_there_are_names() -> None:
    assert ["Alice", "Bob", "Carol", "Dave"] == [Names().actor(i) for i in range(4)]
    assert "Heidi" == Names().actor(7)
    assert "Actor 9" == Names().actor(8)


def test_lists_are_written_as_people_say_them() -> None:
    assert "a" == listed(["a"])
    assert "a, b and c" == listed(["a", "b", "c"])


def test_messages_are_named_in_the_order_of_their_causal_sends() -> None:
    path = counterexample("unordered", 3, workload=FIGURE_1)
    words = Wording.of(path)
    assert ["m1", "m2", "m3"] == [words.message(m) for m in path.messages]
    assert "message 7 of Bob" == words.message(Message(1, 7, (0,)))


@frozen
class Mixed:
    """A value with a field of every kind that a state may hold."""

    bits: tuple[bool, ...]
    queue: tuple[Message, ...]
    names: frozenset[str]
    table: Any
    nothing: None = None


def test_values_are_written_readably_and_always_the_same() -> None:
    m1 = Message(0, 1, (1,))
    words = Wording({m1: "m1"})
    value = Mixed((True, False), (m1,), frozenset({"b", "a"}), {2: "y", 1: "x"})
    assert (
        "Mixed(bits=[1 0], queue=(m1), names={'a', 'b'}, table={1: 'x', 2: 'y'}, nothing=None)"
    ) == words.value(value)


def test_a_packet_without_fields_is_its_name_and_a_message_needs_no_field_name() -> None:
    m1 = Message(0, 1, (1,))
    assert "Data(m1)" == Wording({m1: "m1"}).value(Data(m1))
    assert "_Bare" == Wording({}).value(_Bare())


@frozen
class _Bare:
    """A packet without fields."""


def test_the_message_in_a_packet_is_found_however_deep() -> None:
    m1 = Message(0, 1, (1,))
    assert message_in(("x", (3, Data(m1)))) == m1
    assert message_in(("x", 3)) is None


def test_steps_say_what_was_received_delivered_and_sent() -> None:
    path = counterexample("cykas-secret-mode", 3, workload=FIGURE_3)
    check_golden("steps", report.steps_text(path, explain(path)))


def test_steps_say_which_message_has_to_wait() -> None:
    path = counterexample("cykas-as-printed", 2, 2)
    assert Wording.of(path).step(path.steps[1]).endswith("; m2 has to wait"), "at its sender"
    path = counterexample(KEEPS, 2, 1)
    received = next(step for step in path.steps if step.transition.kind == "receive")
    assert Wording.of(path).step(received).endswith("; m1 has to wait"), "at its receiver"


def test_one_packet_to_several_actors_is_said_once() -> None:
    path = counterexample("fifo", 3, 1, workload="broadcast")
    assert 1 == Wording.of(path).step(path.steps[0]).count("Numbered(m1, sequence=1)")


# Explanations


EXPLAINED: dict[str, tuple[Protocol | str, int, int, dict[str, Any]]] = {
    "a chain of messages": ("cykas-secret-mode", 3, 1, {"workload": FIGURE_3}),
    "two messages of one sender": ("unordered", 2, 2, {}),
    "a chain that begins with a delivery": ("fifo", 3, 1, {"workload": "broadcast"}),
    "the order of one sender": ("unordered", 2, 2, {"properties": ("fifo-delivery",)}),
    "a second delivery": (DELIVERS_TWICE, 2, 1, {"properties": ("integrity",)}),
    "a wrong actor": (WRONG_ACTOR, 3, 1, {"properties": ("integrity",)}),
    "a message that nobody sent": (FORGES, 2, 1, {"properties": ("integrity",)}),
    "messages that are stuck": ("cykas-as-printed", 2, 2, {}),
    "messages that are lost": (LOSES, 2, 1, {"workload": "script:[[1,1],[]]"}),
}
"""Kind of violation -> the check that finds one."""


def test_each_kind_of_violation_is_explained() -> None:
    told = []
    for kind, (protocol, actors, messages, options) in EXPLAINED.items():
        explanation = explain(counterexample(protocol, actors, messages, **options))
        told.append("\n  ".join([f"{kind}:", explanation.text, *explanation.details]))
    check_golden("explanations", "\n\n".join(told))


def test_the_faults_of_deliveries_are_at_their_steps() -> None:
    path = counterexample("unordered", 2, 2)
    m1, m2 = path.messages
    assert {(3, m2): "too early", (4, m1): "too late"} == explain(path).remarks


def with_invariant(protocol: Protocol) -> Protocol:
    return evolve(protocol, invariants={"at-most-one": lambda state: len(state.held) < 2})


def test_an_invariant_is_explained_by_the_state_that_breaks_it() -> None:
    path = counterexample(with_invariant(KEEPS), 2, 2, properties=("invariant:at-most-one",))
    explanation = explain(path)
    assert "After step 4, the predicate `at-most-one` is false for Bob." == explanation.text
    assert ("Bob is Toy(actor=1, actors=2, held=(m1, m2))",) == explanation.details


# Diagrams


def test_the_diagram_of_alice_bob_and_carol_shows_what_overtook_what() -> None:
    check_golden(
        "diagram-of-alice-bob-and-carol-shows-what-overtook-what",
        drawn(counterexample("unordered", 3, workload=FIGURE_1)),
    )


def test_the_diagram_of_figure_3_leaves_a_message_in_flight_and_acknowledgements_out() -> None:
    path = counterexample("cykas-secret-mode", 3, workload=FIGURE_3)
    check_golden(
        "diagram-of-figure-3-leaves-a-message-in-flight-and-acknowledgements-out", drawn(path)
    )
    assert ("Ack",) * 4 == diagram(path).undrawn


def test_the_diagram_draws_acknowledgements_that_arrive() -> None:
    check_golden(
        "diagram-draws-acknowledgements-that-arrive",
        drawn(counterexample("cykas-as-printed", 2, 2)),
    )


def test_the_diagram_leaves_out_actors_who_take_no_part() -> None:
    path = counterexample("unordered", 4, workload="script:[[],[3,3],[],[]]")
    check_golden("diagram-leaves-out-actors-who-take-no-part", drawn(path))


def test_the_diagram_sends_one_message_to_several_actors() -> None:
    check_golden(
        "diagram-sends-one-message-to-several-actors",
        drawn(counterexample("fifo", 3, 1, workload="broadcast")),
    )


def test_the_diagram_keeps_a_packet_in_flight_that_is_received_again() -> None:
    path = counterexample("unordered", 2, 1, network="duplicating")
    check_golden("diagram-keeps-a-packet-in-flight-that-is-received-again", drawn(path))
    assert "Bob delivered m1 twice: at step 2, and again at step 3." == explain(path).text
    assert "Bob receives Data(m1) from Alice (and it stays in flight), delivers m1" == (
        Wording.of(path).step(path.steps[1])
    )


def test_the_diagram_shows_where_a_packet_is_lost() -> None:
    path = counterexample("unordered", 2, workload="script:[[1],[]]", network="lossy")
    check_golden("diagram-shows-where-a-packet-is-lost", drawn(path))
    assert "Data(m1) from Alice to Bob is lost" == Wording.of(path).step(path.steps[1])


@pytest.mark.parametrize(("actor", "row"), [(0, "  1    ●─Stamped(m1)┄▷"), (1, "◁┄Stamped(m1)─●")])
def test_a_message_to_oneself_in_flight_leaves_on_the_side_where_there_is_room(
    actor: int, row: str
) -> None:
    system = system_of(Spec("rst", actors=2, messages=1, workload="self"))
    path = replay(system, (CausalSend(actor, (actor,)),))
    (drawn_row,) = (line for line in diagram(path).lines if "Stamped" in line)
    assert row in drawn_row
    assert drawn_row.startswith("  1 ")


@pytest.mark.integration
def test_lines_of_a_deep_path_never_run_into_each_other() -> None:
    """Each packet in flight has a lane of its own, so all corners of all lanes can be seen."""
    depth = Options(engine="plain", search="depth")
    path = counterexample("cykas-secret-mode", 3, 2, options=depth)
    rows = diagram(path).lines
    arrivals = sum(row.count("▶") + row.count("◀") for row in rows)
    receptions = sum(step.transition.kind == "receive" for step in path.steps)
    corners = sum(row.count(corner) for row in rows for corner in "╮╭┓┏")
    assert receptions == arrivals == corners
    assert receptions == sum(row.count(corner) for row in rows for corner in "╯╰┛┗")


def test_a_diagram_of_three_actors_fits_a_hundred_columns() -> None:
    path = counterexample("cykas-secret-mode", 3, workload=FIGURE_3)
    assert diagram(path, explain(path).remarks).width <= 100


def test_a_diagram_too_wide_for_a_screen_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    path = counterexample("unordered", 3, workload=FIGURE_1)
    assert "━━━" in report.path_text(path)
    monkeypatch.setattr(report, "WIDEST", 40)
    text = report.path_text(path)
    assert "━━━" not in text
    assert "(No diagram: it would be" in text
    assert "   1. Alice sends m1" in text, "the steps are told in its place"


def test_a_packet_without_a_class_has_a_short_label() -> None:
    words = Wording({Message(0, 1, (1,)): "m1"})
    assert "('DATA', m1)" == words.label(("DATA", Message(0, 1, (1,))))
    assert 20 == len(words.label("x" * 50))


# Whole reports


def reported(protocol: str, **values: Any) -> CheckReport:
    """Check a protocol with two actors and two messages, unless `values` say otherwise."""
    bounds = values.pop("bounds", Bounds())
    spec = Spec(**{"protocol": protocol, "actors": 2, "messages": 2, **values})
    return check(spec, PLAIN, bounds, selfcheck="off")


def told(found: CheckReport, *, verbose: bool = False) -> str:
    """Return a report as the command prints it, on any machine."""
    result = evolve(found.result, seconds=0.5, peak_memory_bytes=87_654_321)
    return report.single_text(evolve(found, result=result), quiet=False, verbose=verbose)


OWN = Property(
    "own.py:SMALL", "nobody holds two messages", What.LOCAL_STATE, When.ALWAYS, lambda s: not s
)
REPORTS: dict[str, tuple[str, dict[str, Any]]] = {
    "holds": ("mfss", {"actors": 3, "workload": FIGURE_1}),
    "holds-within-channels": ("mfss", {"properties": ("causal-delivery", "witness:waited")}),
    "violated": ("unordered", {"actors": 3, "workload": FIGURE_1, "network": "fifo"}),
    "violated-packets-with-fields": ("fifo", {"actors": 3, "workload": FIGURE_1}),
    "violated-at-the-end": ("mfss", {"crashes": "1"}),
    "violated-never-delivered": ("cykas-as-printed", {}),
    "vacuous": ("mfss", {"messages": 1}),
    "incomplete": ("mfss", {"actors": 3, "bounds": Bounds(max_states=100)}),
    "random": ("mfss", {"search": "random"}),
    "spec": ("unordered", {"file": "x.toml", "title": "A sentence of its author."}),
}
"""Kind of report -> the check that it is about."""


@pytest.mark.parametrize("kind", REPORTS)
def test_a_report(kind: str) -> None:
    protocol, values = REPORTS[kind]
    text = told(reported(protocol, **values))
    check_golden(f"report-{kind}", text)
    lines = [line for line in text.splitlines() if not line.startswith("  antecede ")]
    assert 80 >= max(map(len, lines))


def test_a_verbose_report_has_every_table() -> None:
    check_golden("report-verbose", told(reported("unordered"), verbose=True))


def test_what_to_do_next_depends_on_the_result_and_on_what_was_saved() -> None:
    violated, holds = reported("unordered"), reported("mfss", network="fifo")
    saved = str(next_steps(violated, {"a.svg": "svg", "b c.json": "json"}))
    assert "antecede explore 'b c.json'" in saved
    assert "--trace" not in saved
    for file, format in (("r.itf.json", "itf"), ("r.json", "svg"), ("r.trace", "json")):
        assert "explore" not in str(next_steps(violated, {file: format})), "it cannot be read"
    steps = str(next_steps(holds))
    for command in (
        "antecede check mfss --network fifo",
        "antecede check mfss --actors 2 --messages 3 --network fifo",
        "antecede prove mfss",
    ):
        assert f"  {command}" in steps
    chosen = next_steps(reported("fifo", properties=("can-deliver", "integrity")))
    assert "--property can-deliver,integrity" in str(chosen)
    scripted = reported("mfss", actors=3, workload="script:[[2,1],[2],[]]")
    assert "check" not in str(next_steps(scripted)), "a script is as large as it is"
    for others in ({"network": "mailbox"}, {"crashes": "1"}, {"properties": ("integrity",)}):
        assert "proof" not in str(next_steps(reported("mfss", **others))), "it is about less"
    assert next_steps(reported("mfss", bounds=Bounds(max_states=5))) is None


def test_the_next_command_repeats_the_search() -> None:
    deep = reported("unordered", search="depth")
    assert "antecede check unordered --actors 2 --search depth --trace" in str(next_steps(deep))


def test_runs_that_never_end_are_mentioned_only_for_protocols_with_timeouts() -> None:
    lossy = {"network": "lossy:1", "workload": "script:[[1,1],[]]"}
    steps = str(next_steps(reported("hybrid-basic", **lossy)))
    assert "--network lossy:1 --workload 'script:[[1,1],[]]' --property can-deliver" in steps
    safety = reported("hybrid-basic", properties=("integrity",), **lossy)
    assert "can-deliver" not in str(next_steps(safety)), "nobody asked about undelivered messages"
    assert "can-deliver" not in str(next_steps(reported("mfss"))), "each of its runs ends"


def test_a_message_that_can_no_longer_be_delivered_is_named() -> None:
    lost = reported("mfss", messages=1, network="lossy:1", properties=("can-deliver",))
    text = joined(report.check_text(lost))
    assert "reaches a state in which every message is delivered. Here, m1 is undelivered." in text


def test_a_proof_is_offered_only_if_the_solver_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.checker.render.advice.is_installed", lambda _extra: False)
    assert "prove" not in str(next_steps(reported("mfss")))


def _broadcast(state: tuple[Any, ...], message: Message) -> Step:
    return Step(state, tuple((d, Held(message)) for d in message.destinations))


@frozen
class Held:
    message: Message


def _silent(keeps: bool) -> Protocol:
    """Return a broadcast that Carol never delivers, and that Bob keeps after its delivery."""

    def receive(state: tuple[Any, ...], _src: int, packet: Held) -> Step:
        me = state[0]
        if me == 2:
            return Step((*state, packet.message) if keeps else state)
        return Step((*state, packet.message), deliveries=(packet.message,))

    return Protocol("silent", lambda actor, _: (actor,), _broadcast, receive)


ONE = 'reaction:[{"name":"m1","from":0,"to":[1,2]}]'


@pytest.mark.parametrize("keeps", [True, False])
def test_a_message_waits_and_is_stuck_only_where_it_is(keeps: bool) -> None:
    spec = Spec("silent", 3, workload=ONE, properties=("all-delivered",))
    found = check(spec, protocol=_silent(keeps), selfcheck="off")
    text = joined(report.check_text(found))
    assert ("Carol receives m1, which waits" in text) == keeps
    assert ("m1 is stuck in Carol's state." in text) == keeps
    assert ("m1 is no longer in any actor's state." in text) == (not keeps)
    assert "Bob's state" not in text, "Bob has delivered it"


def test_a_protocol_that_may_be_for_broadcasts_is_said_so() -> None:
    hint = "If cbcast is a broadcast protocol, check it with --workload broadcast."
    alone = reported("cbcast", actors=3, messages=1)
    assert hint in " ".join(str(next_steps(alone)).split())
    broadcast = reported("cbcast", actors=3, messages=1, workload="broadcast")
    assert broadcast.as_expected
    assert "broadcast" not in str(next_steps(reported("unordered", actors=3)))


def test_a_checkpoint_that_could_not_be_written_is_said_so() -> None:
    result = reported("mfss", messages=1)
    failed = evolve(result.result, statistics={"checkpoints": {"problem": "the disk is full"}})
    text = report.check_text(evolve(result, result=failed))
    assert "The last checkpoint was not written: the disk is full." in text
    assert "checkpoint" not in report.check_text(result)


def test_a_witness_that_no_state_shows_is_said_so() -> None:
    text = report.check_text(reported("mfss", messages=1, properties=("witness:waited",)))
    assert "witness:waited   violated   no reachable state satisfies it" in text


def test_numbers_have_thousands_separators() -> None:
    result = reported("mfss", actors=3, messages=1)
    counts = Counts(1_234_567, 12_345_678, 1_000, 2_000)
    large = evolve(result, result=evolve(result.result, counts=counts, unreduced=None))
    for number in ("1,234,567 states", "12,345,677 transitions", "999 steps"):
        assert number in joined(report.check_text(large))
    assert "2,000" in report.check_text(large, verbose=True)


HOLDS = Expectation()
VIOLATED = Expectation(expected_verdict("violated"))
HEADLINES = [
    ({}, ["unordered: VIOLATED"]),
    ({"expect": VIOLATED}, ["unordered: VIOLATED, as expected"]),
    (
        {"file": "x.toml"},
        ["x.toml: VIOLATED, NOT AS EXPECTED", "  expected HOLDS, found VIOLATED"],
    ),
    (
        {"expect": evolve(VIOLATED, counterexample_length=5, violates="integrity")},
        [
            "unordered: VIOLATED, NOT AS EXPECTED",
            "  expected integrity to be violated, found causal-delivery",
            "  expected a counterexample of 5 transitions, found 4",
        ],
    ),
    (
        {"expect": evolve(VIOLATED, counts={"knowledge": {"unique_states": 29, "depth": 5}})},
        [
            "unordered: VIOLATED, NOT AS EXPECTED",
            "  expected unique states 29, found 28 (history knowledge)",
        ],
    ),
    (
        {"expect": evolve(VIOLATED, counts={"clocks": {"unique_states": 29}})},
        ["unordered: VIOLATED, as expected"],
    ),
]


@pytest.mark.parametrize(("values", "expected"), HEADLINES)
def test_the_headline_says_the_verdict_and_every_difference(
    values: dict[str, Any], expected: list[str]
) -> None:
    assert expected == report.headline(reported("unordered", **values)).split("\n")


def test_lengths_and_counts_are_compared_only_where_the_search_makes_them_exact() -> None:
    expect = evolve(
        VIOLATED, counterexample_length=3, counts={"knowledge": {"unique_states": 1, "depth": 1}}
    )
    assert not reported("unordered", search="depth", expect=expect).differences
    expect = evolve(HOLDS, counts={"knowledge": {"unique_states": 80, "depth": 1}})
    expected = ("expected unique states 80, found 81 (history knowledge)",)
    assert expected == reported("mfss", search="depth", expect=expect).differences


def test_the_line_and_the_summary_of_many_specs() -> None:
    good = reported("mfss")
    bad = reported("unordered", file="bad.toml")
    cut = reported("mfss", actors=3, bounds=Bounds(max_states=10))
    assert report.spec_line(good).startswith("ok          HOLDS                  81 states")
    assert report.spec_line(bad).startswith("FAILED      VIOLATED               28 states")
    assert report.spec_line(bad).endswith("  bad.toml")
    assert report.summary([good, bad, cut], planned=5).startswith(
        "5 checks: 1 as expected, 1 not as expected, 1 incomplete, 2 not run; "
    )
    text = report.checks_text([good, bad], 2)
    assert "bad.toml: VIOLATED, NOT AS EXPECTED" in text
    assert "mfss" not in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1234, "0.12 s"), (12.34, "12.3 s"), (61.0, "1:01"), (3_723.0, "1:02:03")],
)
def test_times_are_short(seconds: float, text: str) -> None:
    assert text == elapsed(seconds)


def test_memory_is_in_megabytes_or_gigabytes() -> None:
    assert "42 MB" == memory(42_300_000)
    assert "12.3 GB" == memory(12_345_000_000)


class Stream(io.StringIO):
    """A stream of a given encoding, terminal or not."""

    def __init__(self, encoding: str | None = "utf-8", *, terminal: bool = False) -> None:
        super().__init__()
        self._encoding, self._terminal = encoding, terminal

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal


def test_a_stream_that_cannot_show_boxes_gets_plain_characters_of_the_same_width() -> None:
    path = counterexample("unordered", 3, workload=FIGURE_1)
    text = report.path_text(path)
    plain = for_stream(text, Stream("ascii"))
    assert plain.isascii()
    assert [len(row) for row in text.split("\n")] == [len(row) for row in plain.split("\n")]
    assert "  1    *=Data(m1)=#      |               |   Alice sends m1" in plain


def test_a_stream_that_can_show_boxes_gets_them() -> None:
    assert "│ ✗" == for_stream("│ ✗", Stream("utf-8"))


def test_text_that_no_encoding_can_show_is_escaped_not_fatal() -> None:
    assert "\\u017d" == for_stream("Ž", Stream("ascii"))
    assert "\\u017d" == for_stream("Ž", Stream(None))


PROGRESS = Progress(Counts(1_234, 5_678, 9, 1), frontier=321, seconds=2.0, memory_bytes=50_000_000)
LINE = "greatest depth 9  unique 1,234  2,839 states/s  to explore 321  50 MB  2.00 s"
SPEC = Spec(protocol="mfss")


def shown(times: list[float], stream: Stream, *, quiet: bool = False, many: bool = False) -> str:
    """Return what a ticker shows when it is created at 0 and called at `times`."""
    clock = iter([0.0, *(t for t in times for _ in range(2))])
    last = [0.0]

    def now() -> float:
        last[0] = next(clock, last[0])
        return last[0]

    ticker = Ticker(stream, quiet=quiet, now=now)
    watch = watching(ticker, many=many)
    for _ in times:
        watch(SPEC, PROGRESS)
    ticker.clear()
    return stream.getvalue()


def test_progress_without_a_terminal_is_a_line_every_few_seconds() -> None:
    assert "" == shown([1.0, 4.9], Stream())
    assert LINE + "\n" == shown([5.1], Stream())


def test_progress_on_a_terminal_is_one_live_line_that_is_taken_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert f"\r\x1b[K{LINE}\r\x1b[K" == shown([0.2], Stream(terminal=True))


def test_progress_on_a_narrow_terminal_rounds_its_numbers() -> None:
    counts = Counts(123_456_789, 456_789_012, 19, 1)
    progress = Progress(counts, frontier=12_345_678, seconds=3_723.0, memory_bytes=12_300_000_000)
    assert (
        "greatest depth 19  unique 123M  123K states/s  to explore 12.3M  1:02:03"
    ) == progress_text(progress, 80)
    assert "greatest depth 19  unique 123M  1:02:03" == progress_text(progress, 40)
    assert "unique 123,456,789" in progress_text(progress)


@pytest.mark.parametrize("width", [1, 20, 40, 60, 80, 120])
def test_no_width_cuts_a_part_of_the_progress_line(width: int) -> None:
    counts = Counts(123_456_789, 456_789_012, 19, 1)
    levels, nearest = (10_000_000, 18_100_000), (0.123, "--max-states")
    progress = Progress(counts, 18_100_000, 3_723.0, 12_300_000_000, "plain", levels, nearest)
    whole = "plain:  level 2  unique 123M  total 457M  123K states/s  "
    whole += "to explore 18.1M  12.3 GB  1:02:03  12 % of --max-states"
    line = progress_text(progress, width)
    assert len(line) <= width
    assert set(line.split("  ")) - {""} <= set(whole.split("  "))


def test_progress_names_the_level_only_if_levels_are_depths() -> None:
    assert "level 3  " in progress_text(evolve(PROGRESS, levels=(1, 5, 20)))
    assert "level 1  " in progress_text(evolve(PROGRESS, levels=(1,)))
    assert progress_text(PROGRESS).startswith("greatest depth 9  ")


def test_progress_names_the_bound_of_which_most_is_used_up() -> None:
    bounds = Bounds(max_states=1_000, max_seconds=100.0)
    assert (0.5, "--max-states") == bounds.nearest(500, 10.0, 0)
    assert (0.6, "--max-seconds") == bounds.nearest(500, 60.0, 0)
    assert None is Bounds().nearest(500, 60.0, 0)
    text = progress_text(evolve(PROGRESS, nearest=(0.5, "--max-states")))
    assert text.endswith("  50 % of --max-states")


def test_an_end_is_estimated_only_if_levels_shrink_faster_and_faster() -> None:
    shrinking = (100, 100, 90, 72, 50, 30)
    left = seconds_left(shrinking, 41.2)
    assert left is not None
    assert 7.5 == pytest.approx(left)  # at most 30 / (1 - 3/5) = 75 of 412 + 75 states
    assert None is seconds_left(shrinking[:4], 10.0)
    assert None is seconds_left((100, 100, 90, 72, 65, 60), 10.0)
    assert None is seconds_left((1, 2, 4, 8, 16, 32), 10.0)
    assert "estimate: 7.50 s left" in progress_text(
        evolve(PROGRESS, levels=shrinking, seconds=41.2)
    )
    share = evolve(PROGRESS, levels=shrinking, nearest=(0.1, "--max-states"))
    assert "left" not in progress_text(share)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (987, "987"), (1_000, "1.00K"), (12_345, "12.3K"), (999_900, "1.00M")],
)
def test_numbers_are_rounded_to_three_digits(number: int, text: str) -> None:
    assert text == rounded(number)


def test_progress_says_nothing_before_the_search_has_begun() -> None:
    begun = evolve(PROGRESS, counts=Counts(1, 1, 1, 0), frontier=1)
    stream = Stream()
    watching(Ticker(stream, now=iter([0.0, 9.0, 9.0]).__next__))(SPEC, begun)
    assert "" == stream.getvalue()


def test_progress_is_silent_when_asked_to_be() -> None:
    assert "" == shown([9.0], Stream(), quiet=True)
    assert "" == shown([9.0], Stream(terminal=True), quiet=True)


def test_progress_on_many_specs_says_which() -> None:
    assert f"mfss: {LINE}\n".replace("  50 MB", "") == shown([9.0], Stream(), many=True)
    named = progress_text(PROGRESS, 80, f"{'folder/' * 20}mfss.toml:")
    assert named.startswith("...")
    assert "mfss.toml: greatest depth 9  unique 1,234  2.00 s" in named
    assert len(named) <= 80


# Workloads in words


PROGRAM = (
    'program:[[{"send":"x","to":[2]},{"send":"y","to":[1,2]}],'
    '[{"receive":"any"},{"send":"z","to":[2]}],[{"receive":"x"},{"receive":["y","z"]}]]'
)
REACTION = (
    'reaction:[{"name":"q","from":0,"to":[1,2]},{"name":"a","from":1,"to":[0],"after":["q"]}]'
)


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("any", "any"),
        ("endless:2", "endless:2"),
        ("script:[[1,2],[],[0]]", "script (Alice to Bob, Carol; Carol to Alice)"),
        ("script:[[],[],[]]", "script (nobody sends)"),
        ("endless:1:[[1,2],[],[0]]", "endless:1 (Alice to Bob or Carol; Carol to Alice)"),
        ("endless:1:[[[1,2]],[],[]]", "endless:1 (Alice to Bob and Carol)"),
        (REACTION, "reaction (Alice sends q to Bob and Carol; Bob sends a to Alice after q)"),
        (
            PROGRAM,
            "program (Alice sends x to Carol, sends y to Bob and Carol; Bob receives any message, "
            "sends z to Carol; Carol receives x, receives y or z)",
        ),
    ],
)
def test_captions_tell_workloads_in_words(workload: str, words: str) -> None:
    system = system_of(Spec("unordered", 3, 2, workload=workload))
    assert f"workload {words}" in question(system)


REMEMBERS = Protocol(
    "remembers",
    lambda _actor, _actors: (),
    lambda known, message: Step(
        (*known, message), tuple((each, Held(message)) for each in message.destinations)
    ),
    lambda known, _src, packet: Step((*known, packet.message), deliveries=(packet.message,)),
)
"""Its actors remember all messages, and never send them again."""


@pytest.mark.parametrize(
    ("protocol", "network", "said"),
    [
        (REMEMBERS, "lossy:1", "m1 was lost in step 2 and remains in Alice's state."),
        (FIFO, "lossy:1", "m1 was lost in step 2."),
        (LOSES, "lossy:1", "m1 is no longer in any actor's state."),
    ],
    ids=["remembers", "fifo", "loses"],
)
def test_a_message_whose_last_packet_is_lost_is_not_stuck(
    protocol: Protocol, network: str, said: str
) -> None:
    spec = Spec(
        protocol.name, 2, workload="script:[[1],[]]", network=network, properties=("all-delivered",)
    )
    found = check(spec, protocol=protocol, selfcheck="off", options=Options(engine="plain"))
    assert found.result.counterexample is not None
    assert explain(found.result.counterexample).text.endswith(f"was never delivered. {said}")


def test_a_message_that_was_lost_may_remain_in_several_states() -> None:
    """Another destination delivered it, so the report does not say that only its sender has it."""
    script = "script:[[[1,2]],[],[]]"
    spec = Spec("", 3, workload=script, network="lossy:1", properties=("all-delivered",))
    found = check(spec, protocol=REMEMBERS, selfcheck="off", options=Options(engine="plain"))
    path = found.result.counterexample
    assert path is not None
    assert 2 == sum(bool(state) for state in path.last.actors)
    text = explain(path).text
    assert re.search(r"m1 was lost in step \d and remains in Alice's state\.$", text), text
