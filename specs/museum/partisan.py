"""Partisan's causal delivery: the rule of Schiper, Eggli and Sandoz with two slips.

C. Meiklejohn and others: lasp-lang/partisan, src/partisan_causality_backend.erl at commit 00650e05
(2017-2021), with the vector clocks of src/vclock.erl. Names are those of the source.

A message carries pairs of a destination and the clock of the latest message that its past has sent
there. A receiver looks for its own pair, and buffers the message until its local clock dominates
that pair's. What the sender knows of others must travel on, and be merged at the receiver. It does
neither:

* `emit` keeps but the pair of the destination (FilteredOrderBuffer), so nobody learns of messages
  to third parties;
* `deliver` computes the merged order buffer and drops it (the result of orddict:merge is not
  bound), so nobody would learn of them either way.

Differences: a node is an actor; the timer that tries the buffered messages again (handle_info of
`deliver`) is a timeout; what is written to disk and restarts are left out. The local clock counts
deliveries, too, as there.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Protocol, Step

VClock: TypeAlias = tuple[int, ...]
OrderBuffer: TypeAlias = tuple[VClock | None, ...]


@frozen
class Causal:
    """{causal, ..., FilteredOrderBuffer, LocalClock, Message}; a missing pair is None."""

    message: Message
    order_buffer: OrderBuffer
    clock: VClock


@frozen
class Backend:
    """The record `state`: per destination a clock or None, and messages in order of arrival."""

    my_node: int
    local_clock: VClock
    order_buffer: OrderBuffer
    buffered_messages: tuple[Causal, ...] = ()


def initial(actor: int, actors: int) -> Backend:
    """Return what `init` does: a fresh clock and an empty order buffer."""
    return Backend(actor, (0,) * actors, (None,) * actors)


def emit(filters: bool, state: Backend, message: Message) -> Step:
    """handle_call({emit, ...}): bump the clock, send, store the destination with the clock."""
    node = message.receiver
    local_clock = increment(state.my_node, state.local_clock)
    sent = state.order_buffer
    if filters:  # WRONG: the pairs of other destinations stay behind
        sent = tuple(pair if key == node else None for key, pair in enumerate(sent))
    order_buffer = (*state.order_buffer[:node], local_clock, *state.order_buffer[node + 1 :])
    packet = Causal(message, sent, local_clock)
    state = evolve(state, local_clock=local_clock, order_buffer=order_buffer)
    return Step(state, sends=((node, packet),))


def receive_message(merges: bool, state: Backend, _src: int, packet: Causal) -> Step:
    """handle_call({receive_message, ...}): put it at the end of the buffer, and try all of it."""
    buffered = (*state.buffered_messages, packet)
    return tried(merges, evolve(state, buffered_messages=buffered))


def redelivery(merges: bool, state: Backend) -> Step | None:
    """handle_info(deliver, ...): try all buffered messages again."""
    step = tried(merges, state)
    return step if step.deliveries else None


def tried(merges: bool, state: Backend) -> Step:
    """Try each buffered message once, in order: internal_receive_message."""
    deliveries: list[Message] = []
    for packet in state.buffered_messages:
        dependency = packet.order_buffer[state.my_node]
        if dependency is None or dominates(state.local_clock, dependency):
            state = delivered(merges, state, packet)
            deliveries.append(packet.message)
    return Step(state, deliveries=tuple(deliveries))


def delivered(merges: bool, state: Backend, packet: Causal) -> Backend:
    """Take the message out of the buffer, and merge the clocks: `deliver`."""
    rest = list(state.buffered_messages)
    rest.remove(packet)
    order_buffer = state.order_buffer
    if merges:  # REPAIRED: there the result is dropped
        order_buffer = tuple(map(merged, order_buffer, packet.order_buffer))
    clock = increment(state.my_node, tuple(map(max, state.local_clock, packet.clock)))
    return evolve(
        state, local_clock=clock, order_buffer=order_buffer, buffered_messages=tuple(rest)
    )


def merged(one: VClock | None, other: VClock | None) -> VClock | None:
    """Merge two pairs of one destination."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(map(max, one, other))


def increment(node: int, clock: VClock) -> VClock:
    """vclock:increment."""
    return tuple(count + (key == node) for key, count in enumerate(clock))


def dominates(clock: VClock, other: VClock) -> bool:
    """vclock:dominates: descends from the other, and is not equal to it."""
    return clock != other and all(a >= b for a, b in zip(clock, other, strict=True))


def variant(name: str, summary: str, *, filters: bool, merges: bool) -> Protocol:
    """Return the protocol with or without either slip."""
    return Protocol(
        name=name,
        summary=summary,
        source="lasp-lang/partisan, partisan_causality_backend.erl at 00650e05",
        initial=initial,
        causal_send=partial(emit, filters),
        receive=partial(receive_message, merges),
        timeout=partial(redelivery, merges),
        witnesses={"waited": lambda state: bool(state.buffered_messages)},
    )


PARTISAN = variant("partisan", "as it is", filters=True, merges=False)
FILTERS = variant("partisan-filters", "merges, but sends one pair", filters=True, merges=True)
FORGETS = variant("partisan-forgets", "sends all pairs, merges none", filters=False, merges=False)
WITHOUT_TIMER = evolve(PARTISAN, name="partisan-without-timer", timeout=None)
REPAIRED = variant("partisan-repaired", "both slips repaired", filters=False, merges=True)
