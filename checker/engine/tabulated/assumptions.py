"""Optimistic assumptions of a search on tables, and how each one is withdrawn.

A search first assumes that the protocol is symmetric, that no actor sends to itself, and that
visited states can be forgotten level by level. A table entry that contradicts an assumption raises
one of `UNFOUNDED`, and the search restarts without that assumption.

Question: Which assumptions does a search make, and when does it restart?
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Self

from attrs import asdict, define, field

from antecede.checker.engine.rows.grading import NotGradedError, Weights
from antecede.checker.engine.rows.symmetry import NotSymmetricError, why_not
from antecede.checker.engine.rows.table_filler import TableFiller
from antecede.checker.engine.rows.tabulate import SelfPacketError
from antecede.checker.engine.storage.validation import table, text, truth
from antecede.checker.search.options import Options
from antecede.checker.semantics.transition import System

UNFOUNDED = (NotSymmetricError, SelfPacketError, NotGradedError)
"""The errors that are raised when an assumption does not hold."""

WORTH_RESTARTING = 64
"""Weighted levels are worth a restart from this many times `Options.forgets_after` visited states.

Until then, kept states take about two gigabytes. Weighted levels take as much time as levels by
depth, but the restart repeats the search so far, and weighted levels show no runs.
"""


class ByDepthError(NotGradedError):
    """The search must restart, and its levels must be depths; the text says why."""


class Plan(Enum):
    """The ways to treat visited states between two levels of a search."""

    KEEP = auto()
    FORGET = auto()  # keep only the current level
    WEIGH = auto()  # restart with weighted levels, and keep only the open ones


@define(eq=False)
class Assumptions:
    """The assumptions that a search still makes.

    Attributes:
        self_channels: actors may send packets to themselves, so they have channels for that.
        weighs: levels may be sums of weights.
        no_symmetry: the reason why states are not replaced by representatives; None: they are.
        forgets: visited states may be forgotten.
        tried: weights that a table entry contradicted.
    """

    self_channels: bool
    weighs: bool
    no_symmetry: str | None = None
    forgets: bool = True
    tried: list[Weights] = field(factory=list)

    def filler(self, system: System, *, symmetric: bool) -> TableFiller:
        """Return new tables that have numbers only for the components of the initial state."""
        return TableFiller(
            system, symmetric=symmetric, self_channels=self.self_channels, parted=True
        )

    def best_filler(self, system: System, options: Options) -> TableFiller:
        """Return tables with symmetry if the system has it; otherwise note the reason."""
        filler = self.filler(system, symmetric=False)
        if self.no_symmetry is None:
            self.no_symmetry = why_not(filler.components, options.symmetry)
        if self.no_symmetry is None:
            try:
                return self.filler(system, symmetric=True)
            except NotSymmetricError as reason:
                self.no_symmetry = str(reason)
        return filler

    def weights(self, filler: TableFiller) -> Weights:
        """Return a weight for each kind of transition; empty if there are none to try.

        All paths to a state have the same sum of these weights, as far as the tables show.
        """
        weights = filler.tabulation.grading.weights
        return weights if self.weighs and weights and weights not in self.tried else {}

    def plan(
        self, filler: TableFiller, options: Options, weighted: bool, visited: int, *, moves: bool
    ) -> Plan:
        """Return what to do about visited states between two levels.

        Args:
            weighted: levels are sums of weights already, so there is nothing to decide.
            visited: the number of states that are kept.
            moves: the search is about to move to a cluster, where visited states cost most.
        """
        if weighted or options.forgets_after is None or not self.forgets:
            return Plan.KEEP
        if filler.graded:
            return Plan.FORGET if moves or visited > options.forgets_after else Plan.KEEP
        worthwhile = moves or visited > WORTH_RESTARTING * options.forgets_after
        return Plan.WEIGH if worthwhile and self.weights(filler) else Plan.KEEP

    def withdraw(self, reason: Exception, filler: TableFiller, weights: Weights) -> Weights:
        """Withdraw the assumption that does not hold; return the weights with which to restart.

        The reason is one of `UNFOUNDED`; the weights of the search are empty if levels are depths.
        """
        match reason:
            case NotSymmetricError():
                self.no_symmetry = str(reason)
            case SelfPacketError():
                self.self_channels = True
            case ByDepthError():
                self.weighs = False
        if isinstance(reason, NotGradedError):
            weights = self.weights(filler)
            self.tried.append(weights)
            self.forgets &= bool(weights)
        return weights

    def record(self) -> dict[str, Any]:
        """Return the assumptions as data of a checkpoint; see `recorded`."""
        return asdict(self)

    @classmethod
    def recorded(cls, record: Mapping[str, Any]) -> Self:
        """Return the assumptions that `record` returned."""
        no_symmetry = record["no_symmetry"]
        return cls(
            **{name: truth(name, record[name]) for name in ("self_channels", "weighs", "forgets")},
            no_symmetry=None if no_symmetry is None else text("a reason", no_symmetry),
            tried=[dict(table("weights", weights)) for weights in record["tried"]],
        )
