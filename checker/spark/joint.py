"""Which combinations of actors' states there are among flat rows.

What is asked of all actors' states at once is judged by the driver, who has the states; a worker
knows their numbers. See `checker.local.joint`.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.local.joint import first_places
from antecede.checker.spark.rows import Codec
from antecede.checker.tables import kernels
from antecede.checker.tables.tabulate import Words

PIECE = 1 << 18
"""Rows that are unpacked in one go: some tens of megabytes."""


def combinations(flat: Words, codec: Codec, first: int = 0) -> Words:
    """Return the combinations of states that flat rows have.

    Args:
        flat: the rows.
        codec: how they are packed.
        first: the index of the first of them.

    Returns:
        Of shape (combinations, 1 + actors), in the rows' order: the index of the first row that has
        it, and the number of each actor's state.
    """
    words, actors = codec.words, codec.actors
    met = np.empty((0, 1 + actors), np.int64)
    for at in range(0, len(flat) // words, PIECE):
        piece = codec.unpacked(flat[at * words : (at + PIECE) * words])
        states = codec.column(piece, kernels.STATE)
        indices = np.arange(first + at, first + at + len(states))
        met = np.concatenate([met, np.column_stack([indices, states])])
        met = met[first_places(list(met[:, 1:].T))]
    return met
