"""Where the partitions of a search are, and how jobs run on them: on executors or in the driver.

A *job* has two tasks per partition: the first expands rows, and the second merges the rows that
were sent to the partition. Other jobs divide the states into another number of partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from antecede.checker.engine.spark.cluster import Cluster, Reports, nothing, persisted, wait_for
from antecede.checker.engine.spark.messages import Job
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.repartition import gather_task, split_task
from antecede.checker.engine.spark.tasks import (
    DriverPartitions,
    MakeTask,
    Task,
    expand_task,
    merge_task,
)
from antecede.checker.engine.spark.transfer import release
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.support.errors import ClusterError

CHECKPOINT_EVERY = 4
"""Jobs; what an executor takes with it when it dies is made anew from the last checkpoint."""


def owner_of(owner: int) -> int:
    """Return the partition of an owner, the same number, for Spark's `partitionBy`."""
    # Without this function, Spark would place the rows by a hash of the number.
    return owner


@define(eq=False)
class Jobs:
    """Runs jobs on the partitions of a search.

    Attributes:
        cluster: the cluster, where jobs run if there is much to do.
        owners: the number of partitions.
        folder: the folder for rows that tasks send, if all executors are on this machine.
        number: the number of the last job.
        partitions: an RDD of pieces, or `DriverPartitions`.
        reports: the accumulator that tasks report to.
    """

    cluster: Cluster
    owners: int
    folder: str | None = None
    number: int = 0
    partitions: Any = None
    reports: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Begin without partitions."""
        self.reports = self.cluster.sc.accumulator({}, Reports())
        if self.folder is not None:
            Path(self.folder).mkdir(exist_ok=True)

    @property
    def here(self) -> bool:
        """The partitions are in the driver."""
        return isinstance(self.partitions, DriverPartitions)

    def give(self, pairs: list[tuple[int, Partition]]) -> None:
        """Hand pieces of partitions, each with the number of its partition, to the executors."""
        self._take(self._spread(pairs))

    def load(self, load: Callable[[int], Iterable[Any]]) -> None:
        """Let the executors load the partitions: `load` returns pairs of a number and a piece."""
        numbers = self._spread([(p, p) for p in range(self.owners)])
        self._take(
            numbers.mapPartitions(
                lambda parts: (pair for p, _ in parts for pair in load(p)),
                preservesPartitioning=True,
            )
        )

    def first_of(self, task: Callable[[int], Any]) -> Any:
        """Call a function for each partition's number; return the first result that is not None.

        The partitions themselves are not needed.
        """
        results = self.cluster.sc.parallelize(range(self.owners), self.owners).map(task)
        found = wait_for(self.cluster.sc, results.collect, name="check the files of a checkpoint")
        return next((each for each in found if each is not None), None)

    def _spread(self, pairs: list[tuple[int, Any]]) -> Any:
        return self.cluster.sc.parallelize(pairs, self.owners).partitionBy(self.owners, owner_of)

    def _take(self, partitions: Any) -> None:
        self.partitions = persisted(partitions)
        wait_for(self.cluster.sc, self.partitions._jrdd.count, name="hand over states")

    def drop(self) -> None:
        """Give back the memory and files of the partitions."""
        if not self.here:
            self.partitions.unpersist()

    def each(self, task: Task, name: str) -> list[Any]:
        """Return everything that a task of this name yields for all partitions, in a list."""
        if self.here:
            return list(self.partitions.each(task))
        results = self.partitions.mapPartitionsWithIndex(task)
        return list(wait_for(self.cluster.sc, results.collect, name=name))

    def run(
        self,
        job: Job,
        own: WorkerComposites,
        growths: list[Any],
        tick: Callable[[], None],
        meanwhile: Callable[[], None] = nothing,
        between: Callable[[dict[int, Any]], None] = lambda _: None,
    ) -> tuple[dict[int, Any], dict[int, Any]]:
        """Run both tasks of every partition; return their reports by the partitions' numbers.

        Afterwards, there are `job.owners` partitions.

        Args:
            job: the instructions; it has the next number.
            growths: all additions to the tables, as executors have them.
            tick: called now and then; it may raise.
            meanwhile: the driver calls this while executors are at work; it may add to the tables,
                which this job does not use any more.
            between: the driver calls this, too, when it has the reports of all first tasks. If some
                of these tasks are repeated later, the reports that are returned are other ones.
        """
        self.number, before = job.number, self.owners
        tasks = (split_task, gather_task) if job.moves else (expand_task, merge_task)
        if self.here:
            self.partitions.run(job, own, *tasks)
            meanwhile()
        else:
            self._run_on_cluster(job, growths, tasks, tick, self._beside(meanwhile, between))
        self.owners = job.owners
        return self._taken(0, before), self._taken(1, job.owners)

    def _run_on_cluster(
        self,
        job: Job,
        growths: list[Any],
        tasks: tuple[MakeTask, MakeTask],
        tick: Callable[[], None],
        meanwhile: Iterator[None],
    ) -> None:
        before, sc = self.partitions, self.cluster.sc
        first, second = (make(job, growths, self.reports) for make in tasks)
        sent = before.mapPartitionsWithIndex(first, preservesPartitioning=False).partitionBy(
            job.owners, owner_of
        )
        if not job.starts_anew:
            # Both are read alike; PySpark does not see that, and would pass all that was sent
            # through one more process of Python, which keeps the memory of the tasks it once ran.
            sent._jrdd_deserializer = before._jrdd_deserializer
            sent = sc.union([before, sent])
        self.partitions = persisted(sent.mapPartitionsWithIndex(second, preservesPartitioning=True))
        if self.number % CHECKPOINT_EVERY == 0:
            self.partitions.checkpoint()
        try:
            wait_for(
                sc,
                self.partitions._jrdd.count,
                tick,
                meanwhile,
                name=f"level {job.depth}: {'re-partition' if job.moves else 'expand, then merge'}",
            )
        except BaseException:
            self.partitions = before
            raise
        before.unpersist()

    def _beside(
        self, meanwhile: Callable[[], None], between: Callable[[dict[int, Any]], None]
    ) -> Iterator[None]:
        """Do what the driver does while executors are at work, step by step."""
        meanwhile()
        while len(first := self._reported(0)) < self.owners:
            yield
        between(dict(first))  # a task that is run once more reports again

    @property
    def _value(self) -> dict[Any, Any]:
        """The reports of tasks, as `Reports` has them, wherever the tasks run."""
        value: dict[Any, Any] = (self.partitions if self.here else self.reports).value
        return value

    def _reported(self, task: int) -> dict[int, Any]:
        """Return what one of the tasks of the last job reported so far, per partition."""
        found: dict[int, Any] = self._value.get((self.number, task), {})
        return found

    def _taken(self, task: int, count: int) -> dict[int, Any]:
        """Return what one of the tasks of the last job reported, for so many partitions."""
        value, taken = self._value, self._reported(task)
        if len(taken) != count:
            missing = count - len(taken)
            raise ClusterError(f"{missing} of {count} Spark tasks did not report")
        for stage in list(value):  # a task of an earlier job may have been run once more
            if stage[0] < self.number or stage[1] == task:
                del value[stage]
        return taken

    def clear(self) -> None:
        """Let later jobs overwrite the files with rows that the last job sent."""
        if self.folder is not None:
            release(self.folder, kept=f"{self.number}-partition-")

    def relocate(self, rows: int, frontier: int, threshold: int) -> None:
        """Move partitions with few rows to the driver, and back to executors for much work.

        The executors expand a frontier of at least `threshold` states.
        """
        partitions = self.partitions
        if not self.here and rows < threshold // 2:
            found = wait_for(self.cluster.sc, partitions.collect, name="bring states to the driver")
            self.partitions = DriverPartitions.of(found, self.owners)
            partitions.unpersist()
        elif self.here and frontier >= threshold:
            self.give(partitions.pairs)
