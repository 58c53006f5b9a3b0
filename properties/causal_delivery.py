"""Causal delivery: a message is never delivered after one that it happened before."""

from __future__ import annotations

from antecede import Delivery, Property, What, Where


def respects_causality(delivery: Delivery) -> bool:
    """Return whether nothing delivered here before depends on the message.

    The violation is the delivery of the overtaken message: both are delivered by then, in the wrong
    order (Birman and Joseph 1987; Cykas paper, section 3.1).
    """
    return not delivery.known


CAUSAL_DELIVERY = Property(
    name="causal-delivery",
    summary="safety: no delivery violates causality",
    what=What.DELIVERY,
    where=Where.EVERYWHERE,
    predicate=respects_causality,
)
