"""Measures what the driver of the Spark engine has to do per job, for many partitions.

The tasks run in this process, one after the other, and their time is not counted. Their reports are
pickled, as a cluster sends them. What Java does is not measured.

python benchmarks/spark_driver.py                           # 100, 1,000 and 4,000 partitions
python benchmarks/spark_driver.py --partitions 1000
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from attrs import define, evolve, field
from run import table

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.spark.cluster import Cluster, Reports, nothing
from antecede.checker.engine.spark.jobs import Jobs
from antecede.checker.engine.spark.messages import Job
from antecede.checker.engine.spark.tasks import DriverPartitions, expand_task, merge_task
from antecede.checker.engine.spark.transport import SparkTransport
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.tabulated.transport import Setup
from antecede.checker.engine.threads.transport import Threads, search_on_threads
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options

CHECK = Spec("mfss", actors=3, messages=2, history="clocks")
THRESHOLD, DEPTH = 20_000, 12
"""The least states of the first level on many partitions, and the depth at which the search ends:
a level of 24,000 states is expanded there."""


@define(eq=False)
class Pickled(DriverPartitions):
    """Partitions whose tasks pickle their reports."""

    pickled: list[bytes] = field(factory=list)

    def add(self, reports: dict[Any, Any]) -> None:
        """Take in the reports of a task, as a worker sends them."""
        self.pickled.append(pickle.dumps(reports))


@define(eq=False)
class SimulatedJobs(Jobs):
    """Runs tasks in this process; the rest is what a driver does."""

    def give(self, pairs: list[Any]) -> None:
        """Keep the partitions here."""
        self.partitions = Pickled.of(pairs, self.owners)

    def relocate(self, *_given: int) -> None:
        """Keep all levels on all partitions."""

    def each(self, task: Any, name: str) -> list[Any]:
        """Run a task for each partition."""
        began = time.process_time()
        try:
            return super().each(task, name)
        finally:
            SPENT["tasks"] += time.process_time() - began

    def run(
        self,
        job: Job,
        own: WorkerComposites,
        growths: list[Any],
        tick: Callable[[], None],
        meanwhile: Callable[[], None] = nothing,
        between: Callable[[dict[int, Any]], None] = lambda _: None,
    ) -> tuple[dict[int, Any], dict[int, Any]]:
        """Run all tasks, then do what the driver does with their reports."""
        self.number, partitions, began = job.number, self.partitions, time.process_time()
        partitions.run(job, own, expand_task, merge_task)
        SPENT["tasks"] += time.process_time() - began
        SPENT["jobs"] += 1
        SPENT["bytes"] += sum(map(len, partitions.pickled))
        for report in partitions.pickled:
            partitions.value = Reports().addInPlace(partitions.value, pickle.loads(report))
        partitions.pickled = []
        meanwhile()
        between(dict(self._reported(0)))
        return self._taken(0, self.owners), self._taken(1, self.owners)


SPENT = {"tasks": 0.0, "jobs": 0.0, "bytes": 0.0, "driver": 0.0}


class Timed(SparkTransport):
    """A transport to no cluster that measures the driver's time."""

    def connect(self, tick: Any) -> None:
        """Take a context that only hands over what it is given."""
        context = SimpleNamespace(
            master="nowhere",
            broadcast=lambda value: SimpleNamespace(value=value),
            accumulator=lambda value, _how: SimpleNamespace(value=value),
        )
        self.cluster = cast(Cluster, SimpleNamespace(sc=context, stop=lambda: None))

    def _prepare(self, cluster: Cluster, setup: Setup) -> Jobs:
        super()._prepare(cluster, setup)
        return SimulatedJobs(cluster, self.state.owners)

    def expand(self, *given: Any) -> Any:
        """Expand a level."""
        began, tasks = time.process_time(), SPENT["tasks"]
        try:
            return super().expand(*given)
        finally:
            SPENT["driver"] += time.process_time() - began - (SPENT["tasks"] - tasks)


def measured(partitions: int) -> list[str]:
    """Return the row of the table for so many partitions."""
    SPENT.update(dict.fromkeys(SPENT, 0.0))
    options = Options(
        engine="spark",
        threads=1,
        symmetry=False,
        partitions=partitions,
        spark_threshold=THRESHOLD,
    )
    explorer = TabulatedSearch(system_of(CHECK), DEPTH, options, Threads, Timed)
    result = explore(explorer.system, explorer)
    system = system_of(CHECK)
    expected = explore(system, search_on_threads(system, DEPTH, evolve(options, engine="local")))
    if result.counts != expected.counts or not SPENT["jobs"]:
        raise SystemExit(f"{partitions:,} partitions: {result.counts}, not {expected.counts}")
    jobs = SPENT["jobs"]
    return [
        f"{partitions:,}",
        f"{jobs:.0f}",
        f"{SPENT['driver'] / jobs:.3f}",
        f"{SPENT['bytes'] / jobs / 1e6:.1f}",
        f"{1e3 * SPENT['tasks'] / jobs / partitions:.1f}",
    ]


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--partitions", type=int, nargs="+", default=[100, 1_000, 4_000])
    given = parser.parse_args()
    columns = ["partitions", "jobs", "driver s/job", "reports MB/job", "both tasks ms"]
    print(table([measured(partitions) for partitions in given.partitions], columns))


if __name__ == "__main__":
    main()
