"""Kernels take and return the same values as the Python functions that they are made of."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from antecede.checker.compiled import cache, loading
from antecede.checker.compiled.arguments import kind_of, packer
from antecede.checker.compiled.jit import INTERPRETED, Kernel, borrow, inlined, kernel

pytestmark = pytest.mark.skipif(INTERPRETED, reason="there are no compiled kernels")


class Pair(NamedTuple):
    one: Any
    other: Any


@inlined
def twice(number):  # type: ignore[no-untyped-def]
    return 2 * number


@kernel
def weigh(array, pair, factor):  # type: ignore[no-untyped-def]
    """Return a number to which every element and its place contribute."""
    total = np.int64(0)
    for row in range(array.shape[0]):
        for column in range(array.shape[1]):
            total = total * 31 + array[row, column] * twice(factor)
    return total + pair.one.sum() + pair.other


@kernel
def mixed(number, flag):  # type: ignore[no-untyped-def]
    return np.uint64(number) * np.uint64(0x9E3779B97F4A7C15), flag, number / 2


@kernel
def write(array):  # type: ignore[no-untyped-def]
    array[0] = 7


@kernel
def divided(one, other):  # type: ignore[no-untyped-def]
    return one // other


@kernel
def allocate(count):  # type: ignore[no-untyped-def]
    """Make an array and a list that grows; return the sum of their last elements."""
    own = np.zeros(count, np.int64)
    array = borrow(own)
    numbers = [0]
    for number in range(count):
        array[number] = number
        numbers.append(number)
    last = array[count - 1] + numbers[-1]
    own[0] = 0  # a borrowed array dies with its owner
    return last


ARRAY = np.arange(12).reshape(3, 4)
ARRAYS = {
    "C": ARRAY,
    "read-only": np.frombuffer(ARRAY.tobytes(), ARRAY.dtype).reshape(3, 4),
    "F": np.asfortranarray(ARRAY),
    "strided": np.arange(48).reshape(6, 8)[::2, ::2],
    "int32": ARRAY.astype(np.int32),
    "empty": np.empty((0, 4), np.int64),
}


def plainly(function: Any) -> Callable[..., Any]:
    """Return the Python function of a kernel, without its inlined functions being compiled."""
    plain: Callable[..., Any] = function.__wrapped__
    return plain


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_every_layout_are_read_as_in_python(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Pair(np.array([5, 6]), 7)
    compiled = weigh(ARRAYS[name], pair, 3)
    monkeypatch.setattr(sys.modules[__name__], "twice", plainly(twice))
    assert plainly(weigh)(ARRAYS[name], pair, 3) == compiled


def test_numbers_of_every_kind_are_returned() -> None:
    large, flag, half = mixed(3, True)
    assert (3 * 0x9E3779B97F4A7C15) % 2**64 == large
    assert flag is True
    assert 1.5 == half
    assert write(np.zeros(1, np.int64)) is None


def test_a_kernel_writes_to_the_array_itself() -> None:
    array = np.zeros(2, np.int64)
    write(array)
    assert [7, 0] == array.tolist()


def test_an_exception_in_a_kernel_is_raised() -> None:
    assert 2 == divided(5, 2)
    with pytest.raises(ZeroDivisionError):
        divided(5, 0)


def test_what_a_kernel_allocates_is_freed() -> None:
    count = 1 << 16
    assert 2 * (count - 1) == allocate(count)
    before = _resident()
    for _ in range(500):
        allocate(count)
    assert _resident() - before < 100e6  # 500 MB would be lost


def _resident() -> int:
    """Return the bytes of memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_a_value_that_no_kernel_takes_is_refused() -> None:
    with pytest.raises(TypeError, match="no kernel takes a str: 'text'"):
        divided("text", 1)


@pytest.mark.parametrize(
    "other",
    [
        (np.zeros(3, np.int32), 1),
        (np.zeros((3, 1), np.int64), 1),
        (np.zeros(6, np.int64)[::2], 1),
        (np.frombuffer(bytes(24), np.int64), 1),
        (np.zeros(3, np.int64), True),
        (np.zeros(3, np.int64), 1.0),
        (np.zeros(3, np.int64), 1 << 63),
        (np.zeros(3, np.int64), None),
        ([0, 0, 0], 1),
        (np.zeros(3, np.int64),),
    ],
    ids=str,
)
def test_a_packer_refuses_arguments_of_other_kinds(other: tuple[Any, ...]) -> None:
    pack = packer([kind_of(np.zeros(3, np.int64)), kind_of(1)])
    assert pack((np.zeros(5, np.int64), np.int64(2))) is not None
    assert pack(other) is None


def test_a_kernel_for_another_processor_is_compiled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(cache, "folder", lambda _home=None: tmp_path)
    first, second, third = (Kernel(plainly(divided)) for _ in range(3))
    assert 3 == first(7, 2)
    assert 3 == second(7, 2)
    monkeypatch.setattr(loading, "processor", lambda: "another one")
    assert 3 == third(7, 2)
    made = [(each.compiled, each.loaded) for each in (first, second, third)]
    assert [(1, 0), (0, 1), (1, 0)] == made
