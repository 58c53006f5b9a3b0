"""Annotations for GitHub Actions: their texts and places."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, Command

BROKEN = (ROOT / "protocols" / "unordered.py").read_text(encoding="utf-8")
SIZE = ("--actors", "2", "--engine", "plain")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a protocol that is broken, and a spec that is."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (tmp_path / "mine.py").write_text(BROKEN)
    (tmp_path / "bad,1.toml").write_text('protocol = "mine.py"\nacters = 2\n')
    return tmp_path


def marks(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("::")]


def test_a_violation_is_marked_at_the_handler_with_its_steps(
    antecede: Command, project: Path
) -> None:
    ran = antecede("check", "mine.py", *SIZE, cwd=project)
    (line,) = marks(ran.out)
    start = "::error file=mine.py,line="
    assert line.startswith(start)
    assert "title=antecede%3A causal-delivery::" in line
    assert "%0A1. " in line
    first = int(line.removeprefix(start).split(",")[0])
    assert BROKEN.splitlines()[first - 1].startswith("def receive(")


def test_a_spec_that_cannot_be_read_is_marked_and_its_name_is_escaped(
    antecede: Command, project: Path
) -> None:
    ran = antecede("check", "bad,1.toml", cwd=project)
    assert 2 == ran.code
    (line,) = marks(ran.out)
    assert line.startswith("::error file=bad%2C1.toml,line=1,")
    assert "did you mean 'actors'?" in line


def test_an_unfinished_search_is_a_warning(antecede: Command, project: Path) -> None:
    ran = antecede("check", "mfss", *SIZE, "--max-states", "9", cwd=project)
    (line,) = marks(ran.out)
    assert line.startswith("::warning title=")


def test_marks_are_made_in_jobs_of_github_only(
    antecede: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("check", "unordered", *SIZE)
    assert 1 == len(marks(antecede(*asked, cwd=project).out))
    assert [] == marks(antecede("check", "mfss", *SIZE, cwd=project).out)
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert [] == marks(antecede(*asked, cwd=project).out)


def test_marks_leave_json_on_standard_output_alone(antecede: Command, project: Path) -> None:
    ran = antecede("check", "unordered", *SIZE, "--json", "-", cwd=project)
    assert [] == marks(ran.out)
    assert 1 == len(marks(ran.err))
