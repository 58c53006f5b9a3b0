"""Data are read as they were written, and nothing but data is written or read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.tables.encoding import SMALL, decoded, encoded, from_bytes, to_bytes

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.text())
DATA = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(DATA)
def test_data_are_read_as_they_were_written(value: Any) -> None:
    assert value == from_bytes(to_bytes(value))


@pytest.mark.parametrize("count", [0, 1, SMALL, SMALL + 1, 1000])
@pytest.mark.parametrize("kind", [np.int64, np.uint16, np.int32, np.bool_])
def test_arrays_keep_their_kind_and_shape(count: int, kind: Any) -> None:
    array = (np.arange(2 * count) % 2).astype(kind).reshape(2, count)

    first, again = from_bytes(to_bytes([array, {"other": (array,)}]))

    for found in (first, again["other"][0]):
        assert (array.dtype, array.shape) == (found.dtype, found.shape)
        assert array.tolist() == found.tolist()


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", np.array([None]), print])
def test_what_is_no_data_is_not_written(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="no data"):
        to_bytes({"here": [value]})


@pytest.mark.parametrize(
    "written",
    [
        {"numbers": ["O", [1], [1]]},
        {"array": ["V8", [1], "0"]},
        {"code": "import os"},
        {"tuple": [], "pairs": []},
    ],
)
def test_what_is_no_data_is_not_read(written: Any) -> None:
    with pytest.raises(ValueError, match=r"no data|no form|unpack"):
        decoded(written).empty()


def test_larger_arrays_are_kept_by_name() -> None:
    kept: list[Any] = []

    def store(array: Any) -> str:
        kept.append(array)
        return "array-7"

    array = np.arange(SMALL + 1)
    assert {"array": ["<i8", [SMALL + 1], "array-7"]} == encoded(array, store)
    assert [array.tolist()] == [a.tolist() for a in kept]
