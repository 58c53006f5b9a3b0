"""Actions of a protocol's own and packets in flight at the start, on Spark."""

from __future__ import annotations

import pytest

from antecede.checker.model import Protocol
from tests.models import COLLECTS
from tests.semantics.test_internal import GREETS_AND_COLLECTS, WRONG_ORDER, system
from tests.spark.common import found, locally, on_spark


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("protocol", [COLLECTS, GREETS_AND_COLLECTS, WRONG_ORDER])
def test_spark_finds_what_the_local_engine_finds(protocol: Protocol) -> None:
    asked = system(protocol, 2, 2, network="fifo")
    assert found(locally(asked)) == found(on_spark(asked, 10)[0])
