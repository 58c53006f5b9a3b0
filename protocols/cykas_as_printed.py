"""Cykas with Algorithm 4 to the letter; everything else is as in `protocols.cykas`.

In the printed Algorithm 4, line 8 (TRY_SEND_MESSAGE) is inside the loop over EAGER_SENT. A process
that never made an eager send has no entry there. Its ACKs then never free the output buffer, and
its messages stay in the buffer forever.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Packet, Step
from antecede.protocols import cykas
from antecede.protocols.cykas import CYKAS, Ack, Bits, Cykas, Sends, try_send_message, try_send_yct


@frozen
class CykasAsPrinted(Cykas):
    """Section 2.2.1, with the set of receivers that have an entry in the map EAGER_SENT.

    An entry stays once an eager send was made (section 2.2.1), with an empty queue after its YCTs.
    """

    entries: Bits = ()


def initial(actor: int, actors: int) -> CykasAsPrinted:
    """Section 2.2.1: as in Cykas, with no entry in EAGER_SENT."""
    start = cykas.initial(actor, actors)
    return CykasAsPrinted(start.UNACK, start.EAGER_SENT, entries=(False,) * actors)


def application_send(state: CykasAsPrinted, message: Message) -> Step:
    """Algorithm 1."""
    return _with_entries(cykas.application_send(state, message))


def receive(state: CykasAsPrinted, src: int, packet: Packet) -> Step:
    """Dispatch to Algorithms 3, 4 (as printed) and 5."""
    if isinstance(packet, Ack):
        return receive_ack(state, src)
    return _with_entries(cykas.receive(state, src, packet))


def receive_ack(state: CykasAsPrinted, i: int) -> Step:
    """Algorithm 4 as printed; the loop visits the entries in the order of the actors."""
    after: Cykas = cykas.acknowledged(state, i)
    sends: Sends = ()
    for es_receiver, entry in enumerate(state.entries):
        if entry:
            after, ycts = try_send_yct(after, es_receiver)
            after, messages = try_send_message(after)  # as printed: line 8, inside the loop
            sends += ycts + messages
    return _with_entries(Step(after, sends))


def _with_entries(step: Step) -> Step:
    """Keep an entry for every receiver that has or had a queue."""
    state = step.state
    entries = tuple(
        entry or bool(queue) for entry, queue in zip(state.entries, state.EAGER_SENT, strict=True)
    )
    return evolve(step, state=evolve(state, entries=entries))


CYKAS_AS_PRINTED = evolve(
    CYKAS,
    name="cykas-as-printed",
    summary="cykas with line 8 of Algorithm 4 inside the loop, as printed",
    source="Cykas paper, Algorithms 1-5 to the letter",
    initial=initial,
    causal_send=application_send,
    receive=receive,
)
