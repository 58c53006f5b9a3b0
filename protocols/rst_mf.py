"""RST as Mattern and Fünfrocken describe it: increment before sending, and no DELIV.

F. Mattern, S. Fünfrocken: A Non-Blocking Lightweight Implementation of Causal Order Message
Delivery, 1995, section 2. A process P_j has one matrix M_j. Its column j stands for DELIV_j, and a
message is delivered if the matrix of the message counts exactly one more from the sender. This
combines `rst-before` and `rst-no-deliv`. Everything else is as in `protocols.rst`.
"""

from __future__ import annotations

from functools import partial

from antecede import Protocol
from antecede.checker.model import with_item
from antecede.protocols import rst, rst_before, rst_no_deliv
from antecede.protocols.rst import Mail, Rst, at_least, column


def deliverable(state: Rst, held: Mail) -> bool:
    """Deliver if M[i, j] is one greater than M_j[i, j], and no other M[k, j] is greater."""
    i, j = held.src, state.me
    own, past = column(state.SENT, j), column(held.packet.SENT, j)
    return past[i] == own[i] + 1 and at_least(with_item(own, i, past[i]), past)


def after_delivery(state: Rst, held: Mail) -> Rst:
    """Every entry of M_j becomes the maximum of itself and the message's entry."""
    return rst.merge_past(state, held.packet)


RST_MF = Protocol(
    name="rst-mf",
    summary="rst that increments before sending, with column i of SENT in the place of DELIV",
    source="Mattern and Fünfrocken 1995, section 2",
    initial=rst_no_deliv.initial,
    causal_send=rst_before.causal_send,
    receive=partial(rst.receive, may_deliver=deliverable, update=after_delivery),
    witnesses=rst.WITNESSES,
)
