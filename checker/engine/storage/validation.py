"""Checks of data from a checkpoint: each number is tested before it is an index or a count.

A stranger can write a checkpoint with the right checksums. The kernels do not look at the bounds of
their arrays, so a wrong index there would crash the process. All functions here raise ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from antecede.checker.support.settings import shown

MOST = (1 << 52) - 1
"""The greatest count."""

MOST_WORD = (1 << 63) - 1
"""The greatest number of an array."""

PIECE = 1 << 20
"""Rows that are looked at in one go."""

KINDS = {np.dtype(kind).str for kind in (np.int64, np.int32, np.uint32, np.uint16, np.bool_)}
"""The types of numbers that a checkpoint has."""


def whole(what: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """Return `value` if it is an int between two bounds; a bool is refused.

    The value comes from a checkpoint, a file that a stranger may have written.

    Args:
        what: the noun for the value in an error.
        value: the part of the checkpoint that is tested.
        least, most: the bounds, both included.

    Raises:
        ValueError: it is not such a number.

    Examples:
        >>> whole("the depth", 7)
        7
        >>> whole("the depth", -7)
        Traceback (most recent call last):
        ValueError: the depth is -7 and not a whole number from 0 to 4503599627370495
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{what} is {shown(value)} and not a whole number from {least} to {most}")
    return value


def wholes(what: str, values: Any, least: int = 0, most: int = MOST) -> list[int]:
    """Return `values` as a list if it is a list or tuple of ints between two bounds.

    The values come from a checkpoint, a file that a stranger may have written.

    Args:
        what: the noun for the values in an error.
        values: the part of the checkpoint that is tested.
        least, most: the bounds of each number, both included.

    Raises:
        ValueError: it is no list, or an element is not such a number.

    Examples:
        >>> wholes("the depths", (7, 8))
        [7, 8]
    """
    if not isinstance(values, list | tuple):
        raise ValueError(f"{what} is {shown(values)} and not a list")
    return [whole(what, value, least, most) for value in values]


def truth(what: str, value: Any) -> bool:
    """Return `value` if it is True or False; the numbers 1 and 0 are refused.

    Args:
        what: the noun for the value in an error.
        value: the part of a checkpoint that is tested.

    Raises:
        ValueError: it is neither.

    Examples:
        >>> truth("the symmetry", True)
        True
        >>> truth("the symmetry", 1)
        Traceback (most recent call last):
        ValueError: the symmetry is 1 and neither true nor false
    """
    if type(value) is not bool:
        raise ValueError(f"{what} is {shown(value)} and neither true nor false")
    return value


def seconds(what: str, value: Any) -> float:
    """Return `value` as a float if it is a duration: an int or a finite float, not negative.

    Args:
        what: the noun for the value in an error.
        value: the part of a checkpoint that is tested, in seconds.

    Raises:
        ValueError: it is no duration.

    Examples:
        >>> seconds("the time so far", 90)
        90.0
    """
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError(f"{what} is {shown(value)} and no duration")
    return float(value)


def text(what: str, value: Any) -> str:
    """Return `value` if it is a string.

    Args:
        what: the noun for the value in an error.
        value: the part of a checkpoint that is tested.

    Raises:
        ValueError: it is no string.

    Examples:
        >>> text("the reason", "none")
        'none'
    """
    if not isinstance(value, str):
        raise ValueError(f"{what} is {shown(value)} and no text")
    return value


def table(what: str, value: Any) -> Mapping[Any, Any]:
    """Return `value` if it is a dictionary; its keys and values are not tested.

    Args:
        what: the noun for the value in an error.
        value: the part of a checkpoint that is tested.

    Raises:
        ValueError: it is no dictionary.

    Examples:
        >>> table("the figures", {"states": 9})
        {'states': 9}
    """
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {shown(value)} and no table")
    return value


def numbers(
    what: str,
    value: Any,
    kind: Any,
    shape: tuple[int | None, ...] = (None,),
    least: int = 0,
    most: int = MOST_WORD,
) -> Any:
    """Return `value` if it is an array of this type and shape with numbers between two bounds.

    The array is not copied. It comes from a checkpoint, a file that a stranger may have written.

    Args:
        what: the noun, in the plural, for the numbers in an error.
        value: the part of the checkpoint that is tested.
        kind: the NumPy type of the numbers, such as np.int64.
        shape: per dimension, the length; None: any length.
        least, most: the bounds of each number, both included.

    Raises:
        ValueError: it is not such an array.

    Examples:
        >>> numbers("the depths", np.array([7, 8]), np.int64, shape=(2,), most=9).tolist()
        [7, 8]
        >>> numbers("the depths", np.array([7, 8]), np.int64, most=7)
        Traceback (most recent call last):
        ValueError: the depths contain a number that is not between 0 and 7
    """
    if not isinstance(value, np.ndarray) or value.dtype != kind:
        raise ValueError(f"{what} are no numbers of type {np.dtype(kind).name}")
    lengths = zip(value.shape, shape, strict=False)
    if value.ndim != len(shape) or any(n not in (None, length) for length, n in lengths):
        raise ValueError(f"{what} have the shape {value.shape}")
    for piece in pieces(value):
        if int(piece.min()) < least or int(piece.max()) > most:
            raise ValueError(f"{what} contain a number that is not between {least} and {most}")
    return value


def pieces(array: Any) -> Iterator[Any]:
    """Yield an array in consecutive slices along its first axis.

    So few pages of a mapped file are in memory at once. Each slice is a view of about a million
    numbers (`PIECE`), or of one row if rows are longer. None is empty: an array without elements
    yields nothing.

    Args:
        array: a NumPy array, usually a mapped file.

    Examples:
        >>> [piece.shape for piece in pieces(np.zeros((1_000_000, 2)))]
        [(524288, 2), (475712, 2)]
    """
    each = max(PIECE // max(int(np.prod(array.shape[1:])), 1), 1)
    for start in range(0, len(array), each):
        if (piece := array[start : start + each]).size:
            yield piece
