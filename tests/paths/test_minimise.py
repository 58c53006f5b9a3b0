"""Counterexamples become shorter and clearer, and several of them differ in kind."""

from __future__ import annotations

import functools
import re
from pathlib import Path as FilePath
from typing import Any

import pytest

from antecede.checker.paths.minimise import minimise
from antecede.checker.paths.path import Path, holds_along, replay
from antecede.checker.search.counterexample_kinds import collect, shape
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import DepthFirst, RandomWalks
from antecede.checker.support.registry import protocol_named
from tests.conftest import Command, search
from tests.semantics.test_transition import system_for

BROKEN: list[tuple[str, int, int, dict[str, Any]]] = [
    ("unordered", 3, 2, {}),
    ("fifo", 3, 2, {}),
    ("cykas-secret-mode", 3, 2, {}),
    ("cykas-as-printed", 2, 2, {}),
    ("hybrid-basic-as-printed", 2, 1, {}),
    ("mfss", 2, 2, {"network": "duplicating"}),
    ("mfss", 2, 2, {"network": "lossy:1"}),
]


@functools.cache
def long_counterexample(name: str, actors: int, messages: int, **options: Any) -> Path:
    """Return a counterexample that a depth-first search or random walks found."""
    system = system_for(protocol_named(name), actors, messages, **options)
    path = explore(system, DepthFirst(system)).counterexample
    walked = explore(system, RandomWalks(system, walks=300, seed=1)).counterexample
    found = [p for p in (path, walked) if p is not None]
    return max(found, key=lambda p: p.length)


@functools.cache
def minimised(name: str, actors: int, messages: int, **options: Any) -> Path:
    return minimise(long_counterexample(name, actors, messages, **options))


COSTLY = {"cykas-secret-mode"}
"""Protocols whose long counterexample takes seconds to find and to shorten."""


@pytest.mark.parametrize(
    ("name", "actors", "messages", "options"),
    [
        pytest.param(*row, marks=[pytest.mark.integration] if row[0] in COSTLY else [])
        for row in BROKEN
    ],
)
def test_a_minimised_path_replays_and_violates_the_same_and_is_no_longer(
    name: str, actors: int, messages: int, options: dict[str, Any]
) -> None:
    path = long_counterexample(name, actors, messages, **options)
    found = minimised(name, actors, messages, **options)
    prop = path.violated
    assert prop is not None
    assert path.violates == found.violates
    assert path.length >= found.length
    again = replay(found.system, [step.transition for step in found.steps])
    assert not holds_along(again, prop)


@pytest.mark.integration
@pytest.mark.parametrize(("name", "actors", "messages", "options"), BROKEN)
def test_no_transition_of_a_minimised_path_can_be_left_out(
    name: str, actors: int, messages: int, options: dict[str, Any]
) -> None:
    found = minimised(name, actors, messages, **options)
    assert found.length == minimise(found).length


@pytest.mark.integration
def test_most_minimised_paths_are_as_short_as_the_shortest() -> None:
    lengths = []
    for name, actors, messages, options in BROKEN[:4]:
        shortest = search(name, actors, messages, **options).counterexample
        assert shortest is not None
        found = minimised(name, actors, messages, **options)
        lengths.append(found.length - shortest.length)
    assert min(lengths) >= 0
    assert lengths.count(0) >= 3


def test_what_belongs_together_stands_together() -> None:
    found = minimised("unordered", 3, 2)
    changes = sum(a.actor != b.actor for a, b in zip(found.steps, found.steps[1:], strict=False))
    assert 4 == found.length
    assert 1 == changes


# Several

TWO_KINDS = "script:[[2,2,1],[2],[]]"
"""A workload with two kinds of counterexamples: m2 overtakes m1, and a chain by actor 1 does."""


def test_counterexamples_differ_in_kind_not_in_names() -> None:
    system = system_for(protocol_named("unordered"), 3, 3, workload=TWO_KINDS)
    found = collect(system, 5)
    kinds = [shape(path) for path in found.paths]
    assert len(set(kinds)) == len(kinds)
    assert 2 <= len(kinds)
    lengths = [path.length for path in found.paths]
    assert sorted(lengths) == lengths


def test_renamed_paths_are_of_one_kind() -> None:
    paths = []
    for script in ("script:[[1,1],[]]", "script:[[],[0,0]]"):
        path = search("unordered", 2, 2, workload=script).counterexample
        assert path is not None
        paths.append(path)
    assert shape(paths[0]) == shape(paths[1])


def test_there_may_be_only_one_kind() -> None:
    system = system_for(protocol_named("unordered"), 2, 2, workload="script:[[1,1],[]]")
    found = collect(system, 3)
    assert 1 == len(found.paths)
    assert found.exhausted


@pytest.mark.parametrize(
    ("bounds", "most"), [(Bounds(max_seconds=1e-9), 1), (Bounds(max_depth=4), 300)]
)
def test_bounds_end_the_search_for_further_kinds(bounds: Bounds, most: int) -> None:
    found = collect(system_for(protocol_named("unordered"), 3, 2), 20, bounds)
    assert not found.exhausted
    assert found.unique_states <= most


@pytest.mark.parametrize("states", [1, 2, 3, 255, 600])
def test_the_search_for_further_kinds_explores_no_more_states_than_asked(states: int) -> None:
    system = system_for(protocol_named("unordered"), 3, 2)
    found = collect(system, 20, Bounds(max_states=states))
    assert states == found.unique_states
    assert not found.exhausted


# The command


def test_the_command_looks_for_further_counterexamples_within_its_bounds(
    antecede: Command,
) -> None:
    asked = ("check", "unordered", "--actors", "3", "--engine", "plain", "--quiet")
    ran = antecede(*asked, "--max-counterexamples", "20", "--max-states", "600")
    assert 1 == ran.code
    assert "the search ended before it found more" in " ".join(ran.out.split())
    (states,) = re.findall(r"The\s+search\s+explored\s+([\d,]+)\s+states", ran.out)
    assert "600" == states


def test_the_command_minimises(antecede: Command) -> None:
    walks = ("--search", "random", "--seed", "1", "--engine", "plain")
    asked = ("check", "unordered", "--actors", "3", *walks)
    assert ", after 4 transitions" in antecede(*asked, "--minimise").out
    assert ", after 4 transitions" not in antecede(*asked).out


@pytest.mark.integration
def test_a_run_that_repeats_for_ever_stays_as_it_is(antecede: Command) -> None:
    workload = ("--workload", "endless:1:[[1,2],[2],[0]]", "--property", "no-starvation")
    asked = ("check", "cykas", "--actors", "3", *workload, "--engine", "plain")
    shown = antecede(*asked, "--minimise")
    assert 1 == shown.code
    assert "Steps 6 to 12 repeat forever" in shown.out


def test_several_counterexamples_are_shown_and_saved(antecede: Command, tmp_path: FilePath) -> None:
    file = tmp_path / "t.txt"
    ran = antecede(
        *("check", "unordered", "--actors", "3", "--workload", TWO_KINDS, "--engine", "plain"),
        *("--max-counterexamples", "3", "--trace", file),
    )
    assert 1 == ran.code
    assert "(2 of 3) causal-delivery is violated after 7 transitions" in ran.out
    assert "2 of 3 counterexamples that differ in kind: there are no others" in ran.out
    assert ["t-2.txt", "t.txt"] == sorted(f.name for f in tmp_path.iterdir())
