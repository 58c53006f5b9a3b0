"""The table of benchmarks/classes.md shows the stored results, which fresh runs find again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.classes import DATA, PAGE, digest, enumerated, row, table
from benchmarks.page import part

STORED: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))


def test_the_table_is_made_of_the_stored_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert table(dict(sorted(STORED.items()))) == part(text, "table")


@pytest.mark.integration
@pytest.mark.parametrize("name", ["fifo", "unordered"])
def test_a_fresh_run_finds_the_row_of_the_table(name: str) -> None:
    assert row(name, enumerated(name)) in PAGE.read_text(encoding="utf-8")


def test_the_results_are_those_of_the_protocols_of_today() -> None:
    assert {} == {name: digest(name) for name in STORED if digest(name) != STORED[name]["digest"]}


def test_the_page_says_where_mfss_rst_and_cykas_lie() -> None:
    assert ["1-n", "mailbox"] == STORED["mfss"]["exactly"]
    assert ["causal"] == STORED["rst"]["exactly"]
    assert "mailbox" == STORED["cykas"]["contained"][-1]
    assert "causal" == STORED["cykas"]["containing"][0]
    assert [] == STORED["cykas"]["exactly"]
