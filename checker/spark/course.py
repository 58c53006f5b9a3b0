"""How far a search on a cluster has come, in one record."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from attrs import astuple, define, field

from antecede.checker.local.course import Course
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System
from antecede.checker.spark.conservation import Held
from antecede.checker.spark.rows import Expanded
from antecede.checker.tables.grading import Weights
from antecede.checker.tables.tabulate import Words


@define(eq=False)
class Totals:
    """What expansions came to, in all.

    Attributes:
        fired: transitions.
        finals: final states.
        kinds: per kind, transitions.
        orbits: states, transitions and final states that the expanded ones stand for.
    """

    fired: int = 0
    finals: int = 0
    kinds: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    orbits: Words = field(factory=lambda: np.zeros(3, np.int64))

    def add(self, expanded: Expanded) -> None:
        """Add what the expansion of a block came to."""
        orbits = np.array(expanded.orbits)
        self.merge(Totals(expanded.total, expanded.finals, expanded.fired, orbits))

    def merge(self, other: Totals) -> None:
        """Add what other expansions came to."""
        self.fired += other.fired
        self.finals += other.finals
        self.kinds += other.kinds
        self.orbits += other.orbits


@define(eq=False)
class ClusterCourse(Course):
    """How far a search has come since it moved to the cluster.

    Attributes:
        owners: partitions.
        handed_over_at: the depth at which it moved.
        graded: every state has one depth only, so earlier levels are forgotten.
        unique: new states so far.
        totals: of all expansions, with those of the local engine.
        links: per level and partition, the links of its states, in pieces.
        stragglers: per partition, states of the current level of which only the next job finds
            out whether they are new, with their links.
        least: the least progress in the current level; or, by weight, the least lead of an open
            one.
        current: by weight, the states of the current level.
        held: per partition, what it holds.
        rounds: figures of each round.
    """

    owners: int = 0
    handed_over_at: int = 0
    graded: bool = False
    unique: int = 0
    totals: Totals = field(factory=Totals)
    links: list[list[list[Words]]] = field(factory=list)
    stragglers: dict[int, tuple[Words, Words]] = field(factory=dict)
    least: int = 0
    current: int = 0
    held: dict[int, Held] = field(factory=dict)
    rounds: list[dict[str, Any]] = field(factory=list)

    @property
    def forgets_by(self) -> Weights | None:
        """Weights of kinds of transitions by which states are forgotten; None: none are."""
        return self.weights if self.graded or self.weights else None

    @property
    def expanded(self) -> int:
        """How many states were expanded."""
        return sum(self.levels) - (self.current if self.weights else self.frontier)

    def counts(self) -> Counts:
        """Return what was explored so far."""
        totals = self.totals
        return Counts(self.unique, 1 + totals.fired, len(self.levels), totals.finals)

    def record(self, system: System) -> dict[str, Any]:
        """Return this as data."""
        held = {p: astuple(held) for p, held in self.held.items()}
        totals = astuple(self.totals)
        return {**super().record(system), "held": held, "totals": totals}

    @classmethod
    def recorded(cls, system: System, record: dict[str, Any]) -> Self:
        """Return what was recorded."""
        held = {p: Held(*counts) for p, counts in record["held"].items()}
        totals = Totals(*record["totals"])
        return super().recorded(system, {**record, "held": held, "totals": totals})
