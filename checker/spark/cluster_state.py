"""The progress of a search on a cluster, in one record."""

from __future__ import annotations

from typing import Any, Self

from attrs import asdict, astuple, define, field

from antecede.checker.search.transport import Totals
from antecede.checker.spark.row_accounting import RowCounts
from antecede.checker.tables.tabulate import Words


@define(eq=False)
class ClusterState:
    """The progress of a search since it moved to the cluster; saved in its checkpoints.

    Attributes:
        owners: partitions.
        began_at: the depth of the level with which it moved.
        graded: every state has one depth only, so earlier levels are forgotten.
        totals: sums over the states that were expanded here.
        links: per level and partition, the links of its states, in pieces. Those of the first level
            are the addresses that the states had before, as part << INDEX_BITS | index.
        stragglers: per partition, states of the current level, with their links; the next job finds
            out which of them are new.
        settled: the stragglers are known to be new, and were counted.
        least: the least progress in the current level; or, if levels are weighted, the least lead
            of an open one.
        held: per partition, its row counts.
        rounds: figures of each round.
        columns: the widths of the columns in `composites`; empty: nothing was recorded yet.
        composites: records of those that have numbers; None: rows are flat.
    """

    owners: int = 0
    began_at: int = 0
    graded: bool = False
    totals: Totals = field(factory=lambda: Totals(new=None))
    links: list[list[list[Words]]] = field(factory=list)
    stragglers: dict[int, tuple[Words, Words]] = field(factory=dict)
    settled: bool = False
    least: int = 0
    held: dict[int, RowCounts] = field(factory=dict)
    rounds: list[dict[str, Any]] = field(factory=list)
    columns: tuple[int, ...] = ()
    composites: Words | None = None

    def record(self) -> dict[str, Any]:
        """Return this as data."""
        held = {p: astuple(counts) for p, counts in self.held.items()}
        totals = astuple(self.totals, recurse=False)
        return {**asdict(self, recurse=False), "held": held, "totals": totals}

    @classmethod
    def recorded(cls, record: dict[str, Any]) -> Self:
        """Return the state that was recorded."""
        held = {p: RowCounts(*counts) for p, counts in record["held"].items()}
        totals, columns = Totals(*record["totals"]), tuple(record["columns"])
        return cls(**{**record, "held": held, "totals": totals, "columns": columns})
