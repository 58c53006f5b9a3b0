"""Rows without duplicates, each with its least note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.spark import distinct as module
from antecede.checker.spark.distinct import Gathered, Scratch, distinct, known
from antecede.checker.tables.table_filler import wrapping

Rows = list[tuple[int, ...]]


def part(rows: Sequence[tuple[int, ...]], notes: Sequence[int]) -> Any:
    return np.array(rows, np.int64).ravel(), np.array(notes, np.int64)


def as_dict(rows: Any, notes: Any, words: int) -> dict[tuple[int, ...], int]:
    keys = list(map(tuple, rows.reshape(-1, words).tolist()))
    assert len(set(keys)) == len(keys) == len(notes)
    return dict(zip(keys, notes.tolist(), strict=True))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    words=st.integers(1, 3),
    drawn=st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(-5, 5)))),
    held=st.sets(st.integers(0, 40)),
    in_a_bucket=st.sampled_from([1, 7, 1 << 14]),
)
def test_of_equal_rows_one_is_kept_with_its_least_note(
    words: int,
    drawn: list[list[tuple[int, int]]],
    held: set[int],
    in_a_bucket: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "IN_A_BUCKET", in_a_bucket)
    expected: dict[tuple[int, ...], int] = {}
    for key, note in (pair for some in drawn for pair in some):
        if key not in held:
            row = (key,) * words
            expected[row] = min(note, expected.get(row, note))
    parts = [part([(key,) * words for key, _ in some], [n for _, n in some]) for some in drawn]
    seen = known(part([(key,) * words for key in sorted(held)], [])[0])
    with wrapping():
        assert expected == as_dict(*distinct([*parts, seen], words, Scratch()), words)


def test_the_order_does_not_depend_on_what_the_memory_held() -> None:
    rows = np.random.default_rng(1).integers(500, size=4_000)
    used = Scratch()
    with wrapping():
        distinct([(np.arange(9_000), np.arange(9_000))], 1, used)
        first, notes = distinct([(rows, np.arange(4_000))], 1, Scratch())
        again, same = distinct([(rows, np.arange(4_000))], 1, used)
    assert (first == again).all()
    assert (notes == same).all()


def test_what_is_gathered_is_given_away_once() -> None:
    chance, scratch = np.random.default_rng(2), Scratch()
    gathered = [Gathered(name, np.int64, 2, scratch) for name in ("one", "other")]
    for _ in range(3):
        expected = []
        for size in (30, 0, 500):
            rows, notes = chance.integers(12, size=(size, 2)), chance.integers(9, size=size)
            expected.append((rows, notes))
            for one in gathered:
                one.add(rows.ravel(), notes)
        for one in gathered:
            found, notes = one.taken()
            assert (np.concatenate([rows for rows, _ in expected]).ravel() == found).all()
            assert (np.concatenate([notes for _, notes in expected]) == notes).all()
            assert 0 == one.count
