"""Integrity: a message is delivered at most once per destination, and only where it was sent."""

from __future__ import annotations

from antecede import Delivery, Property


def is_expected(delivery: Delivery) -> bool:
    """Return whether the message was causal-sent to this actor and not delivered here before."""
    return delivery.expected


INTEGRITY = Property(
    name="integrity",
    summary="safety: delivered at most once per destination, and only where it was sent",
    at_delivery=is_expected,
)
