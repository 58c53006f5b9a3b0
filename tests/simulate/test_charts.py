"""Charts: their parts, distinguishable series, and dark colours."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from attrs import evolve

from antecede import cli
from antecede.checker.render.svg_style import darkening
from antecede.checker.simulate.chart import DARK_OF, LOOKS, Panel, Point, chart
from antecede.checker.simulate.experiment import row_of, runs_of
from antecede.checker.simulate.figures import FIGURES
from antecede.checker.simulate.plots import drawn
from antecede.checker.support import extras
from tests.conftest import ROOT


def marks(drawing: ElementTree.Element) -> list[tuple[float, float]]:
    """Return where the marks of the last series of the first panel stand."""
    axes = next(g for g in drawing.iter() if g.get("id") == "axes_1")
    lines = [g for g in axes if g.get("id", "").startswith("line2d")]
    return [
        (float(use.get("x", 0)), float(use.get("y", 0)))
        for use in lines[-1].iter("{http://www.w3.org/2000/svg}use")
    ]


def test_a_chart_escapes_and_places_what_it_draws() -> None:
    points = [Point(1, 10, 5, 20), Point(10, 1000)]
    panel = Panel("one <", "x < y", "y & x", {"s": points}, log="xy", level=100)
    drawing = ElementTree.fromstring(chart("A & B", [panel], "a note"))
    words = "".join(drawing.itertext())
    for said in ("A & B", "one <", "x < y", "y & x", "a note", "s"):
        assert said in words
    (left, low), (right, high) = marks(drawing)
    assert left < right
    assert low > high  # the vertical axis of SVG points downwards


def test_ten_series_differ_without_their_colours() -> None:
    assert 10 == len({look["color"] for look in LOOKS})
    assert 10 == len({look["marker"] for look in LOOKS})
    assert 4 == len({str(look["linestyle"]) for look in LOOKS})


def test_a_series_looks_the_same_in_every_panel() -> None:
    def panel(*names: str) -> Panel:
        return Panel("", "x", "y", {name: [Point(1, 1), Point(2, 2)] for name in names})

    text = chart("", [panel("a", "b"), panel("b")])
    for look, panels in ((LOOKS[0], 1), (LOOKS[1], 2)):
        joined = re.findall(f'<path d="[^"]*" clip-path[^>]*stroke: {look["color"]}', text)
        assert panels == len(joined)


def test_equal_axes_have_room_for_every_panel() -> None:
    low = Panel("low", "x", "y", {"s": [Point(1, 1)]}, from_zero=True)
    high = Panel("high", "x", "y", {"s": [Point(1, 100)]}, from_zero=True)
    numbers = re.findall(r">(\d+)</text>", chart("", [low, high]))
    assert {"0", "80"} <= set(numbers)


def test_equal_points_give_equal_files() -> None:
    panel = Panel("", "x", "y", {"a": [Point(1, 1)]})
    assert chart("t", [panel]) == chart("t", [panel])


@pytest.mark.parametrize(
    "file",
    [
        "docs/images/table1-seconds.svg",
        "docs/images/table1-unique.svg",
        "benchmarks/figures/speed.svg",
        "benchmarks/figures/memory.svg",
    ],
)
def test_plots_of_the_documentation_follow_the_readers_scheme(file: str) -> None:
    check_scheme((ROOT / file).read_text(encoding="utf-8"))


def test_a_chart_follows_the_readers_scheme() -> None:
    series = {f"s{k}": [Point(1, k, k - 1, k + 1), Point(2, k)] for k in range(1, 12)}
    check_scheme(chart("title", [Panel("p", "x", "y", series, level=2)], "note"))


def check_scheme(text: str) -> None:
    """Check that a picture has no colour that stays light for a reader in the dark."""
    style = darkening(DARK_OF)
    assert style in text
    rest = text.replace(style, "")
    assert set(re.findall("(?:fill|stroke): (#[0-9a-f]+)", rest)) <= set(DARK_OF)
    for words in re.findall("<text[^>]*>", rest):
        assert "fill: #" in words


def test_without_matplotlib_nothing_is_run_and_the_command_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    code = cli.main(["simulate", "--figure", "cykas-6", "--quick", "--svg", "figures"])
    assert 2 == code
    assert "--svg needs Matplotlib" in (err := capsys.readouterr().err)
    assert extras.install_command("plot") in err
    assert [] == list(tmp_path.iterdir())


def test_a_picture_with_cykas_fair_has_both_protocols_over_mfss() -> None:
    grid = FIGURES["fair-6"].grid("fair-6", 1, quick=True)
    few = evolve(grid, scenarios=tuple(evolve(s, actors=20, messages=2) for s in grid.scenarios))
    rows = [row_of(run) for run in runs_of(few, twins=True)]
    text = drawn(few, rows)["fair-6"]
    assert ">cykas-fair<" in text
    assert ">mfss<" not in text
    assert text.count("speedup over MFSS") >= 2
