"""What protocols may bring along, on Spark: actions of their own, packets at the start, odd values.

Each partition meets values by itself; whatever protocols may say of them is judged by the driver.
"""

from __future__ import annotations

import pytest

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import System
from tests.engine.spark.common import found, locally, on_spark
from tests.search.test_never_seen import NEVER_DELIVERS
from tests.semantics.test_internal import GREETS_AND_COLLECTS, WRONG_ORDER
from tests.semantics.test_internal import system as system_with
from tests.semantics.test_values import UNTOLD, Other, Outer, sends_first

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("context")]


@pytest.mark.parametrize(("protocol", "threshold"), [(GREETS_AND_COLLECTS, 24), (WRONG_ORDER, 16)])
def test_actions_and_first_packets_are_those_of_the_local_engine(
    protocol: Protocol, threshold: int
) -> None:
    asked = system_with(protocol, 2, 2, network="fifo")
    result, explorer = on_spark(asked, threshold)
    assert 1 < len(explorer.rounds)
    assert found(locally(asked)) == found(result)


def test_what_holds_of_no_delivery_is_vacuous_as_for_the_local_engine() -> None:
    spec = Spec("never-delivers", 2, 2, properties=("integrity", "finishes"))
    asked = system_of(spec, protocol=NEVER_DELIVERS)
    result, explorer = on_spark(asked, 4)
    assert "cluster" in {each["where"] for each in explorer.rounds}
    assert found(locally(asked)) == found(result)
    assert [Verdict.VACUOUS, Verdict.HOLDS] == list(result.properties.values())


def system(one: object, other: object) -> System:
    spec = Spec(protocol="odd", actors=2, messages=2, properties=("integrity",))
    return system_of(spec, protocol=sends_first(one, other))


def test_packets_that_equality_does_not_tell_are_refused() -> None:
    result, _ = on_spark(system(*UNTOLD[0]()))
    assert Verdict.ERROR is result.verdict
    assert "causal_send of protocol 'odd' returned what cannot be used" in str(result.error)


def test_packets_of_two_classes_with_one_name_are_two() -> None:
    of_classes, explorer = on_spark(system(Outer.Ack(), Other.Ack()), 97)
    of_texts = locally(system("one", "other"))
    assert 1 < len(explorer.rounds)
    assert found(of_texts)[:4] == found(of_classes)[:4], "the kinds of packets have other names"
    assert Verdict.HOLDS is of_classes.verdict
