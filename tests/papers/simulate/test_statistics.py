"""Medians, their intervals, and paired speedups."""

from __future__ import annotations

from random import Random

import pytest
from attrs import asdict, evolve

from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.papers.simulate.statistics import (
    Estimate,
    cell_of,
    estimate,
    medians,
    ranks,
    speedups,
    varied,
)


@pytest.mark.parametrize(
    ("count", "expected"),
    # Conover: Practical Nonparametric Statistics, table of binomial quantiles; ranks from 0.
    [(1, None), (5, None), (6, (0, 5)), (9, (1, 7)), (10, (1, 8)), (30, (9, 20)), (100, (39, 60))],
)
def test_which_sorted_values_bound_the_median(count: int, expected: tuple[int, int] | None) -> None:
    assert expected == ranks(count)


def test_nineteen_of_twenty_intervals_hold_the_median() -> None:
    random = Random(1)
    hits = 0
    for _ in range(1_000):
        found = estimate(random.expovariate(1) for _ in range(20))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.6931 <= found.high
    assert 940 <= hits <= 980


def test_an_estimate_of_a_few_values() -> None:
    assert Estimate(3, None, None, 3) == estimate([5, 1, 3])
    assert Estimate(3.5, 1, 6, 6) == estimate([6, 5, 4, 3, 2, 1])
    assert estimate([]) is None


def row(protocol: str, seed: int, value: int, scenario: Scenario) -> dict[str, object]:
    return {"protocol": protocol, "seed": seed, "execution_ns": value, **asdict(scenario)}


def test_a_speedup_is_of_runs_of_the_same_program() -> None:
    """The medians are 20 and 20, but two of three programs are twice as fast."""
    scenario = Scenario()
    rows = [row("cykas", seed, value, scenario) for seed, value in ((1, 10), (2, 20), (3, 90))]
    rows += [row("mfss", seed, value, scenario) for seed, value in ((3, 10), (2, 40), (1, 20))]
    found = speedups(rows, "execution_ns")
    assert {cell_of(scenario): Estimate(2, None, None, 3)} == found
    assert 20 == medians(rows, "execution_ns")["mfss", cell_of(scenario)].median


def test_a_run_without_its_partner_has_no_speedup() -> None:
    rows = [row("cykas", 1, 10, Scenario()), row("mfss", 2, 10, Scenario())]
    assert {} == speedups(rows, "execution_ns")


def test_what_varies_is_told_in_the_order_of_the_scenario() -> None:
    base = Scenario()
    assert () == varied([base, base])
    assert ("actors", "hotspots") == varied([base, evolve(base, hotspots=0.1, actors=7)])
