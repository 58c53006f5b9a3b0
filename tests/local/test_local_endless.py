"""Endless workloads on the tables: the plain explorer is the judge."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.engine import explorer_for
from antecede.checker.model import Protocol
from antecede.checker.registry import property_named, protocol_named
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result
from antecede.checker.semantics.transition import System
from tests.conftest import Command
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


@pytest.mark.parametrize(
    ("protocol", "workload", "actors", "network", "depth"),
    [
        ("mfss", "endless:1", 3, "unordered", None),
        ("mfss", "endless:2:[[1,2],[2],[]]", 3, "unordered", None),
        ("mfss", "endless:3", 2, "unordered", None),
        ("mfss-fifo", "endless:2", 3, "fifo", 7),
        ("cykas", "endless:1", 3, "unordered", 8),
        ("cykas", "endless:2:[[1,2],[2],[0]]", 3, "fifo", 9),
        ("tree", "endless:1", 3, "fifo", None),
        ("rst", "endless:2:[[1,[1,2]],[2],[0]]", 3, "unordered", 7),
        ("cbcast", "endless:2:[[[1,2]],[[0,2]],[]]", 3, "unordered", 8),
        ("hybrid-basic", "endless:1", 2, "duplicating", 7),
        ("hybrid-basic", "endless:2", 2, "lossy:1", 7),
        ("newtop", "endless:1:[[1,2],[],[0]]", 3, "fifo", None),
        ("unordered", "endless:2", 3, "unordered", None),
        ("fifo", "endless:2", 3, "unordered", None),
    ],
)
def test_counts_and_verdicts_are_those_of_the_plain_explorer(
    protocol: str, workload: str, actors: int, network: str, depth: int | None
) -> None:
    agree(asked_of(protocol, workload, actors, network), depth)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=random_systems(), buffer=st.integers(1, 3))
def test_random_systems_are_explored_alike(drawn: RandomSystem, buffer: int) -> None:
    agree(asked_of(drawn.protocol, f"endless:{buffer}", drawn.actors, drawn.network), 4)


def test_safety_alone_is_explored_on_the_tables(antecede: Command) -> None:
    asked = ("check", "mfss", "--workload", "endless:2", "--property", "causal-delivery")
    ran = antecede(*asked)
    assert 0 == ran.code
    assert "engine local" in ran.out
    assert "56,889" in ran.out
    assert "with at most 2 messages of each actor undelivered" in " ".join(ran.out.split())


def test_a_sweep_line_is_refused_where_runs_come_back(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--workload", "endless:1", "--memory", "sweep-line")
    assert 2 == ran.code
    assert "--memory sweep-line needs runs that make progress" in " ".join(ran.err.split())
