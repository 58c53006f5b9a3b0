"""What a search takes for granted until it turns out otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import asdict, define, field

from antecede.checker.search.options import Options
from antecede.checker.semantics.transition import System
from antecede.checker.tables.grading import NotGradedError, Weights
from antecede.checker.tables.misses import Supply
from antecede.checker.tables.symmetry import NotSymmetricError, why_not
from antecede.checker.tables.tabulate import SelfPacketError

UNFOUNDED = (NotSymmetricError, SelfPacketError, NotGradedError)
"""What is raised where something taken for granted turns out not to hold."""


class ByDepthError(NotGradedError):
    """Levels must be depths; the text says why."""


@define(eq=False)
class Granted:
    """What a search takes for granted.

    Attributes:
        self_channels: actors may send packets to themselves.
        weighs: levels may be sums of weights.
        no_symmetry: why states are not replaced by representatives, if they are not.
        forgets: visited states may be forgotten.
        tried: weights that were gone by; other ones turned out to be needed.
    """

    self_channels: bool
    weighs: bool
    no_symmetry: str | None = None
    forgets: bool = True
    tried: list[Weights] = field(factory=list)

    def supply(self, system: System, options: Options, *, symmetric: bool) -> Supply:
        """Return tables that have what the initial state needs."""
        return Supply(
            system,
            symmetric=symmetric,
            sweep_line=options.sweep_line,
            check_progress=options.check_progress,
            self_channels=self.self_channels,
            parted=True,
        )

    def best_supply(self, system: System, options: Options) -> Supply:
        """Return tables with symmetry, if it is there; else note why not."""
        supply = self.supply(system, options, symmetric=False)
        if self.no_symmetry is None:
            self.no_symmetry = why_not(supply.tabulation, options.symmetry)
        if self.no_symmetry is None:
            try:
                return self.supply(system, options, symmetric=True)
            except NotSymmetricError as reason:
                self.no_symmetry = str(reason)
        return supply

    def weights(self, supply: Supply) -> Weights:
        """Return weights to go by that were not tried yet; none if there are no such ones."""
        weights = supply.tabulation.grading.weights
        return weights if self.weighs and weights and weights not in self.tried else {}

    def give_up(self, reason: Exception) -> None:
        """Take for granted no longer what turned out not to hold."""
        match reason:
            case NotSymmetricError():
                self.no_symmetry = str(reason)
            case SelfPacketError():
                self.self_channels = True
            case ByDepthError():
                self.weighs = False

    def record(self) -> dict[str, Any]:
        """Return this as data."""
        return asdict(self)

    @classmethod
    def recorded(cls, record: Mapping[str, Any]) -> Self:
        """Return what was recorded."""
        return cls(**record)
