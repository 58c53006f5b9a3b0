"""Logs of ShiViz: reading them, and impossible vector clocks."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.logs import audit as audits
from antecede.checker.logs.events.event import Event, Stamp
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.judge.stamps import Clocks
from antecede.checker.logs.readers.formats import events, open_log
from antecede.checker.logs.readers.sources import opened
from antecede.checker.paths.path import Path as Run
from antecede.checker.render.prose import Wording
from antecede.checker.render.shiviz import PARSER
from antecede.checker.render.trace_formats import trace_text
from antecede.checker.support.errors import InputError
from tests import runs
from tests.conftest import ROOT, Command, counterexample
from tests.models import MODELS, UNRELIABLE, Model

HOST_FIRST = r"(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)"
ON_ONE_LINE = r"(?<host>\S*) (?<clock>\{.*\}) (?<event>.*)"


def audit(path: Path, **how: Any) -> Audit:
    return audits.audit([str(path)], **how)


@frozen
class Happened:
    """An event of a run: any text, a causal-send or a delivery, with its vector clock."""

    host: str
    clock: dict[str, int]
    text: str
    said: tuple[dict[str, Any], ...] = ()


def shiviz(path: Path, run: Iterable[Happened], parser: str | None = PARSER) -> Path:
    """Write a run as a ShiViz log; without a parser as GoVector does."""
    template = re.sub(r"\(\?<(\w+)>[^)]*\)", r"{\1}", parser or HOST_FIRST).replace("\\n", "\n")
    lines = [] if parser is None else [parser, ""]
    for at in run:
        lines.append(template.format(host=at.host, clock=json.dumps(at.clock), event=at.text))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def jsonl(path: Path, run: Iterable[Happened]) -> Path:
    """Write the application's events of a run as JSON objects."""
    said = [{"actor": at.host, **event} for at in run for event in at.said]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in said), encoding="utf-8")
    return path


def told(found: Audit) -> list[tuple[Any, ...]]:
    """Return the findings of an audit without their lines."""
    every = (*found.findings, *found.undelivered)
    return [(f.kind, f.actor, f.text, f.first, f.second, f.chain) for f in every]


def counts(found: Audit) -> tuple[int, ...]:
    return (found.actors, found.causal_sends, found.deliveries, found.events)


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.log"
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, **how: Any) -> list[tuple[Any, ...]]:
    with opened(str(path)) as source:
        given = how.pop("event", None)
        every = [*events(open_log(source, given=given, **how))]
        found = [each for each in every if isinstance(each, Event)]
    return [(event.line, event.actor, event.kind, event.message, event.to) for event in found]


# What antecede writes itself


def objects_of(path: Run) -> list[Happened]:
    """Return the application's events of a path, as the audit is to see them."""
    words, found = Wording.of(path), []

    def host(actor: int) -> str:
        return Wording({}).actor(actor).replace(" ", "-")

    for step in path.steps:
        said: list[dict[str, Any]] = []
        if step.message is not None:
            to = [host(each) for each in step.message.destinations]
            name = words.message(step.message)
            said.append({"event": "causal-send", "message": name, "to": to})
        said += [{"event": "deliver", "message": words.message(d.message)} for d in step.deliveries]
        found.append(Happened(host(step.actor), {}, "", tuple(said)))
    return found


@pytest.mark.parametrize("name", [n for n in runs.RUNS if n not in ("hostile", "empty")])
def test_an_own_log_says_the_same_as_json_objects(name: str, tmp_path: Path) -> None:
    path = runs.RUNS[name]()
    own = tmp_path / "run.shiviz"
    own.write_text(trace_text(path, "shiviz"), encoding="utf-8")
    found, expected = audit(own), audit(jsonl(tmp_path / "run.jsonl", objects_of(path)))
    assert told(expected) == told(found)
    assert counts(expected) == counts(found)


FOUND = {
    "causal-delivery": {"causal-delivery"},
    "fifo-delivery": {"causal-delivery"},
    "integrity": {"integrity", "impossible"},
    "all-delivered": {"undelivered"},
}
"""Property -> what an audit calls its violation."""


