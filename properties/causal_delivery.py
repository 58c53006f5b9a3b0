"""Causal delivery: no message is delivered after a message that it happened before."""

from __future__ import annotations

from antecede import Delivery, Property, What, When


def respects_causality(delivery: Delivery) -> bool:
    """Return whether no message that depends on this one was delivered here before it.

    A violation is the delivery of the overtaken message. By then both messages are delivered, in
    the wrong order (Birman and Joseph 1987; Cykas paper, section 3.1).
    """
    return not delivery.causally_late


CAUSAL_DELIVERY = Property(
    name="causal-delivery",
    summary="safety: if m happened before m', no actor delivers m' before m",
    what=What.DELIVERY,
    when=When.ALWAYS,
    predicate=respects_causality,
)
