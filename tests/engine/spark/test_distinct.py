"""Rows without duplicates, each with its least note."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark import distinct as module
from antecede.checker.engine.spark.distinct import Part, Scratch, distinct, known

Rows = list[tuple[int, ...]]


def part(rows: Sequence[tuple[int, ...]], notes: Sequence[int]) -> Any:
    return Part(np.array(rows, np.int64).ravel(), np.array(notes, np.int64))


def as_dict(rows: Any, notes: Any, words: int) -> dict[tuple[int, ...], int]:
    keys = list(map(tuple, rows.reshape(-1, words).tolist()))
    assert len(set(keys)) == len(keys) == len(notes)
    return dict(zip(keys, notes.tolist(), strict=True))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    seen = known(part([(key,) * words for key in sorted(held)], []).rows)
    with wrapping():
        assert expected == as_dict(*distinct([*parts, seen], words, Scratch()), words)


def test_the_order_does_not_depend_on_what_the_memory_held() -> None:
    rows = np.random.default_rng(1).integers(500, size=4_000)
    used = Scratch()
    with wrapping():
        distinct([Part(np.arange(9_000), np.arange(9_000))], 1, used)
        first, notes = distinct([Part(rows, np.arange(4_000))], 1, Scratch())
        again, same = distinct([Part(rows, np.arange(4_000))], 1, used)
    assert (first == again).all()
    assert (notes == same).all()


def test_arrays_are_joined_where_the_first_one_is() -> None:
    scratch = Scratch()
    one = scratch.joined("some", np.arange(3), np.arange(2))
    two = scratch.joined("some", one, np.arange(100_000))
    assert [0, 1, 2, 0, 1] == one.tolist()
    assert [0, 1, 2, 0, 1, *range(100_000)] == two.tolist()
    assert [7, 0] == scratch.joined("some", np.array([7]), np.array([0])).tolist()
