"""Runs to the states of a search by levels: traced back on its transports, in original names.

A *run* is a sequence of transitions from the initial state, for example to a violation.

Question: How is a run traced back from a state?
"""

from __future__ import annotations

from attrs import frozen

from antecede.checker.engine.rows.table_filler import TableFiller
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.tabulated.concretise import Concretiser
from antecede.checker.engine.tabulated.transport import Address, FirstTransport, NextTransport
from antecede.checker.model import Property
from antecede.checker.paths.places import transitions_at
from antecede.checker.search.loop import Evidence
from antecede.checker.support.errors import ReplayError


@frozen(eq=False)
class Traces:
    """Traces states back to the initial state.

    A transport keeps the parent of each state, and the *place* of the transition that leads from
    the parent to the state: its index among the transitions that are enabled in the parent. The
    search moved from the threads to the cluster with the level of depth `moved_at`.
    """

    filler: TableFiller
    threads: FirstTransport
    cluster: NextTransport | None
    moved_at: int

    def run_to(self, address: Address, place: int, prop: Property) -> Evidence:
        """Return the run to a state, and on by the transition at `place` unless that is -1.

        Raises:
            ReplayError: there is no such run.
        """
        try:
            places = [*self._places_to(address), *([place] if place >= 0 else [])]
            return self.run(places, prop)
        except LookupError:
            raise ReplayError(f"the parents of states give no run that shows {prop.name}") from None

    def _places_to(self, address: Address) -> list[int]:
        """Return the places of the transitions that lead from the initial state to another one."""
        on_cluster: list[int] = []
        if self.cluster is not None:
            on_cluster, address = self.cluster.places_to(address)
        return self.threads.places_to(address) + on_cluster

    def run(self, places: list[int], prop: Property) -> Evidence:
        """Return the run with transitions at these places, in original names."""
        if not self.filler.symmetric:
            return Evidence(transitions_at(self.filler.system, places))
        self.filler.refresh()
        concretiser = Concretiser(self.filler, self.threads.fill, self._representative)
        return Evidence(concretiser.run(places, prop))

    def _representative(self, depth: int, row: Words) -> Words:
        """Return the renaming of a row at some depth with which the search continued."""
        if self.cluster is None or depth < self.moved_at:
            return row
        return self.cluster.representative(row)