@pytest.mark.parametrize(
    "model", [m for m in (*MODELS, *UNRELIABLE) if m.counts.violation], ids=lambda m: str(m.name)
)
def test_the_violation_of_every_seeded_bug_is_found_in_its_log(
    model: Model, tmp_path: Path
) -> None:
    path = counterexample(
        model.protocol,
        model.actors,
        model.messages,
        workload=model.workload,
        network=model.network,
        properties=model.properties,
    )
    own = tmp_path / "run.shiviz"
    own.write_text(trace_text(path, "shiviz"), encoding="utf-8")
    found = audit(own)
    kinds = {finding.kind for finding in (*found.findings, *found.undelivered)}
    assert FOUND[str(path.violates)] & kinds


def test_names_of_many_actors_are_those_of_hosts(tmp_path: Path) -> None:
    text = "1. Actor 9 causal-sends m1 to Bob, Actor 10 and Actor 11, sends X(m1)"
    path = log(tmp_path, f'{PARSER}\n\n{text}\nActor-9 {{"Actor-9": 1}}\n')
    assert [(3, "Actor-9", "causal-send", "m1", ("Bob", "Actor-10", "Actor-11"))] == read(path)


def test_a_log_of_hostile_texts_is_read_without_a_fault(tmp_path: Path) -> None:
    own = tmp_path / "run.shiviz"
    own.write_text(trace_text(runs.hostile(), "shiviz"), encoding="utf-8")
    assert "causal-delivery" in [finding.kind for finding in audit(own).findings]


# Both formats say the same


def random_run(draw: random.Random) -> list[Happened]:
    """Return a run with delays, and now and then a delivery that is wrong, in its real order."""
    hosts = "abcd"[: draw.randrange(2, 5)]
    clocks: dict[str, dict[str, int]] = {host: {} for host in hosts}
    sent: dict[str, dict[str, int]] = {}
    flight: list[tuple[str, str]] = []
    run: list[Happened] = []

    def happens(host: str, past: dict[str, int], text: str, *said: dict[str, Any]) -> None:
        now = {h: max(clocks[host].get(h, 0), past.get(h, 0)) for h in {*clocks[host], *past}}
        clocks[host] = {**now, host: clocks[host].get(host, 0) + 1}
        run.append(Happened(host, clocks[host], text, said))

    for number in range(draw.randrange(3, 14)):
        host = draw.choice(hosts)
        to = draw.sample([each for each in hosts if each != host], draw.randrange(1, len(hosts)))
        name = f"m{number}"
        flight += [(name, each) for each in to]
        english = to[0] if len(to) == 1 else f"{', '.join(to[:-1])} and {to[-1]}"
        terse = f"Causal-send {name} to {','.join(to)}"
        text = draw.choice([f"causal-sends {name} to {english}", terse])
        happens(host, {}, text, {"event": "causal-send", "message": name, "to": to})
        sent[name] = clocks[host]
        while flight and draw.random() < 0.6:
            name, host = flight.pop(draw.randrange(len(flight)))
            if draw.random() < 0.1:
                name, host = draw.choice([*sent, "ghost"]), draw.choice(hosts)
            long = f"3. Eve receives it, delivers {name}, then rests"
            text = draw.choice([f"delivers {name}", long])
            happens(host, sent.get(name, {}), text, {"event": "deliver", "message": name})
        if draw.random() < 0.3:
            happens(draw.choice(hosts), draw.choice([*clocks.values()]), "an ack, no delivery")
    return run


def interleaved(draw: random.Random, run: list[Happened]) -> list[Happened]:
    """Return the events in any order that keeps each host's."""
    rows = {host: [at for at in run if at.host == host] for host in {at.host for at in run}}
    order = [at.host for at in run]
    draw.shuffle(order)
    return [rows[host].pop(0) for host in order]


