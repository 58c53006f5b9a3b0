"""The campaign of smallest bounds: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede.checker.model import Property
from antecede.checker.sweep.renamings import Renamings
from tests.campaigns.smallest import compare_smallest


def wrong(folder: Path, *, cases: int, first: int = 0) -> Iterator[str]:
    for number in range(first, first + cases):
        yield from compare_smallest(f"9/{number}", folder, Counter())


def learns_nothing(*_call: object) -> None:
    """Compare no call."""


def unwatched(_self: Renamings, prop: Property) -> Property:
    return prop


def test_renamed_scripts_that_are_left_out_have_no_smaller_bound(tmp_path: Path) -> None:
    assert [] == [*wrong(tmp_path, cases=10)]


@pytest.mark.parametrize(
    ("name", "seeded", "first"),  # where to begin, shortly before a case that shows the bug
    [("_learn_receive", learns_nothing, 366), ("_watched", unwatched, 20)],
)
def test_a_call_that_is_not_compared_is_found(
    name: str, seeded: object, first: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Renamings, name, seeded)
    assert any(wrong(tmp_path, cases=80, first=first))
