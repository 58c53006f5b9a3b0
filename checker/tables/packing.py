"""Numbers packed into words, each in a field of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from antecede.checker.tables.tabulate import Words

WORD_BITS = 63
MOST_BITS = 40
"""Of a field."""


def pack_widths(widths: list[int]) -> tuple[int, list[int], list[int]]:
    """Assign fields of the given widths to words, first fit in order.

    Returns:
        The number of words, and each field's word and shift.
    """
    words, shifts, used = [], [], [0]
    for width in widths:
        if used[-1] + width > WORD_BITS:
            used.append(0)
        words.append(len(used) - 1)
        shifts.append(used[-1])
        used[-1] += width
    return len(used), words, shifts


def spread(needs: list[int]) -> list[int]:
    """Widen fields evenly so that they fill the words they need anyway."""
    widths = [max(need, 1) for need in needs]
    count = pack_widths(widths)[0]
    while True:
        widened = [min(width + 1, MOST_BITS) for width in widths]
        if widened == widths or pack_widths(widened)[0] > count:
            break
        widths = widened
    for k in range(len(widths)):
        while widths[k] < MOST_BITS:
            trial = [*widths[:k], widths[k] + 1, *widths[k + 1 :]]
            if pack_widths(trial)[0] > count:
                break
            widths = trial
            if widths[k] >= max(widths):
                break
    return widths


class Fields(NamedTuple):
    """Where fields are: the word of each, its lowest bit there, and a mask as wide as it is."""

    word: Words
    shift: Words
    mask: Words

    @classmethod
    def of(cls, widths: Iterable[int], word: list[int], shift: list[int]) -> Self:
        """Return the fields of these widths at these places."""
        places = (word, shift, [(1 << width) - 1 for width in widths])
        return cls(*(np.array(place, np.int64) for place in places))

    def read(self, words: Any, field: int) -> Any:
        """Return what a field holds; `words` has shape (…, words), the result (…)."""
        return words[..., self.word[field]] >> self.shift[field] & self.mask[field]

    def write(self, words: Any, field: int, values: Any) -> None:
        """Put values, of shape (…), into a field that is 0."""
        words[..., self.word[field]] |= values << self.shift[field]

    def note(self, array: Words, starts: Iterable[int]) -> None:
        """Write words, shifts and masks into an array, each from its start on."""
        for start, values in zip(starts, self, strict=True):
            array[start : start + len(values)] = values

    def packed_as(self, other: Fields, rows: Words, words: int) -> Words:
        """Return rows, of shape (n, old words), packed as `other` says; of shape (n, words)."""
        packed = np.zeros((len(rows), words), np.int64)
        for field in range(len(self.word)):
            other.write(packed, field, self.read(rows, field))
        return packed


def wider(array: Any, columns: int, empty: int) -> Any:
    """Return a two-dimensional array with more columns, flat; what is new in it is `empty`."""
    larger = np.full((len(array), columns), empty, array.dtype)
    larger[:, : array.shape[1]] = array
    return larger.ravel()
