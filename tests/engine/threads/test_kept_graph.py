"""The graph of the local engine equals the plain engine's, and so do the verdicts on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, assume, given, settings

import antecede.properties
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.model import Property, What, When
from antecede.checker.search.loop import Evidence, explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import ReplayError
from antecede.checker.support.registry import property_named, protocol_named
from tests.campaigns.user_properties import REGISTRY
from tests.conftest import ROOT, method
from tests.engine.threads.common import threads_of
from tests.random_systems import RandomSystem, random_systems
from tests.search.test_graph import graph_of
from tests.semantics.test_transition import system_for

CAN_DELIVER = property_named("can-deliver")
CAN_END = Property(
    name="can-end",
    summary="from everywhere on all workloads can come to their end",
    what=What.ENDED,
    when=When.ALWAYS_POSSIBLE,
    predicate=lambda ended: ended,
)
FIRST_ACTOR_ONLY = Property(
    name="first-actor-only",
    summary="treats actors differently: no message of the first one stays undelivered",
    what=What.UNDELIVERED,
    when=When.ALWAYS_POSSIBLE,
    predicate=lambda messages: not any(m.sender == 0 for m in messages),
)


def asked(name: str, actors: int, messages: int, *props: Property, **how: Any) -> System:
    system = system_for(protocol_named(name), actors, messages, **how)
    return evolve(system, properties=props or (CAN_DELIVER,))


def whole(system: System, **options: Any) -> TabulatedSearch:
    """Return a search of the fast engine that is over."""
    search = search_on_threads(system, options=method(**{"threads": 2, "block": 64} | options))
    while search.frontier:
        search.round(lambda: None)
    return search


def length(found: Evidence | None) -> int | None:
    return None if found is None else len(found.transitions)


def plain_length(system: System, prop: Property) -> int | None:
    search = BreadthFirst(system)
    while search.frontier:
        search.round(lambda: None)
    return length(search.lost(prop, lambda: None))


SYSTEMS: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
    ("mfss", 2, 2, {}),
    ("mfss", 2, 1, {"network": "lossy:1"}),
    ("hybrid-basic", 2, 1, {"network": "duplicating+lossy"}),
    ("hybrid-basic-as-printed", 2, 1, {}),
    ("hybrid-basic-no-timeout", 2, 1, {"network": "lossy"}),
    ("cykas-as-printed", 2, 2, {}),
    ("cykas", 3, 1, {"network": "fifo", "history": "clocks"}),
)


def test_a_successor_that_the_search_did_not_meet_is_noticed() -> None:
    search = whole(asked("mfss", 2, 2), symmetry=False)
    visited = threads_of(search).shards[0].visited
    taken = np.flatnonzero(visited.slots[: visited.slot_count] >= 0)
    visited.slots[taken[len(taken) // 2]] = -1
    with pytest.raises(ReplayError, match="the graph lacks states that were explored"):
        search.lost(CAN_DELIVER, lambda: None)


@pytest.mark.parametrize(("name", "actors", "messages", "how"), SYSTEMS)
@pytest.mark.parametrize("threads", [1, 3])
def test_it_is_the_graph_of_the_plain_engine_number_by_number(
    name: str, actors: int, messages: int, how: dict[str, Any], threads: int
) -> None:
    system = asked(name, actors, messages, **how)
    search = whole(system, symmetry=False, threads=threads)
    found = search.lost(CAN_DELIVER, lambda: None)
    kept, plain = threads_of(search).graph, graph_of(system)
    assert kept is not None
    assert plain.rows.first.tolist() == kept.first.array[: kept.states + 1].tolist()
    assert plain.rows.target.tolist() == kept.target.array[: kept.edges].tolist()
    assert plain_length(system, CAN_DELIVER) == length(found)
    search.close()


@pytest.mark.parametrize(("name", "actors", "messages", "how"), SYSTEMS)
def test_symmetry_leaves_the_verdict_and_the_length(
    name: str, actors: int, messages: int, how: dict[str, Any]
) -> None:
    system = asked(name, actors, messages, **how)
    local = explore(system, whole(system, symmetry=True))
    expected = plain_length(system, CAN_DELIVER)
    assert expected == (local.counterexample and local.counterexample.length)


@pytest.mark.integration
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems())
def test_random_systems_are_judged_as_by_the_plain_engine(drawn: RandomSystem) -> None:
    how: dict[str, Any] = {"workload": drawn.workload, "clock_at": drawn.clock_at}
    system = system_for(drawn.protocol, drawn.actors, drawn.messages, **how)
    system = evolve(system, properties=(CAN_DELIVER, CAN_END))
    assume(len(graph_of(system, most=3_000).states) <= 3_000)
    search = whole(system, symmetry=True)
    for prop in system.properties:
        assert plain_length(system, prop) == length(search.lost(prop, lambda: None))
    search.close()


@pytest.mark.integration
def test_every_small_spec_that_asks_for_ways_back_is_judged_alike() -> None:
    for file in sorted((ROOT / "specs" / "protocols").glob("*-recovers.toml")):
        reports = [check(load_spec(file), method(engine=engine)) for engine in ("local", "plain")]
        assert all(report.as_expected for report in reports), file.name


def test_two_properties_are_judged_on_one_graph() -> None:
    system = asked("hybrid-basic", 2, 1, CAN_DELIVER, CAN_END, network="lossy:1")
    result = explore(system, whole(system))
    assert {"can-deliver": Verdict.HOLDS, "can-end": Verdict.HOLDS} == dict(result.properties)
    hopeless = evolve(CAN_END, name="hopeless", predicate=lambda _ended: False)
    system = evolve(system, properties=(CAN_DELIVER, hopeless))
    result = explore(system, whole(system))
    assert [Verdict.HOLDS, Verdict.VIOLATED] == list(result.properties.values())
    assert result.counterexample is not None
    assert 0 == result.counterexample.length


ENGINES = [(engine, search) for engine in ("local", "plain") for search in ("breadth", "depth")]


@pytest.mark.parametrize(("engine", "search"), ENGINES)
def test_every_property_of_ways_back_is_decided_after_one_is_violated(
    engine: str, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antecede.properties, "REGISTRY", REGISTRY)
    ended, second = (f"{name}-always-possible" for name in ("ended-ended", "no-second-undelivered"))
    asked_for = ("can-deliver", ended, second, "integrity")
    spec = Spec(
        protocol="hybrid-basic-no-timeout",
        actors=2,
        messages=1,
        network="lossy",
        search=search,
        properties=asked_for,
    )
    result = check(spec, method(engine=engine)).result
    expected = (Verdict.VIOLATED, Verdict.HOLDS, Verdict.HOLDS, Verdict.HOLDS)
    assert dict(zip(asked_for, expected, strict=True)) == dict(result.properties)


def test_ways_back_are_not_judged_on_a_graph_that_is_cut() -> None:
    system = asked("mfss", 2, 2, CAN_DELIVER, CAN_END)
    result = explore(system, whole(system), Bounds(max_states=3))
    assert {Verdict.HOLDS} == set(result.properties.values())
    search = search_on_threads(system, options=method(threads=2, block=64))
    result = explore(system, search, Bounds(max_states=3))
    assert {Verdict.INCOMPLETE} == set(result.properties.values())


def test_a_property_that_tells_actors_apart_is_judged_without_symmetry() -> None:
    system = asked("mfss", 3, 1, FIRST_ACTOR_ONLY, network="lossy")
    search = whole(system, symmetry=True)
    assert search.filler.symmetric
    found = search.lost(FIRST_ACTOR_ONLY, lambda: None)
    assert plain_length(system, FIRST_ACTOR_ONLY) == length(found)
    assert not search.graph_figures["graph"]["symmetric"]
    search.close()


@pytest.mark.parametrize("search", ["depth", "breadth"])
def test_every_exhaustive_search_decides_it(search: str) -> None:
    spec = Spec(
        protocol="mfss", actors=2, network="lossy", properties=("can-deliver",), search=search
    )
    report = check(spec, method(threads=1))
    assert report.result.counterexample is not None
    assert 2 == report.result.counterexample.length
    assert "graph" in report.result.statistics


def test_a_graph_is_spilled_where_the_search_is(tmp_path: Path) -> None:
    search = whole(asked("mfss", 2, 2), spill=tmp_path)
    assert search.lost(CAN_DELIVER, lambda: None) is None
    graph = threads_of(search).graph
    assert graph is not None
    assert min(graph.target.file_bytes, graph.first.file_bytes) > 0
    search.close()


def test_no_state_is_forgotten_that_the_graph_needs() -> None:
    system = asked("mfss", 2, 2)
    search = whole(system, forget_from=1)
    assert 0 == sum(shard.visited.dropped for shard in threads_of(search).shards)
    assert search.lost(CAN_DELIVER, lambda: None) is None
    search.close()


def test_bounds_and_interruptions_end_the_look_back(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = Spec(protocol="mfss", actors=2, messages=2, properties=("can-deliver",))
    monkeypatch.setattr(
        "antecede.checker.search.options.Bounds.hit",
        lambda _self, states, _seconds, _memory: None if states else "--max-seconds 1 reached",
    )
    result = check(spec, method()).result
    assert Verdict.INCOMPLETE is result.verdict
    assert "--max-seconds 1 reached" == result.stopped_by


def test_what_follows_a_counterexample_may_be_too_much_for_plain_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.checker.paths.confirm.MOST_LOOKED_AT", 1)
    spec = Spec(protocol="mfss", actors=2, messages=2, network="lossy", properties=("can-deliver",))
    counterexample = check(spec, method()).result.counterexample
    assert counterexample is not None
    assert 1 == counterexample.looked_at
