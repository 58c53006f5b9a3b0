"""The summary of results as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import Command

SPEC = """
title = "{title}"
protocol = "{protocol}"
actors = 3
messages = 2
engine = "plain"
"""


def specs(folder: Path, **titles: str) -> Path:
    for protocol, title in titles.items():
        text = SPEC.format(title=title, protocol=protocol).replace('engine = "plain"\n', "")
        (folder / f"{protocol}.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_summary_has_a_row_per_check_and_a_diagram_of_what_is_wrong(
    antecede: Command, tmp_path: Path
) -> None:
    folder = specs(tmp_path, cbcast="right", unordered="wrong")
    file = tmp_path / "summary.md"
    file.write_text("before\n")
    antecede("check", folder, "--engine", "plain", "--summary", file, "--max-states", 3_000)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n### antecede\n")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert 2 == len([row for row in rows if "toml" in row])
    assert re.search(r"\| ❌ \|.*unordered.*VIOLATED", text)
    (diagram,) = re.findall(r"^```mermaid\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert "sequenceDiagram" in diagram


def test_a_spec_that_cannot_be_read_is_a_row(antecede: Command, tmp_path: Path) -> None:
    specs(tmp_path, cbcast="right")
    (tmp_path / "bad.toml").write_text("protocol = 1\n")
    file = tmp_path / "summary.md"
    antecede("check", tmp_path, "--engine", "plain", "--summary", file, "--max-states", 100)
    text = file.read_text(encoding="utf-8")
    assert re.search(r"\| ⚠️ \|.*bad.*ERROR", text)


def test_names_cannot_be_markup(antecede: Command, tmp_path: Path) -> None:
    specs(tmp_path, unordered="<img src=x> | [a](b) ```` `c`")
    file = tmp_path / "summary.md"
    antecede("check", tmp_path, "--engine", "plain", "--summary", file)
    outside = re.sub(
        r"^(`{3,})\w+\n.*?^\1$", "", file.read_text(encoding="utf-8"), flags=re.S | re.M
    )
    assert "<img" not in outside
    assert "[a](b)" not in outside
