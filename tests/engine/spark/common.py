"""Helpers of the tests of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, evolve, field

from antecede.checker.engine.spark import repartition, tasks
from antecede.checker.engine.spark.cluster import Cluster
from antecede.checker.engine.spark.jobs import Jobs
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.tables import SharedTables
from antecede.checker.engine.spark.tasks import DriverPartitions
from antecede.checker.engine.spark.transport import SparkTransport
from antecede.checker.engine.spark.worker_composites import TableUpdate, WorkerComposites
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import Threads, search_on_threads
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result
from antecede.checker.semantics.transition import System
from tests.conftest import method


class SparkSearch(TabulatedSearch):
    """A search whose large levels run on Spark, and a look at what it has there."""

    def __init__(
        self,
        system: System,
        max_depth: int | None = None,
        options: Options = Options(),
        transport: type[SparkTransport] = SparkTransport,
    ) -> None:
        super().__init__(system, max_depth, options, Threads, transport)

    @property
    def on_cluster(self) -> SparkTransport:
        assert isinstance(self.cluster, SparkTransport)
        return self.cluster

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """Figures of each round on the cluster."""
        return self.on_cluster.state.rounds

    @property
    def jobs(self) -> Jobs | None:
        return self.on_cluster.jobs

    def call_large(self, states: int) -> None:
        """Run only levels of at least `states` states on executors from now on."""
        self.on_cluster.options = evolve(self.on_cluster.options, spark_threshold=states)


def on_spark(system: System, threshold: int = 1, **options: Any) -> tuple[Result, Any]:
    options = {"partitions": 2, **options}
    explorer = SparkSearch(
        system,
        max_depth=options.pop("max_depth", None),
        options=method(engine="spark", threads=2, spark_threshold=threshold, **options),
    )
    return explore(system, explorer), explorer


def locally(system: System, max_depth: int | None = None) -> Result:
    return explore(system, search_on_threads(system, max_depth, method(threads=1)))


def found(result: Result) -> tuple[Any, ...]:
    path = result.counterexample
    return (
        dict(result.properties),
        result.counts,
        path and path.length,
        result.statistics["states_per_depth"],
        {kind: n["total"] for kind, n in result.statistics["transitions"].items()},
    )


class Nowhere:
    """A context of no cluster, for searches whose partitions stay in the driver."""

    master, defaultParallelism = "nowhere", 2

    def getConf(self) -> dict[str, str]:
        return {}

    def broadcast(self, value: Any) -> Any:
        return SimpleNamespace(value=value)

    def accumulator(self, value: Any, _how: Any) -> Any:
        return SimpleNamespace(value=value)


def keep(jobs: Jobs, pairs: list[tuple[int, Partition]]) -> None:
    """Keep partitions in the driver."""
    jobs.partitions = DriverPartitions.of(pairs, jobs.owners)


def load(jobs: Jobs, loaded: Callable[[int], Iterable[Any]]) -> None:
    """Load partitions into the driver, as `Jobs.load` does it on the executors."""
    keep(jobs, [pair for number in range(jobs.owners) for pair in loaded(number)])


def first_of(jobs: Jobs, task: Callable[[int], Any]) -> Any:
    """Return what `Jobs.first_of` does, by calling the task here."""
    found = map(task, range(jobs.owners))
    return next((each for each in found if each is not None), None)


def here(
    system: System, threshold: int = 5, *, apart: bool = False, **options: Any
) -> tuple[Result, SparkSearch]:
    """Explore in the driver, with as many partitions as actors.

    Args:
        apart: as for `without_cluster`.
    """
    chosen = {"threads": 2, "partitions": system.actors, "spark_threshold": threshold}
    with without_cluster(apart=apart):
        explorer = SparkSearch(system, options=method(engine="spark", **(chosen | options)))
        return explore(system, explorer), explorer


@define
class Processes:
    """The composites of each partition, as if each one had a process.

    Attributes:
        number: the number of the partition whose task runs.
        updates: the driver's composites of a search -> all additions to its tables.
        own: (the driver's composites, number of a partition) -> the composites of the partition.
    """

    number: int = 0
    updates: dict[WorkerComposites, list[TableUpdate]] = field(factory=dict)
    own: dict[tuple[WorkerComposites, int], WorkerComposites] = field(factory=dict)

    def replace_driver(self, patch: pytest.MonkeyPatch) -> None:
        """Let the tasks use these composites in place of the driver's."""
        numbering, run = SharedTables._numbering, DriverPartitions._run
        own_composites = tasks.own_composites

        def noted(tables: SharedTables, growth: TableUpdate) -> TableUpdate:
            update = numbering(tables, growth)
            self.updates.setdefault(tables.own, []).append(update)
            return update

        def on_partition(partitions: DriverPartitions, number: int, *task: Any) -> Any:
            self.number = number
            return run(partitions, number, *task)

        def of_partition(run: str, growths: Any) -> WorkerComposites:
            driver = own_composites(run, growths)
            if driver not in self.updates:
                return driver
            own = self.own.setdefault((driver, self.number), WorkerComposites())
            for update in self.updates[driver][own.version + 1 :]:
                own.learn(update)
            return own

        patch.setattr(SharedTables, "_numbering", noted)
        patch.setattr(DriverPartitions, "_run", on_partition)
        patch.setattr(tasks, "own_composites", of_partition)
        patch.setattr(repartition, "own_composites", of_partition)


@contextmanager
def without_cluster(*, apart: bool = False) -> Iterator[None]:
    """Run the tasks of searches on Spark in this process, which is fast if they are small.

    Args:
        apart: each partition has composites of its own, as in a process of its own. Otherwise all
            partitions use the driver's composites.
    """
    nowhere = SimpleNamespace(sc=Nowhere(), stop=lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        if apart:
            Processes().replace_driver(patch)
        patch.setattr(Cluster, "start", lambda *_args, **_options: nowhere)
        patch.setattr(Jobs, "give", keep)
        patch.setattr(Jobs, "load", load)
        patch.setattr(Jobs, "first_of", first_of)
        patch.setattr(Jobs, "relocate", lambda *_args: None)
        yield
