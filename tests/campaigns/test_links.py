"""The campaign of links with gaps: a short one, and that it notices links that compare less."""

from __future__ import annotations

from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from antecede.checker.prove import front
from antecede.checker.prove.link import _Linker
from tests.campaigns.links import GAPS, NAMES, PYTHONS, Case, compare_links, disagreement, drawn


def test_what_is_linked_is_true_of_the_python(tmp_path: Path) -> None:
    tally = Counter[str]()
    for number in range(24):
        assert [] == compare_links(f"ci/{number}", tmp_path, tally)
    assert tally.total() >= 24


@pytest.mark.parametrize("name", NAMES)
def test_the_unchanged_python_is_linked_and_true(name: str) -> None:
    tally = Counter[str]()
    assert disagreement(Case(name, "as it is", ()), tally) is None
    assert 1 == tally["LINKED with the reference checker"]


def test_a_seed_draws_every_gap_and_every_python() -> None:
    cases = [drawn(f"7/{number}") for number in range(200)]
    assert cases[0] == drawn("7/0")
    assert {gap for case in cases for gap in case.gaps} == set(GAPS)
    assert {case.python for case in cases} == set(PYTHONS)


@pytest.mark.parametrize(
    ("part", "hole", "gap", "first"),
    [
        (_Linker, "_compare_application", "no events", 3_440),
        pytest.param(
            *(front, "_refuse_smaller_workload", "fewer sends", 0), marks=pytest.mark.integration
        ),
    ],
)
def test_the_campaign_finds_a_link_that_compares_less(
    part: object, hole: str, gap: str, first: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the campaign's cases only those with the gap are tried, until one shows the hole.

    Few cases show the first hole, so the test begins shortly before one of them.
    """
    monkeypatch.setattr(part, hole, lambda *_anything: None)
    seeds = (seed for number in count(first) if gap in drawn(seed := f"hole/{number}").gaps)
    found = next(filter(None, (compare_links(seed, tmp_path, Counter()) for seed in seeds)))
    assert "LINKED, and the Python violates" in found[0]
    assert len(list(tmp_path.iterdir())) == 1
