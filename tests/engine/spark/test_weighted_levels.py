"""Levels by weight on Spark: counts, depths and lengths are those of breadth-first search.

None of it needs a cluster: rounds are the same wherever the partitions are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.engine.rows.geometry import LEAD_BITS
from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark import rows as blocks
from antecede.checker.engine.spark import tasks as on_workers
from antecede.checker.engine.spark import worker_composites
from antecede.checker.engine.spark.distinct import NOTHING, Part, Scratch, distinct
from antecede.checker.engine.spark.weighted_levels import next_level
from antecede.checker.semantics.history import HISTORIES
from tests.engine.rows.test_grading import SCRIPT, SHORT, winding
from tests.engine.spark.common import found, here, locally
from tests.engine.threads.test_local import plainly, small
from tests.semantics.test_transition import system_for


@pytest.mark.parametrize(
    ("messages", "options", "symmetry", "threshold"),
    [
        (3, SCRIPT, False, 1),
        (3, {**SCRIPT, "network": "fifo"}, False, 100),
        (3, {**SHORT, "history": "full"}, False, 100),
        (2, {}, True, 500),
    ],
)
def test_states_are_forgotten_by_their_sum_and_keep_their_least_depth(
    messages: int, options: dict[str, str], symmetry: bool, threshold: int
) -> None:
    system = small("cykas", 3, messages, **options)
    result, explorer = here(system, threshold, symmetry=symmetry)
    assert {"receive Normal": 2} == result.statistics["weights"]
    assert locally(system).counts == (result.unreduced or result.counts)
    assert symmetry == result.statistics["symmetry"]["on"]
    assert {0} == {r["visited"] for r in explorer.rounds}
    if not symmetry:
        assert found(locally(system)) == found(result)


def test_that_states_are_kept_can_be_asked_for() -> None:
    system = small("cykas", 3, 3, **SCRIPT)
    result, explorer = here(system, forget="never")
    assert "weights" not in result.statistics
    assert 0 < max(r["visited"] for r in explorer.rounds)
    assert found(locally(system)) == found(result)


def test_what_is_violated_is_found_again_by_depth() -> None:
    system = small("cykas-secret-mode", 3, 2)
    result, explorer = here(system, 100)
    assert explorer.assumptions.tried
    assert "weights" not in result.statistics
    assert found(locally(system)) == found(result)
    assert result.counterexample is not None


@pytest.mark.integration
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(
    ways=st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple),
    actors=st.integers(2, 3),
    history=st.sampled_from(sorted(HISTORIES)),
    safe=st.booleans(),
    threshold=st.sampled_from([1, 4, 30]),
)
def test_random_systems_with_weights_are_explored_exactly(
    ways: tuple[int, ...], actors: int, history: str, safe: bool, threshold: int
) -> None:
    judged = ("all-delivered",) if safe else ("fifo-delivery", "all-delivered")
    system = system_for(winding(ways), actors, 4 - actors, history=history, properties=judged)
    plain = plainly(system)
    for symmetry in (False, True):
        result, _ = here(system, threshold, symmetry=symmetry)
        assert plain.counts == (result.unreduced or result.counts)
        assert dict(plain.properties) == dict(result.properties)
        path, told = plain.counterexample, result.counterexample
        assert (path and path.length) == (told and told.length)
        if not result.statistics["symmetry"]["on"]:
            assert found(locally(system))[:4] == found(result)[:4], "kinds are met ahead"


def test_rows_that_come_late_with_less_depth_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: the first depth that a partition hears of stays."""

    def first_come(parts: list[Any], words: int, *_more: Any) -> Any:
        if not parts:
            return NOTHING, NOTHING
        rows = np.concatenate([part.rows.reshape(-1, words) for part in parts])
        marks = np.concatenate([part.notes for part in parts])
        rows, which = np.unique(rows, axis=0, return_index=True)
        return rows.ravel(), marks[which].astype(np.int32)

    system = small("cykas", 3, 3, **SCRIPT)
    monkeypatch.setattr(on_workers, "distinct", first_come)
    assert found(locally(system)) != found(here(system)[0])


@pytest.mark.parametrize("mixed", [False, True])
def test_rows_of_one_depth_are_expanded_before_those_of_the_next(
    mixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: within a chunk of several depths, rows that miss a composite come late."""

    def all_at_once(expansion: Any) -> Iterator[Any]:
        first, depths = expansion.rows[:: expansion.words], expansion.weights.depths
        yield np.lexsort((first, depths)) if len(depths) else np.argsort(first)

    system = small("cykas", 3, 3, **SCRIPT)
    monkeypatch.setattr(worker_composites, "MOST_COMPOSITES", 1)
    if mixed:
        monkeypatch.setattr(blocks.BlockExpansion, "_chunks", all_at_once)
    assert mixed == (found(locally(system)) != found(here(system, 100)[0]))


def test_of_equal_rows_the_least_mark_is_kept() -> None:
    early, late = 1 << LEAD_BITS | 3, 1 << LEAD_BITS | 5
    parts = [
        Part(np.array([7, 8, 9]), np.array([2, 4, late], np.int32)),
        Part(np.array([8, 9, 6]), np.array([3, early, late], np.int32)),
    ]
    with wrapping():
        rows, marks = distinct(parts, 1, Scratch())
    assert {7: 2, 8: 3, 9: early, 6: late} == dict(zip(rows, marks, strict=True))


def test_levels_without_states_are_passed_over() -> None:
    waiting = {1 << LEAD_BITS | 3: 7, 1 << LEAD_BITS | 1: 2, 2 << LEAD_BITS: 9}
    least, depths = next_level(Counter(waiting))
    assert 1 == least
    assert {1: 2, 3: 7} == depths
