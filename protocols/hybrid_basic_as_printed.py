"""Hybrid buffering with message ids from 0 as printed; all else as in `protocols.hybrid_basic`.

Line 21 of Algorithm 1 starts the clock at 0, so that the first message has id 0. The receiver's
last delivered id is 0 before anything was delivered (section 5.4: a key without a value maps to
zero). Line 45 therefore takes this message for a duplicate: it is acknowledged and never delivered.
"""

from __future__ import annotations

from attrs import evolve

from antecede.protocols.hybrid_basic import HYBRID_BASIC, Hybrid, Msg, start


def initial(_actor: int, actors: int) -> Hybrid[Msg]:
    """Lines 20-27, as printed."""
    return start(actors, first=0)  # as printed: line 21


HYBRID_BASIC_AS_PRINTED = evolve(
    HYBRID_BASIC,
    name="hybrid-basic-as-printed",
    summary="hybrid-basic with message ids from 0, as printed",
    source="hybrid paper, Algorithm 1, line 21 as printed; lines 46, 62-64 as in hybrid-basic",
    initial=initial,
    normal=None,
)
