"""Searches on Spark that were stopped, killed or damaged go on, or say why not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from pyspark import SparkContext

from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError
from tests.conftest import ROOT, method
from tests.engine.rows.test_grading import SCRIPT
from tests.engine.spark.common import SparkSearch, found, locally, on_spark
from tests.engine.threads.test_local import small

LARGE = 700
"""The fewest states of a level for the cluster: five levels of the first model here have more, and
seven of the second one."""

SEVERAL_DEPTHS = small("cykas-secret-mode", 3, 2)
"""Its states are kept, for so it is asked, until its shortest counterexample is found."""

GRADED = small("mfss", 3, 2)
"""Its states are forgotten level by level."""


def stopped(system: System, folder: Path, states: int, **options: Any) -> Result:
    """Search on Spark up to a number of states, with checkpoints."""
    explorer = SparkSearch(
        system,
        options=method(
            engine="spark",
            threads=2,
            spark_threshold=LARGE,
            checkpoint=folder,
            forget="never",
            **options,
        ),
    )
    return explore(system, explorer, Bounds(max_states=states))


def resumed(system: System, folder: Path, **options: Any) -> tuple[Result, SparkSearch]:
    explorer = SparkSearch(
        system,
        options=method(
            engine="spark", spark_threshold=LARGE, resume=folder, forget="never", **options
        ),
    )
    return explore(system, explorer), explorer


@pytest.mark.integration
def test_a_second_search_for_the_counterexample_leaves_the_checkpoints_alone(
    context: SparkContext, tmp_path: Path
) -> None:
    """Without links, saved as it goes, and then resumed: each finds the counterexample."""
    system = small("unordered", 3, 1, history="clocks")
    first, _ = on_spark(system, 40, traces=False, checkpoint=tmp_path)
    assert found(locally(system)) == found(first)
    (saved,) = tmp_path.glob("checkpoint-*")
    again, _ = on_spark(system, 40, traces=False, resume=tmp_path)
    assert found(locally(system)) == found(again)
    assert [saved] == list(tmp_path.glob("checkpoint-*"))


@pytest.mark.integration
@pytest.mark.parametrize(("states", "seconds"), [(50, 1000.0), (4_000, 0.001)])
def test_a_search_that_was_stopped_goes_on_and_ends_with_the_same_counts(
    context: SparkContext, tmp_path: Path, states: int, seconds: float
) -> None:
    """And with the same counterexample, traced back beyond the checkpoint."""
    system = SEVERAL_DEPTHS
    first = stopped(system, tmp_path, states, checkpoint_seconds=seconds, partitions=3)
    assert Verdict.INCOMPLETE is first.verdict
    result, explorer = resumed(system, tmp_path, partitions=3)
    assert Verdict.VIOLATED is result.verdict
    assert found(locally(system)) == found(result)
    assert result.counterexample is not None
    assert 9 == result.counterexample.length
    assert 3 == explorer.on_cluster.state.owners


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "messages", "options"),
    [("cykas", 2, {}), ("rst", 1, {"workload": "multicast"})],
)
def test_a_resumed_search_has_the_representatives_of_the_stopped_one(
    context: SparkContext, tmp_path: Path, name: str, messages: int, options: dict[str, str]
) -> None:
    """Resumed processes number actors' parts of states in another order."""
    system = small(name, 3, messages, **options)
    chosen = method(engine="spark", spark_threshold=20, forget="never", symmetry=True, partitions=3)
    first = SparkSearch(system, options=evolve(chosen, checkpoint=tmp_path))
    assert Verdict.INCOMPLETE is explore(system, first, Bounds(max_states=250)).verdict
    assert first.rounds
    again = SparkSearch(system, options=evolve(chosen, resume=tmp_path))
    result = explore(system, again)
    assert result.statistics["symmetry"]["on"]
    assert locally(system).counts == result.unreduced


@pytest.mark.integration
@pytest.mark.parametrize("symmetry", [False, True])
def test_a_search_goes_on_whose_columns_became_too_narrow_in_the_last_level(
    context: SparkContext, tmp_path: Path, symmetry: bool
) -> None:
    """Its partitions are saved with the columns from the start of the level."""
    system = small("mfss", 3, 1, history="full")
    chosen = method(engine="spark", spark_threshold=3, symmetry=symmetry, partitions=2)
    first = SparkSearch(system, options=evolve(chosen, checkpoint=tmp_path))
    stopped = explore(system, first, Bounds(max_states=100 if symmetry else 400))
    assert Verdict.INCOMPLETE is stopped.verdict
    assert first.rounds
    needs = first.filler.layout.needed_columns(slack=0)
    (partition, *_) = tmp_path.glob("checkpoint-*/partition-0.npz")
    widths = np.load(partition)["columns"]
    assert any(width < need for width, need in zip(widths, needs, strict=True))
    result = explore(system, SparkSearch(system, options=evolve(chosen, resume=tmp_path)))
    assert locally(system).counts == (result.unreduced or result.counts)


