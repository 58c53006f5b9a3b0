"""`antecede simulate`, from the command line to files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import attrs
import pytest

from antecede import cli
from antecede.checker.papers.simulate import command, report
from antecede.checker.papers.simulate.figures import Grid
from antecede.checker.papers.simulate.scenario import Scenario
from tests.conftest import Command

SMALL = ["--actors", "4,6", "--messages", "5", "--seeds", "6", "--workers", "1", "--quiet"]


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["simulate", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.integration
def test_a_grid_is_run_once_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "rows.jsonl")
    grid = ["mfss,cykas", *SMALL, "--set", "delay=1ms,5ms", "--output", file]
    code, first, _ = simulated(capsys, *grid)
    assert 0 == code
    assert f"48 runs, saved in {file}\n" in first
    assert 2 * 2 * 2 == len([line for line in first.splitlines() if "ms   " in line[:20]])
    _, second, _ = simulated(capsys, *grid)
    assert "; 48 of the rows were there before" in second
    assert first.splitlines()[2:] == second.splitlines()[2:]
    _, _, begun = simulated(capsys, *(word for word in grid if word != "--quiet"))
    assert begun.startswith(f"The rows of all runs go to {file}.\n")


def test_the_report_says_what_is_divided_by_what_and_who_is_faster() -> None:
    base = {"seed": 1, "actors": 4, **attrs.asdict(Scenario(actors=4))}
    rows = [
        {**base, "protocol": "mfss", "execution_ns": 1_344},
        {**base, "protocol": "cykas", "execution_ns": 1_042},
    ]
    grid = Grid("asked", "", ("mfss", "cykas"), (Scenario(actors=4),))
    (text,) = report.faster(rows, grid)
    assert (
        "cykas / mfss, times: the execution time of cykas, divided by the execution time of mfss "
        "for the same program. cykas is faster."
    ) == " ".join(text.split())


def test_rows_are_written_as_parquet_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyarrow import parquet

    file, columns = tmp_path / "rows.jsonl", tmp_path / "rows.parquet"
    files = ["--output", str(file), "--parquet", str(columns)]
    assert 0 == simulated(capsys, "rst", *SMALL, *files)[0]
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    table = parquet.read_table(columns).to_pylist()
    order = [(row["seed"], row["actors"]) for row in table]
    assert sorted(order) == order
    assert sorted(rows, key=str) == sorted(table, key=str)


def test_the_three_figures_of_a_paper_are_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--actors", "10", "--messages", "3", "--seeds", "1", "--workers", "1", "--quiet"]
    files = ["--output", str(tmp_path / "rows.jsonl")]
    code, out, _ = simulated(
        capsys, "--figure", "cykas", "--quick", *small, "--set", "hotspots=0", *files
    )
    assert 0 == code
    titles = [line for line in out.splitlines() if line.startswith("Cykas paper, Figure")]
    assert ["4", "5", "6"] == [title.split()[3].rstrip(":") for title in titles]
    assert "UNDECIDED" not in out
    assert 3 == " ".join(out.split()).count("because it runs smaller programs than the paper")


def test_a_run_that_violates_its_promise_is_told_and_changes_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = simulated(capsys, "newtop", *SMALL, "--output", str(tmp_path / "rows.jsonl"))
    assert 1 == code
    assert "newtop: 12 runs have no figures; with 4 actors and seed 1: all-delivered:" in out


RAISES = """
from attrs import evolve
from antecede.protocols import mfss

def raises(*arguments):
    raise ValueError("a bug")

