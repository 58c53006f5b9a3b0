"""The findings of an audit depend on each actor's own order, and on nothing else."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import KINDS, Audit
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.report.summary import text
from antecede.checker.logs.spark import on_spark
from tests.logs.interleavings import (
    Own,
    found_in,
    give_up_by_lines,
    interleaved,
    is_chain,
    places,
    whole,
    wild,
    write,
)
from tests.logs.test_spread import in_pieces
from tests.naive_audit import Event, Found
from tests.naive_audit import audit as naive

JUDGES = (False, True)
"""Whether the kernels of the judge are compiled."""

BOB_WAITS = Own(
    bob=[Event("deliver", "m2"), Event("deliver", "m1")],
    alice=[
        Event("deliver", "zz"),
        Event("causal-send", "m1", ("bob",)),
        Event("causal-send", "m2", ("bob",)),
    ],
)


def judged(path: Path, compiled: bool, **how: Any) -> Audit:
    return audits.audit([str(path)], compiled=compiled, **how)


def own_events(*rows: str) -> Own:
    """Return events from rows such as `a: m1? m2!bc`: a delivers m1, and causal-sends m2."""
    own = Own()
    for row in rows:
        actor, _, events = row.partition(": ")
        own[actor] = [
            Event("deliver", each[:-1])
            if each.endswith("?")
            else Event("causal-send", each.split("!")[0], tuple(each.split("!")[1]) or None)
            for each in events.split()
        ]
    return own


messages = st.sampled_from(["m0", "m1", "m2", "m3", "m4", "m5"])
actors = st.sampled_from("abcd")
events = st.builds(Event, st.just("deliver"), messages) | st.builds(
    Event, st.just("causal-send"), messages, st.none() | st.sets(actors, max_size=3).map(tuple)
)
logs = st.dictionaries(actors, st.lists(events, min_size=1, max_size=9), min_size=1)


@pytest.mark.smoke
@settings(max_examples=150)
@given(own=logs, seed=st.integers(0, 2**20))
def test_every_interleaving_has_the_findings_of_the_reference(
    tmp_path_factory: pytest.TempPathFactory, own: Own, seed: int
) -> None:
    own.setdefault("z", []).append(Event("causal-send", "last", ("z",)))
    draw, expected, said = random.Random(seed), naive(own), []
    for compiled in (*JUDGES, *JUDGES):
        path = tmp_path_factory.getbasetemp() / f"{compiled}.jsonl"
        there = write(path, own, interleaved(draw, own))
        found = judged(path, compiled)
        said.append(whole(found, there))
        assert expected == {*said[-1][0]}
        assert len(expected) == len(said[-1][0])
        assert all(is_chain(own, f.chain) for f in found.findings if f.chain)
    assert [said[0]] * 4 == said


@pytest.mark.parametrize("seed", range(25))
def test_long_logs_are_judged_the_same_in_every_interleaving(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    own = wild(draw, draw.choice([2, 5, 40, 200]), draw.choice([40, 400]))
    expected, said = naive(own), []
    for compiled in (*JUDGES, None):
        path = tmp_path / "log.jsonl"
        there = write(path, own, interleaved(draw, own))
        found = in_pieces([str(path)], 4_000)[0] if compiled is None else judged(path, compiled)
        said.append(whole(found, there))
        assert expected == {*said[-1][0]}
    assert [said[0]] * 3 == said


def test_the_random_logs_have_all_kinds_of_findings() -> None:
    """So that the comparisons above compare something."""
    found = set[Found]().union(*(naive(wild(random.Random(seed), 5, 60)) for seed in range(20)))
    kinds = {one.kind for one in found}
    assert {"causal-delivery", "integrity", "impossible", "undelivered"} == kinds


@pytest.mark.parametrize("compiled", JUDGES)
def test_an_impossible_delivery_does_not_hide_the_violation_behind_it(
    compiled: bool, tmp_path: Path
) -> None:
    expected = [
        Found("impossible", "alice", 0, "zz"),
        Found("causal-delivery", "bob", 1, "m1", "m2"),
    ]
    for seed in range(10):
        there = write(tmp_path / "log", BOB_WAITS, interleaved(random.Random(seed), BOB_WAITS))
        found = judged(tmp_path / "log", compiled)
        assert expected == found_in(found, there)
        assert ("m1", "m2") == found.findings[1].chain


IMPOSSIBLE = {
    "what nobody causal-sends": (("a: x? m!b", "b: m?"), {("a", 0)}),
    "before its own causal-send": (("a: m? m!a m?",), {("a", 0)}),
    "a circle of two": (("a: y? x!b", "b: x? y!a"), {("a", 0), ("b", 0)}),
    "what waits for a circle is not on it": (
        ("a: y? x!b", "b: x? y!a z!c", "c: z? w!d", "d: w?"),
        {("a", 0), ("b", 0)},
    ),
    "one after the other": (
        ("a: p? y? x!b", "b: x? q? y!a"),
        {("a", 0), ("b", 0), ("b", 1), ("a", 1)},
    ),
    "a circle within the path to another": (
        ("a: z? y? x!b", "b: x? y!a", "c: x? z!a"),
        {("a", 0), ("a", 1), ("b", 0), ("c", 0)},
    ),
    "a name of two actors waits for nobody": (("a: m? m!b", "b: m? m!a"), {("a", 1), ("b", 1)}),
}


@pytest.mark.parametrize("name", list(IMPOSSIBLE))
@pytest.mark.parametrize("compiled", JUDGES)
def test_these_are_impossible_and_nothing_else(name: str, compiled: bool, tmp_path: Path) -> None:
    rows, expected = IMPOSSIBLE[name]
    own = own_events(*rows)
    assert expected == {(f.actor, f.index) for f in naive(own) if f.kind == "impossible"}
    for seed in range(6):
        there = write(tmp_path / "log", own, interleaved(random.Random(seed), own))
        found = found_in(judged(tmp_path / "log", compiled), there)
        assert expected == {(f.actor, f.index) for f in found if f.kind == "impossible"}
        assert naive(own) == {*found}


def test_a_message_whose_delivery_is_impossible_did_arrive(tmp_path: Path) -> None:
    own = own_events("a: y? x!b", "b: x? y!ac", "c: x!c")
    own["c"] = [Event("causal-send", "w", ("c",))]
    write(tmp_path / "log", own, interleaved(random.Random(0), own))
    for compiled in JUDGES:
        found = judged(tmp_path / "log", compiled)
        assert ['"w" of c was not processed at c', '"y" of b was not processed at c'] == sorted(
            finding.text for finding in found.undelivered
        )
        assert 2 == found.open


def test_a_name_that_several_actors_send_is_told_and_not_judged(tmp_path: Path) -> None:
    own = own_events("a: m!b n!b", "b: n? m? m!c", "c: m?")
    write(tmp_path / "log", own, interleaved(random.Random(0), own))
    for compiled in JUDGES:
        found = judged(tmp_path / "log", compiled)
        assert [("a", "impossible"), ("b", "impossible")] == [
            (f.actor, f.kind) for f in found.findings
        ]
        assert {'"m" is sent by several actors, so its order is not judged'} == {
            f.text for f in found.findings
        }
        assert (3, 3, 0) == (found.causal_sends, found.deliveries, found.open)


def test_the_report_and_its_first_chains_do_not_depend_on_the_lines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A report is cut off, and only some findings have chains: those by the order of actors."""
    monkeypatch.setattr("antecede.checker.logs.judge.judge.MOST_CHAINS", 2)
    monkeypatch.setattr("antecede.checker.logs.judge.evidence.MOST_SHOWN", 1)
    own, said = wild(random.Random(3), 5, 300), set()
    for seed in range(4):
        write(tmp_path / "log", own, interleaved(random.Random(seed), own))
        found = judged(tmp_path / "log", JUDGES[seed % 2])
        shown = Counter(f.what for f in found.every if f.events)
        assert {"late": 2, **dict.fromkeys(KINDS.keys() - {"late"}, 1)} == shown
        assert len(found.findings) > shown.total() + 5
        said.add(re.sub(r"line \d+", "line", " ".join(text(found, most=5).split())))
    assert 1 == len(said)


