"""The graph of an endless workload that the fast engine keeps, as cycles are looked for on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.local.graph import KeptGraph
from antecede.checker.local.labels import Labels, labels_of
from antecede.checker.model import Transition
from antecede.checker.search.graph import Passes, Rows
from antecede.checker.semantics.history import Ghost
from antecede.checker.semantics.marked import follows, may_mark
from antecede.checker.tables import kernels
from antecede.checker.tables.misses import Supply

NOT_FOLLOWED, NOT_MARKED = 1, 2
"""Marks of a state: no marked message is undelivered; none was causal-sent."""


@define(eq=False)
class FollowedGraph:
    """A kept graph of which `checker.search.fairness` can ask what it needs.

    It takes 6 bytes per edge and 9 per state, and what `KeptGraph` takes while it is made.

    Attributes:
        kept: the graph, with labels.
        rows: its edges.
    """

    kept: KeptGraph
    rows: Rows = field(init=False)

    @rows.default
    def _rows(self) -> Rows:
        kept = self.kept
        assert kept.labels is not None
        return Rows(
            kept.first.array[: kept.ended + 1],
            kept.target.array[: kept.edges],
            kept.label.array[: kept.edges],
            kept.labels.transitions,
        )

    @property
    def passes(self) -> Passes:
        """The passes over its rows, compiled."""
        return kernels.COMPILED

    def followed(self) -> bytearray:
        """Return, per state, whether the marked message was causal-sent and is undelivered."""
        return self._marked(0)

    def over(self) -> bytearray:
        """Return, per state, whether the marked message was delivered everywhere."""
        return self._marked(NOT_FOLLOWED)

    def _marked(self, exactly: int) -> bytearray:
        marks = self.kept.marks.array[: self.kept.states]
        return bytearray(marks == exactly)

    def all_edges(self, number: int) -> bool:
        """Return whether all edges of a state are there."""
        return number < self.kept.ended

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to a state."""
        labels = (self.rows.label[edge] for _, edge in self.kept.edges_to(number))
        return tuple(self.rows.transitions[label] for label in labels)


def followed_graph(
    supply: Supply,
    make: Callable[[Labels, Any], KeptGraph],
    tick: Callable[[], None],
    depth: int | None,
) -> FollowedGraph:
    """Return the graph of what a search has found.

    Args:
        supply: the tables of the search.
        make: returns an empty graph, given labels and what marks composites.
        tick: called now and then; it may raise.
        depth: of the states that are not expanded yet; None: all are.

    Raises:
        CapacityError: there is too little room.
    """
    kept = make(labels_of(supply.tabulation), followed_composites(supply))
    kept.make(tick, depth)
    return FollowedGraph(kept)


def followed_composites(supply: Supply) -> Any:
    """Return what each actor's composites say of the message that is followed.

    Returns:
        uint8, of composite g of actor i at i * (the room for composites) + g; a state's marks are
        the bits that all its composites have.
    """
    layout, tabulation = supply.layout, supply.tabulation
    marks = np.zeros((len(layout.counts), layout.room), np.uint8)
    for actor, count in enumerate(layout.counts):
        pending = tabulation.pending[actor].values
        waits = [follows((Ghost(knows=0, pending=entries),)) for entries in pending]
        sent = [not may_mark((ghost,)) for ghost in tabulation.knows[actor].values]
        quiet = ~np.array(waits, np.bool_)[layout.column(actor, kernels.PENDING)]
        unmarked = ~np.array(sent, np.bool_)[layout.column(actor, kernels.KNOWS)]
        marks[actor, :count] = quiet * NOT_FOLLOWED + unmarked * NOT_MARKED
    return marks.ravel()