@settings(max_examples=120)
@given(
    seed=st.integers(0, 10**9),
    parser=st.sampled_from([PARSER, HOST_FIRST, ON_ONE_LINE, None]),
    mixed=st.booleans(),
)
def test_both_formats_have_the_same_findings(
    tmp_path_factory: pytest.TempPathFactory, seed: int, parser: str | None, mixed: bool
) -> None:
    draw, folder = random.Random(seed), tmp_path_factory.mktemp("logs")
    run = random_run(draw)
    if mixed:
        run = interleaved(draw, run)
    expected = audit(jsonl(folder / "run.jsonl", run))
    found = audit(shiviz(folder / "run.log", run, parser))
    assert told(expected) == told(found)
    assert counts(expected) == counts(found)


# Clocks


def faults(run: Iterable[Happened]) -> list[str]:
    clocks = Clocks()
    for line, at in enumerate(run, 1):
        clocks.take(Stamp(line, at.host, at.clock))
    clocks.finish()
    return [f"line {fault.line}: {fault.text}" for fault in clocks.faults]


def lawful(run: list[Happened]) -> bool:
    """Return whether the clocks of a run keep the four laws, by comparing all with all."""
    rows: dict[str, list[dict[str, int]]] = {}
    for at in run:
        rows.setdefault(at.host, []).append(at.clock)
    every = [(host, number, c) for host, row in rows.items() for number, c in enumerate(row, 1)]
    return (
        all(clock.get(host, 0) == number for host, number, clock in every)
        and all(
            old <= new.get(h, 0)
            for row in rows.values()
            for before, new in pairwise(row)
            for h, old in before.items()
        )
        and all(n <= len(rows.get(h, ())) for _, _, clock in every for h, n in clock.items())
        and not any(
            one != other and e.get(other, 0) >= m and f.get(one, 0) >= n
            for one, n, e in every
            for other, m, f in every
        )
    )


@settings(max_examples=300)
@given(seed=st.integers(0, 10**9), damaged=st.integers(0, 2))
def test_faults_are_those_that_comparing_all_with_all_finds(seed: int, damaged: int) -> None:
    draw = random.Random(seed)
    run = random_run(draw)
    for _ in range(damaged):
        at = draw.randrange(len(run))
        host = draw.choice([*run[at].clock, "a", "b", "nobody"])
        run[at] = evolve(run[at], clock={**run[at].clock, host: draw.randrange(8)})
    run = interleaved(draw, run)
    assert lawful(run) == (not faults(run))


@settings(max_examples=300)
@given(seed=st.integers(0, 10**9), damaged=st.integers(0, 6))
def test_faults_do_not_depend_on_how_the_hosts_events_are_interleaved(
    seed: int, damaged: int
) -> None:
    draw = random.Random(seed)
    run = random_run(draw)
    for _ in range(damaged):
        at = draw.randrange(len(run))
        host = draw.choice([run[at].host, *run[at].clock, "a", "b"])
        run[at] = evolve(run[at], clock={**run[at].clock, host: draw.randrange(6)})

    def unnumbered(run: list[Happened]) -> list[str]:
        places = {f"line {line}": f"({at.host} {at.clock})" for line, at in enumerate(run, 1)}
        return sorted(re.sub(r"line \d+", lambda m: places[m[0]], text) for text in faults(run))

    assert unnumbered(run) == unnumbered(interleaved(draw, run))


def clocked(*lines: str) -> list[Happened]:
    """Return events from lines such as `a a1 b2`: a host and its clock."""
    run = []
    for line in lines:
        host, *entries = line.split()
        run.append(Happened(host, {entry[0]: int(entry[1:]) for entry in entries}, ""))
    return run


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("a a1", "a a3"), "line 2: the entry of a in its own clock is 3, not 2"),
        (("a a1", "a b1", "b b1"), "line 2: the entry of a in its own clock is 0, not 2"),
        (("b b1", "a a1 b1", "a a2"), "line 3: a knew of event 1 of b, and now of 0 only"),
        (("a a1 b2", "b b1"), "line 1: a knows of event 2 of b, which has 1 event in the log"),
        (("a a1 c1",), "line 1: a knows of event 1 of c, which has 0 events in the log"),
        (
            ("a a1 b1", "b b1 a1"),
            "line 1: a knows of event 1 of b (line 2), which knows of this one",
        ),
    ],
)
def test_what_is_impossible_about_a_clock_is_said(lines: tuple[str, ...], expected: str) -> None:
    assert [expected] == faults(clocked(*lines))


