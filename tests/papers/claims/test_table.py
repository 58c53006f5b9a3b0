"""The verification table of the Cykas paper."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.targets import targets_of
from antecede.checker.model import Step
from antecede.checker.papers.claims import table
from antecede.checker.papers.claims.table import PAPER, SPECS, specs
from antecede.protocols.mfss import MFSS
from tests.conftest import Command


@pytest.mark.integration
def test_the_table_agrees_with_the_paper_on_all_verdicts(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "PAPER_BOUNDS", (3, 2))  # 3x3 takes longer
    file = tmp_path / "table.json"
    ran = antecede("table", "--bounds", "3x2", "--format", "json", "--output", file, "--quiet")
    assert 0 == ran.code
    found = json.loads(file.read_text())
    assert found == json.loads(ran.out)
    assert found["verdicts_agree"]
    assert ["HOLDS", "VIOLATED", "HOLDS"] == [row["verdict"] for row in found["rows"]]
    assert [6_859, 18_103, 52_521] == [row["unique_states"] for row in found["rows"]]
    assert [30_325, 61_585, 221_935] == [row["total_states"] for row in found["rows"]]
    assert [527, 13, 1_945] == [row["paper_unique_states_in_millions"] for row in found["rows"]]


@pytest.mark.integration
def test_symmetry_does_not_change_the_counts_of_the_table(antecede: Command) -> None:
    asked = ("table", "--bounds", "3x1", "--format", "csv", "--quiet", "--engine", "local")
    one, other = (antecede(*asked, option).out for option in ("--symmetry", "--no-symmetry"))
    ours = ["protocol", "history", "total_states", "unique_states", "depth", "verdict"]
    rows = [[row[key] for key in ours] for row in csv.DictReader(one.splitlines())]
    assert rows == [[row[key] for key in ours] for row in csv.DictReader(other.splitlines())]


def test_a_verdict_that_is_not_the_paper_s_exits_1(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "PAPER_BOUNDS", (3, 1))
    # One message each is too few for the run of Figure 3.
    assert 1 == antecede("table", "--bounds", "3x1", "--engine", "plain", "--quiet").code


def test_rows_whose_handler_fails_exit_2(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = evolve(MFSS, receive=lambda *_: Step(1 / 0))
    monkeypatch.setattr(table, "check", partial(check, protocol=fails))
    ran = antecede("table", "--bounds", "2x1", "--engine", "plain", "--quiet")
    assert 2 == ran.code
    assert 3 == ran.out.count("ERROR")


def test_rows_that_hit_a_bound_say_incomplete_and_what_was_reached(antecede: Command) -> None:
    ran = antecede(
        *("table", "--bounds", "3x2", "--engine", "plain", "--max-states", "500", "--quiet")
    )
    assert 3 == ran.code
    assert 3 == ran.out.count("INCOMPLETE (--max-states 500 reached)")


def test_all_encodings_make_three_rows_each(antecede: Command) -> None:
    ran = antecede(
        *("table", "--bounds", "2x1", "--engine", "plain", "--history", "all"),
        *("--format", "markdown", "--quiet"),
    )
    rows = [line for line in ran.out.splitlines() if line.startswith("|")]
    assert 2 + 9 == len(rows)
    assert rows[2].startswith("| MFSS | knowledge | ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--bounds", "3by3"), "bounds '3by3' (ACTORSxMESSAGES, such as 3x3)"),
        (("--history", "vector"), "unknown history 'vector'; available: knowledge, clocks, full"),
        (("--output", "no/table.txt"), "cannot write to 'no/table.txt'"),
        (("--resume", "."), "the table makes several"),
    ],
)
def test_wrong_input_is_refused_before_any_search(
    antecede: Command, arguments: tuple[str, ...], text: str
) -> None:
    ran = antecede("table", *arguments)
    assert 2 == ran.code
    assert text in ran.err


def test_the_specs_of_the_table_are_those_of_the_folder() -> None:
    assert set(PAPER) == {spec.protocol for spec in targets_of([str(SPECS)]).strictly()}
    expected = {spec.protocol: spec.expect for spec in targets_of([str(SPECS)]).strictly()}
    rows = specs({"actors": 3, "messages": 3}, ["clocks"])
    assert expected == {spec.protocol: spec.expect for spec in rows}


def test_small_bounds_do_not_violate_what_they_cannot_show(antecede: Command) -> None:
    """With one message per actor no actor has to wait, and no message can be overtaken."""
    ran = antecede("table", "--bounds", "3x1", "--format", "json", "--quiet")
    rows = json.loads(ran.out)["rows"]
    assert ["HOLDS", "HOLDS", "HOLDS"] == [row["verdict"] for row in rows]
    assert 0 == ran.code  # the paper's second row is violated, but within 3x3


def test_figures_of_other_bounds_are_named_and_not_compared(antecede: Command) -> None:
    asked = ("table", "--bounds", "3x1", "--engine", "plain", "--quiet", "--format")
    out = antecede(*asked, "text").out
    assert "paper 3x3: total / unique" in out.splitlines()[0]
    assert "Our columns are for 3x1 (actors x messages per actor), and the paper's for 3x3." in out
    found = json.loads(antecede(*asked, "json").out)
    assert ("3x3", None) == (found["paper_bounds"], found["verdicts_agree"])
    assert [None] * 3 == [row["agrees"] for row in found["rows"]]
