"""A Spark context for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark import SparkContext

from antecede.checker.spark.cluster import Cluster


@pytest.fixture(scope="package")
def context() -> Iterator[SparkContext]:
    """One Spark context for the tests that a process runs here; the engine uses one that runs."""
    cluster = Cluster.start("local[2,4]")
    yield cluster.sc
    cluster.stop()
