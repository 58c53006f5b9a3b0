"""Properties, one file each. The registry maps a name to the module and name of its record.

`witness:NAME`, `invariant:NAME` and `final:NAME` are built from the declarations of a protocol;
see `properties.declared`.
"""

REGISTRY = {
    "causal-delivery": "antecede.properties.causal_delivery:CAUSAL_DELIVERY",
    "fifo-delivery": "antecede.properties.fifo_delivery:FIFO_DELIVERY",
    "integrity": "antecede.properties.integrity:INTEGRITY",
    "all-delivered": "antecede.properties.all_delivered:ALL_DELIVERED",
    "agreement": "antecede.properties.agreement:AGREEMENT",
    "can-deliver": "antecede.properties.can_deliver:CAN_DELIVER",
    "finishes": "antecede.properties.finishes:FINISHES",
    "can-finish": "antecede.properties.can_finish:CAN_FINISH",
    "no-starvation": "antecede.properties.no_starvation:NO_STARVATION",
    "same-order": "antecede.properties.same_order:SAME_ORDER",
    "total-order": "antecede.properties.total_order:TOTAL_ORDER",
}

DECLARED = "antecede.properties.declared:declared"

DEFAULT = ("causal-delivery", "integrity", "all-delivered")

ENDLESS = ("causal-delivery", "integrity", "no-starvation")
"""The default for applications that never stop, because such runs have no final states."""
