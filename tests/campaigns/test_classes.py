"""A short campaign of classes of computations, and that it would notice a bug in a class."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.papers.computations.classes import CLASSES, NAMES, causal
from tests.campaigns import classes
from tests.campaigns.classes import compare_classes


def test_random_computations_are_in_the_classes_of_their_definitions(tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == [each for n in range(40) for each in compare_classes(f"ci/{n}", tmp_path, tally)]
    assert len(NAMES) == len(tally)


@pytest.mark.parametrize("name", ["synchronous", "n-n", "fifo"])
def test_a_campaign_of_classes_notices_a_bug(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tuple(evolve(c, contains=causal) if c.name == name else c for c in CLASSES)
    monkeypatch.setattr(classes, "CLASSES", wrong)
    found = [each for n in range(60) for each in compare_classes(f"ci/{n}", tmp_path, Counter())]
    assert found
    assert list(tmp_path.iterdir())
