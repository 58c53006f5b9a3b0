"""Searches on Spark that were stopped, killed or damaged go on, or say why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

from antecede.checker.errors import InputError
from antecede.checker.local.breadth import LocalBreadthFirst
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.spark.breadth import SparkBreadthFirst
from tests.conftest import ROOT, method
from tests.local.test_local import small
from tests.spark.common import found, locally


def stopped(system: System, folder: Path, states: int, **options: Any) -> Result:
    """Search on Spark until there are so many states, with checkpoints."""
    explorer = SparkBreadthFirst(
        system,
        options=method(
            engine="spark", threads=2, spark_threshold=200, checkpoint=folder, **options
        ),
    )
    return explore(system, explorer, Bounds(max_states=states))


def resumed(system: System, folder: Path, **options: Any) -> tuple[Result, SparkBreadthFirst]:
    explorer = SparkBreadthFirst(
        system, options=method(engine="spark", spark_threshold=200, resume=folder, **options)
    )
    return explore(system, explorer), explorer


@pytest.mark.parametrize(("states", "seconds"), [(50, 1000.0), (3_000, 0.001), (30_000, 1000.0)])
def test_a_search_that_was_stopped_goes_on_and_ends_with_the_same_counts(
    context: SparkContext, tmp_path: Path, states: int, seconds: float
) -> None:
    system = small("cykas", 3, 2)
    first = stopped(system, tmp_path, states, checkpoint_seconds=seconds, partitions=3)
    assert Verdict.INCOMPLETE is first.verdict
    result, explorer = resumed(system, tmp_path)
    assert found(locally(system)) == found(result)
    assert explorer.on_cluster
    assert not explorer.rounds or 3 == explorer.course.owners or states == 50


def test_a_counterexample_is_traced_back_beyond_a_checkpoint(
    context: SparkContext, tmp_path: Path
) -> None:
    system = small("cykas-secret-mode", 3, 2, history="clocks")
    assert Verdict.INCOMPLETE is stopped(system, tmp_path, 5_000).verdict
    result, _ = resumed(system, tmp_path)
    assert Verdict.VIOLATED is result.verdict
    assert found(locally(system)) == found(result)
    assert result.counterexample is not None
    assert 9 == result.counterexample.length


def test_a_search_goes_on_with_the_partitions_it_has(context: SparkContext, tmp_path: Path) -> None:
    system = small("cykas", 3, 2)
    stopped(system, tmp_path, 30_000, partitions=2)
    with pytest.raises(InputError, match="--partitions is 5, and the checkpoint has 2"):
        resumed(system, tmp_path, partitions=5)
    assert found(locally(system)) == found(resumed(system, tmp_path, partitions=2)[0])


def test_a_damaged_partition_is_refused(context: SparkContext, tmp_path: Path) -> None:
    system = small("cykas", 3, 2)
    stopped(system, tmp_path, 30_000, partitions=2)
    (partition,) = tmp_path.glob("checkpoint-*/partition-1")
    data = bytearray(partition.read_bytes())
    data[len(data) // 2] ^= 1
    partition.write_bytes(data)
    with pytest.raises(InputError, match="partition-1 is not as it was written"):
        resumed(system, tmp_path)


def test_a_checkpoint_of_the_local_engine_is_of_another_check(
    context: SparkContext, tmp_path: Path
) -> None:
    system = small("cykas", 3, 2)
    options = method(threads=2, symmetry=False, checkpoint=tmp_path)
    explore(system, LocalBreadthFirst(system, options=options), Bounds(max_states=99))
    with pytest.raises(InputError, match="of another check: engine is None there"):
        resumed(system, tmp_path)


KILLED = """
import os, signal, sys
from pathlib import Path
from antecede.checker.search.loop import explore
from antecede.checker.spark.tasks import Partition
from antecede.checker.spark.breadth import SparkBreadthFirst
from tests.conftest import method
from tests.local.test_local import small

class Dying(SparkBreadthFirst):
    def _job(self, tick, *, advances):
        if self._jobs == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._job(tick, advances=advances)

if __name__ == "__main__":
    system = small("cykas", 3, 2)
    folder = Path(sys.argv[1])
    options = method(
        engine="spark", master="local[2]", spark_threshold=200, partitions=2, checkpoint=folder,
        checkpoint_seconds=0.001,
    )
    explore(system, Dying(system, options=options))
"""


def test_killed_in_the_middle_of_a_level_a_search_goes_on_from_the_level_before(
    context: SparkContext, tmp_path: Path
) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "checkpoints"
    script.write_text(KILLED)
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        capture_output=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert -signal.SIGKILL == done.returncode
    assert list(folder.glob("checkpoint-*/partition-1"))
    system = small("cykas", 3, 2)
    assert found(locally(system)) == found(resumed(system, folder)[0])
