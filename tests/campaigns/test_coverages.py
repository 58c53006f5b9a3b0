"""The campaign of coverages: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from antecede.checker.semantics import tracing
from tests.campaigns.coverages import compare_coverages

CASES = [f"3/{number}" for number in range(3)]


def wrong(folder: Path) -> list[str]:
    return [text for seed in CASES for text in compare_coverages(seed, folder, Counter())]


def test_traced_lines_are_those_that_note_themselves(tmp_path: Path) -> None:
    assert [] == wrong(tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_tracer_that_stops_too_early_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lines_of_first_calls(self: tracing.Tracer, frame: object, event: str, _arg: object) -> None:
        return None

    monkeypatch.setattr(tracing.Tracer, "_called", lines_of_first_calls)
    assert wrong(tmp_path)
