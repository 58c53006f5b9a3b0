"""The packing of flat rows, which hold local words and can travel between processes.

Composites are numbers of one process. Local words mean the same in every process, because all
processes number components as the driver does.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.packing import Fields, Placement
from antecede.checker.engine.spark import flat_kernels
from antecede.checker.engine.storage.arrays import Words


@frozen
class Codec:
    """The packing of flat rows, for columns of certain widths.

    Attributes:
        widths: the number of bits used in each local word of each actor.
        words: the number of words of a flat row.
        col_widths: the bits of each column; equal `col_widths` imply equal codecs in one search.
        actors: the number of actors.
        parted: as in `Layout`.
        placed: the places of the columns in an actor's local words.
    """

    widths: Words
    words: int
    col_widths: tuple[int, ...]
    actors: int
    parted: bool
    placed: Placement

    @classmethod
    def of(cls, actors: int, col_widths: Iterable[int], *, parted: bool) -> Codec:
        """Return the codec for columns of these widths."""
        columns = tuple(col_widths)
        placed = Placement.of(columns, parted=parted)
        used = np.zeros(placed.words * (1 + parted), np.int64)
        np.add.at(used, placed.in_actor.word, columns)
        widths = np.tile(used, actors)
        words = -(-int(widths.sum()) // g.FLAT_BITS)
        return cls(widths, words, columns, actors, parted, placed)

    @property
    def fields(self) -> Fields:
        """The fields of the columns in an actor's local words."""
        return self.placed.in_actor

    @property
    def packing(self) -> flat_kernels.Packing:
        """The packing in the form that kernels take."""
        return flat_kernels.Packing(self.widths, self.words)

    def with_widths(self, col_widths: Iterable[int]) -> Codec:
        """Return the codec of the same search for columns of other widths."""
        return Codec.of(self.actors, col_widths, parted=self.parted)

    def packed(self, rows: Words, count: int, stride: int, geo: Words, dec: Words) -> Words:
        """Return rows of composites as flat rows; the arguments are as for `flatten`."""
        flat = np.empty(count * self.words, np.int64)
        flat_kernels.flatten(rows, count, stride, geo, dec, self.packing, flat)
        return flat

    def unpacked(self, flat: Words) -> Words:
        """Return the local words of flat rows, of shape (rows, actors, words of an actor)."""
        local = np.empty((len(flat) // self.words, len(self.widths)), np.int64)
        flat_kernels.unpack_rows(flat, self.packing, local)
        return local.reshape(len(local), self.actors, len(self.widths) // self.actors)

    def column(self, local: Words, number: int) -> Words:
        """Return one column of all actors, such as STATE, from rows as `unpacked` returns them."""
        return np.asarray(self.fields.read(local, number), np.int64)


def repacked(records: Words, before: Codec, after: Codec) -> Words:
    """Return records of composites with columns of other widths, none of them narrower.

    A record is the part and its local words. If the widths are equal, `records` is the result.
    """
    if before.col_widths == after.col_widths:
        return records
    new = np.empty((len(records), 1 + after.placed.words), np.int64)
    new[:, 0] = records[:, 0]
    for half in range(1 + after.parted):
        its = records[:, 0] % (1 + after.parted) == half
        fields, wide = before.placed.in_part(half), after.placed.in_part(half)
        new[its, 1:] = fields.packed_as(wide, records[its, 1:], after.placed.words)
    return new


def widened(flat: Words, before: Codec, after: Codec) -> Words:
    """Return flat rows with columns of other widths, none narrower; `flat` itself if equal."""
    if before.col_widths == after.col_widths:
        return flat
    each = len(after.widths) // after.actors
    local = before.fields.packed_as(after.fields, before.unpacked(flat), each)
    packed = np.empty(len(local) * after.words, np.int64)
    flat_kernels.pack_rows(local.reshape(len(local), len(after.widths)), after.packing, packed)
    return packed
