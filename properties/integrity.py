"""Integrity: each destination delivers a message at most once, and only destinations deliver it."""

from __future__ import annotations

from antecede import Delivery, Property, What, When


def is_expected(delivery: Delivery) -> bool:
    """Return whether the message was causal-sent to this actor and not delivered here before."""
    return delivery.expected


INTEGRITY = Property(
    name="integrity",
    summary="safety: delivered at most once per destination, and only where it was sent",
    what=What.DELIVERY,
    when=When.ALWAYS,
    predicate=is_expected,
)
