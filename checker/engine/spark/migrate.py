"""Cuts the states of a search into the partitions of a cluster.

A search starts on threads, and moves to the cluster when a level is large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.table_filler import TableFiller, wrapping
from antecede.checker.engine.spark import distinct
from antecede.checker.engine.spark.cluster_state import ClusterState
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.partition import Partition
from antecede.checker.engine.spark.rows import INDEX_BITS, NO_MARKS
from antecede.checker.engine.spark.worker_composites import WorkerComposites
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.tabulated.transport import Part


def partitions_of(
    parts: Iterable[Part],
    filler: TableFiller,
    state: ClusterState,
    own: WorkerComposites,
    partitions_for: Callable[[int], int],
) -> list[tuple[int, Partition]]:
    """Divide the states of a search that moves to a cluster into partitions, in pieces.

    The partitions have the states to expand and, unless levels are never met again, the visited
    states. A piece has at most 2^18 rows per array, and every partition has a piece.

    Args:
        parts: the states that the threads had, as rows in the layout of `filler`.
        state: gets the number of `owners`, the row counts `held`, and the `links`, which are places
            in `parts`; no links if levels are sums of weights.
        own: the driver's composites, with which rows are packed.
        partitions_for: returns the number of partitions for so many states.
    """
    levels, marks, origins, visited = [], [NO_MARKS], [], []
    with wrapping():
        for part in parts:
            rows = _representatives(part.rows, filler, own)
            if part.lead is None:
                visited.append(rows)
                continue
            levels.append(rows)
            marks.append((part.lead << g.LEAD_BITS) + part.depths.astype(np.int32))
            origins.append((part.number << INDEX_BITS) + np.arange(len(rows) // own.codec.words))
        following, old = np.concatenate(levels), np.concatenate([NOTHING, *visited])
        state.owners = partitions_for((len(following) + len(old)) // own.codec.words)
        owners, old_owners = (own.owners_of(rows, state.owners) for rows in (following, old))
        weighted = np.concatenate(marks)
    if not len(weighted):
        links = np.concatenate(origins)
        state.links = [[[links[owners == p]] for p in range(state.owners)]]
    following, old = (rows.reshape(-1, own.codec.words) for rows in (following, old))
    pieces = []
    for p in range(state.owners):
        current = own.formed(following[owners == p].ravel())
        met = own.formed(old[old_owners == p].ravel())
        partition = Partition(
            form=own.form,
            level=NOTHING,
            todo=NOTHING,
            visited=_without(current, met, own),
            following=current,
            marks=weighted[owners == p] if len(weighted) else NO_MARKS,
        )
        state.held[p] = partition.held(own)
        pieces += [(p, piece) for piece in partition.pieces(own.row_size, own.codec.words)]
    return pieces


def _without(current: Words, met: Words, own: WorkerComposites) -> Words:
    """Return visited states without those of the current level, which a partition has already."""
    if not len(met):
        return met
    some = distinct.Part(met, np.zeros(1, np.int64))
    with wrapping():
        shift = own.first_shift
        rows, _ = distinct.unseen([some], own.row_size, [current], own.scratch, shift)
    return rows


def _representatives(rows: Words, filler: TableFiller, own: WorkerComposites) -> Words:
    """Return the flat rows of the representatives that the cluster has of some rows."""
    layout, geo = filler.layout, filler.tables.geo
    count = len(rows) // layout.row_words
    return own.representatives(own.codec.packed(rows, count, layout.row_words, geo, layout.dec))
