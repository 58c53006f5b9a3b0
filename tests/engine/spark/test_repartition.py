"""A search on Spark whose number of partitions changes finds what the local engine finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from pyspark import SparkContext

from antecede.checker.engine.spark import jobs, repartition, tasks
from antecede.checker.engine.spark import transport as transports
from antecede.checker.engine.spark.cluster import UNLIMITED, most_tasks
from antecede.checker.engine.spark.repartition import partitions_for
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.storage.checkpoint import Checkpoints
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from tests.conftest import method
from tests.engine.rows.test_grading import SCRIPT
from tests.engine.spark.common import (
    Nowhere,
    SparkSearch,
    found,
    here,
    locally,
    on_spark,
    without_cluster,
)
from tests.engine.threads.test_local import small

SYSTEMS = {
    "one depth per state": small("mfss", 3, 1, history="full"),
    "several depths": small("hybrid-basic", 2, 1, network="duplicating+lossy"),
    "by weight": small("cykas", 3, 2, **SCRIPT),
    "violated": small("unordered", 3, 1, history="clocks"),
}


def changes(explorer: SparkSearch) -> list[int]:
    """Return the numbers of partitions that rounds had, without repeats in a row."""
    numbers = [each["partitions"] for each in explorer.rounds]
    return [n for n, before in zip(numbers, [0, *numbers], strict=False) if n != before]


def agree(system: System, result: Result) -> None:
    expected = locally(system)
    assert expected.properties == result.properties
    assert expected.counts == (result.unreduced or result.counts)
    lengths = [each.counterexample and each.counterexample.length for each in (expected, result)]
    assert lengths[0] == lengths[1]
    if not result.statistics["symmetry"]["on"]:
        assert found(expected) == found(result)


@pytest.fixture
def five_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Nowhere, "defaultParallelism", 5)


@pytest.fixture
def ever_changing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every level have another number of partitions than the one before: 1, 4, 2, 5, 3."""
    monkeypatch.setattr(transports, "partitions_for", lambda *given: (given[-1] + 2) % 5 + 1)


@pytest.mark.integration
@pytest.mark.usefixtures("ever_changing")
@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("forget", ["auto", "never"])
@pytest.mark.parametrize("kind", SYSTEMS)
def test_any_search_may_change_its_number_of_partitions(
    kind: str, forget: str, *, apart: bool, symmetry: bool
) -> None:
    system = SYSTEMS[kind]
    result, explorer = here(
        system, 2, apart=apart, symmetry=symmetry, forget=forget, partitions=None
    )
    assert {1, 2, 3, 4, 5} == set(changes(explorer))
    assert len(explorer.rounds) == len(changes(explorer))
    agree(system, result)


@pytest.mark.usefixtures("five_cores")
def test_a_search_has_more_partitions_for_large_levels_and_fewer_for_small_ones() -> None:
    _, explorer = here(small("mfss", 2, 2), 2, partitions=None, partition_states=3)
    assert [1, 2, 4, 2, 1] == changes(explorer)


@pytest.mark.integration
@pytest.mark.usefixtures("ever_changing")
@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("kind", SYSTEMS)
def test_a_resumed_search_changes_its_number_of_partitions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str, *, symmetry: bool
) -> None:
    system = SYSTEMS[kind]
    options = method(
        engine="spark", threads=2, spark_threshold=2, forget="never", symmetry=symmetry
    )
    saving = evolve(options, checkpoint=tmp_path)
    monkeypatch.setattr(Checkpoints, "due", True)
    with without_cluster():
        first = SparkSearch(system, options=saving)
        assert Verdict.INCOMPLETE is explore(system, first, Bounds(max_states=30)).verdict
        again = SparkSearch(system, options=evolve(options, resume=tmp_path))
        before = again.on_cluster.state.owners
        result = explore(system, again)
    assert 1 < len(changes(first)) < len(changes(again))
    assert before in changes(first)
    agree(system, result)


@pytest.mark.parametrize("max_depth", [7, 8])
def test_states_found_late_follow_their_partitions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, max_depth: int
) -> None:
    """The driver expanded their parents, and their new owners find out whether they are new."""
    system = SYSTEMS["several depths"]
    options = method(engine="spark", threads=2, spark_threshold=3, forget="never")
    late = []

    def noting(state: Any, *given: Any) -> None:
        late.append(sum(len(links) for _, links in state.stragglers.values()))
        real(state, *given)

    real = repartition.note_move
    monkeypatch.setattr(transports, "note_move", noting)
    # The driver expands nothing ahead, so that tasks miss entries.
    monkeypatch.setattr(transports.SparkTransport, "_learn_ahead", lambda _: None)
    chosen = evolve(options, partitions=2, checkpoint=tmp_path)
    monkeypatch.setattr(Checkpoints, "due", True)
    with without_cluster():
        explore(system, SparkSearch(system, max_depth, chosen))
        again = SparkSearch(system, options=evolve(options, resume=tmp_path, partitions=3))
        result = explore(system, again)
    assert 3 == again.on_cluster.state.owners
    assert 0 < sum(late)
    agree(system, result)


