"""Which assumption matters, and the pictures of the evaluation that the hybrid paper owes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from attrs import asdict, evolve

from antecede.checker.papers.simulate.experiment import row_of, runs_of
from antecede.checker.papers.simulate.figures import FIGURES, KEY_NUMBERS, Grid
from antecede.checker.papers.simulate.plots import drawn
from antecede.checker.papers.simulate.results import RESULTS
from antecede.checker.papers.simulate.scenario import MS, Scenario, parameters, parsed, written
from antecede.checker.papers.simulate.statistics import added, cell_of
from antecede.checker.papers.simulate.tornado import bars
from antecede.checker.support.errors import InputError


def row(protocol: str, seed: int, value: int, scenario: Scenario) -> dict[str, object]:
    results = dict.fromkeys(RESULTS, 1)
    return {
        "protocol": protocol,
        "seed": seed,
        **asdict(scenario),
        **results,
        "execution_ns": value,
        "error": None,
    }


def test_every_alternative_differs_in_one_assumption() -> None:
    for key in KEY_NUMBERS.values():
        for name, value, scenario in key.alternatives():
            assert scenario != key.scenario
            assert key.scenario == evolve(scenario, **{name: getattr(key.scenario, name)})
            assert value == parsed(name, written(name, value))


def test_every_assumption_has_a_reason_and_is_tried_somewhere() -> None:
    tried = {name for key in KEY_NUMBERS.values() for name, _, _ in key.alternatives()}
    for name, about in parameters().items():
        if about.others:
            assert about.reason, name
            assert name in tried, name


def test_the_assumption_that_matters_most_comes_first() -> None:
    key = KEY_NUMBERS["uniform"]
    times = {key.scenario: 130}
    for name, value, scenario in key.alternatives():
        times[scenario] = 130 + (name == "jitter") - 50 * (name == "header" and value == 0)
    rows = [
        row(protocol, 1, time if protocol == "mfss" else 100, scenario)
        for scenario, time in times.items()
        for protocol in ("cykas", "mfss")
    ]
    found = bars(key, rows)
    assert found is not None
    base, listed = found
    assert 1.3 == base.median
    assert ["header: 0", "jitter: 2ms"] == [bar.label for bar in listed[:2]]
    assert [0.8, 1.31] == [bar.found.median for bar in listed[:2]]
    (text,) = drawn(Grid("tornado", "", (), (), 1), rows).values()
    assert 1 == text.count("(flips)</text>")
    with pytest.raises(InputError, match="leave out --quick"):
        drawn(Grid("tornado", "", (), (), 1), [row("cykas", 1, 1, Scenario(actors=2))])
    assert bars(KEY_NUMBERS["hotspots"], rows) is None


def test_what_is_added_is_paired_by_program() -> None:
    scenario = Scenario()
    rows = [row("unordered", 1, 10, scenario), row("unordered", 2, 50, scenario)]
    rows += [
        row("mfss", 1, 15, scenario),
        row("mfss", 2, 56, scenario),
        row("mfss", 3, 1, scenario),
    ]
    found = added(rows, "execution_ns", "unordered")
    assert 5.5 == found["mfss", cell_of(scenario)].median
    assert 0 == found["unordered", cell_of(scenario)].median


@pytest.mark.integration
@pytest.mark.parametrize("name", ["hybrid", "hybrid-broadcast"])
def test_the_evaluation_runs_and_is_drawn(name: str) -> None:
    """Every protocol on one point of each part; all pictures are drawn, each with all protocols."""
    grid = FIGURES[name].grid(name, 1, quick=True)
    ends = {s for part in FIGURES[name].parts.values() for s in part.scenarios(quick=True)[-1:]}
    small = evolve(grid, scenarios=tuple(s for s in grid.scenarios if s in ends))
    rows = [row_of(run) for run in runs_of(small, twins=True)]
    assert not [(row["protocol"], row["error"]) for row in rows if row["error"]]
    for text in drawn(small, rows).values():
        words = [text.text for text in ElementTree.fromstring(text).iterfind(".//{*}text")]
        assert set(grid.protocols) - {"unordered"} <= set(words)


def test_a_millisecond_is_one() -> None:
    assert MS == parsed("delay", "1ms")
