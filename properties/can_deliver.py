"""Liveness for protocols that retransmit: from every state, everything can still be delivered."""

from __future__ import annotations

from antecede import Property, What, When
from antecede.properties.all_delivered import nothing_undelivered

CAN_DELIVER = Property(
    name="can-deliver",
    summary="from every reachable state, everything can still be delivered",
    what=What.UNDELIVERED,
    when=When.ALWAYS_POSSIBLE,
    predicate=nothing_undelivered,
)
