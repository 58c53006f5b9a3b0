"""Total order: one order of all messages contains the deliveries of every actor.

It implies `same-order`, which compares two actors at a time. If every message goes to two of three
actors, no two actors have two messages in common, but the three can still contradict each other: a
before b, b before c, c before a.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise

from antecede import Message, Property, What, When


def fit_into_one_order(sequences: tuple[tuple[Message, ...], ...]) -> bool:
    """Return whether all sequences are parts of one order of the messages.

    They are if no messages follow each other in a circle.
    """
    order = TopologicalSorter[Message]()
    for before, after in chain.from_iterable(map(pairwise, sequences)):
        order.add(after, before)
    try:
        order.prepare()
    except CycleError:
        return False
    return True


TOTAL_ORDER = Property(
    name="total-order",
    summary="safety: the deliveries of all actors fit into one order of the messages",
    what=What.SEQUENCES,
    when=When.ALWAYS,
    predicate=fit_into_one_order,
)