def test_nothing_is_kept_of_events_that_stand_in_their_order() -> None:
    clocks = Clocks()
    for number in range(1, 1000):
        clocks.take(Stamp(2 * number - 1, "a", {"a": number, "b": number - 1}))
        clocks.take(Stamp(2 * number, "b", {"a": number, "b": number}))
    assert not any(queue for queues in clocks.claims.values() for queue in queues.values())
    assert 2 == len(clocks.latest)


def test_a_delivery_must_know_of_its_causal_send(tmp_path: Path) -> None:
    text = 'a {"a": 1}\ncausal-sends m1 to b\nb {"b": 1}\ndelivers m1\n'
    (finding,) = audit(log(tmp_path, text)).findings
    assert ("clock", 4, "b", "m1") == (finding.kind, finding.line, finding.actor, finding.first)
    assert "does not know of event 1 of a, which its sender knew in line 2" in finding.text


def test_faults_and_findings_stand_by_line(tmp_path: Path) -> None:
    text = """\
a {"a": 1}
causal-sends m1 to b
b {"b": 1, "a": 1}
delivers m1
b {"b": 3, "a": 9}
delivers m1
b {"b": 4, "a": 9}
delivers ghost
"""
    found = [(f.kind, f.line) for f in audit(log(tmp_path, text)).findings]
    assert [("clock", 5), ("clock", 5), ("integrity", 6), ("impossible", 8)] == found


# Recognising formats and events


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("causal-send m1 to bob,carol", [("causal-send", "m1", ("bob", "carol"))]),
        ("causal-sends m1 to bob, carol", [("causal-send", "m1", ("bob", "carol"))]),
        ("causal-sends m1 to bob, sends it", [("causal-send", "m1", ("bob",))]),
        ("Alice causal-sent m1", [("causal-send", "m1", None)]),
        ("7. Bob receives Eager(m4) from Al, delivers m4, sends Ack", [("deliver", "m4", None)]),
        ("delivers m1, delivers m2 (too late)", [("deliver", "m1", None), ("deliver", "m2", None)]),
        ("delivers m1 (twice)", [("deliver", "m1", None)] * 2),
        ("DELIVERED m1; done", [("deliver", "m1", None)]),
        ("delivers message 3 of Bob (never sent)", [("deliver", "message 3 of Bob", None)]),
        ("decides to deliver m1", []),
        ("undelivers m1", []),
    ],
)
def test_clauses_are_recognised(text: str, expected: list[tuple[Any, ...]], tmp_path: Path) -> None:
    path = log(tmp_path, f'a {{"a": 1}}\n{text}\n')
    assert expected == [tuple(event[2:]) for event in read(path)]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (r"(?<event>deliver|send) (?<message>\w+)( -> (?<to>.*))?", "send m1 -> b, c\tdeliver m2"),
        (r"(?P<send>PUB|BC) (?<message>\w+)( -> (?<to>.*))?|(?<deliver>never)", "PUB m1 -> b c"),
    ],
)
def test_an_expression_of_ones_own_finds_events(event: str, text: str, tmp_path: Path) -> None:
    path = log(tmp_path, f'a {{"a": 1}}\n{text.split(chr(9))[0]}\n')
    assert [(2, "a", "causal-send", "m1", ("b", "c"))] == read(path, event=event)


def test_other_fields_and_texts_of_a_log_are_let_pass(tmp_path: Path) -> None:
    parser = r"(?<date>\d+) (?<host>\w+) (?<clock>{.*}) (?<event>.*)"
    path = log(tmp_path, f'{parser}\n\n\n17 a {{"a":1}} boots\n18 a {{"a":2}} delivers m1\n')
    assert [(5, "a", "deliver", "m1", None)] == read(path)


