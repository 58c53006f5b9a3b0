"""Properties, one file each. The registry maps a name to where its record is defined.

`witness:NAME` and `invariant:NAME` are made from what a protocol declares; see
`properties.declared`.
"""

REGISTRY = {
    "causal-delivery": "properties.causal_delivery:CAUSAL_DELIVERY",
    "fifo-delivery": "properties.fifo_delivery:FIFO_DELIVERY",
    "integrity": "properties.integrity:INTEGRITY",
    "all-delivered": "properties.all_delivered:ALL_DELIVERED",
    "can-deliver": "properties.can_deliver:CAN_DELIVER",
    "finishes": "properties.finishes:FINISHES",
    "can-finish": "properties.can_finish:CAN_FINISH",
}

DECLARED = {
    "witness": "properties.declared:witness",
    "invariant": "properties.declared:invariant",
}

DEFAULT = ("causal-delivery", "integrity", "all-delivered")
