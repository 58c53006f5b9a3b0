"""The progress of a search on a cluster, in one record.

The driver updates the record after each job and saves it in checkpoints.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from attrs import asdict, astuple, define, field

from antecede.checker.engine.rows.packing import MOST_BITS
from antecede.checker.engine.spark.row_accounting import RowCounts
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import numbers, table, truth, whole, wholes
from antecede.checker.engine.tabulated.transport import Totals


@define(eq=False)
class ClusterState:
    """The progress of a search since it moved to the cluster; saved in its checkpoints.

    Attributes:
        owners: the number of partitions now.
        began_at: the depth of the level with which it moved.
        graded: every state has one depth only, so earlier levels are forgotten.
        totals: sums over the states that were expanded on the cluster.
        links: per level and partition, the links of its states to their parents, in pieces. Levels
            may have different numbers of partitions. The
            links of the first level are the addresses that the states had on the first transport,
            as part << INDEX_BITS | index.
        stragglers: per partition, states that were found late, with their links; the next job
            decides which of them are new.
        settled: the stragglers are known to be new, and were counted.
        least: if levels are sums of weights, the least lead of an open level.
        held: per partition, its row counts.
        rounds: the statistics of each round.
        columns: the widths of the columns in `composites`; empty: nothing was recorded yet.
        composites: records of the composites that have numbers; None: rows are flat.
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
        """Return the progress as data of a checkpoint; see `recorded`."""
        held = {p: tuple(counts) for p, counts in self.held.items()}
        totals = astuple(self.totals, recurse=False)
        return {**asdict(self, recurse=False), "held": held, "totals": totals}

    @classmethod
    def recorded(cls, record: dict[str, Any]) -> Self:
        """Return the progress that `record` returned; numbers of the tables are not checked yet."""
        owners = whole("the number of partitions", record["owners"], 1)
        held = {
            whole("a partition", p, most=owners - 1): RowCounts(*wholes("rows", counts))
            for p, counts in record["held"].items()
        }
        composites = record["composites"]
        if composites is not None:
            composites = numbers("composites", composites, np.int64, (None, None))
        return cls(
            owners=owners,
            began_at=whole("a depth", record["began_at"], 1),
            graded=truth("whether states have one depth", record["graded"]),
            totals=Totals.recorded(record["totals"]),
            links=_links_of(record["links"], owners),
            stragglers={
                whole("a partition", p, most=owners - 1): (
                    numbers("rows", rows, np.int64),
                    numbers("links", links, np.int64),
                )
                for p, (rows, links) in record["stragglers"].items()
            },
            settled=truth("whether rows are counted", record["settled"]),
            least=whole("the least lead", record["least"], -1),
            held=held,
            rounds=[dict(table("a round", each)) for each in record["rounds"]],
            columns=tuple(wholes("widths of columns", record["columns"], 0, MOST_BITS)),
            composites=composites,
        )


def _links_of(levels: Any, owners: int) -> list[list[list[Words]]]:
    """Return the links per level, partition and piece, or raise ValueError."""
    if any(len(level) != owners for level in levels[-1:]):
        raise ValueError("some partitions have no links")
    return [
        [[numbers("links", links, np.int64) for links in pieces] for pieces in level]
        for level in levels
    ]