def test_a_format_that_is_named_beats_the_first_line(tmp_path: Path) -> None:
    path = log(tmp_path, 'delivers m1\na {"a": 1}\n')
    assert [(1, "a", "deliver", "m1", None)] == read(path, format="shiviz")
    with pytest.raises(InputError, match="line 1: this is not JSON"):
        audit(path, format="jsonl")


HEADED = 'a {"a": 1}\ndelivers m1\n'
BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "no clock": (HEADED + "b\ndelivers m1\n" * 2, {}, "line 3: no event here"),
    "no JSON": (HEADED + "a {1: 1}\nx\n" * 2, {}, "line 3: the clock is not JSON"),
    "deep": (HEADED + f'a {{"a":{"[" * 99999}}}\nx\n' * 2, {}, "line 3: the clock is not JSON"),
    "huge": (HEADED + f'a {{"a":{"9" * 9999}}}\nx\n' * 2, {}, "line 3: the clock is not JSON"),
    "a text": (HEADED + 'a {"a": "1"}\nx\n' * 2, {}, "entry of 'a' is '1'; give a whole number"),
    "negative": (HEADED + 'a {"a": -1}\nx\n' * 2, {}, "entry of 'a' is -1"),
    "no host": (f'{PARSER}\n\ndelivers m1\n {{"a": 1}}\n', {}, "line 3: an event without a host"),
    "group": ("(?<host>.*) (?<clock>.*)\n", {}, "no group (?<event>…)"),
    "parser": ("(?<host>.*) (?<clock>.*) (?<event>[)\n", {}, "is no regular expression"),
    "delimiter": (f"{PARSER}\n^(?<trace>[)$\n", {}, "line 2: the log's delimiter is no regular"),
    "silent": (
        HEADED,
        {"given": "(?<event>X)(?<message>.)"},
        "no event says that a message",
    ),
    "format": (HEADED, {"format": "xml"}, "unknown log format 'xml'"),
    "event": (HEADED, {"given": "("}, "is no regular expression"),
    "lacking": (HEADED, {"given": "(?<message>.*)"}, "lacks named groups"),
    "word": (
        HEADED,
        {"given": "(?<event>del).* (?<message>.*)"},
        "'del' does not say",
    ),
    "empty": (
        HEADED,
        {"given": "(?<event>delivers)(?<message>)"},
        "line 2: the event names no",
    ),
    "needless": ('{"actor": 1}\n', {"given": ".*"}, "whose events need no expression"),
}


def test_lines_that_are_no_events_are_skipped(tmp_path: Path) -> None:
    """A banner, a line of dashes, half an event at the end, and further lines of each event."""
    parser = r"^State [0-9]+: <(?<event>.*)>\n/. Host = (?<host>.*)\n/. Clock = \"(?<clock>.*)\""
    state = "\n".join(
        ["State {n}: <{text}>", "/. Host = {host}", '/. Clock = "{clock}"', "/. queue = <<>>", ""]
    )
    one = state.format(n=1, text="causal-sends m to b", host="a", clock=r"{\"a\":1,\"b\":0}")
    two = state.format(n=2, text="delivers m", host="b", clock=r"{\"a\":1,\"b\":1}")
    found = audit(log(tmp_path, f"{parser}\n\nTLC 2.16\n{one}\n{two}\n-----\nState 3: <x>\n"))
    assert ((), 1, 1, 2) == (found.findings, found.causal_sends, found.deliveries, found.clocks)
    assert [(5, 3)] == [(each.lines, each.first) for each in found.foreign]


EXECUTIONS = """\
=== first ===
causal-sends m1 to b
a {"a":1}
delivers m1
b {"a":1,"b":1}
=== second ===
causal-sends m1 to b
a {"a":1}
causal-sends m2 to b
a {"a":2}
delivers m2
b {"a":2,"b":1}
delivers m1
b {"a":2,"b":2}
"""


