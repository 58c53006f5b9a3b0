"""Numbers packed into words, each number in a field of its own.

A field is a range of bits in a word, and holds numbers from 0 to its mask. Fields become wider when
a number outgrows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from attrs import frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import pieces

WORD_BITS = 63
MOST_BITS = 40
"""The most bits of a field."""


OF_HISTORY = (g.POSITION, g.KNOWS, g.RECORDED, g.STAMPS)
"""Columns that depend only on an actor's sends and deliveries and their order.

These columns have few values, and so have the other columns; but very many combinations occur.
"""


def pack_widths(widths: list[int]) -> tuple[int, list[int], list[int]]:
    """Place numbers of the given widths in words of 63 bits, in order.

    Returns:
        The number of words, at least 1; per number, its word; and per number, its lowest bit there.

    Examples:
        >>> pack_widths([30, 20, 25])
        (2, [0, 0, 1], [0, 30, 0])
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
    """Share the bits that `pack_widths` would leave unused, so that numbers have room to grow.

    Examples:
        >>> spread([10, 20])  # 33 of the 63 bits would be unused
        [27, 36]
    """
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
    """The places of numbers in words.

    Attributes:
        word: int64; per number, the index of its word.
        shift: int64; per number, its lowest bit in that word.
        mask: int64; per number, its greatest value.
    """

    word: Words
    shift: Words
    mask: Words

    @classmethod
    def of(cls, widths: Iterable[int], word: list[int], shift: list[int]) -> Self:
        """Return fields with these widths, words and shifts."""
        places = (word, shift, [(1 << width) - 1 for width in widths])
        return cls(*(np.array(place, np.int64) for place in places))

    def read(self, words: Any, field: int) -> Any:
        """Return the values of a field; `words` has shape (…, words), the result (…)."""
        return words[..., self.word[field]] >> self.shift[field] & self.mask[field]

    def write(self, words: Any, field: int, values: Any) -> None:
        """Put values of shape (…) into a field whose bits are 0."""
        words[..., self.word[field]] |= values << self.shift[field]

    def check(self, what: str, rows: Words, counts: Sequence[int]) -> None:
        """Check numbers that another process packed, for example in a checkpoint.

        Args:
            what: the noun for the rows in an error.
            counts: per field, one more than the greatest number that it may hold.

        Raises:
            ValueError: a number is greater, or a bit outside of the fields is set.
        """
        used = np.zeros(rows.shape[1], np.int64)
        for field in range(len(counts)):
            self.write(used, field, self.mask[field])
        for piece in pieces(rows):
            if (np.bitwise_or.reduce(piece, axis=0) & ~used).any():
                raise ValueError(f"{what} have bits that mean nothing")
            for field, count in enumerate(counts):
                if int(self.read(piece, field).max()) >= count:
                    raise ValueError(f"{what} have a part that does not exist")

    def note(self, array: Words, starts: Iterable[int]) -> None:
        """Write the words, shifts and masks into `array`, beginning at the three `starts`."""
        for start, values in zip(starts, self, strict=True):
            array[start : start + len(values)] = values

    def packed_as(self, other: Fields, rows: Words, words: int) -> Words:
        """Return rows of shape (…, words) packed with other fields, of so many words each."""
        packed = np.zeros((*rows.shape[:-1], words), np.int64)
        for field in range(len(self.word)):
            other.write(packed, field, self.read(rows, field))
        return packed


@frozen(eq=False)
class Placement:
    """The places of an actor's columns in its local words.

    Attributes:
        fields: the columns' fields in the local words of their part.
        half: per column, the part of the actor that has it: 0 or 1.
        words: the number of local words per part.
    """

    fields: Fields
    half: Words
    words: int

    @classmethod
    def of(cls, widths: Sequence[int], *, parted: bool) -> Placement:
        """Place columns of these widths; if `parted`, the history's columns are a separate part."""
        half = (np.isin(np.arange(len(widths)), OF_HISTORY) & parted).astype(np.int64)
        word, shift, most = [0] * len(widths), [0] * len(widths), 1
        for part in range(1 + parted):
            chosen = np.flatnonzero(half == part).tolist()
            count, words, shifts = pack_widths([widths[k] for k in chosen])
            most = max(most, count)
            for k, at, low in zip(chosen, words, shifts, strict=True):
                word[k], shift[k] = at, low
        return cls(Fields.of(widths, word, shift), half, most)

    def check(self, words: Words, half: int, sizes: Sequence[int]) -> None:
        """Check local words of a part that another process packed; each column is below its size.

        Raises:
            ValueError: a number is greater, or a bit outside of the columns is set.
        """
        mine = np.flatnonzero(self.half == half).tolist()
        self.in_part(half).check("composites", words, [sizes[column] for column in mine])

    def in_part(self, half: int) -> Fields:
        """Return the fields of the columns of one part."""
        return Fields(*(place[self.half == half] for place in self.fields))

    @property
    def in_actor(self) -> Fields:
        """The fields of the columns in all local words of an actor."""
        return self.fields._replace(word=self.fields.word + self.half * self.words)


def wider(array: Any, columns: int, empty: int) -> Any:
    """Return a copy of a two-dimensional array with more columns, full of `empty`, flattened."""
    larger = np.full((len(array), columns), empty, array.dtype)
    larger[:, : array.shape[1]] = array
    return larger.ravel()
