"""Properties of the states of all actors at once, judged on whole levels.

The tables, and so the kernels, know one actor at a time. But the row of a state says which state
each actor is in, and there are far fewer *combinations* of actors' states than states. A transport
finds the combinations in a level with NumPy, and each property is asked once about each of them, in
plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.symmetry import NotSymmetricError
from antecede.checker.engine.rows.table_filler import TableFiller
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.model import Property, What
from antecede.checker.semantics.crashes import with_crashed
from antecede.checker.semantics.judge import is_joint, shown

Combination: TypeAlias = tuple[int, ...]
"""The numbers of all actors' states, of their positions in the workload, or of both."""

JUDGED_PER_PAUSE = 1 << 12
"""Combinations judged between two calls of `pause`."""

MOST_KEYS = 1 << 62
"""Combinations are numbered below this; a number times the states of an actor stays below 2^63."""


@define(eq=False)
class GlobalProperties:
    """Judges the properties that are about the states of all actors at once.

    An example is "at most one actor has the token".

    Attributes:
        filler: the tables, which have the values of actors' states by number.
        judged: the combinations that were judged; some hundred bytes each.
    """

    filler: TableFiller
    judged: set[Combination] = field(factory=set)

    def asked(self, found: Container[str]) -> list[Property]:
        """Return the properties of all actors' states that are not among the names found yet."""
        joint = (prop for prop in self.filler.system.properties if is_joint(prop))
        return [prop for prop in joint if prop.name not in found]

    def columns(self, found: Container[str]) -> tuple[int, ...]:
        """Return the columns of each actor that are judged together: STATE, POSITION or both."""
        about = {prop.what for prop in self.asked(found)}
        if What.SEQUENCES in about and self.filler.system.crashes is not None:
            return g.STATE, g.POSITION  # the states tell which actors have crashed
        columns = {What.GLOBAL_STATE: g.STATE, What.SEQUENCES: g.POSITION}
        return tuple(column for what, column in columns.items() if what in about)

    def judge(
        self,
        combination: Combination,
        columns: tuple[int, ...],
        asked: list[Property],
        pause: Callable[[], None],
    ) -> list[Property]:
        """Return which of the properties a combination shows that was not judged before.

        Args:
            combination: of a representative; for each of the columns, the numbers of all actors.
            pause: called now and then; if it raises, the level can be judged again.

        Raises:
            NotSymmetricError: a property is shown by some states of an orbit and not by others.
            ProtocolError: a predicate raises.
        """
        if combination in self.judged:
            return []
        orbit = self._orbit(combination, columns)
        shows = [prop for prop in asked if self._shown(prop, orbit, columns)]
        if len(self.judged) % JUDGED_PER_PAUSE > (len(self.judged) + len(orbit)) % JUDGED_PER_PAUSE:
            pause()
        self.judged |= orbit
        return shows

    def _shown(self, prop: Property, orbit: set[Combination], columns: tuple[int, ...]) -> bool:
        """Return whether an orbit shows a property; NotSymmetricError: only a part of it does."""
        answers = {shown(prop, (self._of_all(prop, each, columns),)) for each in orbit}
        if len(answers) > 1:
            raise NotSymmetricError(f"{prop.name} depends on which actor is in which state")
        return answers.pop()

    def _of_all(
        self, prop: Property, combination: Combination, columns: tuple[int, ...]
    ) -> tuple[Any, ...]:
        """Return the argument of the predicate: the states, or the deliveries, of all actors."""
        actors, values_of = self.filler.system.actors, self.filler.components.values_of_all
        values = {
            column: values_of(column, combination[k * actors : (k + 1) * actors])
            for k, column in enumerate(columns)
        }
        if prop.what is What.GLOBAL_STATE:
            return values[g.STATE]
        delivered = values[g.POSITION]
        return with_crashed(delivered, values[g.STATE]) if g.STATE in values else delivered

    def _orbit(self, combination: Combination, columns: tuple[int, ...]) -> set[Combination]:
        """Return the combination under every renaming of the actors that the search uses."""
        symmetry, actors = self.filler.tabulation.symmetry, self.filler.system.actors
        if symmetry is None:
            return {combination}
        places = list(product(columns, range(actors)))
        numbers = dict(zip(places, combination, strict=True))
        orbit = symmetry.renamings_of(numbers)
        return {tuple(map(renamed.__getitem__, places)) for renamed in orbit}


def first_combinations(pieces: Iterable[list[Words]], width: int, first: int = 0) -> Words:
    """Return each combination of numbers that rows of a level have, with the first row that has it.

    Args:
        pieces: the rows in consecutive pieces: for each of `width` numbers, an array of the rows.

    Returns:
        An array of shape (combinations, 1 + width), in the order of the first rows, whose indices,
        from `first` on, are in column 0.

    Examples:
        Three rows have two numbers each; the last one has the same numbers as the first one:

        >>> rows = [np.array([4, 4, 4]), np.array([7, 8, 7])]
        >>> first_combinations([rows], width=2).tolist()
        [[0, 4, 7], [1, 4, 8]]
    """
    met = np.empty((0, 1 + width), np.int64)
    for columns in pieces:
        places = first_places(columns)
        here = np.column_stack([first + places, *(column[places] for column in columns)])
        met = np.concatenate([met, here])
        met = met[first_places(list(met[:, 1:].T))]
        first += len(columns[0])
    return met


def first_places(columns: list[Words]) -> Words:
    """Return the indices of the rows, given by columns, that differ from all rows before them."""
    keys, most = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if most * size > MOST_KEYS:
            keys = np.unique(keys, return_inverse=True)[1]
            most = len(keys)
        keys, most = keys * size + column, most * size
    if most > 4 * len(keys):
        return np.sort(np.unique(keys, return_index=True)[1])
    # Few enough that each has a place of its own, where the first of its rows is written last.
    first = np.full(most, -1, np.int64)
    first[keys[::-1]] = np.arange(len(keys))[::-1]
    return np.sort(first[first >= 0])
