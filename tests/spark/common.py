"""What the tests of Spark share."""

from __future__ import annotations

from typing import Any

from antecede.checker.local.breadth import LocalBreadthFirst
from antecede.checker.search.loop import explore
from antecede.checker.search.result import Result
from antecede.checker.semantics.transition import System
from antecede.checker.spark.breadth import SparkBreadthFirst
from tests.conftest import method


def on_spark(system: System, threshold: int = 1, **options: Any) -> tuple[Result, Any]:
    explorer = SparkBreadthFirst(
        system,
        max_depth=options.pop("max_depth", None),
        options=method(engine="spark", threads=2, spark_threshold=threshold, **options),
    )
    return explore(system, explorer), explorer


def locally(system: System, max_depth: int | None = None) -> Result:
    return explore(system, LocalBreadthFirst(system, max_depth, method(threads=1)))


def found(result: Result) -> tuple[Any, ...]:
    path = result.counterexample
    return (
        dict(result.properties),
        result.counts,
        path and path.length,
        result.statistics["states_per_depth"],
        {kind: n["total"] for kind, n in result.statistics["transitions"].items()},
    )
