"""Liveness in runs of any length: no message stays undelivered forever."""

from __future__ import annotations

from antecede import Property, What, When

NO_STARVATION = Property(
    name="no-starvation",
    summary="no fair run leaves a message undelivered forever (endless workloads)",
    what=What.UNDELIVERED,
    when=When.EVENTUALLY_IF_FAIR,
)
