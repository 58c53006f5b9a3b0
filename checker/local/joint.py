"""Properties of the states of all actors at once, judged on whole levels.

The tables know one actor at a time, and so do the kernels. But the row of a state says which state
each actor is in, and far fewer combinations of those are met than states: what each state of a
level amounts to is looked up with NumPy, and a property is asked once about each combination that
was not met before, in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from concurrent.futures import Executor
from typing import TypeAlias

import numpy as np
from attrs import define, field

from antecede.checker.model import Property, What
from antecede.checker.semantics.judge import shown
from antecede.checker.tables import kernels
from antecede.checker.tables.misses import Supply
from antecede.checker.tables.symmetry import NotSymmetricError
from antecede.checker.tables.tabulate import Words

Combination: TypeAlias = tuple[int, ...]
"""The number of each actor's state."""

PIECE = 1 << 20
"""Rows whose combinations are looked up in one go."""

JUDGED_PER_PAUSE = 1 << 12
"""Combinations that are judged before anybody else has a say."""

MOST_KEYS = 1 << 62
"""Combinations are numbered below this; a number times the states of an actor stays below 2^63."""


@define(eq=False)
class Joint:
    """Judges the properties of one system that are about the states of all actors at once.

    Attributes:
        supply: how rows are packed, and what the numbers in them stand for.
        judged: the combinations that were judged; some hundred bytes each.
    """

    supply: Supply
    judged: set[Combination] = field(factory=set)

    def shown(
        self,
        levels: list[tuple[Words, int]],
        found: Container[str],
        pool: Executor,
        pause: Callable[[], None],
    ) -> list[tuple[Property, int, int]]:
        """Return what the states of a level show for the first time.

        Args:
            levels: of each owner the rows, flat, and how many states they are.
            found: the names of the properties that are shown already.
            pool: rows are looked at on its threads.
            pause: called now and then; what it raises ends this, and the level can be judged again.

        Returns:
            Each property that is shown, with an owner and the index of one of its states.

        Raises:
            NotSymmetricError: a property is shown by some states of an orbit and not by others.
            ProtocolError: a predicate raises.
        """
        asked = self.asked(found)
        if not asked:
            return []
        shows: dict[str, tuple[Property, int, int]] = {}
        met = pool.map(lambda level: self._unjudged(*level), levels)
        for owner, combinations in enumerate(met):
            for combination, index in combinations.items():
                for prop in self.judge(combination, asked, pause):
                    shows.setdefault(prop.name, (prop, owner, index))
        return list(shows.values())

    def asked(self, found: Container[str]) -> list[Property]:
        """Return the properties of all actors' states that are not among those found already."""
        states = (p for p in self.supply.system.properties if p.what is What.STATES)
        return [prop for prop in states if prop.name not in found]

    def _unjudged(self, rows: Words, count: int) -> dict[Combination, int]:
        """Return the combinations that were not judged yet, with the index of the first row."""
        met: dict[Combination, int] = {}
        for combination, index in self._combinations(rows, count):
            if combination not in self.judged:
                met.setdefault(combination, index)
        return met

    def judge(
        self, combination: Combination, asked: list[Property], pause: Callable[[], None]
    ) -> list[Property]:
        """Return which of the properties a combination shows that was not judged before.

        Raises:
            NotSymmetricError: a property is shown by some states of an orbit and not by others.
            ProtocolError: a predicate raises.
        """
        if combination in self.judged:
            return []
        orbit = self._orbit(combination)
        shows = [prop for prop in asked if self._shown(prop, orbit)]
        # Whoever pauses may end the search, and go on later by judging this level again.
        if len(self.judged) % JUDGED_PER_PAUSE > (len(self.judged) + len(orbit)) % JUDGED_PER_PAUSE:
            pause()
        self.judged |= orbit
        return shows

    def _shown(self, prop: Property, orbit: set[Combination]) -> bool:
        """Return whether the combinations of an orbit show a property.

        Raises:
            NotSymmetricError: some do, and some do not.
        """
        states = self.supply.tabulation.states
        answers = {
            shown(prop, (tuple(states[i].values[number] for i, number in enumerate(each)),))
            for each in orbit
        }
        if len(answers) > 1:
            raise NotSymmetricError(f"{prop.name} depends on which actor is in which state")
        return answers.pop()

    def _orbit(self, combination: Combination) -> set[Combination]:
        """Return the combination under every renaming of the actors that the search uses."""
        symmetry = self.supply.tabulation.symmetry
        if symmetry is None:
            return {combination}
        images = [symmetry.states[i, number] for i, number in enumerate(combination)]
        orbit = set()
        for k, p in enumerate(symmetry.group):
            renamed = [0] * len(p)
            for actor, image in enumerate(images):
                renamed[p[actor]] = image[k]
            orbit.add(tuple(renamed))
        return orbit

    def _combinations(self, rows: Words, count: int) -> Iterator[tuple[Combination, int]]:
        """Yield the combinations that rows have, those of the first rows first, with an index."""
        layout = self.supply.layout
        actors = range(self.supply.system.actors)
        states = [layout.column(i, kernels.STATE) for i in actors]
        parts = [layout.part_of(i, kernels.STATE) for i in actors]
        for start in range(0, count, PIECE):
            end = min(start + PIECE, count)
            piece = rows[start * layout.row_words : end * layout.row_words]
            composites = layout.composites(piece)
            columns = [
                numbers[composites[part]] for numbers, part in zip(states, parts, strict=True)
            ]
            places = first_places(columns)
            met = zip(*(column[places].tolist() for column in columns), strict=True)
            yield from zip(met, (start + places).tolist(), strict=True)


def first_places(columns: list[Words]) -> Words:
    """Return the indices of the rows that differ from all rows before them, in order.

    Args:
        columns: of the rows, each of shape (n,), with numbers from 0 on.
    """
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
