"""Charts: their parts, distinguishable series, and dark colours."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from attrs import evolve

from antecede import cli
from antecede.checker.papers.simulate.chart import DARK_OF, LOOKS, Chart, Panel, Point
from antecede.checker.papers.simulate.experiment import row_of, runs_of
from antecede.checker.papers.simulate.figures import FIGURES
from antecede.checker.papers.simulate.plots import drawn
from antecede.checker.render.svg_style import darkening
from antecede.checker.support import extras
from benchmarks import drawings


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
    drawing = ElementTree.fromstring(Chart("A & B", [panel], "a note").svg())
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

    text = Chart("", [panel("a", "b"), panel("b")]).svg()
    for look, panels in ((LOOKS[0], 1), (LOOKS[1], 2)):
        joined = re.findall(f'<path d="[^"]*" clip-path[^>]*stroke: {look["color"]}', text)
        assert panels == len(joined)


def test_equal_axes_have_room_for_every_panel() -> None:
    low = Panel("low", "x", "y", {"s": [Point(1, 1)]}, from_zero=True)
    high = Panel("high", "x", "y", {"s": [Point(1, 100)]}, from_zero=True)
    numbers = re.findall(r">(\d+)</text>", Chart("", [low, high]).svg())
    assert {"0", "80"} <= set(numbers)


def test_equal_points_give_equal_files() -> None:
    panel = Panel("", "x", "y", {"a": [Point(1, 1)]})
    assert Chart("t", [panel]).svg() == Chart("t", [panel]).svg()


KEPT = [file for file in drawings.sources() if drawings.is_chart(file)]


def test_a_chart_in_short_form_is_read_as_it_was_written() -> None:
    """The tests of the site draw them."""
    assert len(KEPT) > 10
    for file in KEPT:
        made = drawings.chart_in(file)
        assert drawings.chart_in_short(made) == file.read_text(encoding="utf-8")


def test_the_charts_that_pages_embed_are_those_of_the_short_forms() -> None:
    embedded = [file for file in KEPT if file.with_suffix(".svg").exists()]
    assert embedded
    for file in embedded:
        picture = file.with_suffix(".svg").read_text(encoding="utf-8")
        assert file.with_suffix(".svg") in drawings.embedded()
        assert words(drawings.drawn(file)) == words(picture)
        assert points(drawings.drawn(file)) == pytest.approx(points(picture), abs=0.005)


def test_other_numbers_give_other_points() -> None:
    file = next(file for file in KEPT if file.stem == "processes-5")
    chart = drawings.chart_in(file)
    assert isinstance(chart, Chart)
    (panel,) = chart.panels
    series = {name: [Point(p.x, p.y + p.x) for p in each] for name, each in panel.series.items()}
    other = evolve(chart, panels=[evolve(panel, series=series)]).svg()
    assert points(other) != pytest.approx(points(drawings.drawn(file)), abs=0.005)


def words(picture: str) -> list[str]:
    """Return the texts in a picture."""
    texts = ElementTree.fromstring(picture).itertext()
    return [text.strip() for text in texts if text.strip()]


def points(picture: str) -> list[float]:
    """Return the positions on the lines of a picture, as shares of their frames' sizes.

    Versions of Matplotlib leave different amounts of space around the frames.
    """
    rectangle = r'<clipPath id="(.*?)">\s*<rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/>'
    frames = {name: [*map(float, sizes)] for name, *sizes in re.findall(rectangle, picture)}
    shares = []
    for line, frame in re.findall(r'<path d="([^"]*)" clip-path="url\(#(.*?)\)"', picture):
        left, top, width, height = frames[frame]
        for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", line):
            shares += [(float(x) - left) / width, (float(y) - top) / height]
    return shares


def test_a_chart_follows_the_readers_scheme() -> None:
    series = {f"s{k}": [Point(1, k, k - 1, k + 1), Point(2, k)] for k in range(1, 12)}
    check_scheme(Chart("title", [Panel("p", "x", "y", series, level=2)], "note").svg())


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
