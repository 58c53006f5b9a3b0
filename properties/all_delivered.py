"""Liveness at final states: every message was delivered to all its destinations."""

from __future__ import annotations

from antecede import Message, Property, What, When


def nothing_undelivered(undelivered: tuple[Message, ...]) -> bool:
    """Return whether a sender has no undelivered message left."""
    return not undelivered


ALL_DELIVERED = Property(
    name="all-delivered",
    summary="at final states: every message was delivered to all its destinations",
    what=What.UNDELIVERED,
    when=When.AT_FINAL_STATES,
    predicate=nothing_undelivered,
)
