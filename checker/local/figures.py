"""What a search of the fast engine counts: states, transitions, memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from antecede.checker.local.expansion import Expansion
from antecede.checker.local.graph import KeptGraph, graph_figures
from antecede.checker.search.result import Counts
from antecede.checker.tables import kernels
from antecede.checker.tables.symmetry import figures


def counts_of(expansion: Expansion) -> Counts:
    """Return what was explored so far."""
    return Counts(
        unique_states=sum(a.visited.unique for o in expansion.owners for a in o.ahead),
        total_states=1 + expansion.total(kernels.FIRED),
        depth=expansion.course.deepest,
        final_states=expansion.total(kernels.FINALS),
    )


def unreduced(expansion: Expansion) -> Counts | None:
    """Return the counts without symmetry, from the sizes of the orbits; None in between levels."""
    course, tables = expansion.course, expansion.supply.tables
    if course.whole is not None:
        return course.whole
    if not (expansion.supply.symmetric and course.between_levels and expansion.arenas.made):
        return None
    waiting = sum(
        kernels.orbits(level.rows.array, level.count, tables.geo, tables.renamings)
        for owner in expansion.owners
        for level in owner.levels
    )
    return Counts(
        unique_states=expansion.total(kernels.ORBIT_STATES) + waiting,
        total_states=1 + expansion.total(kernels.ORBIT_FIRED),
        depth=course.deepest,
        final_states=expansion.total(kernels.ORBIT_FINALS),
    )


def figures_of(
    expansion: Expansion, no_symmetry: str | None, kept: KeptGraph | None
) -> dict[str, Any]:
    """Return further figures, by name.

    Args:
        expansion: what the threads have done.
        no_symmetry: why states are not replaced by representatives.
        kept: the graph of all states, if there is one.
    """
    owners, course = expansion.owners, expansion.course
    visited = [ahead.visited for owner in owners for ahead in owner.ahead]
    stored, unique = sum(v.bytes for v in visited), sum(v.unique for v in visited)
    reason = expansion.supply.tabulation.grading.reason
    return {
        "symmetry": _symmetry_figures(expansion, no_symmetry),
        "threads": len(owners),
        "visited_bytes_per_state": stored / max(unique, 1),
        "load_factor": sum(v.states for v in visited) / sum(v.capacity for v in visited),
        "graded": {"on": reason is None, "reason": reason},
        **({"weights": dict(course.weights)} if course.weights else {}),
        "dropped_states": sum(v.dropped for v in visited),
        "dropped_composites": course.composites_dropped,
        "spilled_bytes": expansion.arenas.spilled_bytes,
        "states_per_depth": list(course.levels),
        **graph_figures(kept),
        **expansion.supply.figures(
            np.sum([o.fired for o in owners], axis=0),
            np.sum([o.fresh_kinds for o in owners], axis=0),
        ),
    }


def _symmetry_figures(expansion: Expansion, no_symmetry: str | None) -> dict[str, Any]:
    course, orbits = expansion.course, expansion.total(kernels.ORBIT_STATES)
    current = sum(o.level.count for o in expansion.owners) if course.weights else 0
    expanded = sum(course.levels) - (current or course.frontier)
    return figures(expansion.supply.tabulation.symmetry, no_symmetry, orbits, expanded)