@pytest.mark.parametrize("how", ["alone", "header"])
def test_several_executions_are_judged_one_by_one(
    how: str, antecede: Command, tmp_path: Path
) -> None:
    ends = "^=== (?<trace>.*) ===$"
    path = log(tmp_path, (f"{PARSER}\n{ends}\n" if how == "header" else "") + EXECUTIONS)
    ran = antecede("audit", path)
    assert 1 == ran.code
    assert "  first: HOLDS\n  second: VIOLATED\n" in ran.out
    line = 15 if how == "header" else 13
    assert f"line {line}: causal-delivery: b processes m1 after m2" in ran.out
    other = log(tmp_path / "..", 'c {"c": 1}\nboots\n')
    with pytest.raises(InputError, match="holds several executions; audit it alone"):
        audits.audit([str(path), str(other)])


def test_an_execution_begins_with_no_knowledge_of_the_one_before(tmp_path: Path) -> None:
    joined = audit(log(tmp_path, EXECUTIONS.replace("=== second ===\n", "")))
    assert {"impossible", "clock"} <= {finding.kind for finding in joined.findings}
    (finding,) = audit(log(tmp_path, EXECUTIONS)).findings
    assert "causal-delivery" == finding.kind


def test_an_expression_that_finds_nothing_is_refused_in_several_executions_too(
    antecede: Command, tmp_path: Path
) -> None:
    ran = antecede(
        "audit", log(tmp_path, EXECUTIONS), "--parser", "(?<event>never) (?<message>one)"
    )
    assert 2 == ran.code
    assert "no event says that a message is sent or processed" in ran.err


def test_events_with_the_ids_of_a_trace_are_no_spans(antecede: Command, tmp_path: Path) -> None:
    rows = [("a", "S"), ("b", "D")]
    text = "".join(
        json.dumps({"host": host, "type": type, "id": "m", "traceId": "1"}) + "\n"
        for host, type in rows
    )
    named = "actor=host,event=type,message=id,send=S,deliver=D"
    ran = antecede("audit", log(tmp_path, text), "--fields", named)
    assert (0, "") == (ran.code, ran.err)


def test_the_clocks_of_a_log_without_messages_are_checked(
    antecede: Command, tmp_path: Path
) -> None:
    text = 'a {"a": 1}\nboots\nb {"a": 1, "b": 1}\nreceives\nb {"a": 1, "b": 2}\nanswers\n'
    ran = antecede("audit", log(tmp_path, text))
    assert 3 == ran.code
    assert "3 events of 2 hosts with clocks; the vector clocks are possible" in " ".join(
        ran.out.split()
    )
    ran = antecede("audit", log(tmp_path, text.replace('"b": 2', '"b": 3')))
    assert 1 == ran.code
    assert "line 5: clock: the entry of b in its own clock is 3, not 2" in ran.out


def test_the_expression_of_a_log_can_be_given(antecede: Command, tmp_path: Path) -> None:
    text = '[INFO] node-a {"node-a": 1} delivers m1\n[INFO] started\n'
    parser = r"\[\w+\] (?<host>\S+) (?<clock>{.*}) (?<event>.*)"
    path = log(tmp_path, text)
    assert 2 == antecede("audit", path).code
    ran = antecede("audit", path, "--parser", parser)
    assert 1 == ran.code
    assert "line 1: impossible: node-a processes m1" in ran.out
    refused = antecede("audit", path, "--parser", parser, "--log-format", "csv")
    assert "leave out --parser" in refused.err


def test_a_log_may_begin_in_the_middle(tmp_path: Path) -> None:
    text = 'a {"a": 7}\ndelivers m0\na {"a": 8}\ncausal-sends m1\na {"a": 10}\nx\n'
    found = audit(log(tmp_path, text), how=How(from_middle=True))
    assert ["the entry of a in its own clock is 10, not 9"] == [f.text for f in found.findings]
    assert ("1 time, an actor processed a message that no log sends",) == found.left_out


