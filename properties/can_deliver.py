"""Liveness for protocols that retransmit: from every state, everything can still be delivered."""

from __future__ import annotations

from antecede import Property, What, Where
from antecede.properties.all_delivered import nothing_undelivered

CAN_DELIVER = Property(
    name="can-deliver",
    summary="from every reachable state, everything can still be delivered",
    what=What.UNDELIVERED,
    where=Where.FROM_EVERYWHERE_ON,
    predicate=nothing_undelivered,
)
