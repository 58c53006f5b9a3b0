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

from antecede.checker.engine.storage.files import ArrayFile, StoredArray
from antecede.checker.support.errors import CapacityError, InputError

ARRAYS: list[Any] = [
    np.arange(100_000),
    np.arange(5, dtype=np.int32),
    np.empty(0, np.int64),
    np.arange(7),
]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as on a disk that is full then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def written(folder: Path, arrays: list[Any], unused: tuple[Path, ...] = ()) -> list[StoredArray]:
    file = ArrayFile.begin(str(folder / "rows"), unused)
    stored = [file.add(array) for array in arrays]
    file.close()
    return stored


def equal(array: Any, again: Any) -> bool:
    return bool(array.dtype == again.dtype and array.tolist() == again.tolist())


def test_arrays_are_read_as_they_were_written(tmp_path: Path) -> None:
    stored = written(tmp_path, ARRAYS)

    assert [len(array) for array in ARRAYS] == [len(one) for one in stored]
    for array, one in zip(ARRAYS, stored, strict=True):
        assert equal(array, one.read())
    assert [stored[0].path] == [str(path) for path in tmp_path.iterdir()]


def test_what_is_done_to_an_array_stays_out_of_its_file(tmp_path: Path) -> None:
    (stored,) = written(tmp_path, [np.arange(10)])

    stored.read()[:] = 7
    assert equal(np.arange(10), stored.read())


def test_a_file_is_not_seen_before_it_is_complete(tmp_path: Path) -> None:
    file = ArrayFile.begin(str(tmp_path / "rows"))
    stored = file.add(np.arange(10))

    with pytest.raises(InputError, match="cannot read the file"):
        stored.read()
    file.close()
    assert equal(np.arange(10), stored.read())


@pytest.mark.parametrize("more", [0, 1_000])
def test_a_file_that_was_overwritten_is_refused(more: int, tmp_path: Path) -> None:
    (old,) = written(tmp_path, [np.arange(1_000)])
    used = tmp_path / "used"
    Path(old.path).rename(used)
    new = written(tmp_path, [np.arange(10), np.zeros(more)], (tmp_path / "gone", used))

    assert equal(np.arange(10), new[0].read())
    assert [new[0].path] == [str(path) for path in tmp_path.iterdir()]
    Path(new[0].path).rename(old.path)
    with pytest.raises(InputError, match="it was overwritten"):
        old.read()


@pytest.mark.parametrize("room", [0, 5, 64, 70])
@pytest.mark.parametrize("count", [10, 1_000, 100_000])
def test_a_disk_that_is_full_is_an_error_and_leaves_no_file(
    count: int, room: int, tmp_path: Path
) -> None:
    with files_of_at_most(room), pytest.raises(CapacityError, match="the disk does not take"):
        written(tmp_path, [np.arange(count)])

    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 7, 8, 80, 87])
def test_a_file_that_lost_its_end_is_refused(size: int, tmp_path: Path) -> None:
    (stored,) = written(tmp_path, [np.arange(10)])
    assert 88 == Path(stored.path).stat().st_size
    os.truncate(stored.path, size)

    with pytest.raises(InputError, match="cannot read the file"):
        stored.read()


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    (stored,) = written(tmp_path, [np.arange(10)])
    Path(stored.path).unlink()

    with pytest.raises(InputError, match="cannot read the file"):
        stored.read()
