"""What the tests of several files on logs need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """One cluster for all audits of a file: each would start its own."""
    pytest.importorskip("pyspark")
    from antecede.checker.engine.spark.cluster import Cluster

    started = Cluster.start("local[2]")
    yield started
    started.stop()
