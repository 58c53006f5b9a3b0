"""Where the partitions of a search are, and how jobs run on them: on executors or in the driver.

A *job* has two tasks per partition: the first expands rows, and the second merges the rows that
were sent to the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from antecede.checker.engine.spark.cluster import Cluster, Reports, persisted, wait_for
from antecede.checker.engine.spark.messages import ExpandReport, Job, MergeReport
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.tasks import DriverPartitions, expand_task, merge_task
from antecede.checker.engine.spark.transfer import release
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.support.errors import ClusterError

CHECKPOINT_EVERY = 4
"""Jobs; what an executor takes with it when it dies is made anew from the last checkpoint."""

Task = Callable[[int, Iterator[Any]], Iterator[Any]]


def owner_of(owner: int) -> int:
    """Return the index of the partition that has the rows of an owner, for Spark's `partitionBy`.

    The owner of a state is the partition that decides whether the state is new. Owners have the
    indices of their partitions, so the result is the argument. Without this function, Spark would
    place the rows by a hash of the number.

    Args:
        owner: the key of a pair (owner, piece of a partition), from 0.
    """
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
        """Hand partitions to the executors.

        Args:
            pairs: pieces of partitions, each with the number of its partition.
        """
        self._take(self._spread(pairs))

    def load(self, load: Callable[[int], Iterable[Any]]) -> None:
        """Let the executors load the partitions.

        Args:
            load: returns pairs of a partition's number and a piece, given the number.
        """
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
        found = wait_for(self.cluster.sc, results.collect)
        return next((each for each in found if each is not None), None)

    def _spread(self, pairs: list[tuple[int, Any]]) -> Any:
        return self.cluster.sc.parallelize(pairs, self.owners).partitionBy(self.owners, owner_of)

    def _take(self, partitions: Any) -> None:
        self.partitions = persisted(partitions)
        wait_for(self.cluster.sc, self.partitions._jrdd.count)

    def drop(self) -> None:
        """Give back the memory and files of the partitions."""
        if not self.here:
            self.partitions.unpersist()

    def each(self, task: Task) -> list[Any]:
        """Return everything that a task yields for all partitions, in a list."""
        if self.here:
            return list(self.partitions.each(task))
        found = wait_for(self.cluster.sc, self.partitions.mapPartitionsWithIndex(task).collect)
        return list(found)

    def run(
        self,
        job: Job,
        own: WorkerComposites,
        growths: list[Any],
        tick: Callable[[], None],
        meanwhile: Callable[[], None],
        between: Callable[[dict[int, ExpandReport]], None],
    ) -> tuple[dict[int, ExpandReport], dict[int, MergeReport]]:
        """Run both tasks of every partition; return their reports.

        Args:
            job: the instructions; it has the next number.
            own: the driver's composites.
            growths: all additions to the tables, as executors have them.
            tick: called now and then; it may raise.
            meanwhile: the driver calls this while executors are at work; it may add to the tables,
                which this job does not use any more.
            between: the driver calls this, too, when it has the reports of all first tasks. If some
                of these tasks are repeated later, the reports that are returned are other ones.

        Returns:
            The reports of the first tasks and of the second tasks, by the numbers of their
            partitions.
        """
        self.number = job.number
        if self.here:
            self.partitions.run(job, own)
            meanwhile()
        else:
            self._run_on_cluster(job, growths, tick, self._beside(meanwhile, between))
        return self._taken(0), self._taken(1)

    def _run_on_cluster(
        self,
        job: Job,
        growths: list[Any],
        tick: Callable[[], None],
        meanwhile: Iterator[None],
    ) -> None:
        before, sc = self.partitions, self.cluster.sc
        sent = before.mapPartitionsWithIndex(
            expand_task(job, growths, self.reports), preservesPartitioning=False
        ).partitionBy(self.owners, owner_of)
        if not job.starts_anew:
            # Both are read alike; PySpark does not see that, and would pass all that was sent
            # through one more process of Python, which keeps the memory of the tasks it once ran.
            sent._jrdd_deserializer = before._jrdd_deserializer
            sent = sc.union([before, sent])
        self.partitions = persisted(
            sent.mapPartitionsWithIndex(
                merge_task(job, growths, self.reports), preservesPartitioning=True
            )
        )
        if self.number % CHECKPOINT_EVERY == 0:
            self.partitions.checkpoint()
        try:
            wait_for(sc, self.partitions._jrdd.count, tick, meanwhile)
        except BaseException:
            self.partitions = before
            raise
        before.unpersist()

    def _beside(
        self, meanwhile: Callable[[], None], between: Callable[[dict[int, ExpandReport]], None]
    ) -> Iterator[None]:
        """Do what the driver does while executors are at work, step by step."""
        meanwhile()
        while len(first := self._reported(0)) < self.owners:
            yield
        between(first)

    @property
    def _value(self) -> dict[Any, Any]:
        """The reports of tasks by their keys, wherever the tasks run."""
        value: dict[Any, Any] = (self.partitions if self.here else self.reports).value
        return value

    def _reported(self, task: int) -> dict[int, Any]:
        """Return what one of the tasks of the last job reported so far, per partition."""
        reports = list(self._value.items())  # another thread adds to them
        return {p: r for (job, k, p), r in reports if job == self.number and k == task}

    def _taken(self, task: int) -> dict[int, Any]:
        """Return what one of the tasks of the last job reported, per partition."""
        value, taken = self._value, self._reported(task)
        if len(taken) != self.owners:
            missing = self.owners - len(taken)
            raise ClusterError(f"{missing} of {self.owners} Spark tasks did not report")
        for key in [key for key in value if key[0] < self.number or key[1] == task]:
            del value[key]
        return taken

    def clear(self) -> None:
        """Let later jobs overwrite the files with rows that the last job sent."""
        if self.folder is not None:
            release(self.folder, kept=f"{self.number}-partition-")

    def relocate(self, rows: int, frontier: int, threshold: int) -> None:
        """Move small partitions to the driver, and back to executors when there is work again.

        Args:
            rows: the number of rows of all partitions.
            frontier: the number of states to be expanded.
            threshold: from this number on, executors expand them.
        """
        partitions = self.partitions
        if not self.here and rows < threshold // 2:
            found = wait_for(self.cluster.sc, partitions.collect)
            self.partitions = DriverPartitions.of(found, self.owners)
            partitions.unpersist()
        elif self.here and frontier >= threshold:
            self.give(partitions.pairs)
