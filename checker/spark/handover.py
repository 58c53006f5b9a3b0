"""From the local engine to a cluster: its states, cut into partitions."""

from __future__ import annotations

import numpy as np

from antecede.checker.local.breadth import LocalBreadthFirst
from antecede.checker.local.owners import Level
from antecede.checker.local.weighed import WeighedExpansion
from antecede.checker.spark.course import ClusterCourse
from antecede.checker.spark.distinct import NOTHING
from antecede.checker.spark.partition import Partition
from antecede.checker.spark.rows import NO_MARKS, Composites
from antecede.checker.tables import kernels
from antecede.checker.tables.misses import wrapping
from antecede.checker.tables.tabulate import Words

Pieces = list[tuple[int, Partition]]


def handed_over(local: LocalBreadthFirst, course: ClusterCourse, own: Composites) -> Pieces:
    """Return what the local engine has found, by partitions, in pieces; it forgets its states.

    Args:
        local: between two levels.
        course: is told what the partitions hold, and the links of the current level.
        own: the driver's composites.
    """
    weighed = isinstance(local.expansion, WeighedExpansion)
    return _open_levels(local, course, own) if weighed else _first_partitions(local, course, own)


def _first_partitions(local: LocalBreadthFirst, course: ClusterCourse, own: Composites) -> Pieces:
    threads = len(local.owners)
    levels, links, visited = [], [], []
    with wrapping():
        for owner in local.owners:
            levels.append(_of_level(local, owner.level, own))
            links.append(np.arange(owner.level.count) * threads + owner.number)
            if not course.graded:
                parts = owner.visited.parts()
                visited += [_representatives(local, part.ravel(), own) for part in parts]
        following, old = np.concatenate(levels), np.concatenate([NOTHING, *visited])
        which, old_which = (own.owners_of(rows, course.owners) for rows in (following, old))
        progress = NOTHING
        if not course.graded:
            course.least = int(own.progress(following).min())
            progress = own.progress(old)
    local.expansion.forget_states()
    words, all_links = own.codec.words, np.concatenate(links)
    following, old = following.reshape(-1, words), old.reshape(-1, words)
    course.links = [[[all_links[which == p]] for p in range(course.owners)]]
    partitions = [
        Partition(
            columns=own.codec.col_widths,
            level=NOTHING,
            todo=NOTHING,
            visited=old[old_which == p].ravel(),
            progress=progress[old_which == p].astype(np.int32),
            following=following[which == p].ravel(),
        )
        for p in range(course.owners)
    ]
    return _in_pieces(partitions, course, own)


def _open_levels(local: LocalBreadthFirst, course: ClusterCourse, own: Composites) -> Pieces:
    rows, marks = [], []
    assert isinstance(local.expansion, WeighedExpansion)
    with wrapping():
        local.expansion.read_depths()
        for lead, level in (pair for owner in local.owners for pair in enumerate(owner.levels)):
            rows.append(_of_level(local, level, own))
            marks.append((lead << kernels.LEAD_BITS) + level.known_depths.astype(np.int32))
        flat, of_rows = np.concatenate(rows), np.concatenate([NO_MARKS, *marks])
        which = own.owners_of(flat, course.owners)
    local.expansion.forget_states()
    flat = flat.reshape(-1, own.codec.words)
    partitions = [
        Partition(
            columns=own.codec.col_widths,
            level=NOTHING,
            todo=NOTHING,
            visited=NOTHING,
            progress=np.empty(0, np.int32),
            following=flat[which == p].ravel(),
            marks=of_rows[which == p],
        )
        for p in range(course.owners)
    ]
    return _in_pieces(partitions, course, own)


def _in_pieces(partitions: list[Partition], course: ClusterCourse, own: Composites) -> Pieces:
    course.held = {p: partition.held(own) for p, partition in enumerate(partitions)}
    return [
        (p, piece)
        for p, partition in enumerate(partitions)
        for piece in partition.pieces(own.codec.words)
    ]


def _of_level(local: LocalBreadthFirst, level: Level, own: Composites) -> Words:
    rows = level.rows.array[: level.count * local.supply.layout.row_words]
    return _representatives(local, rows, own)


def _representatives(local: LocalBreadthFirst, rows: Words, own: Composites) -> Words:
    """Return the flat rows of the local engine's rows, as a cluster has them."""
    layout, geo = local.supply.layout, local.supply.tables.geo
    count = len(rows) // layout.row_words
    return own.representatives(own.codec.packed(rows, count, layout.row_words, geo, layout.dec))
