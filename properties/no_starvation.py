"""Liveness in runs of any length: no message stays undelivered forever."""

from __future__ import annotations

from antecede import Property, What, Where

NO_STARVATION = Property(
    name="no-starvation",
    summary="no fair run leaves a message undelivered forever (endless workloads)",
    what=What.UNDELIVERED,
    where=Where.ON_FAIR_RUNS,
)
