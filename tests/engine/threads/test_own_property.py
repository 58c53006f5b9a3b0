"""A property of one's own that the tables cannot judge is judged by plain Python."""

from __future__ import annotations

import pytest
from attrs import evolve

from antecede.checker.check.engine import explorer_at_once, explorer_for, only_plainly
from antecede.checker.model import Delivery, Property, What, When
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError
from antecede.protocols.mfss import MFSS
from tests.semantics.test_transition import system_for


def asked(look: object) -> System:
    """Return MFSS with a property that no second message is delivered, or one at actor 1."""

    def respects(delivery: Delivery) -> bool:
        return delivery.message.number < 2 if look == "message" else delivery.actor != 1

    own = Property("own", "a property of a test", What.DELIVERY, When.ALWAYS, respects)
    return evolve(system_for(MFSS, 2, 2), properties=(own,))


@pytest.mark.parametrize("look", ["message", "actor"])
def test_plain_python_judges_it(look: str) -> None:
    system = asked(look)
    assert (
        Verdict.VIOLATED is explore(system, explorer_for(system, Options(engine="plain"))).verdict
    )


@pytest.mark.parametrize("look", ["message", "actor"])
@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_the_tables_refuse_it(look: str, search: str) -> None:
    system = asked(look)
    with pytest.raises(InputError, match="own asks which message is delivered, or where, which"):
        explore(system, explorer_for(system, Options(engine="local", search=search)))


@pytest.mark.parametrize("look", ["message", "actor"])
def test_a_check_learns_before_it_starts_that_only_plain_python_can_judge_it(look: str) -> None:
    system = asked(look)
    assert "own asks which message is delivered, or where" == only_plainly(system)
    assert only_plainly(system_for(MFSS, 2, 2)) is None
    with pytest.raises(InputError, match="give --engine plain"):
        explorer_at_once(system, Options(engine="local"))
