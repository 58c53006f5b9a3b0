"""Whatever fails on Spark, counts are right or there is no verdict."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkContext, TaskContext

from antecede.checker.engine.spark import checkpoint, transport
from antecede.checker.engine.spark import cluster as clusters
from antecede.checker.engine.spark import jobs as spark
from antecede.checker.engine.spark import tasks as on_workers
from antecede.checker.engine.spark.cluster import wait_for
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import ClusterError
from tests.conftest import ROOT, method
from tests.engine.spark.common import Nowhere, SparkSearch, found, keep, locally, on_spark
from tests.engine.threads.test_local import small


def failing_once(how: Callable[[], None]) -> Callable[..., Any]:
    """Return tasks whose first attempt fails in half of the partitions."""

    def tasks(job: Any, growths: Any, reports: Any) -> Any:
        real = on_workers.expand_task(job, growths, reports)

        def task(partition: int, parts: Any) -> Any:
            done = list(real(partition, parts))
            context = TaskContext.get()
            if context is not None and context.attemptNumber() == 0 and partition % 2:
                how()
            yield from done

        return task

    return tasks


def fail() -> None:
    raise RuntimeError("this task fails once")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.integration
@pytest.mark.parametrize(
    "how",
    [pytest.param(fail, marks=pytest.mark.slow), die],
    ids=["an exception", "a killed worker"],
)
def test_a_task_that_is_run_twice_counts_once(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, how: Callable[[], None]
) -> None:
    system = small("mfss", 2, 2, history="clocks")
    monkeypatch.setattr(spark, "expand_task", failing_once(how))
    result, explorer = on_spark(system, 27, partitions=2)
    assert 1 < len(explorer.rounds)
    assert found(locally(system)) == found(result)


@pytest.mark.integration
def test_a_job_that_fails_for_good_is_incomplete_and_says_so(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tasks(job: Any, growths: Any, reports: Any) -> Any:
        return lambda partition, parts: iter([1 // 0])

    monkeypatch.setattr(spark, "expand_task", tasks)
    result, _ = on_spark(small("mfss", 2, 2), 5)
    assert Verdict.INCOMPLETE is result.verdict
    assert "Spark gave up: ZeroDivisionError: integer division or modulo by zero" == (
        result.stopped_by
    )


def test_tasks_that_did_not_report_are_counted() -> None:
    jobs: Any = spark.Jobs(cast(Any, SimpleNamespace(sc=Nowhere())), 3, number=7)
    keep(jobs, [])
    jobs.partitions.value = {(7, 0): {1: "of this job"}, (6, 0): {0: "of another job"}}
    with pytest.raises(ClusterError, match="2 of 3 Spark tasks did not report"):
        jobs._taken(0, 3)


def wrapped(real: Callable[..., Any], around: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes tasks like `real`, with `around(job, partition, task, parts)` for each."""

    def tasks(job: Any, growths: Any, reports: Any) -> Any:
        task = real(job, growths, reports)
        return lambda partition, parts: around(job, partition, task, parts)

    return tasks


def on_a_full_disk(job: Any, partition: int, task: Any, parts: Any) -> Iterator[Any]:
    """Run a task whose files cannot grow beyond a few bytes."""
    with full_disk():
        found = list(task(partition, parts))
    yield from found


