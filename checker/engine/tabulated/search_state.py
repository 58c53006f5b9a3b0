"""The progress of a search by levels, in one record.

A restart begins with an empty record, and a checkpoint saves the record.
"""

from __future__ import annotations

from typing import Any, Self

from attrs import asdict, astuple, define, field

from antecede.checker.engine.rows.grading import MOST_WEIGHT, Weights
from antecede.checker.engine.storage.validation import table, text, truth, whole, wholes
from antecede.checker.engine.tabulated.assumptions import ByDepthError
from antecede.checker.engine.tabulated.transport import LevelReport, Totals
from antecede.checker.paths.places import places_of, transitions_at
from antecede.checker.search.loop import Evidence
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System

MOST_DEPTH = (1 << 16) - 2
"""Weighted levels keep the depth of each state in two bytes."""


@define(eq=False)
class SearchState:
    """The progress of a search: empty when it starts or restarts, and saved in its checkpoints.

    Attributes:
        found: the name of a property -> the run that violates or reaches it.
        truncated: some state was not expanded because of --max-depth.
        levels: per depth, the number of new states.
        frontier: the number of states that were found and not expanded; 0 when the search is over.
        current: the number of states in the current level; less than `frontier` only if levels are
            weighted.
        weights: the kinds of transitions that weigh more than 1; empty if a level is a depth.
        between_levels: no level is half expanded.
        moved_at: the depth of the level with which the search moved to a cluster; 0: it did not.
        totals: sums over the states expanded by the transports before the current one.
        unreduced: the counts without symmetry, if a second search found them.
    """

    found: dict[str, Evidence] = field(factory=dict)
    truncated: bool = False
    levels: list[int] = field(factory=list)
    frontier: int = 1
    current: int = 1
    weights: Weights = field(factory=dict)
    between_levels: bool = True
    moved_at: int = 0
    totals: Totals = field(factory=Totals)
    unreduced: Counts | None = None

    @property
    def depth(self) -> int:
        """The depth of the current level; if levels are weighted, the greatest depth so far."""
        return max(len(self.levels), 1)

    @property
    def expanded(self) -> int:
        """The number of states in the levels that are done."""
        return sum(self.levels) - self.current

    def add(self, report: LevelReport) -> None:
        """Make the next level the current one, after a transport has expanded the level before.

        Raises:
            ByDepthError: levels are weighted, and there are more depths than there is room for.
        """
        if report.vanished:
            self.levels[-1] -= report.vanished
            if not self.levels[-1]:
                self.levels.pop()
        for depth, states in sorted(report.level.items()):
            self.levels += [0] * (depth - len(self.levels))
            self.levels[depth - 1] += states
        if self.weights and len(self.levels) > MOST_DEPTH:
            raise ByDepthError("depths need more than two bytes")
        self.frontier, self.current = report.frontier, sum(report.level.values())
        self.between_levels = True

    def record(self, system: System) -> dict[str, Any]:
        """Return the progress as data of a checkpoint; runs are places of transitions."""
        return {
            **asdict(self, recurse=False),
            "found": {name: places_of(system, f.transitions) for name, f in self.found.items()},
            "totals": astuple(self.totals, recurse=False),
            "unreduced": self.unreduced and astuple(self.unreduced),
        }

    @classmethod
    def recorded(cls, system: System, record: dict[str, Any]) -> Self:
        """Return the progress that `record` returned."""
        known = {prop.name for prop in system.properties}
        runs = {
            name: transitions_at(system, wholes("the places of a run", places))
            for name, places in record["found"].items()
        }
        if not runs.keys() <= known:
            raise ValueError("a property that was not asked for is violated")
        levels = wholes("the states of a level", record["levels"])
        weights = table("weights", record["weights"]).items()
        unreduced = record["unreduced"]
        return cls(
            found={name: Evidence(run) for name, run in runs.items()},
            truncated=truth("whether states were left out", record["truncated"]),
            levels=levels,
            frontier=whole("the states to be expanded", record["frontier"], 1),
            current=whole("the states of this level", record["current"]),
            weights={
                text("a kind", kind): whole("a weight", w, 1, MOST_WEIGHT) for kind, w in weights
            },
            between_levels=truth("whether a level is done", record["between_levels"]),
            moved_at=whole("a depth", record["moved_at"], most=len(levels)),
            totals=Totals.recorded(record["totals"]),
            unreduced=None if unreduced is None else Counts(*wholes("counts", unreduced)),
        )
