"""Agreement: if one live actor has delivered a message, all live destinations have.

It is the agreement of reliable broadcast, which says nothing about the deliveries of actors that
have crashed (Hadzilacos and Toueg, A Modular Approach to Fault-Tolerant Broadcasts and Related
Problems, Technical Report TR 94-1425, Cornell University, 1994).
"""

from __future__ import annotations

from antecede import Message, Property, What, When


def nothing_partly_delivered(messages: tuple[Message, ...]) -> bool:
    """Return whether no message was delivered at some of its live destinations only."""
    return not messages


AGREEMENT = Property(
    name="agreement",
    summary="at final states: if one live actor delivered a message, all its live destinations did",
    what=What.PARTLY_DELIVERED,
    when=When.AT_FINAL_STATES,
    predicate=nothing_partly_delivered,
)
