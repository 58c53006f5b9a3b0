"""Possibility: in some run, all applications reach the end of their workload."""

from __future__ import annotations

from antecede import Property, What, When
from antecede.properties.finishes import has_ended

CAN_FINISH = Property(
    name="can-finish",
    summary="reachability: at some final state, every application has ended its workload",
    what=What.ENDED,
    when=When.AT_SOME_FINAL_STATE,
    predicate=has_ended,
)
