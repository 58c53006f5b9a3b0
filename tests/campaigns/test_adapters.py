"""The campaign of random objects: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.adapters import calls, objects, packets
from antecede.checker.check import pipeline
from antecede.checker.paths import confirm
from tests.campaigns import adapters
from tests.campaigns.adapters import CHOICES, Habits, compare_adapters, difference
from tests.campaigns.test_random import SENDS_TWO

NETWORK_SENT = evolve(SENDS_TWO, clock_at="network-send")


@pytest.mark.parametrize("number", range(11))
def test_random_objects_do_what_their_protocol_does(number: int, tmp_path: Path) -> None:
    assert [] == compare_adapters(f"ci/{number}", tmp_path, Counter())


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in CHOICES.items() for value in dict.fromkeys(values)],
)
def test_each_habit_is_followed_or_refused(name: str, value: Any) -> None:
    habits = evolve(Habits(), **{name: value})
    if value == "deepcopy" or habits.forgets or habits.where == "equal objects":
        habits = evolve(habits, keyed=True)
    assert difference(SENDS_TWO, habits) is None


class OldOut(calls.Out):
    """As `Out` was: it takes deliveries after its call, and a copy of it does."""

    def close(self) -> None:
        pass

    def __reduce__(self) -> Any:
        return OldOut, (self._sends, self._deliveries)


@pytest.mark.parametrize("out", ["first", "caught", "bound"])
@pytest.mark.parametrize("copies", ["pickle", "replay"])
def test_deliveries_that_are_lost_in_an_old_out_would_be_found(
    out: str, copies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "Out", OldOut)
    assert "expected Outcome(end='refused'" in str(
        difference(SENDS_TWO, Habits(out=out, copies=copies))
    )


@pytest.mark.integration
def test_the_campaign_draws_what_finds_a_lost_delivery_and_writes_it_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(objects, "Out", OldOut)
    monkeypatch.setattr(adapters, "SHRINK_SECONDS", 0.0)
    seeds = (f"ci/{number}" for number in range(20, 100))
    found = next(filter(None, (compare_adapters(s, tmp_path, Counter()) for s in seeds)))
    (file,) = tmp_path.iterdir()
    assert str(file) in found[0]
    assert "difference(Case(" in file.read_text()


@pytest.mark.parametrize("runs", adapters.LEFT)
def test_work_that_is_lost_when_it_is_left_behind_would_be_found(
    runs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls._Watch, "left", lambda _watch: [])
    assert difference(SENDS_TWO, Habits(runs=runs)) is not None


def test_messages_that_are_not_seen_in_a_packet_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert difference(NETWORK_SENT, Habits(packets="slots")) is None
    monkeypatch.setattr(packets, "attributes_of", lambda value: getattr(value, "__dict__", {}))
    assert difference(NETWORK_SENT, Habits(packets="slots")) is None
    monkeypatch.setattr(packets._PacketPickler, "persistent_id", lambda _pickler, _value: None)
    assert difference(NETWORK_SENT, Habits(packets="slots")) is not None


def test_an_object_that_is_refused_for_what_it_kept_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Habits(packets="pair", changes=("kept",))
    assert difference(SENDS_TWO, kept) is None
    monkeypatch.setattr(objects, "copied", lambda value: value)
    assert "depends on the identity of objects" in str(difference(SENDS_TWO, kept))


FORGETFUL_SEEDS = [f"forgets/{number}" for number in range(80)]
LARGE_SEEDS = ("forgets/19", "forgets/66")
"""The seeds of two systems that take as long as all others together."""


def forgetful(where: Container[str] = tuple(adapters.KINDS)) -> Iterator[str | None]:
    """Yield the differences of drawn objects that forget a part of their state."""
    for seed in FORGETFUL_SEEDS:
        case, habits = adapters.drawn_for_objects(seed)
        if habits.forgets and habits.where in where and seed not in LARGE_SEEDS:
            yield difference(case, habits)


@pytest.mark.integration
def test_objects_that_forget_give_no_wrong_answer() -> None:
    assert {None, "too large"} >= set(forgetful())


@pytest.mark.integration
def test_a_run_that_only_forgetting_makes_possible_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objects._Keeper, "_compare", lambda *_given: None)
    monkeypatch.setattr(objects._Keeper, "_original_after", lambda *_given: None)
    monkeypatch.setattr(confirm, "refuse_merged", lambda *_given: None)
    for where in (("key", "equal objects"), adapters.PICKLES):
        found = map(str, forgetful(where))
        assert any("the pure protocol does something else" in each for each in found)


@pytest.mark.integration
def test_a_verdict_without_its_condition_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_conditions", lambda _system, _result: [])
    assert any(" without a condition" in str(each) for each in forgetful())


LATE_SEEDS = [f"late/{number}" for number in range(8)]


@pytest.mark.integration
def test_objects_that_deliver_late_give_no_wrong_answer() -> None:
    assert {None} == {adapters.wrong_if_patient(seed) for seed in LATE_SEEDS}


def test_an_end_that_is_not_compared_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "GOES_ON", 0)
    monkeypatch.setattr(confirm, "SEARCHED_AFTER", 0)
    assert any(map(adapters.wrong_if_patient, LATE_SEEDS))


NEVER_FINISHES = evolve(
    SENDS_TWO, resends=True, messages=1, network="lossy", properties=("can-finish",)
)


def test_a_property_that_no_state_satisfies_with_an_incomplete_key_has_a_condition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgetful = Habits(keyed=True, forgets="mark")
    assert difference(NEVER_FINISHES, forgetful) is None
    monkeypatch.setattr(pipeline, "_is_shown_by_steps", lambda _system, _result: True)
    assert "VIOLATED without a condition" in str(difference(NEVER_FINISHES, forgetful))