@pytest.mark.integration
def test_a_damaged_partition_is_refused(context: SparkContext, tmp_path: Path) -> None:
    system = SEVERAL_DEPTHS
    stopped(system, tmp_path, 2_000, partitions=2)
    (partition,) = tmp_path.glob("checkpoint-*/partition-1.npz")
    data = bytearray(partition.read_bytes())
    data[len(data) // 2] ^= 1
    partition.write_bytes(data)
    with pytest.raises(InputError, match=r"partition-1\.npz is not as it was written"):
        resumed(system, tmp_path)


@pytest.mark.integration
def test_a_checkpoint_of_the_local_engine_is_of_another_check(
    context: SparkContext, tmp_path: Path
) -> None:
    system = SEVERAL_DEPTHS
    options = method(threads=2, symmetry=False, checkpoint=tmp_path)
    explore(system, search_on_threads(system, options=options), Bounds(max_states=99))
    with pytest.raises(InputError, match="of another check: engine is 'local' there"):
        resumed(system, tmp_path)


class Moving(SparkSearch):
    """Takes its first round to the cluster, and the others in the driver, where they are quick."""

    def round(self, tick: Callable[[], None]) -> None:
        self.call_large(10**6 if self.rounds else 300)
        super().round(tick)


@pytest.mark.integration
def test_a_search_by_weight_goes_on_from_a_checkpoint_on_the_cluster(
    context: SparkContext, tmp_path: Path
) -> None:
    system = small("cykas", 3, 3, **SCRIPT)
    options = method(engine="spark", threads=2, partitions=2, spark_threshold=300)
    first = Moving(system, options=evolve(options, checkpoint=tmp_path))
    stopped = explore(system, first, Bounds(max_states=1_500))
    assert Verdict.INCOMPLETE is stopped.verdict
    assert {"driver", "cluster"} == {r["where"] for r in first.rounds}
    again = Moving(system, options=evolve(options, resume=tmp_path))
    assert {"receive Normal": 2} == again.state.weights
    assert found(locally(system)) == found(explore(system, again))


@pytest.mark.integration
def test_a_second_search_leaves_the_checkpoints_to_the_first(
    context: SparkContext, tmp_path: Path
) -> None:
    """Without links a violation is searched for again; the folder is locked by the first search."""
    system = small("fifo", 3, 2)
    chosen: dict[str, Any] = {"threads": 2, "partitions": 2, "spark_threshold": 50}
    options = method(engine="spark", traces=False, checkpoint=tmp_path, **chosen)
    explorer = SparkSearch(system, options=options)
    result = explore(system, explorer)
    assert explorer.rounds
    assert Verdict.VIOLATED is result.verdict
    assert result.counterexample is not None
    expected = locally(system).counterexample
    assert expected is not None
    assert expected.length == result.counterexample.length


KILLED = """
import os, signal, sys
from pathlib import Path
from antecede.checker.search.loop import explore
from antecede.checker.engine.spark.transport import SparkTransport
from tests.engine.spark.common import SparkSearch
from tests.conftest import method
from tests.engine.spark.test_checkpoints import GRADED, LARGE

class Dying(SparkTransport):
    def _run_job(self, level, pause, *, advances):
        if self.jobs.number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._run_job(level, pause, advances=advances)

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    options = method(
        engine="spark", master="local[2]", spark_threshold=LARGE, partitions=2, checkpoint=folder,
        checkpoint_seconds=0.001,
    )
    explore(GRADED, SparkSearch(GRADED, options=options, transport=Dying))
"""


@pytest.mark.integration
def test_killed_in_the_middle_of_a_level_a_search_goes_on_from_the_level_before(
    context: SparkContext, tmp_path: Path
) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "checkpoints"
    script.write_text(KILLED)
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        capture_output=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        check=False,
    )
    assert -signal.SIGKILL == done.returncode
    assert list(folder.glob("checkpoint-*/partition-1.npz"))
    assert found(locally(GRADED)) == found(resumed(GRADED, folder)[0])
