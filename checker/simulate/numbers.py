"""Medians at the points of a figure, under one assumption changed or none, for rules to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.simulate.scenario import Scenario
from antecede.checker.simulate.statistics import added, cell_of, medians, speedups
from antecede.checker.sweep.kept import Row


class MissingError(Exception):
    """There are no rows of a point that a claim needs."""


@frozen(eq=False)
class Numbers:
    """Medians at the points of a claim, under one assumption changed or none.

    Attributes:
        rows: of runs that came out right.
        changed: field -> value, in place of the default.
    """

    rows: Sequence[Row]
    changed: Mapping[str, Any] = field(factory=dict)
    _found: dict[tuple[str, ...], Mapping[Any, Any]] = field(factory=dict)
    _moved: list[Scenario] = field(factory=list)

    def speedup(
        self,
        point: Scenario,
        of: str = "cykas",
        over: str = "mfss",
        measure: str = "execution_ns",
    ) -> float:
        """Return how many times less `of` takes than `over`."""
        key = ("speedup", measure, of, over)
        return self._at(key, lambda: speedups(self.rows, measure, of, over), self._cell(point))

    def median(self, protocol: str, point: Scenario, measure: str = "execution_ns") -> float:
        """Return a protocol's median."""
        found = ("median", measure)
        return self._at(found, lambda: medians(self.rows, measure), (protocol, self._cell(point)))

    def added(self, protocol: str, point: Scenario, measure: str) -> float:
        """Return how much more a protocol takes than delivery without causal order does."""
        found = ("added", measure)
        where = (protocol, self._cell(point))
        return self._at(found, lambda: added(self.rows, measure, "unordered"), where)

    @property
    def differs(self) -> bool:
        """Whether the changed assumption changes any point that the rule asked for."""
        return bool(self._moved)

    def _cell(self, point: Scenario) -> tuple[Any, ...]:
        moved = evolve(point, **self.changed)
        if moved != point:
            self._moved.append(moved)
        return cell_of(moved)

    def _at(self, key: tuple[str, ...], make: Callable[[], Any], where: Any) -> float:
        if key not in self._found:
            self._found[key] = make()
        if where not in self._found[key]:
            raise MissingError
        median: float = self._found[key][where].median
        return median


Rule: TypeAlias = Callable[[Numbers], tuple[bool, str]]
"""Returns whether the numbers agree with a claim, and what they are."""


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers for a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)
