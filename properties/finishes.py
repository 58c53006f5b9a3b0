"""Whether the applications get to the end of their workload, however the run goes: at final states.

A program blocks at a receive for which its message never comes, or comes behind another one.
"""

from __future__ import annotations

from antecede import Property, What, Where


def has_ended(ended: bool) -> bool:
    """Return whether an application has come to its end."""
    return ended


FINISHES = Property(
    name="finishes",
    summary="at final states: every application has come to the end of its workload",
    what=What.ENDED,
    where=Where.AT_FINAL_STATES,
    predicate=has_ended,
)