@pytest.mark.parametrize("name", list(BAD))
def test_what_is_no_log_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    text, how, said = BAD[name]
    with pytest.raises(InputError, match=re.escape(said)):
        audit(log(tmp_path, text), **how)


@pytest.mark.parametrize("line", ["[" * 99999, f'{{"actor": {"9" * 9999}}}'])
def test_a_json_line_that_python_cannot_read_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: this is not JSON that can be read"):
        audit(log(tmp_path, line))


def test_a_json_line_is_no_expression_and_a_byte_order_mark_no_text(tmp_path: Path) -> None:
    line = '{"actor": "(?<event>", "event": "deliver", "message": 1}'
    assert [(1, "(?<event>", "deliver", "1", None)] == read(log(tmp_path, f"\ufeff{line}"))


def test_events_compare_by_what_happened() -> None:
    assert Event(1, "a", "deliver", "m1") == Event(1, "a", "deliver", "m1", clock={"a": 1})


# The command


def test_the_command_finds_the_violation_in_the_log_of_a_check(
    antecede: Command, tmp_path: Path
) -> None:
    spec, file = ROOT / "specs/small/cykas-secret-mode-figure3.toml", tmp_path / "run.shiviz"
    antecede("check", spec, "--engine", "plain", "--trace", file)
    ran = antecede("audit", file, "--unfinished")
    assert 1 == ran.code
    assert "9 events of 3 actors: 5 sent, 4 processed" in ran.out
    assert "line 19: causal-delivery: Alice processes m3 after m5" in ran.out
    assert "m3 → m4 → m5" in ran.out
    assert file.read_text().splitlines()[18].startswith("9. Alice receives Normal(m3)")


def test_the_options_of_the_command_reach_the_reader(antecede: Command, tmp_path: Path) -> None:
    path = log(tmp_path, 'PUB m1\na {"a": 1}\nDLV m1\na {"a": 2}\n')
    event = r"(?<send>PUB) (?<message>\w+)|(?<deliver>DLV) (?<what>\w+)"
    assert 2 == antecede("audit", path, "--log-format", "jsonl").code
    ran = antecede("audit", path, "--log-format", "shiviz", "--parser", event)
    assert (2, "") == (ran.code, ran.out)
    event = r"(?:(?<send>PUB)|(?<deliver>DLV)) (?<message>\w+)"
    assert 0 == antecede("audit", path, "--log-format", "shiviz", "--parser", event).code


def test_one_expression_may_match_whole_events_and_their_messages(
    antecede: Command, tmp_path: Path
) -> None:
    text = """\
a {"a":1} PUB m1 to b
b {"a":1,"b":1} boots
b {"a":1,"b":2} DLV m1
"""
    event = r"(?:(?<send>PUB)|(?<deliver>DLV)) (?<message>\w+)(?: to (?<to>\w+))?|.*"
    whole = rf"(?<host>\w+) (?<clock>\{{.*\}}) (?:{event})"
    path = log(tmp_path, text)
    ran = antecede("audit", path, "--parser", whole)
    assert 0 == ran.code
    assert "1 sent, 1 processed" in ran.out
    late = text.replace('"a":1,"b":2', '"a":1,"b":3')
    found = antecede("audit", log(tmp_path, late), "--parser", whole)
    assert "line 3: clock: the entry of b in its own clock is 3, not 2" in found.out


def test_the_documented_log_shows_what_the_documentation_says(
    antecede: Command, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "log-formats.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```shiviz\n(.*?)```", text, re.DOTALL)
    (finding,) = audit(log(tmp_path, shown)).findings
    assert ("causal-delivery", 12) == (finding.kind, finding.line)
    assert ("photo", "look", "seen") == finding.chain
    ((event,),) = [re.findall(r"--parser '(.*)'", text)]
    other = shown.replace("delivers ", "HANDLE id=")
    other = re.sub(r"causal-sends (\w+) to \w+", r"PUBLISH id=\1", other)
    ran = antecede("audit", log(tmp_path, other), "--parser", event)
    assert 1 == ran.code
    assert '"photo" → "look" → "seen"' in ran.out
