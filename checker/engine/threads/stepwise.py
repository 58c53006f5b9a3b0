"""What depth-first search and random walks on the tables share: one transition at a time.

They work on one thread, with one visited set. A kernel takes transitions until its budget is spent
or something needs Python: a table entry is missing, a set must grow, a property is shown. Its whole
state is in arrays, so that it goes on where it stopped.

Kernels look up the successors of a state by all its transitions at once, but a handler that raises
must only end the search where its transition is taken, as in plain Python. So the tables are made
from a *deferring* system, see `checker.semantics.failing`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import hashing_kernels
from antecede.checker.engine.rows.components import bits_of, in_bits
from antecede.checker.engine.rows.table_filler import (
    Repacking,
    TableFiller,
    refuse_crowds,
    wrapping,
)
from antecede.checker.engine.storage.arena import Arenas, reserve_bytes
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.successors import memos
from antecede.checker.engine.tabulated.second_searches import lost_after
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.engine.visited.visited import Visited
from antecede.checker.model import Property
from antecede.checker.paths.places import transitions_at
from antecede.checker.search.loop import Evidence, Explorer
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.failing import (
    HANDLER_RETURNS,
    Raised,
    deferring,
    failure_property,
    judge_states,
)
from antecede.checker.semantics.transition import System, initial_state, successor
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import ProtocolError

FIRST_BUDGET, LAST_BUDGET = 1 << 8, 1 << 17
"""Transitions per round: few at first, so that small bounds are heeded."""

FILLS_PER_TICK = 64
ARENAS = 6
"""The most that are in use: two for the path, and two visited sets, each with the one into which it
is packed anew."""


def _deferring(system: System) -> System:
    """Return a system that goes on where a handler raises, as plain Python does in this search."""
    found = deferring(system)
    protocol = evolve(
        found.protocol,
        initial=system.protocol.initial,
        timeout=system.protocol.timeout,
        actions=system.protocol.actions,
        in_flight=system.protocol.in_flight,
    )
    if system.network.duplicates:
        # Whether a receive that leaves its packet in flight is enabled is found by trying it, so
        # that it raises before it is taken.
        protocol = evolve(protocol, receive=system.protocol.receive)
    shown = evolve(
        failure_property(HANDLER_RETURNS), predicate=lambda state: not isinstance(state, Raised)
    )
    kept = found.properties[: len(system.properties)]
    return evolve(found, protocol=protocol, properties=(*kept, shown))


@define(eq=False)
class Stepwise(Explorer):
    """The base of depth-first search and of random walks: one path, one visited set.

    A subclass says which transition the search takes next.

    Attributes:
        system: the system that is searched.
        max_depth: states at this depth are not expanded; None: all are.
        found: property name -> the run that violates or reaches it.
        graph_figures: figures of the graph of states, if a second search made it.
        arenas: creates the arrays that grow.
        filler: the tables.
        visited: the states met.
        control, limits, fired, fresh_kinds: as for `stepwise_kernels.descend`.
        misses: records of the table entries that a kernel misses.
        memo: the transitions that are remembered.
        budget: the number of transitions of the next round.
    """

    system: System
    max_depth: int | None = None
    found: dict[str, Evidence] = field(factory=dict)
    graph_figures: dict[str, Any] = field(factory=dict)
    arenas: Arenas = field(init=False)
    filler: TableFiller = field(init=False)
    visited: Visited = field(init=False)
    control: Words = field(init=False)
    misses: Words = field(init=False)
    limits: Words = field(init=False)
    memo: g.Memo = field(init=False)
    fired: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    fresh_kinds: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    budget: int = FIRST_BUDGET

    def __attrs_post_init__(self) -> None:
        """Start from the initial state."""
        self.arenas = Arenas(None, (), reserve_bytes(ARENAS))
        self.filler = TableFiller(_deferring(self.system), self_channels=True)
        self.visited = self._new_visited()
        self.misses = self.filler.misses()
        self.control = np.zeros(g.STEPWISE_CONTROL_SIZE, np.int64)
        self.control[g.DEEPEST] = 1
        self.control[g.MAX_DEPTH] = 1 << 62 if self.max_depth is None else self.max_depth
        self.control[g.RAISING] = 1 << len(self.system.properties)
        self.memo = memos.empty(self.filler.tables.geo, self.filler.layout.counts)
        self._resupply()
        self._visit_first(self.filler.initial_row())
        self._show(self.filler.tabulation.initially_shown(), [])

    def _visit_first(self, row: Words) -> None:
        """Put the initial state into the empty visited set."""
        with wrapping():
            hashed = int(hashing_kernels.hash_row(row))
        at = ((hashed >> 32) * self.visited.capacity >> 32) * self.visited.width
        self.visited.slots[at : at + len(row)] = row
        self.visited.states = 1

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return bool(self.control[g.CUT])

    def counts(self) -> Counts:
        """Return the numbers of states explored so far."""
        return Counts(
            unique_states=self.visited.states,
            total_states=self._total(),
            depth=int(self.control[g.DEEPEST]),
            final_states=int(self.control[g.FINALS]),
        )

    def unreduced(self) -> Counts:
        """Return the counts, because this search uses no symmetry."""
        return self.counts()

    def statistics(self) -> dict[str, Any]:
        """Return the figures that `--verbose` shows, by name."""
        visited = self.visited
        return {
            **self.graph_figures,
            "threads": 1,
            "visited_bytes_per_state": visited.bytes / max(visited.states, 1),
            "load_factor": visited.states / visited.capacity,
            "row_bytes": 8 * self.filler.layout.row_words,
            "composites": int(self.filler.layout.counts.sum()),
            "remembered_successors": memos.share_of([self.memo], self.filler.tables.geo),
            **self.filler.figures(self.fired, self.fresh_kinds),
        }

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return a run to a state from which no state that `prop` wants can be reached, or None.

        A second search, by levels, looks for it.
        """
        options = Options(traces=False)
        search = search_on_threads(evolve(self.system, properties=(prop,)), options=options)
        found, self.graph_figures = lost_after(search, prop, tick)
        return found

    def close(self) -> None:
        """Give the memory back; the counts remain."""
        self.arenas.close()

    def round(self, tick: Callable[[], None]) -> None:
        """Take transitions until the budget is spent or a property is shown."""
        self._work(self.budget, tick)
        self.budget = min(2 * self.budget, LAST_BUDGET)

    def _work(self, budget: int, tick: Callable[[], None]) -> None:
        """Run the kernel, and serve it, until its budget is spent or a property is shown."""
        self.control[g.STEPS] = budget
        fills = 0
        while True:
            self.memo = memos.tended(self.memo, self.filler.layout.counts)
            with wrapping():
                status = self._step()
            if status == g.MISSED:
                self._fill()
                fills += 1
                if fills % FILLS_PER_TICK == 0:
                    tick()
            elif status == g.FULL_SET:
                with wrapping():
                    self._grow()
            elif status == g.OVERFLOWED:
                self._extend()
            elif status == g.SHOWS:
                self._show(int(self.control[g.SHOWN]), self._places())
                self.control[g.SHOWN] = 0
                return
            elif status == g.RAISES:
                self._raise()
            elif status == g.CROWDED:
                refuse_crowds(g.MOST_TRANSITIONS + 1)
            else:
                return

    @property
    def composites(self) -> g.Composites:
        """The number of composites per part, and how many there is room for."""
        return g.Composites(self.filler.layout.counts, self.limits)

    @property
    def told(self) -> g.Steps:
        """The arrays into which a kernel writes its results."""
        return g.Steps(self.misses, self.fired, self.fresh_kinds, self.control)

    def _step(self) -> int:
        """Run the kernel; return its status."""
        raise NotImplementedError

    def _total(self) -> int:
        """Return how many states were met."""
        raise NotImplementedError

    def _places(self) -> list[int]:
        """Return the places of the transitions on the path, each among those enabled there."""
        raise NotImplementedError

    def _extend(self) -> None:
        """Make more room for the path and for successors."""
        raise NotImplementedError

    def _grow(self) -> None:
        """Let the visited set grow."""
        self.visited.grow()

    def _fill(self) -> None:
        """Fill what the kernel missed."""
        repacking = self.filler.fill(self.misses[: self.control[g.MISSES]])
        if repacking is not None:
            with wrapping():
                self._repack(repacking)
        self._resupply()

    def _resupply(self) -> None:
        """Take note of how the tables are laid out now."""
        layout = self.filler.layout
        if self.misses.shape[1] != 1 + layout.words:
            self.misses = self.filler.misses()
        self.limits = layout.limits

    def _repack(self, repacking: Repacking) -> None:
        """Pack every row anew."""
        self.visited = self._repacked_set(self.visited, repacking)

    def _repacked_set(self, old: Visited, repacking: Repacking) -> Visited:
        new = self._new_visited()
        for part in old.parts():
            new.add(repacking.apply(part))
        old.close()
        return new

    def _new_visited(self) -> Visited:
        arena = self.arenas.make(np.int64, "visited states")
        return Visited(self.filler.layout.row_words, arena)

    def _show(self, bits: int, places: list[int]) -> None:
        """Record the properties that the path with the transitions at `places` shows."""
        transitions = transitions_at(self.system, places)
        self.found |= {prop.name: Evidence(transitions) for prop in in_bits(self.system, bits)}
        self.control[g.KNOWN] = bits_of(self.system, lambda prop: prop.name in self.found)

    def _raise(self) -> None:
        """Raise what the handler raised on the last transition of the path."""
        *taken, last = transitions_at(self.system, self._places())
        state = initial_state(self.system)
        for transition in taken:
            state = successor(self.system, state, transition).state
        try:
            after = successor(self.system, state, last).state
            judge_states(self.system, after)
        except ProtocolError as error:
            steps = len(taken)
            raise type(error)(
                f"{error} (after {counted(steps, 'transition')} from the start)"
            ) from error
        raise ProtocolError(
            f"a handler of protocol {self.system.protocol.name!r} raised an error, and did not "
            "when it was called again with the same arguments"
        )
