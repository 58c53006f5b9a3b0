"""How far a breadth-first search on tables has come, in one record."""

from __future__ import annotations

from typing import Any, Self

from attrs import asdict, define, field

from antecede.checker.paths.places import places_of, transitions_at
from antecede.checker.search.loop import Found
from antecede.checker.semantics.transition import System
from antecede.checker.tables.grading import Weights


@define(eq=False)
class Course:
    """How far a search has come: as at first when it begins again, saved in its checkpoints.

    Attributes:
        found: property name -> what shows it.
        truncated: some state was not expanded because of --max-depth.
        levels: per depth, how many states are new.
        frontier: states of the current depth; 0 when the search is over.
        weights: of the kinds of transitions that weigh more than 1; none if a level is a depth.
            Otherwise the frontier counts all states that are not expanded.
    """

    found: dict[str, Found] = field(factory=dict)
    truncated: bool = False
    levels: list[int] = field(factory=list)
    frontier: int = 1
    weights: Weights = field(factory=dict)

    @property
    def open_levels(self) -> int:
        """How many levels a transition can lead down."""
        return max(self.weights.values(), default=1)

    @property
    def deepest(self) -> int:
        """The depth of the current level."""
        return max(len(self.levels), 1)

    def record(self, system: System) -> dict[str, Any]:
        """Return this as data; runs are the places of their transitions."""
        found = {name: places_of(system, f.transitions) for name, f in self.found.items()}
        return {**asdict(self, recurse=False), "found": found}

    @classmethod
    def recorded(cls, system: System, record: dict[str, Any]) -> Self:
        """Return what was recorded."""
        found = {name: Found(transitions_at(system, p)) for name, p in record["found"].items()}
        return cls(**{**record, "found": found})
