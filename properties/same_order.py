"""Pairwise order: two actors deliver the messages that both deliver in the same order."""

from __future__ import annotations

from itertools import combinations

from antecede import Message, Property, What, When


def agree_in_pairs(sequences: tuple[tuple[Message, ...], ...]) -> bool:
    """Return whether any two actors have the messages that both delivered in the same order."""
    for one, other in combinations(sequences, 2):
        common = set(one) & set(other)
        if [m for m in one if m in common] != [m for m in other if m in common]:
            return False
    return True


SAME_ORDER = Property(
    name="same-order",
    summary="safety: any two actors deliver the messages that both deliver in the same order",
    what=What.SEQUENCES,
    when=When.ALWAYS,
    predicate=agree_in_pairs,
)
