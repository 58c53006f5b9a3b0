"""Claims about time: rows decide them, and other rows turn the rulings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict, evolve, field, frozen

from antecede import cli
from antecede.checker.papers.claims.claim import Claim, Ruling
from antecede.checker.papers.simulate import rules
from antecede.checker.papers.simulate.figures import FIGURES
from antecede.checker.papers.simulate.results import RESULTS
from antecede.checker.papers.simulate.rules import Numbers
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.papers.simulate.timed_claims import (
    decide,
    decided_by,
    markdown,
    runs_of,
    timed_claims,
)
from antecede.checker.support.errors import InputError

CLAIMS = timed_claims()
BY_KEY = {claim.key: claim for claim in CLAIMS}


@frozen(eq=False)
class Asking(Numbers):
    """Notes which points a rule asks for."""

    points: list[Scenario] = field(factory=list)

    def speedup(self, point: Scenario, *_: Any, **__: Any) -> float:
        self.points.append(point)
        return 1.0

    def median(self, _protocol: str, point: Scenario, *_: Any) -> float:
        self.points.append(point)
        return 1.0

    def added(self, _protocol: str, point: Scenario, _measure: str) -> float:
        self.points.append(point)
        return 1.0


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_a_claim_asks_for_points_of_its_figure_only(claim: Claim) -> None:
    """So that the figure's one command decides it."""
    runs = runs_of(claim)
    grid = FIGURES[runs.figure].grid(runs.figure, None, quick=False)
    for rule in (runs.rule, runs.narrow):
        asking = Asking(())
        rules.RULES[rule](asking)
        assert asking.points
        assert set(asking.points) <= set(grid.scenarios)


def test_every_claim_has_a_key_of_its_own_and_every_rule_a_claim() -> None:
    assert len(BY_KEY) == len(CLAIMS) == 21
    assert rules.RULES.keys() == {
        name for claim in CLAIMS for name in (runs_of(claim).rule, runs_of(claim).narrow)
    }


def row(protocol: str, scenario: Scenario, time: float) -> dict[str, Any]:
    results = {name: int(time) for name in RESULTS}
    key = {"protocol": protocol, "seed": 1, **asdict(scenario)}
    return {**key, "handlers": "own", "sources": "0", **results, "error": None}


def pair(scenario: Scenario, speedup: float) -> list[dict[str, Any]]:
    return [row("cykas", scenario, 1_000), row("mfss", scenario, 1_000 * speedup)]


def uniform(**changed: Any) -> Scenario:
    return evolve(rules._point_6(0.0, 0.0), **changed)


def test_without_rows_a_claim_is_undecided() -> None:
    assert {Ruling.UNDECIDED} == {decide(claim, []).ruling for claim in CLAIMS}


def test_a_claim_is_confirmed_or_refuted_by_numbers() -> None:
    claim = BY_KEY["figure-6-uniform"]
    assert (Ruling.CONFIRMED, "1.30") == (
        decide(claim, pair(uniform(), 1.3)).ruling,
        decide(claim, pair(uniform(), 1.3)).found,
    )
    assert Ruling.REFUTED is decide(claim, pair(uniform(), 1.1)).ruling


def test_an_alternative_that_turns_it_makes_it_depend() -> None:
    claim = BY_KEY["figure-6-uniform"]
    rows = pair(uniform(), 1.3) + pair(uniform(header=0), 1.35) + pair(uniform(payload=1_000), 0.5)
    found = decide(claim, rows)
    assert Ruling.DEPENDS is found.ruling
    assert (("payload 1k: 0.50",), 2) == (found.turned, found.tried)
    assert "CONFIRMED, but DEPENDS ON payload 1k" in markdown([found])


def test_speedups_that_rise_and_fall() -> None:
    claim = BY_KEY["figure-5-shape"]

    def ruling(*speedups: float) -> Ruling:
        points = [rules._point_5(10, length) for length in (0.5, 12.5, 50)]
        rows = [r for p, s in zip(points, speedups, strict=True) for r in pair(p, s)]
        return decide(claim, rows).ruling

    assert Ruling.CONFIRMED is ruling(1.1, 1.3, 1.05)
    assert Ruling.REFUTED is ruling(1.1, 1.3, 0.9)
    assert Ruling.REFUTED is ruling(1.4, 1.3, 1.1)


def test_where_two_lines_cross() -> None:
    """RST takes as long as MFSS at the ratio 1 / n, here and between the points of the grid."""
    rows = []
    for n in rules._SIZES:
        for rate in rules._RATES:
            ratio = n / (rate / 1_000)
            point = rules._point_4(n, rate)
            rows += [row("rst", point, 1e9 * ratio * n), row("mfss", point, 1e9)]
    for n in (25, 50, 100):
        found, below = rules.crossing(Numbers(rows), n, "mfss")
        assert pytest.approx(1 / n, rel=0.01) == found
        assert not below
    assert (0.05, True) == rules.crossing(Numbers(rows), 500, "mfss")


def test_growth_is_told_by_its_exponent() -> None:
    assert pytest.approx(2) == rules._slope([(x, 7 * x * x) for x in (1, 2, 10)])
    assert pytest.approx(-1) == rules._correlation([(1, 3), (2, 2), (3, 1)])


def test_files_of_rows_decide_what_the_claims_command_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "rows.jsonl", tmp_path / "claims.md"
    file.write_text("".join(f"{json.dumps(r)}\n" for r in pair(uniform(), 1.3)))
    asked = ["claims", "--claim", "mf-3-1-deadlock", "--quick", "--engine", "plain", "--quiet"]
    code = cli.main([*asked, "--rows", str(file), "--output", str(page)])
    assert 3 == code  # most claims have no rows
    assert "CONFIRMED   Section 5.4, Figure 6: Without hotspots" in capsys.readouterr().out
    assert "## Times and sizes, by `antecede simulate`" in page.read_text()
    assert "| CONFIRMED | 1.30 |" in page.read_text()


def test_rows_of_different_code_do_not_compare(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    one, other = pair(uniform(), 1.3)
    rows = [one, other, {**one, "seed": 2, "sources": "1"}]
    file.write_text("".join(f"{json.dumps(r)}\n" for r in rows))
    with pytest.raises(InputError, match="rows of cykas are from different versions of its code"):
        decided_by([str(file)])


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(InputError, match=r"there is no file 'none.jsonl'; make rows with"):
        decided_by(["none.jsonl"])
