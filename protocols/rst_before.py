"""RST that increments before sending: the hunch in the discussion of the matrix source.

The matrix of a message counts the message itself, so the receiver need not count it (step 2 is
dropped). The deliverability condition asks for one more than was delivered from the sender.
Everything else is as in `protocols.rst`.
"""

from __future__ import annotations

from attrs import evolve

from antecede import Message, Step
from antecede.checker.model import with_item
from antecede.protocols import rst
from antecede.protocols.rst import RST, Mail, Rst, Stamped, at_least, column, count_sends


def causal_send(state: Rst, message: Message) -> Step:
    """Sending messages: increment SENT_i[i, j] for each destination j, then attach SENT_i."""
    state = count_sends(state, message.destinations)  # the variant: before, not after
    packet = Stamped(message, state.SENT)
    return Step(state, sends=tuple((j, packet) for j in message.destinations))


def deliverable(state: Rst, held: Mail) -> bool:
    """Deliver if SENT_m[j, i] is one greater than DELIV_i[j], and no other entry is greater."""
    j = held.src
    past = column(held.packet.SENT, state.me)
    one_greater = past[j] == state.DELIV[j] + 1
    return one_greater and at_least(with_item(state.DELIV, j, past[j]), past)


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 1 and 3."""
    return rst.merge_past(rst.count_delivered(state, held.src), held.packet)


def receive(state: Rst, src: int, packet: Stamped) -> Step:
    """Put the packet in the mail room; deliver from there as long as possible."""
    return rst.receive(state, src, packet, deliverable, after_delivery)


RST_BEFORE = evolve(
    RST,
    name="rst-before",
    summary="rst that increments before sending and checks for one greater",
    source="matrix source, discussion",
    causal_send=causal_send,
    receive=receive,
    normal=None,
)