@pytest.mark.integration
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("seed", range(2))
def test_on_spark_every_interleaving_has_the_findings_of_the_reference(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    own = wild(draw, 6, 200)
    path = tmp_path / "log.jsonl"
    there = write(path, own, interleaved(draw, own))
    found = on_spark.audit([str(path)], size=5_000)
    assert whole(judged(path, compiled=False), there) == whole(found, there)
    assert naive(own) == {*found_in(found, there)}


# Other sources


def as_csv(own: Own, order: Any) -> list[str]:
    rows = ["actor,event,message,to"]
    for actor, index in order:
        kind, message, to = own[actor][index]
        rows.append(f"{actor},{kind},{message},{' '.join(to or ())}")
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_tables_and_standard_input_have_the_same_findings(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    own = wild(draw, 4, 80)
    own = {a: [e._replace(to=e.to or None) for e in row] for a, row in own.items()}
    order = interleaved(draw, own)
    (tmp_path / "log.csv").write_text("\n".join(as_csv(own, order)) + "\n")
    found = judged(tmp_path / "log.csv", compiled=False)
    assert naive(own) == {*found_in(found, places(order, 2))}


# Would the comparisons notice?


@pytest.mark.parametrize("compiled", JUDGES)
@pytest.mark.parametrize("name", ["what nobody causal-sends", "a circle of two"])
def test_giving_up_in_the_order_of_lines_would_be_noticed(
    name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Judge, "_finish", give_up_by_lines)
    own = BOB_WAITS if name == "what nobody causal-sends" else own_events(*IMPOSSIBLE[name][0])
    wrong = 0
    for seed in range(10):
        there = write(tmp_path / "log", own, interleaved(random.Random(seed), own))
        found = judged(tmp_path / "log", compiled)
        wrong += naive(own) != {*found_in(found, there)}
    assert wrong


def test_ambiguous_names_judged_by_the_first_line_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Judge, "_judge_again", lambda _self, _names: None)
    own = own_events("a: m!b n!b", "b: n? m? m!c", "c: m?")
    wrong = 0
    for seed in range(10):
        there = write(tmp_path / "log", own, interleaved(random.Random(seed), own))
        wrong += naive(own) != {*found_in(judged(tmp_path / "log", compiled=True), there)}
    assert wrong


@pytest.mark.parametrize("compiled", JUDGES)
def test_an_actor_that_continued_on_another_ones_message_is_not_given_up(
    compiled: bool, tmp_path: Path
) -> None:
    """The search for a circle of waiting actors has passed it when it continues."""
    own = own_events("a: x? w? r!", "c: q? x! r? y!", "b: y? w! x!")
    expected = naive(own)
    for seed in range(20):
        path = tmp_path / f"{seed}.jsonl"
        there = write(path, own, interleaved(random.Random(seed), own))
        assert expected == {*found_in(judged(path, compiled), there)}
