"""RST without DELIV: the matrix source's question whether DELIV is redundant.

Column i of SENT_i stands for DELIV_i, which stays empty. `rst-ghost-deliv` keeps DELIV_i beside it
and never looks at it: that the two agree at every state is its invariant, and that of `rst`,
`deliv-is-column-of-sent`. They do not agree where an actor sends to itself: it counts such a
message at the send, before it is delivered. All else as in `protocols.rst`.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Protocol, Step
from antecede.protocols import rst
from antecede.protocols.rst import Mail, Rst, Stamped, at_least, column


def initial(actor: int, actors: int) -> Rst:
    """Getting started, without DELIV."""
    return evolve(rst.initial(actor, actors), DELIV=())


def deliverable(state: Rst, held: Mail) -> bool:
    """For all k, SENT_i[k, i] >= SENT_m[k, i]."""
    i = state.me
    return at_least(column(state.SENT, i), column(held.packet.SENT, i))  # the variant: no DELIV


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 2 and 3."""
    return rst.merge_past(rst.count_received(state, held.src), held.packet)


def receive(state: Rst, src: int, packet: Stamped) -> Step:
    """Put the packet in the mail room; deliver from there as long as possible."""
    return rst.receive(state, src, packet, deliverable, after_delivery)


def receive_with_ghost(state: Rst, src: int, packet: Stamped) -> Step:
    """As `receive`; DELIV is kept up (step 1) and not looked at."""
    return rst.receive(state, src, packet, deliverable, rst.after_delivery)


RST_NO_DELIV = Protocol(
    name="rst-no-deliv",
    summary="rst with column i of SENT in the place of DELIV",
    source="matrix source, the question whether DELIV is redundant",
    initial=initial,
    causal_send=rst.causal_send,
    receive=receive,
    witnesses=rst.WITNESSES,
)
RST_GHOST_DELIV = Protocol(
    name="rst-ghost-deliv",
    summary="rst-no-deliv with a DELIV beside it that decides nothing",
    source="matrix source, the question whether DELIV is redundant",
    initial=rst.initial,
    causal_send=rst.causal_send,
    receive=receive_with_ghost,
    invariants=rst.INVARIANTS,
    witnesses=rst.WITNESSES,
)
