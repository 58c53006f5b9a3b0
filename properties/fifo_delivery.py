"""FIFO delivery: per sender and receiver, messages are delivered in causal-send order."""

from __future__ import annotations

from antecede import Delivery, Property, What, Where


def respects_channel_order(delivery: Delivery) -> bool:
    """Return whether no later message of this sender was delivered here before."""
    return not delivery.overtaken


FIFO_DELIVERY = Property(
    name="fifo-delivery",
    summary="safety: per sender and receiver, messages are delivered in the order of their sending",
    what=What.DELIVERY,
    where=Where.EVERYWHERE,
    predicate=respects_channel_order,
)
