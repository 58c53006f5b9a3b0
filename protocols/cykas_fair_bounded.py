"""Cykas without starvation and with a bound on its control state, on FIFO channels.

In `protocols.cykas_fair`, as in Cykas, EAGER_SENT grows while an ACK is late: each further message
to another receiver is an Eager Send, with a bit vector of its own. Here a process sends nothing to
a receiver while the YCT of its last Eager Send to this receiver is unsent. So each queue of
EAGER_SENT has at most one bit vector. On FIFO channels this YCT arrives before the next Eager Send,
so AWAIT has at most one per sender, and so has each copy of it. Everything else is as in
`protocols.cykas_fair`.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede.protocols import cykas_fair
from antecede.protocols.cykas_fair import CYKAS_FAIR, CykasFair


@frozen
class CykasFairBounded(CykasFair):
    """Section 2.2.1, as in `protocols.cykas_fair`."""

    def may_send(self, receiver: int) -> bool:
        """Algorithm 2, line 7, also while a YCT for the receiver is unsent."""
        return super().may_send(receiver) and not self.EAGER_SENT[receiver]


def initial(actor: int, actors: int) -> CykasFairBounded:
    """Section 2.2.1: as in `protocols.cykas_fair`."""
    start = cykas_fair.initial(actor, actors)
    return CykasFairBounded(start.UNACK, start.EAGER_SENT, start.OB, start.AWAIT)


# The algorithms end here. Below: invariants for the checker.


def at_most_one_eager_send_per_receiver(state: CykasFairBounded) -> bool:
    """Each queue of EAGER_SENT has at most one bit vector."""
    return all(len(queue) <= 1 for queue in state.EAGER_SENT)


def at_most_one_yct_per_sender(state: CykasFairBounded) -> bool:
    """AWAIT has zeroes and ones; this is true on FIFO channels only."""
    return all(count <= 1 for count in state.AWAIT)


def buffer_waits_for_ack_or_yct(state: CykasFairBounded) -> bool:
    """Proposition 3.2: the head of OB may also wait until a YCT for its receiver is sent."""
    if not state.OB:
        return True
    message, awaited = state.OB[0]
    return any(awaited) or not state.may_send(message.receiver)


CYKAS_FAIR_BOUNDED = evolve(
    CYKAS_FAIR,
    name="cykas-fair-bounded",
    summary="cykas-fair with one untold eager send per receiver, for FIFO channels",
    source="Cykas paper, Algorithms 1-5, with AWAIT in place of MODE (ours)",
    network="fifo",
    initial=initial,
    invariants={
        **CYKAS_FAIR.invariants,
        "buffer-waits-for-ack-or-yct": buffer_waits_for_ack_or_yct,
        "one-eager-send-per-receiver": at_most_one_eager_send_per_receiver,
        "one-yct-per-sender": at_most_one_yct_per_sender,
    },
)
