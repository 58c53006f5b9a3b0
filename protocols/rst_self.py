"""RST repaired for self-addressed messages.

The sender counts a message in SENT_i[i, j] when it sends it, and the receiver in SENT_i[j, i] when
it delivers it (step 2). For a message to oneself that is the same entry of the same matrix, counted
twice: what is sent afterwards waits for a message that does not exist. All else as in
`protocols.rst`.

Step 2 left out altogether would repair it as well: whatever i tells others about messages to i has
been delivered at i. Then column i of SENT_i is no DELIV_i.
"""

from __future__ import annotations

from antecede import Protocol, Step
from antecede.protocols import rst
from antecede.protocols.rst import Mail, Rst, Stamped


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 1 to 3."""
    state = rst.count_delivered(state, held.src)
    if held.src != state.me:  # repair: a message to oneself was counted when it was sent
        state = rst.count_received(state, held.src)
    return rst.merge_past(state, held.packet)


def receive(state: Rst, src: int, packet: Stamped) -> Step:
    """Put the packet in the mail room; deliver from there as long as possible."""
    return rst.receive(state, src, packet, update=after_delivery)


RST_SELF = Protocol(
    name="rst-self",
    summary="rst repaired for self-addressed messages",
    source="Raynal, Schiper and Toueg 1991; matrix source, step 2 repaired",
    initial=rst.initial,
    causal_send=rst.causal_send,
    receive=receive,
    invariants=rst.INVARIANTS,
    witnesses=rst.WITNESSES,
)
