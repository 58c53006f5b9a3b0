"""Total order: one order of all messages contains the deliveries of every actor.

It implies `same-order`, which compares two actors at a time. If every message goes to two of three
actors, no two actors have two messages in common, but the three can still contradict each other: a
before b, b before c, c before a.
"""

from __future__ import annotations

from antecede import Message, Property, What, Where


def fit_into_one_order(sequences: tuple[tuple[Message, ...], ...]) -> bool:
    """Return whether all sequences are parts of one order of the messages.

    A message can come next in that order if it is the first one left of every sequence that has it.
    """
    left = [list(sequence) for sequence in sequences if sequence]
    while left:
        heads = [sequence[0] for sequence in left]
        following = next((m for m in heads if all(m not in rest[1:] for rest in left)), None)
        if following is None:
            return False
        left = [rest[1:] if rest[0] == following else rest for rest in left]
        left = [rest for rest in left if rest]
    return True


TOTAL_ORDER = Property(
    name="total-order",
    summary="safety: the deliveries of all actors fit into one order of the messages",
    what=What.SEQUENCES,
    where=Where.EVERYWHERE,
    predicate=fit_into_one_order,
)
