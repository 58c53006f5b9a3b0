"""The sequences of records of the `full` history, renamed.

A sequence is made by appending a record to a shorter sequence, and has a number. Its renamings are
made at the same time: each one is the renaming of the shorter sequence plus the renamed record. A
set of sequences that is closed under renaming therefore stays closed, and the numbers of all
renamings of a sequence are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import entries_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import call_of, in_call
from antecede.checker.engine.rows.symmetry import Symmetry
from antecede.checker.engine.storage.arrays import Words

Numbers = np.ndarray[Any, np.dtype[np.int32]]


@define(eq=False)
class RenamedSequences:
    """The renamings of all sequences of records, by the sequences' numbers.

    Attributes:
        symmetry: the renamings of records.
        images: column of a key of RECORD -> an array whose element [n, k] is the number of sequence
            n after group[k]; 4 bytes per sequence and permutation.
        records: element [n, k] is the number of record n after group[k].
    """

    symmetry: Symmetry
    images: dict[int, Numbers] = field(factory=dict)
    records: Words = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start without records."""
        self.records = np.empty((0, len(self.symmetry.group)), np.int64)

    def closed(self, keys: Words, table: Words) -> Words:
        """Return keys of RECORD together with the keys of all renamings that `table` lacks."""
        wanted = np.unique(self._renamed_keys(keys))
        missing: Words = wanted[values_of(table, wanted) == -1]
        return missing

    def learn(self, keys: Words, values: Words, table: Words) -> None:
        """Learn the renamings of the sequences in new entries of RECORD of a table.

        The keys must contain all their renamings.
        """
        numbers = values_of(table, self._renamed_keys(keys).ravel())
        by_key = numbers.reshape(len(self.symmetry.group), -1).T
        columns = in_call(keys)[1]
        for column in np.unique(columns):
            chosen = columns == column
            self._room(int(column), int(values[chosen].max()))[values[chosen]] = by_key[chosen]

    def renamed(self, keys: Words) -> Words:
        """Return the numbers of renamed sequences, which are the values of keys of RENAME."""
        _, permutation, numbers, where = in_call(keys)
        values = np.empty(len(keys), np.int64)
        for column in np.unique(where):
            chosen = where == column
            images = self._room(int(column), 0)
            values[chosen] = images[numbers[chosen], permutation[chosen] + 1]
        return values

    def _room(self, column: int, number: int) -> Numbers:
        """Return the renamings of one column's sequences, with room for sequence `number`."""
        order = len(self.symmetry.group)
        images = self.images.get(column, np.empty((0, order), np.int32))
        if number >= len(images):
            larger = np.zeros((max(2 * number, 64), order), np.int32)
            larger[: len(images)] = images
            images = self.images[column] = larger
        return images

    def _renamed_keys(self, keys: Words) -> Words:
        """Return, per permutation, the keys of the renamed sequences, as array (group, keys)."""
        _, columns, before, records = in_call(keys)
        group = self.symmetry.group
        images = np.zeros((len(keys), len(group)), np.int64)
        for column in np.unique(columns):
            chosen = columns == column
            images[chosen] = self._room(int(column), 0)[before[chosen]]
        appended = self._renamed_records()[records]
        actors, column = np.array(group)[:, columns & 0xF], columns & 0xF0
        renamed: Words = call_of(g.RECORD, column | actors, images.T, appended.T)
        return renamed

    def _renamed_records(self) -> Words:
        """Return the renamings of all records; a renaming may itself be a new record."""
        symmetry, interner = self.symmetry, self.symmetry.components.records
        rows = [
            [interner.number(symmetry.renamed_record(value, p)) for p in symmetry.group]
            for value in interner.values[len(self.records) :]
        ]
        if rows:
            self.records = np.concatenate([self.records, np.array(rows, np.int64)])
        return (
            self.records if len(self.records) == len(interner.values) else self._renamed_records()
        )


def values_of(table: Words, keys: Words) -> Words:
    """Return the values of keys in a hash table of results; -1 for each key that it lacks."""
    values = np.empty(len(keys), np.int64)
    entries_kernels.find_all(table, keys, values)
    return values
