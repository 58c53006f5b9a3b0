"""Whether some run takes all the applications to the end of their workload."""

from __future__ import annotations

from antecede import Property
from antecede.properties.finishes import has_ended

CAN_FINISH = Property(
    name="can-finish",
    summary="reachability: at some final state every application has come to its end",
    ending=has_ended,
)
