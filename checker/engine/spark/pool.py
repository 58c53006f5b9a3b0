"""Spreads calls over the workers of a Spark cluster: a job per call, each result as it is there.

So a call that fails, or whose worker dies more often than Spark puts up with, is one failure among
results. Calls are submitted in their order, as many as the cluster has cores and some that wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import Any, TypeVar

from antecede.checker.engine.spark.cluster import Cluster, failing_clearly
from antecede.checker.support import interrupts
from antecede.checker.support.errors import ClusterError

WAITING = 32
"""At least this many jobs are submitted at once, for a cluster's executors come one by one."""

Item = TypeVar("Item")
Value = TypeVar("Value")


def scattered(
    call: Callable[[Item], Value], items: Sequence[Item], master: str | None
) -> Iterator[tuple[Item, Value | ClusterError]]:
    """Call a function for each item in a Spark job of its own, and yield the results as they come.

    Args:
        call: a function of an importable module, or a partial of one; it must not raise.
        items: its arguments; the items that take longest should come first.
        master: as for `Cluster.start`.

    Yields:
        An item with the result of its call, or with the `ClusterError` that says why Spark gave up
        the call, for example because its worker died too often.

    Raises:
        InputError: Spark or Java is missing, or the cluster cannot be reached.
        ClusterError: the cluster as a whole is lost.
    """
    if not items:
        return
    cluster = Cluster.start(master)
    tag = f"antecede-{os.getpid()}-{id(cluster)}"
    pool = ThreadPoolExecutor(max(WAITING, 2 * cluster.sc.defaultParallelism))
    try:
        jobs = {pool.submit(_job, cluster.sc, tag, call, item): item for item in items}
        for job in as_completed(jobs):
            try:
                yield jobs[job], job.result()
            except ClusterError as error:
                if not _is_alive(cluster.sc):
                    raise
                yield jobs[job], error
    finally:
        with interrupts.shielded():
            pool.shutdown(wait=False, cancel_futures=True)
            with suppress(Exception):  # if the connection is lost, so are the jobs
                cluster.sc.cancelJobsWithTag(tag)
            pool.shutdown()
            cluster.stop()


def _job(sc: Any, tag: str, call: Callable[[Item], Value], item: Item) -> Value:
    """Run one call as a job of one task; each thread has jobs and tags of its own."""
    with failing_clearly():
        sc.addJobTag(tag)
        found: list[Value] = sc.parallelize([item], 1).map(call).collect()
    return found[0]


def _is_alive(sc: Any) -> bool:
    try:
        return not sc._jsc.sc().isStopped()
    except Exception:  # the Java process is gone
        return False
