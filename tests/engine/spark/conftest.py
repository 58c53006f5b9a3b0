"""A Spark context for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from pyspark import SparkContext

from antecede.checker.engine.spark.cluster import Cluster
from tests.conftest import ROOT


@pytest.fixture(scope="package")
def context() -> Iterator[SparkContext]:
    """One Spark context for the tests that a process runs here; the engine uses one that runs.

    Its workers unpickle functions of these tests. They import nothing from the current folder.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        cluster = Cluster.start("local[2,4]")
        yield cluster.sc
        cluster.stop()
