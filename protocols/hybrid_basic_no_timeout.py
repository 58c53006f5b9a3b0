"""Hybrid buffering without its periodic part; all else as in `protocols.hybrid_basic`.

The periodic part (lines 74-79 of Algorithm 1) is meant for losses, but a network that only reorders
needs it too. A PERMIT may overtake its message, because line 67 sends it while the message may
still be in transit. It then finds no missing permit to remove, and is not sent again.
"""

from __future__ import annotations

from antecede import Protocol
from antecede.protocols import hybrid_basic

HYBRID_BASIC_NO_TIMEOUT = Protocol(
    name="hybrid-basic-no-timeout",
    summary="hybrid-basic that never repeats a packet: needs links that keep the order",
    source="hybrid paper, Algorithm 1 without lines 74-79",
    initial=hybrid_basic.initial,
    causal_send=hybrid_basic.causal_send,
    receive=hybrid_basic.receive,
    network="fifo",
    invariants=hybrid_basic.INVARIANTS,
    witnesses=hybrid_basic.WITNESSES,
)
