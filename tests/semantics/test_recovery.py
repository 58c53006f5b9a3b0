"""Recoverability: from every reachable state, all messages can still be delivered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import State
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import found_lost
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.registry import property_named, protocol_named
from tests.conftest import Command
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_transition import system_for

CAN_DELIVER = property_named("can-deliver")
PLAIN = Options(engine="plain")


def levels(system: System) -> list[set[State]]:
    """Return the reachable states by their distance from the start."""
    found = [{initial_state(system)}]
    while found[-1]:
        after = {successor(system, s, t).state for s in found[-1] for t in enabled(system, s)}
        found.append(after - set().union(*found))
    return found[:-1]


def nearest_bad(system: System) -> int | None:
    """Return, by definition, how far the nearest state without a way back is, if there is one."""
    for distance, states in enumerate(levels(system)):
        if not all(recovers(system, state, CAN_DELIVER) for state in states):
            return distance
    return None


@pytest.mark.parametrize(
    ("name", "messages", "network"),
    [
        ("mfss", 1, "unordered"),
        ("mfss", 1, "lossy:1"),
        ("hybrid-basic", 1, "duplicating"),
        ("hybrid-basic", 1, "fifo+lossy"),
        ("hybrid-basic-as-printed", 1, "unordered"),
        ("hybrid-basic-no-timeout", 1, "lossy"),
        ("cykas-as-printed", 2, "unordered"),
    ],
)
def test_finds_the_nearest_state_without_a_way_back(name: str, messages: int, network: str) -> None:
    system = system_for(protocol_named(name), 2, messages, network=network)
    found = found_lost(system, CAN_DELIVER, lambda: None)
    assert nearest_bad(system) == (None if found is None else len(found.transitions))


@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems())
def test_agrees_with_the_definition_on_random_systems(drawn: RandomSystem) -> None:
    how: dict[str, Any] = {"workload": drawn.workload, "clock_at": drawn.clock_at}
    system = system_for(drawn.protocol, drawn.actors, drawn.messages, **how)
    if sum(map(len, levels(system))) > 400:
        return
    found = found_lost(system, CAN_DELIVER, lambda: None)
    assert nearest_bad(system) == (None if found is None else len(found.transitions))


@pytest.mark.parametrize("engine", ["local", "plain"])
def test_a_protocol_that_retransmits_recovers_and_one_that_does_not_does_not(engine: str) -> None:
    for protocol, verdict in (("hybrid-basic", Verdict.HOLDS), ("mfss", Verdict.VIOLATED)):
        spec = Spec(
            protocol=protocol,
            actors=2,
            messages=1,
            network="lossy:1",
            properties=("integrity", "can-deliver"),
        )
        assert verdict is check(spec, Options(engine=engine)).result.verdict


def test_the_counterexample_says_what_is_stuck(antecede: Command, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    asked = ("check", "mfss", "--actors", "2", "--messages", "1", "--network", "lossy:1")
    ran = antecede(*asked, "--property", "can-deliver", "--engine", "plain", "--trace", trace)
    assert 1 == ran.code
    assert "can-deliver, after 2 transitions" in ran.out
    said = " ".join(ran.out.split())
    assert (
        "No continuation of this run reaches a state in which every message is delivered." in said
    )
    assert "Here, m1 is undelivered." in said
    again = antecede("replay", trace)
    assert 1 == again.code
    assert "still VIOLATED" in again.out


def test_what_was_not_explored_whole_is_not_decided() -> None:
    spec = Spec(protocol="mfss", actors=2, properties=("can-deliver",))
    for bounds in (Bounds(max_states=20), Bounds(max_depth=3)):
        result = check(spec, PLAIN, bounds).result
        assert {"can-deliver": Verdict.INCOMPLETE} == dict(result.properties)
        assert result.stopped_by
    walks = Spec(protocol="mfss", actors=2, properties=("can-deliver",), search="random")
    assert Verdict.INCOMPLETE is check(walks, PLAIN).result.verdict
