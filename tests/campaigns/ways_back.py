"""Properties of ways back that the campaigns check together with `can-deliver`."""

from __future__ import annotations

from antecede.checker.model import Property, What, Where

CAN_END = Property(
    name="can-end",
    summary="from every reachable state, all workloads can still end",
    what=What.ENDED,
    where=Where.FROM_EVERYWHERE_ON,
    predicate=lambda ended: ended,
)
CAN_DELIVER_SECOND = Property(
    name="can-deliver-second",
    summary="from every reachable state, second messages can still be delivered",
    what=What.UNDELIVERED,
    where=Where.FROM_EVERYWHERE_ON,
    predicate=lambda messages: all(message.number != 2 for message in messages),
)

OWN = {
    "can-end": f"{__name__}:CAN_END",
    "can-deliver-second": f"{__name__}:CAN_DELIVER_SECOND",
}
"""The entries of a registry of properties; see `antecede.properties`."""

WAYS_BACK = ("can-deliver", *OWN)
