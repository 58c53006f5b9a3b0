"""Endless workloads on the tables: the plain explorer is the judge."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.pipeline import InternalError, check
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.engine.threads.graph import FollowedGraph
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.liveness.fairness import lasso
from antecede.checker.liveness.starvation import FIRST
from antecede.checker.model import Protocol
from antecede.checker.search.graph import StateGraph
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.registry import property_named, protocol_named
from tests.conftest import ROOT, Command, method
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_marked import system

SAFETY = ("causal-delivery", "integrity", "fifo-delivery")


def asked_of(
    protocol: str | Protocol, workload: str, actors: int = 3, network: str = "unordered"
) -> System:
    found = protocol_named(protocol) if isinstance(protocol, str) else protocol
    asked = system(evolve(found, normal=None), workload, actors, network)
    return evolve(asked, properties=tuple(map(property_named, SAFETY)))


def results(asked: System, depth: int | None = None) -> list[Result]:
    """Return what the plain and the local engine find."""
    return [
        explore(asked, explorer_for(asked, Options(engine=engine, symmetry=False), depth), Bounds())
        for engine in ("plain", "local")
    ]


def agree(asked: System, depth: int | None = None) -> Result:
    plain, local = results(asked, depth)
    assert plain.counts == local.counts
    assert dict(plain.properties) == dict(local.properties)
    assert (plain.counterexample is None) == (local.counterexample is None)
    if plain.counterexample is not None and local.counterexample is not None:
        assert plain.counterexample.length == local.counterexample.length
    return local


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "workload", "actors", "network", "depth"),
    [
        ("mfss", "endless:1", 3, "unordered", None),
        ("mfss", "endless:2:[[1,2],[2],[]]", 3, "unordered", None),
        ("mfss", "endless:3", 2, "unordered", None),
        pytest.param("mfss-fifo", "endless:2", 3, "fifo", 7, marks=pytest.mark.slow),
        ("cykas", "endless:1", 3, "unordered", 8),
        ("cykas", "endless:2:[[1,2],[2],[0]]", 3, "fifo", 9),
        ("cykas-fair", "endless:2:[[1,2],[2],[0]]", 3, "unordered", 8),
        ("tree", "endless:1", 3, "fifo", None),
        ("rst", "endless:2:[[1,[1,2]],[2],[0]]", 3, "unordered", 7),
        ("cbcast", "endless:2:[[[1,2]],[[0,2]],[]]", 3, "unordered", 8),
        ("hybrid-basic", "endless:1", 2, "duplicating", 7),
        ("hybrid-basic-no-timeout", "endless:2", 2, "lossy:1", 7),
        ("newtop", "endless:1:[[1,2],[],[0]]", 3, "fifo", None),
        ("unordered", "endless:2", 3, "unordered", None),
        pytest.param("fifo", "endless:2", 3, "unordered", None, marks=pytest.mark.slow),
    ],
)
def test_counts_and_verdicts_are_those_of_the_plain_explorer(
    protocol: str, workload: str, actors: int, network: str, depth: int | None
) -> None:
    agree(asked_of(protocol, workload, actors, network), depth)


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=random_systems(), buffer=st.integers(1, 3))
def test_random_systems_are_explored_alike(drawn: RandomSystem, buffer: int) -> None:
    agree(asked_of(drawn.protocol, f"endless:{buffer}", drawn.actors, drawn.network), 4)


GRAPHS: tuple[tuple[str, str, int, str], ...] = (
    ("mfss", "endless:1:[[1],[2],[0]]", 3, "unordered"),
    ("cykas", "endless:2:[[1],[0]]", 2, "fifo"),
    ("hybrid-basic", "endless:1", 2, "duplicating"),
    ("hybrid-basic-no-timeout", "endless:1", 2, "fifo+duplicating+lossy"),
    ("newtop", "endless:1", 3, "fifo"),
    ("unordered", "endless:1:[[1],[0]]", 2, "lossy:1"),
)


def graphs(asked: System, rounds: int) -> tuple[StateGraph, FollowedGraph]:
    """Return the graphs of the plain and of the local engine after a number of levels."""
    plain = BreadthFirst(asked)
    local = search_on_threads(asked, options=method(threads=2, block=64))
    while plain.frontier and plain.deepest <= rounds:
        plain.round(lambda: None)
    while local.frontier and local.state.depth <= rounds:  # it may begin again
        local.round(lambda: None)
    known = local.so_far(lambda: None)
    assert isinstance(known, FollowedGraph)
    return plain.graph, known


def same_graph(asked: System, rounds: int) -> None:
    plain, local = graphs(asked, rounds)
    assert plain.rows.first.tolist() == local.rows.first.tolist()
    assert plain.rows.target.tolist() == local.rows.target.tolist()
    told = [[rows.transitions[k] for k in rows.label] for rows in (plain.rows, local.rows)]
    assert told[0] == told[1]
    assert (plain.followed(), plain.over()) == (local.followed(), local.over())
    ends = [lasso(asked, graph) for graph in (plain, local)]
    shown = [run and (run.stem, run.cycle, run.ending) for run in ends]
    assert shown[0] == shown[1]
    last = len(plain.states) - 1
    assert plain.path_to(last) == local.path_to(last)
    assert plain.all_edges(last) == local.all_edges(last)
    local.kept.close()


@pytest.mark.parametrize(("protocol", "workload", "actors", "network"), GRAPHS)
def test_the_kept_graph_and_its_lassos_are_those_of_the_plain_explorer(
    protocol: str, workload: str, actors: int, network: str
) -> None:
    same_graph(asked_of(protocol, workload, actors, network), 7)


@pytest.mark.integration
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems(), buffer=st.integers(1, 2), rounds=st.integers(3, 6))
def test_random_systems_starve_alike(drawn: RandomSystem, buffer: int, rounds: int) -> None:
    asked = asked_of(drawn.protocol, f"endless:{buffer}", drawn.actors, drawn.network)
    same_graph(evolve(asked, properties=()), rounds)


@pytest.mark.parametrize(
    ("protocol", "workload", "network"),
    [
        ("newtop", "endless:1:[[1,2],[],[0]]", None),
        ("tree", "endless:1", None),
        ("unordered", "endless:1:[[1],[2],[0]]", "lossy"),
        ("unordered", "endless:1:[[1],[2],[0]]", "duplicating"),
    ],
)
def test_both_engines_come_to_one_verdict(
    protocol: str, workload: str, network: str | None
) -> None:
    spec = Spec(protocol=protocol, workload=workload, network=network)
    plain, local = (check(spec, Options(engine=engine)).result for engine in ("plain", "local"))
    assert dict(plain.properties) == dict(local.properties)
    runs = [run and (run.length, run.loop) for run in (plain.counterexample, local.counterexample)]
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_every_small_spec_about_starvation_is_judged_alike() -> None:
    for file in sorted((ROOT / "specs" / "endless").glob("*.toml")):
        reports = [check(load_spec(file), Options(engine=engine)) for engine in ("local", "plain")]
        assert all(report.as_expected for report in reports), file.name


def test_a_search_pauses_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 50 states, of 400, and then everything."""
    monkeypatch.setitem(FIRST, "local", 50)
    spec = Spec(protocol="mfss", workload="endless:1")
    paused = check(spec, Options(engine="local", threads=2, block=64)).result
    assert Verdict.HOLDS is paused.of_this_search.verdict
    assert 2_673 == paused.counts.unique_states


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_an_unfair_answer_is_caught(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that forgets what fairness speaks of finds a cycle, and plain Python refuses it."""
    monkeypatch.setattr(
        "antecede.checker.liveness.fairness.owed_labels",
        lambda _rows, lossy: (frozenset[int](), frozenset[int]()),
    )
    with pytest.raises(InternalError, match=r"not fair: .* could always happen and never does"):
        check(Spec(protocol="mfss", workload="endless:1"), Options(engine=engine))


def test_a_graph_has_names_for_so_many_transitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.checker.engine.threads.labels.MOST_LABELS", 10)
    result = check(Spec(protocol="mfss", workload="endless:1")).result
    assert Verdict.INCOMPLETE is result.verdict
    assert "--engine plain has no such limit" in str(result.stopped_by)


def test_safety_alone_is_explored_on_the_tables(antecede: Command) -> None:
    asked = ("check", "mfss", "--workload", "endless:2", "--property", "causal-delivery")
    ran = antecede(*asked, "--verbose")
    assert 0 == ran.code
    assert "engine local" in ran.out
    assert "56,889" in ran.out
    assert "with at most 2 messages of each actor undelivered" in " ".join(ran.out.split())
