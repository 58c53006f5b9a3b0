"""FIFO delivery: per sender and receiver, messages are delivered in causal-send order."""

from __future__ import annotations

from antecede import Delivery, Property, What, When


def respects_channel_order(delivery: Delivery) -> bool:
    """Return whether no later message of this sender was delivered here before."""
    return not delivery.fifo_late


FIFO_DELIVERY = Property(
    name="fifo-delivery",
    summary="safety: per sender and receiver, messages are delivered in the order of their sending",
    what=What.DELIVERY,
    when=When.ALWAYS,
    predicate=respects_channel_order,
)
