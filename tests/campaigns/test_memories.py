"""The campaign of handlers with memory: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede.checker.check import pipeline
from antecede.checker.purity import effects, selfcheck
from tests.campaigns.memories import CLOCKS, cache, compare_memories


def differences(folder: Path, first: int = 0, cases: int = 300) -> Iterator[str]:
    """Yield the differences of some cases; the tests begin shortly before one that shows a bug."""
    for number in range(first, first + cases):
        yield from compare_memories(f"memory/{number}", folder, Counter())


@pytest.mark.integration
def test_handlers_with_memory_are_right_or_refused(tmp_path: Path) -> None:
    assert [] == list(differences(tmp_path, cases=25))
    assert [] == list(tmp_path.iterdir())


def test_a_memory_that_changes_verdicts_would_be_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pipeline, "repeat_afresh", lambda _protocol, _again: None)
    assert next(differences(tmp_path, 75))
    assert "difference(CASE," in next(tmp_path.iterdir()).read_text()


@pytest.mark.integration
def test_a_clock_that_is_not_refused_would_be_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(effects, "REFUSED", {})
    monkeypatch.setattr(effects, "_IN_PYTHON", {})
    assert next(each for each in differences(tmp_path) if each.splitlines()[0].endswith(CLOCKED))


CLOCKED = tuple(f", {clock}" for clock in CLOCKS)


@pytest.mark.integration
def test_a_refusal_of_a_right_cache_would_be_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(watch: selfcheck._Watch) -> None:
        if cache:
            raise watch._error((), "changes a variable")

    monkeypatch.setattr(selfcheck._Watch, "look_back", refuse)
    assert any("all arguments" in each for each in differences(tmp_path, 40))