@pytest.mark.usefixtures("five_cores")
@pytest.mark.parametrize(
    ("bug", "said"),
    [
        ("a shipment is lost", "states that change their partition were lost"),
        ("a shipment goes elsewhere", "states that change their partition were lost"),
    ],
)
def test_a_row_that_does_not_arrive_at_its_new_owner_is_noticed(
    monkeypatch: pytest.MonkeyPatch, bug: str, said: str
) -> None:
    real = repartition.split_task

    def split_task(job: Any, growths: Any, reports: Any) -> Any:
        def task(number: int, parts: Iterator[Any]) -> Iterator[Any]:
            sent = list(real(job, growths, reports)(number, parts))
            if bug == "a shipment is lost":
                return iter(sent[1:])
            return iter([((owner + 1) % job.owners, each) for owner, each in sent])

        return task

    monkeypatch.setattr(jobs, "split_task", split_task)
    result, _ = here(SYSTEMS["violated"], 3, partitions=None, partition_states=10)
    assert Verdict.INCOMPLETE is result.verdict
    assert said in str(result.stopped_by)


@pytest.mark.usefixtures("five_cores")
def test_a_task_that_forgets_states_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetting(partition: Any, own: WorkerComposites) -> Any:
        whole = real(partition, own)
        return evolve(whole, following=whole.following[own.row_size :])

    real = tasks.repacked
    monkeypatch.setattr(repartition, "repacked", forgetting)
    result, _ = here(SYSTEMS["violated"], 3, partitions=None, partition_states=10)
    assert "the states of a level were lost between two tasks" in str(result.stopped_by)


@pytest.mark.usefixtures("five_cores")
def test_states_at_their_old_owner_would_be_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparisons of this file notice states that the wrong partition owns."""
    system = SYSTEMS["several depths"]

    def old(own: WorkerComposites, flat: Any, owners: int) -> Any:
        return np.minimum(real(own, flat, max(owners - 1, 1)), owners - 1)

    real = WorkerComposites.owners_of
    monkeypatch.setattr(WorkerComposites, "owners_of", old)
    result, explorer = here(system, 3, partitions=None, partition_states=10)
    assert 2 < len(changes(explorer))
    assert locally(system).counts.unique_states < result.counts.unique_states


@pytest.mark.integration
@pytest.mark.usefixtures("ever_changing")
@pytest.mark.parametrize(
    ("kind", "symmetry", "files"),
    [
        ("one depth per state", True, True),
        ("several depths", False, False),
        ("violated", False, True),
        ("violated", True, False),
    ],
)
def test_partitions_change_on_executors(
    context: SparkContext, kind: str, *, symmetry: bool, files: bool
) -> None:
    system = SYSTEMS[kind]
    options = {"symmetry": symmetry, "spark_files": files, "partitions": None}
    result, explorer = on_spark(system, 3, **options)
    assert 3 <= len({r["partitions"] for r in explorer.rounds if r["where"] == "cluster"})
    agree(system, result)


def test_the_number_of_partitions_follows_states_and_cores() -> None:
    numbers, now = [], 0
    for states in [300, 2_000, 9_000, 40_000, 9_000, 7_900, 1_000, 10, 0]:
        now = partitions_for(states, most=16, each=1_000, now=now)
        numbers.append(now)
    assert [1, 2, 9, 16, 16, 7, 1, 1, 1] == numbers
    assert 100 == partitions_for(10**6, most=120, each=1_000, now=100)  # it would not pay
    assert 125 == partitions_for(10**6, most=125, each=1_000, now=100)
    assert 100 == partitions_for(10**6, most=2, each=1_000, now=100)  # executors are lost


@pytest.mark.parametrize(
    ("cores", "settings", "most"),
    [
        (2, {}, 2),
        (2, {"spark.dynamicAllocation.enabled": "false"}, 2),
        (2, {"spark.dynamicAllocation.enabled": "true"}, UNLIMITED),
        (2, {"dynamicAllocation.enabled": "true", "dynamicAllocation.maxExecutors": "10"}, 10),
        (
            2,
            {
                "dynamicAllocation.enabled": "true",
                "dynamicAllocation.maxExecutors": "10",
                "executor.cores": "4",
            },
            40,
        ),
        (7, {"default.parallelism": "7", "dynamicAllocation.enabled": "true"}, 7),
    ],
)
def test_executors_that_spark_would_start_count(
    cores: int, settings: dict[str, str], most: int
) -> None:
    class Context:
        defaultParallelism = cores

        def getConf(self) -> dict[str, str]:
            return {f"spark.{k.removeprefix('spark.')}": value for k, value in settings.items()}

    assert most == most_tasks(Context())
