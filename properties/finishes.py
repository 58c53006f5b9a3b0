"""Termination, checked at final states: the applications reach the end of their workload.

A program blocks at a receive if its message never arrives, or arrives behind another one.
"""

from __future__ import annotations

from antecede import Property, What, When


def has_ended(ended: bool) -> bool:
    """Return whether an application has reached its end."""
    return ended


FINISHES = Property(
    name="finishes",
    summary="at final states: every application has reached the end of its workload",
    what=What.ENDED,
    when=When.AT_FINAL_STATES,
    predicate=has_ended,
)