PROTOCOL = evolve(mfss.MFSS, name="raises", causal_send=raises)
"""


def test_a_handler_that_raises_is_wrong_input_also_for_the_next_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    names = f"{tmp_path / 'raises.py'},newtop"
    for _ in range(2):
        code, out, _ = simulated(capsys, names, *SMALL, "--output", str(tmp_path / "rows.jsonl"))
        assert 2 == code
        assert "a bug" in out


def test_a_violation_of_causality_is_not_as_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jitter = ["--set", "jitter=40ms", "--set", "interval=1ms"]
    grid = ["unordered,mfss", *SMALL, *jitter, "--output", str(tmp_path / "rows.jsonl")]
    code, out, _ = simulated(capsys, *grid)
    assert 1 == code
    assert "unordered does not keep causal order:" in out
    assert "mfss does not" not in out
    again, same, _ = simulated(capsys, *grid)
    assert (code, out.splitlines()[1:]) == (again, same.splitlines()[1:])


def test_a_figure_may_have_a_control(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--actors", "6", "--messages", "9", "--set", "jitter=400ms", "--set", "reacting=50%"]
    files = ["--workers", "1", "--quiet", "--output", str(tmp_path / "rows.jsonl")]
    figure = ["--figure", "hybrid-broadcast", "--seeds", "1", *given, *files]
    code, out, _ = simulated(capsys, *figure)
    assert 0 == code
    assert "unordered is a control:" in out


@pytest.mark.integration
def test_a_quick_figure_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--actors", "10", "--messages", "4", "--seeds", "2", "--workers", "1", "--quiet"]
    for figure in ("cykas-4", "cykas-5"):
        files = ["--output", str(tmp_path / "rows.jsonl"), "--svg", str(tmp_path / "figures")]
        code, _, _ = simulated(capsys, "--figure", figure, "--quick", *small, *files)
        assert 0 == code
        text = (tmp_path / "figures" / f"{figure}.svg").read_text()
        words = "".join(ElementTree.fromstring(text).itertext())
        assert "Medians of 2 programs" in words
        assert {"cykas-4": "rst", "cykas-5": "average job start time"}[figure] in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "there is nothing to simulate; name protocols, or a --figure"),
        (["mfs"], "did you mean 'mfss'"),
        (["mfss", "--set", "delay=5"], "give a time such as"),
        (["mfss", "--set", "delay="], "delay is ''; give a time such as"),
        (["mfss", "--set", "dellay=1ms"], "unknown parameter 'dellay'; did you mean 'delay'"),
        (["mfss", "--set", "delay"], "--set is 'delay'; give NAME=VALUE"),
        (["mfss", *["--set", "job-share=0"] * 2], "job share is set twice; give a list"),
        (["mfss", "--actors", "3", "--set", "actors=4"], "actors is set twice"),
        (["mfss", "--quick"], "--quick is for --figure"),
        (["--figure", "cykas-5", "--set", "delay=1ms,2ms"], "give one value of a parameter"),
        (["mfss", "--svg", "x"], "--svg is for --figure"),
        (["mfss", "--master", "local[2]"], "--master is for --on spark"),
        (["mfss", "--on", "spark", "--workers", "2"], "--workers is for --on here"),
        (["mfss", "--set", "workload=requests", "--actors", "3"], "at least 4 actors"),
        (["mfss", "--output", "/nowhere/rows.jsonl"], "there is no folder '/nowhere'"),
        (["mfss", "--actors", "5000", "--messages", "1000000"], "more than 10,000,000"),
    ],
)
def test_what_cannot_be_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = simulated(capsys, *arguments)
    assert 2 == code
    assert sentence in err
    assert "" == out
    assert [] == list(tmp_path.iterdir())


def test_a_file_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"protocol": "mfss"}\n')
    code, _, err = simulated(capsys, "mfss", *SMALL, "--output", str(file))
    assert 2 == code
    assert "line 1: no row of simulate; give another file" in err


@pytest.mark.parametrize(("codes", "code"), [((3, 1, 0), 1), ((3, 2, 1), 2), ((0, 3, 0), 3)])
def test_the_most_urgent_exit_code_of_several_figures_counts(
    codes: tuple[int, int, int],
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = iter([command.Found([], "", each) for each in codes])
    monkeypatch.setattr(command, "run", lambda *_given, **_more: next(found))
    rows = str(tmp_path / "rows.jsonl")
    assert code == simulated(capsys, "--figure", "cykas", "--quick", "--output", rows)[0]


@pytest.mark.parametrize(
    ("options", "jobs", "intervals"),
    [(("--seeds", 1), False, False), (("--seeds", 6, "--set", "job-share=0.5"), True, True)],
)
def test_the_legend_explains_only_what_the_table_shows(
    options: tuple[object, ...], jobs: bool, intervals: bool, antecede: Command, tmp_path: Path
) -> None:
    size = ("--actors", 3, "--messages", 4, "--workers", 1)
    out = antecede("simulate", "fifo", *size, *options, cwd=tmp_path).out
    explained = [f"\n{start}" in out for start in ("execution: ", "job start: ", "[a, b]: ")]
    assert [True, jobs, intervals] == explained
    assert "\nlatency: " in out
    assert "\ncontrol B/message: " in out
