"""Depth-first search and random walks on the tables, against plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.engine.threads.depth import LocalDepthFirst
from antecede.checker.engine.threads.walks import LocalRandomWalks
from antecede.checker.paths.path import transition_key
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import BreadthFirst, DepthFirst
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.transition import System
from tests.engine.threads.test_local import FAULTY_NETWORKS, HARD, small, system_drawn
from tests.random_systems import RandomSystem, random_systems


def outcome(result: Result) -> dict[str, Any]:
    """Return everything that the two depth-first searches must have in common."""
    path = result.counterexample
    return {
        "verdicts": dict(result.properties),
        "counts": result.counts,
        "stopped by": result.stopped_by,
        "error": result.error,
        "path": path and [transition_key(step.transition) for step in path.steps],
    }


def both(system: System, max_depth: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    bounds = Bounds(max_depth=max_depth)
    plain = explore(system, DepthFirst(system, max_depth=max_depth), bounds)
    local = explore(system, LocalDepthFirst(system, max_depth=max_depth), bounds)
    return outcome(plain), outcome(local)


@pytest.mark.parametrize("max_depth", [None, 1, 5])
@pytest.mark.parametrize(("name", "actors", "messages", "history"), HARD[:4] + HARD[5:])
def test_goes_where_plain_depth_first_goes(
    name: str, actors: int, messages: int, history: str, max_depth: int | None
) -> None:
    plain, local = both(small(name, actors, messages, history=history), max_depth)
    assert plain == local


@pytest.mark.parametrize(("name", "actors", "messages", "network", "workload"), FAULTY_NETWORKS)
def test_goes_where_plain_depth_first_goes_on_every_network(
    name: str, actors: int, messages: int, network: str, workload: str
) -> None:
    plain, local = both(small(name, actors, messages, network=network, workload=workload))
    assert plain == local


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems(), history=st.sampled_from(list(HISTORIES)))
def test_agrees_on_random_systems(drawn: RandomSystem, history: str) -> None:
    plain, local = both(system_drawn(drawn, history))
    assert plain == local


def walked(system: System, **options: Any) -> Result:
    return explore(system, LocalRandomWalks(system, **options))


def test_equal_seeds_walk_alike_and_others_do_not() -> None:
    system = small("cykas", 3, 1)
    first, again, other = (walked(system, walks=40, seed=seed) for seed in (7, 7, 8))
    assert first.counts == again.counts
    assert first.counts != other.counts


def test_walks_meet_only_what_can_be_reached_and_prove_nothing() -> None:
    system = small("mfss", 3, 1)
    result, whole = walked(system, walks=200), explore(system, BreadthFirst(system))
    assert Verdict.INCOMPLETE is result.verdict
    assert 150 < result.counts.unique_states <= whole.counts.unique_states
    assert 200 * 10 == result.counts.total_states
    assert (10, 1) == (result.counts.depth, result.counts.final_states)


def test_some_walk_finds_the_secret_mode_violation_and_it_replays() -> None:
    system = small("cykas-secret-mode", 3, 3, workload="script:[[1,2],[0,2],[0]]")
    result = walked(system, walks=5_000, seed=1)
    assert Verdict.VIOLATED is result.verdict
    assert result.counterexample is not None
    assert "causal-delivery" == result.counterexample.violates


def test_a_walk_ends_at_the_greatest_depth() -> None:
    result = walked(small("mfss", 3, 1), walks=10, max_depth=4)
    assert (4, 40) == (result.counts.depth, result.counts.total_states)
