"""The pages about agents agree with the tools, and the protocol of the skill does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from antecede.checker.agents.tools import TOOLS, Asked
from antecede.checker.support.settings import settings_of
from tests.conftest import ROOT, Command

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
SKILL = (ROOT / "docs" / "agents" / "SKILL.md").read_text(encoding="utf-8")


def test_the_page_lists_the_tools_with_their_arguments() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    shared = {each.name for each in settings_of(Asked)}
    for tool, (kind, _, _) in TOOLS.items():
        told = set(re.findall(r"`(\w+)`", rows[tool]))
        told = told - {"validate"} | shared if "validate" in told else told
        assert {each.name for each in settings_of(kind)} == told
    assert set(TOOLS) == set(rows)


def test_the_skill_has_a_name_and_a_description() -> None:
    head = SKILL.split("---\n")[1]
    assert ["name", "description"] == [line.partition(":")[0] for line in head.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the protocol and the spec of the skill."""
    protocol, _ = re.findall(r"```python\n(.*?)```", SKILL, re.DOTALL)
    (spec,) = re.findall(r"```toml\n(.*?)```", SKILL, re.DOTALL)
    (tmp_path / "mine.py").write_text(protocol, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(spec, encoding="utf-8")
    return tmp_path


QUICKLY = ("--selfcheck", "off", "--quiet")


def test_the_protocol_of_the_skill_is_violated(antecede: Command, folder: Path) -> None:
    done = antecede("check", "mine.py:PROTOCOL", *QUICKLY, cwd=folder)
    assert (1, "mine.py:PROTOCOL: VIOLATED\n") == (done.code, done.out)


def test_the_repair_of_the_skill_holds_and_fits_its_spec(antecede: Command, folder: Path) -> None:
    _, repair = re.findall(r"```python\n(.*?)```", SKILL, re.DOTALL)
    broken = (folder / "mine.py").read_text(encoding="utf-8")
    repaired, number = re.subn(r"    while .*\n", repair, broken)
    assert 1 == number
    (folder / "mine.py").write_text(repaired, encoding="utf-8")
    assert 0 == antecede("check", "mine.toml", *QUICKLY, cwd=folder).code
