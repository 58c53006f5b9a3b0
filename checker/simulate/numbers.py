"""Medians at the points of a figure, which rules judge; at most one assumption is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.simulate.scenario import Scenario
from antecede.checker.simulate.statistics import added, cell_of, medians, speedups
from antecede.checker.sweep.kept import Row


class MissingError(Exception):
    """A point that a claim needs has no rows."""


@frozen(eq=False)
class Numbers:
    """Medians at the points of a claim; at most one assumption is changed.

    Attributes:
        rows: rows without errors.
        changed: field -> value in place of the default.
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
        """Return the median ratio of `over` to `of`."""
        key = ("speedup", measure, of, over)
        return self._at(key, lambda: speedups(self.rows, measure, of, over), self._cell(point))

    def median(self, protocol: str, point: Scenario, measure: str = "execution_ns") -> float:
        """Return the median of a protocol's measure."""
        key = ("median", measure)
        return self._at(key, lambda: medians(self.rows, measure), (protocol, self._cell(point)))

    def added(self, protocol: str, point: Scenario, measure: str) -> float:
        """Return the median difference between a protocol and delivery without causal order."""
        key = ("added", measure)
        where = (protocol, self._cell(point))
        return self._at(key, lambda: added(self.rows, measure, "unordered"), where)

    @property
    def differs(self) -> bool:
        """The changed assumption changes a point that the rule has read."""
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
"""A rule returns whether the numbers agree with a claim, and a text with the numbers."""


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as a list in a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)
