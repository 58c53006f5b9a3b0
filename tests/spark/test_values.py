"""Values that Python takes for equal, on Spark, where each partition meets them by itself."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.spec import Spec, system_of
from tests.semantics.test_values import UNTOLD, Other, Outer, sends_first
from tests.spark.common import found, locally, on_spark


def system(one: Any, other: Any) -> System:
    spec = Spec(protocol="odd", actors=2, messages=2, properties=("integrity",))
    return system_of(spec, protocol=sends_first(one, other))


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("pair", UNTOLD[:3])
def test_packets_that_equality_does_not_tell_are_refused_on_spark(pair: Any) -> None:
    result, _ = on_spark(system(*pair()))
    assert Verdict.ERROR is result.verdict
    assert "causal_send of protocol 'odd' returned what cannot be used" in str(result.error)


@pytest.mark.usefixtures("context")
def test_packets_of_two_classes_with_one_name_are_two_on_spark() -> None:
    of_classes, _ = on_spark(system(Outer.Ack(), Other.Ack()), 10)
    of_texts, _ = on_spark(system("one", "other"), 10)
    assert found(of_texts) == found(locally(system("one", "other")))
    assert found(of_texts)[:4] == found(of_classes)[:4], "the kinds of packets have other names"
    assert Verdict.HOLDS is of_classes.verdict
