"""docs/protocols.md: its costs and verdicts are those of fresh checks."""

from __future__ import annotations

import re

import pytest

from antecede.checker.support.registry import protocol_names
from benchmarks.page import part
from benchmarks.protocols import NETWORKS, PAGE, cell, cost

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [row.strip("| ").split(" | ") for row in part(TEXT, "costs").strip().splitlines()[2:]]


def test_each_protocol_has_a_row_and_a_section() -> None:
    names = [f"[{name}](#{name})" for name in protocol_names()]
    assert names == [row[0] for row in ROWS]
    assert list(protocol_names()) == re.findall(r"^## ([a-z][\w-]*)$", TEXT, re.MULTILINE)


@pytest.mark.integration
@pytest.mark.parametrize("name", ["fifo", "mfss", "tree-figure-1"])
def test_the_costs_on_the_page_are_those_of_a_fresh_measurement(name: str) -> None:
    (row,) = [row for row in ROWS if row[0] == f"[{name}](#{name})"]
    assert list(cost(name)) == row


@pytest.mark.parametrize(("name", "network"), [("mfss", "unordered"), ("tree", "fifo")])
def test_a_verdict_on_the_page_is_that_of_a_fresh_check(name: str, network: str) -> None:
    section = TEXT.partition(f"\n## {name}\n")[2]
    (cells,) = re.findall(r"^\| --- .*\n\| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE)
    assert cells.split(" | ")[NETWORKS.index(network)] == cell(name, network)[0]
