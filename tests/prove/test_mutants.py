"""`prove --mutants` finds the conjuncts and guards that a proof needs."""

from __future__ import annotations

import pytest
from attrs import evolve

from antecede.checker.prove.front import model_named
from antecede.checker.prove.mutants import strength, text
from antecede.cli import main
from antecede.protocols import PROOFS

PROVED = [name for name in PROOFS if model_named(name).expected == "PROVED"]
QUICK = ["mfss", "fifo"]


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PROVED],
)
def test_the_proof_fails_without_whatever_is_marked_as_needed(name: str) -> None:
    found = strength(model_named(name))
    assert found.as_marked, text(found)


def test_a_part_that_is_marked_and_not_needed_is_noticed() -> None:
    model = model_named("fifo")
    marked = tuple(evolve(one, needed=True) for one in model.conjuncts)
    found = strength(evolve(model, conjuncts=marked))
    assert not found.as_marked
    assert "although it is marked as needed" in text(found)


@pytest.mark.integration
def test_the_command_says_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mfss", "--mutants"]) == 0
    shown = capsys.readouterr().out
    assert "without guard 'all before it are acknowledged' of post: fails" in shown


def test_what_is_not_proved_has_no_mutants() -> None:
    assert main(["prove", "--quiet", "unordered", "--mutants"]) == 2
