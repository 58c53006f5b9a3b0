"""docs/bounds.md and its picture show the stored results, which fresh searches find again."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.support.sources import bare
from benchmarks.drawings import chart_in_short
from benchmarks.smallest import (
    CHART,
    DATA,
    PAGE,
    counted_bugs,
    every_bug,
    figure,
    free_choice,
    page,
    searched,
    wrapped,
)
from tests.conftest import ROOT, Command

STORED: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
BUGS = counted_bugs(STORED["bugs"])


def test_the_page_is_made_of_the_stored_results() -> None:
    assert wrapped(page(STORED, STORED["left"])) == PAGE.read_text(encoding="utf-8")


@pytest.mark.integration
def test_the_stored_results_are_of_all_bugs_and_of_their_present_code() -> None:
    """If this fails, run benchmarks/smallest.py: it searches the new and the changed bugs."""
    bugs, left = every_bug()
    stored = {row["key"]: row["digest"] for row in STORED["bugs"]}
    assert {bug.key: bug.digest() for bug in bugs} == stored
    assert left == STORED["left"]


def test_a_digest_depends_on_code_and_not_on_comments() -> None:
    source = 'x = 1  # one\n\n\ndef f():\n    """Return it."""\n    return "# 2"\n'
    assert bare(source) == 'x = 1\ndef f():\n    return "# 2"'
    bug = every_bug()[0][-1]
    other = evolve(bug, delivery=("integrity",))
    assert bug.digest() != other.digest()


FREE_ROWS = re.findall(r"^\| (\d x \d) \| [^|]+ \| (\d+) \|", PAGE.read_text(), re.MULTILINE)


@pytest.mark.parametrize(("size", "number"), FREE_ROWS)
def test_the_bugs_that_free_choice_reveals_can_be_counted_again(size: str, number: str) -> None:
    free = [row["free"][size] for row in BUGS if size in row.get("free", {})]
    assert int(number) == sum(found["verdict"] in ("VIOLATED", "ERROR") for found in free)


FREE_CHECKS = [
    (row, size, found)
    for row in BUGS
    for size, found in row.get("free", {}).items()
    if size != "3 x 3" and found.get("states", 0) in range(1, 3_000)
][::25]


@pytest.mark.parametrize(("row", "size", "found"), FREE_CHECKS)
def test_a_fresh_check_with_free_choice_finds_the_stored_result(
    row: dict[str, Any], size: str, found: dict[str, Any]
) -> None:
    (bug,) = [each for each in every_bug()[0] if each.key == row["key"]]
    actors, messages = map(int, size.split(" x "))
    fresh = free_choice(bug, {**row, "free": {}}, actors, messages)
    assert fresh["verdict"] == found["verdict"]


@pytest.mark.parametrize("messages", [1, 3, 5])
def test_a_share_of_the_table_can_be_counted_again(messages: int) -> None:
    """Among up to three actors, judged by deliveries: the third cell of a row."""
    revealed = [
        bug
        for bug in BUGS
        if [
            bound
            for bound in bug["deliveries"]["bounds"]
            if bound["messages"] <= messages and bound["actors"] <= 3
        ]
    ]
    text = PAGE.read_text(encoding="utf-8")
    (line,) = re.findall(rf"^\| {messages} \|.*%.*$", text, re.MULTILINE)
    assert f"{100 * len(revealed) / len(BUGS):.0f} %" == line.split(" | ")[2]


def test_a_bound_that_is_stored_fits_its_script() -> None:
    for bug in BUGS:
        for bound in bug["deliveries"]["bounds"] + bug["invariants"]["bounds"]:
            script = json.loads(bound["workload"].removeprefix("script:"))
            assert bound["actors"] == len(script)
            assert bound["messages"] == sum(map(len, script))


def test_of_two_bounds_of_a_bug_none_includes_the_other() -> None:
    for bug in STORED["bugs"]:
        bounds = sorted(bug["deliveries"]["bounds"], key=lambda bound: bound["actors"])
        messages = [bound["messages"] for bound in bounds]
        assert messages == sorted(set(messages), reverse=True)


def test_the_chart_shows_the_stored_results() -> None:
    text = CHART.read_text(encoding="utf-8")
    assert chart_in_short(figure(BUGS)) == text
    assert chart_in_short(figure(BUGS[: len(BUGS) * 9 // 10])) != text


# Fresh runs


@pytest.mark.integration
def test_the_first_command_of_the_page_finds_the_bug_of_the_readme(
    antecede: Command, tmp_path: Path
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (chat,) = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    (tmp_path / "chat.py").write_text(chat)
    (command, *_) = re.findall(r"^antecede (.*--smallest.*)$", PAGE.read_text(), re.MULTILINE)
    ran = antecede(*shlex.split(command), cwd=tmp_path)
    assert 0 == ran.code, ran.err
    assert "VIOLATED at 2 messages among 2 actors" in ran.out


def test_the_bug_that_3_x_3_does_not_reveal_is_found_as_the_page_says(antecede: Command) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (command,) = re.findall(r"^antecede (check cykas-yct-acked .*)$", page, re.MULTILINE)
    (length,) = re.findall(r"violates causal delivery after (\d+)\s+transitions", page)
    ran = antecede(*shlex.split(command))
    assert 0 == ran.code
    assert f", after {length} transitions" in ran.out


QUICK = [each for each in BUGS if each["seconds"] <= 0.4][::4]


@pytest.mark.parametrize("stored", QUICK, ids=lambda each: each["key"])
def test_a_fresh_search_finds_the_stored_bounds(stored: dict[str, Any]) -> None:
    (bug,) = [each for each in every_bug()[0] if each.key == stored["key"]]
    found = searched(bug)
    for judged in ("deliveries", "invariants"):
        assert stored[judged] == found[judged]
