"""The campaign of applications that never stop: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.purity.commutes import FormCheck
from antecede.checker.semantics.transition import EndlessSystem
from tests.campaigns import endless
from tests.campaigns.endless import PREDICATES, Counting, compare_endless, comparisons, drawn
from tests.campaigns.packets import WRONG

COUNTS = Counting(
    table=((("deliver", 0), ("deliver", 0), ("deliver", 0)),),
    resends=False,
    fault=None,
    actors=2,
    network="fifo",
    workload="endless:1:[[1], [0]]",
    prop="invariant:few",
    bound=None,
)


def differences(case: Counting) -> list[str]:
    return [name for name, expected, actual in comparisons(case) if expected != actual]


@pytest.mark.integration
@pytest.mark.parametrize("number", range(12))
def test_forms_and_counters_as_they_are_give_the_same_answers(number: int, tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == compare_endless(f"ci/{number}", tmp_path, tally)
    assert tally.total() > 0


@pytest.mark.integration
@pytest.mark.parametrize("prop", ["invariant:few", "invariant:near", "witness:third"])
def test_a_predicate_that_is_judged_on_forms_is_found(
    prop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = evolve(COUNTS, prop=prop)
    assert [] == differences(case)
    monkeypatch.setattr(EndlessSystem, "normal", property(lambda system: system.protocol.normal))
    assert "plain search and a check with a form" in differences(case)


def test_a_form_that_is_believed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = evolve(COUNTS, fault="limit", prop="causal-delivery")
    assert [] == differences(case)
    monkeypatch.setattr(FormCheck, "walk", lambda *_: None)
    monkeypatch.setattr(FormCheck, "cover", lambda *_: None)
    assert ["starvation with a faulty form"] == differences(case)


@pytest.mark.integration
def test_a_search_that_misjudges_deliveries_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    twice = (("deliver-kept", 0), ("keep", 0), ("deliver-kept", 0))
    case = evolve(COUNTS, table=(twice,), workload="endless:2:[[1], [0]]", prop="causal-delivery")
    case = evolve(case, network="unordered")
    assert [] == differences(case)
    monkeypatch.setattr(endless, "drawn", lambda _seed: case)
    monkeypatch.setitem(WRONG, "causal-delivery", lambda _delivery: False)
    (said,) = compare_endless("any", tmp_path, Counter())
    assert said.startswith("plain search and a check without a form: ")
    assert "MODULO = counting(" in (tmp_path / "endless-any.py").read_text(encoding="utf-8")


def test_an_earlier_violation_of_another_property_ends_no_comparison() -> None:
    """Two messages overtake each other before one of them is delivered twice."""
    case = drawn("4801/1776")
    assert "integrity" == case.prop
    assert [] == differences(case)


def test_every_predicate_and_every_fault_is_drawn() -> None:
    cases = [drawn(f"kinds/{number}") for number in range(200)]
    assert {*PREDICATES, *WRONG} == {case.prop for case in cases}
    assert {None, "limit", *endless.FORGETS} == {case.fault for case in cases}
