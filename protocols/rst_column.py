"""RST that attaches only the receiver's column of the matrix, a question of the matrix source.

The condition of `protocols.rst` reads only this column, but the receiver must pass the rest on.
Violates causal delivery: Bob never tells Carol of Alice's message to her. Everything else is as in
`protocols.rst`.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Message, Step
from antecede.protocols import rst
from antecede.protocols.rst import RST, Matrix, Rst


def column_only(matrix: Matrix, k: int) -> Matrix:
    """Return `matrix` with zeros in all columns except `k`."""
    return tuple(tuple(n if j == k else 0 for j, n in enumerate(row)) for row in matrix)


def causal_send(state: Rst, message: Message) -> Step:
    """Sending messages; of SENT_i only the receiver's column is attached."""
    step = rst.causal_send(state, message)
    sends = tuple(
        (j, evolve(packet, SENT=column_only(packet.SENT, j)))  # the variant
        for j, packet in step.sends
    )
    return evolve(step, sends=sends)


RST_COLUMN = evolve(
    RST,
    name="rst-column",
    summary="rst that attaches only the receiver's column of the matrix (broken)",
    source="matrix source, Bob's fateful message: why the whole matrix is sent",
    causal_send=causal_send,
    normal=None,
)
