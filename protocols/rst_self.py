"""RST repaired for self-addressed messages.

The sender counts a message in SENT_i[i, j] when it sends it, and the receiver in SENT_j[i, j] when
it delivers it (step 2). A message to oneself has one entry in one matrix, which is counted twice.
Later messages then wait for a message that does not exist. Everything else is as in
`protocols.rst`.

Without step 2 the protocol would be repaired as well: messages to i that i tells others about have
been delivered at i. However, column i of SENT_i then no longer equals DELIV_i.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from antecede.protocols import rst
from antecede.protocols.rst import RST, Mail, Rst


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 1 to 3."""
    state = rst.count_delivered(state, held.src)
    if held.src != state.me:  # repair: a message to oneself was counted when it was sent
        state = rst.count_received(state, held.src)
    return rst.merge_past(state, held.packet)


RST_SELF = evolve(
    RST,
    name="rst-self",
    summary="rst repaired for self-addressed messages",
    source="Raynal, Schiper and Toueg 1991; matrix source, step 2 repaired",
    receive=partial(rst.receive, update=after_delivery),
    normal=None,
)
