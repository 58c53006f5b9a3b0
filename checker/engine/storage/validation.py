"""Checks of data from a checkpoint: each number is tested before it is an index or a count.

A stranger can write a checkpoint with the right checksums. The kernels do not look at the bounds of
their arrays, so a wrong index there would crash the process. All functions here return the value,
or raise ValueError, which names the value by `what`. Bounds are included.
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
    """Return a value that is an int between two bounds; a bool is refused.

    Examples:
        >>> whole("the depth", -7)
        Traceback (most recent call last):
        ValueError: the depth is -7 and not a whole number from 0 to 4503599627370495
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{what} is {shown(value)} and not a whole number from {least} to {most}")
    return value


def wholes(what: str, values: Any, least: int = 0, most: int = MOST) -> list[int]:
    """Return a list or tuple of ints between two bounds, as a list."""
    if not isinstance(values, list | tuple):
        raise ValueError(f"{what} is {shown(values)} and not a list")
    return [whole(what, value, least, most) for value in values]


def truth(what: str, value: Any) -> bool:
    """Return a value that is True or False; the numbers 1 and 0 are refused."""
    if type(value) is not bool:
        raise ValueError(f"{what} is {shown(value)} and neither true nor false")
    return value


def seconds(what: str, value: Any) -> float:
    """Return a duration as a float: an int or a finite float, not negative."""
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError(f"{what} is {shown(value)} and no duration")
    return float(value)


def text(what: str, value: Any) -> str:
    """Return a value that is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is {shown(value)} and no text")
    return value


def table(what: str, value: Any) -> Mapping[Any, Any]:
    """Return a value that is a dictionary; its keys and values are not tested."""
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
    """Return an array, not copied, of this type and shape, with numbers between two bounds.

    Args:
        shape: per dimension, the length; None: any length.
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
    """Yield an array in slices along its first axis, so that few pages of a file are in memory.

    A slice has about a million numbers (`PIECE`), or one row if rows are longer, and is never
    empty.

    Examples:
        >>> [piece.shape for piece in pieces(np.zeros((1_000_000, 2)))]
        [(524288, 2), (475712, 2)]
    """
    each = max(PIECE // max(int(np.prod(array.shape[1:])), 1), 1)
    for start in range(0, len(array), each):
        if (piece := array[start : start + each]).size:
            yield piece
