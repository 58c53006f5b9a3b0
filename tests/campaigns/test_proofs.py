"""The campaign of random models: a short one, and that it would notice unsound proofs."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from antecede.checker.prove import vacuity
from antecede.checker.prove.front import model_named
from antecede.checker.prove.vocabulary import Model
from antecede.cli import main
from tests.campaigns.model_explorer import Explorer, placements
from tests.campaigns.proofs import compare_proofs, disagreement, shrunk
from tests.campaigns.variations import Variation, as_claimed, drawn


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the solver time, whatever else the machine does."""
    monkeypatch.setattr("tests.campaigns.proofs.SOLVER_SECONDS", 10.0)


CHECKS = "antecede.checker.prove.validate"


@pytest.mark.integration
@pytest.mark.parametrize("first", range(0, 24, 6))
def test_what_is_proved_of_a_random_model_is_true(first: int, tmp_path: Path) -> None:
    tally = Counter[str]()
    for number in range(first, first + 6):
        assert [] == compare_proofs(f"ci/{number}", tmp_path, tally)
    assert tally.total() > 0


HOLES = {
    "spy on a ghost": (10, ["_refuse_ghosts"]),
    "overwrite a ghost": (112, ["_refuse_second_updates", "_check_application"]),
    "add an axiom": (371, ["_check_axioms"]),
}
"""A change of a model, where to begin, and without which checks it can be PROVED and untrue."""


def without_checks(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Leave out the checks that refuse a change."""
    for check in HOLES[change][1]:
        monkeypatch.setattr(f"{CHECKS}.{check}", lambda *_anything: None)
    monkeypatch.setattr(vacuity, "_undecided", lambda *_anything: ())


@pytest.mark.integration
@pytest.mark.parametrize("change", HOLES)
def test_a_campaign_finds_what_a_missing_check_lets_through(
    change: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the campaign's cases only those with the change are tried, until one shows the hole."""
    without_checks(monkeypatch, change)
    seeds = (f"y/{number}" for number in count(HOLES[change][0]))
    tried = (seed for seed in seeds if change in [name for name, _ in drawn(seed).changes])
    found = next(filter(None, (compare_proofs(seed, tmp_path, Counter()) for seed in tried)))
    assert change in found[0]
    (file,) = tmp_path.iterdir()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 0
    monkeypatch.undo()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 2


def test_a_campaign_finds_a_proof_without_integrity(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Model, "claims", property(lambda model: (model.safety,)))
    tried = (seed for number in count() if drawn(seed := f"y/{number}").base == "delivers early")
    found = next(filter(None, (compare_proofs(seed, tmp_path, Counter()) for seed in tried)))
    assert "is delivered and was never causal-sent" in found[0]
    (file,) = tmp_path.iterdir()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 0
    monkeypatch.undo()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 1


@pytest.mark.integration
def test_a_campaign_finds_a_proof_of_a_model_that_delivers_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The conjuncts and guards alone do not show that no run reaches the states they allow."""
    monkeypatch.setattr(vacuity, "actions_to_deliver", lambda *_anything: 1)
    waiting = ("wait for a first one",)
    seeds = (f"y/{number}" for number in count())
    tried = (seed for seed in seeds if waiting == tuple(dict(drawn(seed).changes)))
    found = next(filter(None, (compare_proofs(seed, tmp_path, Counter()) for seed in tried)))
    assert "no run delivers any of up to 3 × 2 messages" in found[0]
    (file,) = tmp_path.iterdir()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 0
    monkeypatch.undo()
    assert main(["prove", "--quiet", f"{file}:MODEL"]) == 2


SPIES = ("spy on a ghost", 785079216)
"""Deliver a message only where that does not violate the claim about R."""


def test_the_difference_is_shown_as_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    without_checks(monkeypatch, "spy on a ghost")
    reason = disagreement(Variation("as claimed", (SPIES,)), "any", Counter())
    assert reason is not None
    assert "is delivered before message" in reason
    assert "after causal-send(" in reason


def test_changes_that_do_not_matter_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    without_checks(monkeypatch, "spy on a ghost")
    more = Variation("as claimed", (("add an axiom", 4), SPIES))
    reason = disagreement(more, "any", Counter())
    assert reason is not None
    assert (SPIES,) == shrunk(more, reason, "any")[0].changes


def test_a_seed_draws_the_same_model_again() -> None:
    assert drawn("7/3") == drawn("7/3") != drawn("7/4")
    first, second = (drawn("7/3").model for _ in range(2))
    assert [one.guard.sexpr() for one in first.actions] == [
        one.guard.sexpr() for one in second.actions
    ]


@pytest.mark.parametrize("name", ["mfss", "mfss-fifo", "fifo", "rst"])
def test_what_is_proved_of_the_base_models_is_true_wherever_they_are_explored(name: str) -> None:
    explorer = Explorer(model_named(name), 3)
    assert {None} == {explorer.wrong(placement, 0, 10_000) for placement in placements(3)}


def test_messages_are_placed_in_all_ways_up_to_names() -> None:
    """Three messages of three actors with at most two each; of six pairs, eight choices differ."""
    assert ((0, 1),) == placements(1)[0]
    assert [1, 5, 8] == [len(placements(k)) for k in (1, 2, 3)]
    assert [2, 10, 25] == [len(placements(k, to_oneself=True)) for k in (1, 2, 3)]


def test_deliveries_are_judged_by_what_happened_and_not_by_the_ghosts() -> None:
    explorer = Explorer(as_claimed(), 3)
    reason = explorer.wrong(((0, 1), (0, 2), (2, 1)), 0, 10_000)
    assert reason is not None
    assert reason.startswith("message 2 is delivered before message 0 after causal-send(0), ")