@pytest.mark.integration
@pytest.mark.parametrize("task", ["expand", pytest.param("merge", marks=pytest.mark.slow)])
def test_a_full_disk_is_incomplete_and_never_a_verdict(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    """`ndarray.tofile` would lose all of a small array here, and not say so."""
    real = getattr(on_workers, f"{task}_task")
    monkeypatch.setattr(spark, f"{task}_task", wrapped(real, on_a_full_disk))
    result, _ = on_spark(small("cykas-secret-mode", 3, 2), 500, partitions=2)
    assert Verdict.INCOMPLETE is result.verdict
    assert str(result.stopped_by).startswith("Spark gave up: the disk does not take the file")


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file of this process grow beyond a few bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("owner", "name"), [(SparkContext, "broadcast"), (spark.Jobs, "give")], ids=["tables", "states"]
)
def test_a_full_disk_of_the_driver_is_incomplete_and_never_a_verdict(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    """PySpark writes what it broadcasts, and what it hands to executors, to files."""
    real = getattr(owner, name)

    def on_it(*given: Any) -> Any:
        with full_disk():
            return real(*given)

    monkeypatch.setattr(owner, name, on_it)
    result, _ = on_spark(small("cykas-secret-mode", 3, 2), 500, partitions=2)
    assert Verdict.INCOMPLETE is result.verdict
    assert "Spark gave up: the disk is full (File too large); free space" in str(result.stopped_by)


@pytest.mark.integration
def test_a_full_disk_loses_a_checkpoint_and_not_the_search(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def saving(folder: str) -> Any:
        def task(partition: int, parts: Any) -> Iterator[Any]:
            with full_disk():
                found = list(checkpoint.save_task(folder)(partition, parts))
            yield from found

        return task

    monkeypatch.setattr(transport, "save_task", saving)
    system = small("mfss", 3, 1)
    options: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_seconds": 0.001}
    result, explorer = on_spark(system, 30, partitions=2, **options)
    assert explorer.rounds
    assert found(locally(system)) == found(result)
    assert "File too large" in result.statistics["checkpoints"]["problem"]


def without_the_first(job: Any, partition: int, task: Any, parts: Any) -> Iterator[Any]:
    """Run a task whose first result is lost."""
    found = list(task(partition, parts))
    yield from found[partition % 2 :]


@pytest.mark.integration
@pytest.mark.parametrize("task", ["expand", "merge"])
def test_what_is_lost_between_two_tasks_is_noticed(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    losing = wrapped(getattr(on_workers, f"{task}_task"), without_the_first)
    monkeypatch.setattr(spark, f"{task}_task", losing)
    result, _ = on_spark(small("cykas", 3, 1), 5, partitions=2)
    assert Verdict.INCOMPLETE is result.verdict
    assert "lost between two tasks" in str(result.stopped_by)


@pytest.mark.integration
def test_a_lost_java_process_is_explained() -> None:
    gone = clusters.first_line(RuntimeError("An error occurred while calling o316.count."))
    assert gone.startswith("its Java process has ended, most likely for want of memory")
    trace = "An error occurred while calling o1.count.\n: java.lang.IllegalStateException: stopped"
    assert "java.lang.IllegalStateException: stopped" in clusters.first_line(RuntimeError(trace))


KILL = """
import os, signal, subprocess, sys, threading, time
from antecede.checker.search.loop import explore
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.transport import SparkTransport
from tests.engine.spark.common import SparkSearch
from tests.conftest import method
from tests.engine.threads.test_local import small

killed = []

def executors():
    tree = [str(os.getpid())]
    for pid in tree:
        tree += subprocess.run(["pgrep", "-P", pid], capture_output=True, text=True).stdout.split()
    return [int(pid) for pid in tree[1:] if "CoarseGrainedExecutorBackend" in
            open(f"/proc/{pid}/cmdline").read()]

class Killing(SparkTransport):
    def _run_job(self, level, pause, *, advances):
        if self.jobs.number == 3:
            (first, *_) = executors()
            os.kill(first, signal.SIGKILL)
            killed.append(first)
        return super()._run_job(level, pause, advances=advances)

if __name__ == "__main__":
    system = small("mfss", 3, 2, history="clocks")
    options = method(
        engine="spark", master="local-cluster[2,1,1024]", spark_threshold=5000, partitions=4
    )
    result = explore(system, SparkSearch(system, options=options, transport=Killing))
    print(len(killed), result.verdict, result.counts, result.stopped_by)
"""


@pytest.mark.integration
@pytest.mark.slow  # test_standalone kills a worker with all its executors
def test_a_killed_executor_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "kill.py").write_text(KILL)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "kill.py")],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    expected = locally(small("mfss", 3, 2, history="clocks")).counts
    assert f"1 HOLDS {expected} None" == done.stdout.strip(), done.stderr[-2000:]


@pytest.mark.integration
def test_a_bound_ends_a_round_that_takes_long(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tasks(job: Any, growths: Any, reports: Any) -> Any:
        return lambda partition, parts: time.sleep(100_000)

    monkeypatch.setattr(spark, "expand_task", tasks)
    system = small("mfss", 2, 2)
    explorer = SparkSearch(system, options=method(engine="spark", partitions=2, spark_threshold=5))
    result = explore(system, explorer, Bounds(max_seconds=2))
    assert Verdict.INCOMPLETE is result.verdict
    assert "--max-seconds 2 reached" == result.stopped_by


class Waiting:
    """A context whose jobs end only when they are cancelled."""

    master = "spark://somewhere:7077"

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def addJobTag(self, tag: str) -> None:
        pass

    def setJobDescription(self, name: str) -> None:
        pass

    def cancelJobsWithTag(self, tag: str) -> None:
        self.cancelled.set()


@pytest.mark.integration
def test_a_cluster_without_executors_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_block_managers", lambda sc: 1)
    monkeypatch.setattr(clusters, "PATIENCE", 1.5)
    waiting = Waiting()
    with pytest.raises(ClusterError, match="no executor of spark://somewhere:7077 for"):
        wait_for(waiting, waiting.cancelled.wait, name="wait")
    assert waiting.cancelled.is_set()
