"""Runs where a measure of an actor's state reaches a limit: its growth and the late packets."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from antecede.checker.model import Property, Transition, What, When
from antecede.checker.paths.confirm import confirm
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Path
from antecede.checker.semantics.limits import Limit
from antecede.checker.semantics.transition import System


@frozen(eq=False)
class Growth:
    """A run to a limit.

    Attributes:
        actor: the actor whose state reaches the limit.
        path: the run; its last step reaches the limit.
        steps: the numbers of the steps that raise the measure to a new maximum, in order.
    """

    limit: Limit
    actor: int
    path: Path
    steps: tuple[int, ...]

    @property
    def late(self) -> tuple[Flight, ...]:
        """Packets sent before the second-last new maximum that are still in flight at the end."""
        before = self.steps[-2:][0] if self.steps else 0
        flights = flights_of(self.path).in_flight
        return tuple(flight for flight in flights if flight.since < before)


def growth_of(system: System, limit: Limit, transitions: Iterable[Transition]) -> Growth:
    """Replay a run to a limit, and find the actor whose state reaches it.

    Raises:
        ReplayError: no actor's state reaches the limit, so the search is wrong.
    """
    name, summary = f"--bound {limit.text}", "no actor reaches the limit"
    within = Property(name, summary, What.LOCAL_STATE, When.ALWAYS, limit.spares)
    path = evolve(confirm(system, transitions, within), violates=None)
    states = (path.initial, *(step.state for step in path.steps))
    actor = next(k for k, local in enumerate(path.last.actors) if not limit.spares(local))
    values = [limit.of(state.actors[actor]) for state in states]
    steps = tuple(k for k in range(1, len(values)) if values[k] > max(values[:k]))
    return Growth(limit, actor, path, steps)
