"""The scripts in benchmarks/ print their help, and the table of default options is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from antecede.checker.support.registry import protocol_names
from benchmarks.defaults import checks, facts, result, rows_of
from tests.conftest import ROOT

SCRIPTS = [
    file
    for file in sorted((ROOT / "benchmarks").glob("*.py"))
    if "__main__" in file.read_text(encoding="utf-8")
]
ROWS = rows_of((ROOT / "benchmarks/README.md").read_text(encoding="utf-8"))
SMALL = 1_000
"""Rows with fewer total states are checked again."""


@pytest.mark.integration
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_prints_its_help_and_measures_nothing(script: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(script), "--help"], capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("usage: ")


def test_the_table_of_default_options_has_each_protocol_at_two_sizes() -> None:
    assert [check for name in protocol_names() for check in checks(name)] == list(ROWS)


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS.values() if int(row[3].replace(",", "")) < SMALL],
    ids=lambda row: row[0],
)
def test_a_row_of_the_table_has_the_verdict_and_the_counts_of_a_new_check(row: list[str]) -> None:
    assert row[:4] == facts(row[0], result(row[0]))


def cells(text: str, containing: str) -> list[list[str]]:
    """Return the rows of the table of a page whose head contains a text."""
    (table,) = (
        each for each in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE) if containing in each
    )
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]


def wrong_speeds(readme: str) -> list[str]:
    """Return the speeds in README.md that the comparison with Spin did not measure."""
    page = (ROOT / "benchmarks/README.md").read_text(encoding="utf-8")
    measured = {(row[0].rsplit(" ", 1)[0], row[1]): row[-1] for row in cells(page, "times Spin")}
    (_, *systems), _, one, default = cells(readme, "MFSS 3x3")
    return [
        f"{system}, {by}: {told}"
        for by, row in (("--threads 1", one), ("default options", default))
        for system, told in zip(systems, row[1:], strict=True)
        if measured[system.lower(), f"antecede{', ' if by[0] == 'd' else ' '}{by}"] != told
    ]


def test_the_speeds_in_the_readme_are_those_of_the_comparison_with_spin() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [] == wrong_speeds(readme)
    assert ["MFSS 3x3, --threads 1: 8.00"] == wrong_speeds(readme.replace("3.23", "8.00"))
