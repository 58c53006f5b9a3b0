"""RST without step 2 of the matrix source: the receiver does not count the message itself.

The source says that the receiver must count it, because its matrix was attached before the sender
counted it. With DELIV this makes no difference here: when i tells others of messages to i, these
were delivered at i. However, column i of SENT_i no longer equals DELIV_i, and a message to oneself
is counted once, at the send. Everything else is as in `protocols.rst`.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from antecede.protocols import rst
from antecede.protocols.rst import RST, Mail, Rst


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 1 and 3."""
    return rst.merge_past(rst.count_delivered(state, held.src), held.packet)  # the variant: no 2


RST_NO_STEP_2 = evolve(
    RST,
    name="rst-no-step-2",
    summary="rst whose receiver does not count the message that it delivers",
    source="matrix source, after delivering a message, without step 2",
    receive=partial(rst.receive, update=after_delivery),
    normal=None,
)
