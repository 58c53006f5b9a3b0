"""Hybrid buffering without its periodic part; all else as in `protocols.hybrid_basic`.

The periodic part (lines 74-79 of Algorithm 1) is meant for losses, but a network that only reorders
needs it too. A PERMIT may overtake its message, because line 67 sends it while the message may
still be in transit. It then finds no missing permit to remove, and is not sent again.
"""

from __future__ import annotations

from attrs import evolve

from antecede.protocols.hybrid_basic import HYBRID_BASIC

HYBRID_BASIC_NO_TIMEOUT = evolve(
    HYBRID_BASIC,
    name="hybrid-basic-no-timeout",
    summary="hybrid-basic that never repeats a packet: needs links that keep the order",
    source="hybrid paper, Algorithm 1 without lines 74-79",
    timeout=None,
    network="fifo",
    normal=None,
)
