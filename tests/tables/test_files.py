"""Arrays in files: reading returns the written values, or an error reports the damage."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from antecede.checker.errors import CapacityError, InputError
from antecede.checker.tables.files import read_array, write_array


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as on a disk that is full then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "array",
    [np.arange(100_000), np.arange(6, dtype=np.int32).reshape(2, 3), np.empty(0, np.int64)],
)
def test_an_array_is_read_as_it_was_written(array: Any, tmp_path: Path) -> None:
    write_array(tmp_path / "rows", array)

    again = read_array(tmp_path / "rows")
    assert (array.dtype, array.ravel().tolist()) == (again.dtype, again.tolist())
    assert ["rows"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("room", [64, 128, 150])
@pytest.mark.parametrize("count", [10, 1_000, 100_000])
def test_a_disk_that_is_full_is_an_error_and_leaves_no_file(
    count: int, room: int, tmp_path: Path
) -> None:
    """`ndarray.tofile` would silently write none of 10 elements here."""
    with files_of_at_most(room), pytest.raises(CapacityError, match=f"of {8 * count:,} bytes"):
        write_array(tmp_path / "rows", np.arange(count))

    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 72, 127, 200, 207])
def test_a_file_that_lost_its_end_is_refused(size: int, tmp_path: Path) -> None:
    write_array(tmp_path / "rows", np.arange(10))
    assert 208 == (tmp_path / "rows").stat().st_size
    os.truncate(tmp_path / "rows", size)

    with pytest.raises(InputError, match="cannot read the file"):
        read_array(tmp_path / "rows")


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the file"):
        read_array(tmp_path / "rows")
