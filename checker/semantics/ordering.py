"""Networks that relate the packets of several channels.

In all of them, a channel is a queue. An *order* is what the network remembers besides the content
of the channels. It is a part of the state of the system. It names packets by their places in their
channels, so it stays finite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from attrs import frozen

from antecede.checker.model import with_item

Order = Any


@frozen(eq=False)
class Ordering:
    """The order of one network, as pure functions.

    Attributes:
        initial: actors -> the order while nothing is in flight.
        sent: (order, src, dst) -> the order after a packet joined the channel from src to dst.
        ready: (order, src, dst) -> whether the first packet of a channel may be received now.
        received: (order, src, dst) -> the order after that packet was received.
    """

    initial: Callable[[int], Order]
    sent: Callable[[Order, int, int], Order]
    ready: Callable[[Order, int, int], bool]
    received: Callable[[Order, int, int], Order]


# One queue per receiver: the order has the senders of the packets to each receiver.

MAILBOX = Ordering(
    initial=lambda actors: ((),) * actors,
    sent=lambda order, src, dst: with_item(order, dst, (*order[dst], src)),
    ready=lambda order, src, dst: bool(order[dst][0] == src),
    received=lambda order, _src, dst: with_item(order, dst, order[dst][1:]),
)

# One queue for all: the order has the channels of the packets.

INSTANT = Ordering(
    initial=lambda _actors: (),
    sent=lambda order, src, dst: (*order, (src, dst)),
    ready=lambda order, src, dst: bool(order[0] == (src, dst)),
    received=lambda order, _src, _dst: order[1:],
)


# Causal order between packets, as by the algorithm of Raynal, Schiper and Toueg (1991).


Past = tuple[int, ...]
"""The packets in flight that happened before an event: per channel, how many of its first ones."""


class Causal(NamedTuple):
    """The order of the network `causal`.

    Attributes:
        knows: per actor, the past of the next packet that it sends.
        pasts: per channel, the pasts of its packets.
    """

    knows: tuple[Past, ...]
    pasts: tuple[tuple[Past, ...], ...]


def _no_past(actors: int) -> Causal:
    return Causal(((0,) * actors**2,) * actors, ((),) * actors**2)


def _causal_sent(order: Causal, src: int, dst: int) -> Causal:
    """Give a new packet its past, which its sender's later packets share; they follow it, too."""
    channel, past = src * len(order.knows) + dst, order.knows[src]
    queue = (*order.pasts[channel], past)
    knows = with_item(order.knows, src, with_item(past, channel, len(queue)))
    return Causal(knows, with_item(order.pasts, channel, queue))


def _causally_ready(order: Causal, src: int, dst: int) -> bool:
    """Return whether no packet to the same receiver is in the past of a channel's first packet."""
    actors = len(order.knows)
    past = order.pasts[src * actors + dst][0]
    return not any(past[other * actors + dst] for other in range(actors))


def _causally_received(order: Causal, src: int, dst: int) -> Causal:
    """Remove a channel's first packet from all pasts, and let its receiver know its past."""
    channel = src * len(order.knows) + dst

    def without_first(past: Past) -> Past:
        return with_item(past, channel, max(past[channel] - 1, 0))

    (first, *queue), pasts = order.pasts[channel], order.pasts
    rest = with_item(pasts, channel, tuple(queue))
    knows = tuple(map(without_first, order.knows))
    merged = tuple(map(max, knows[dst], without_first(first)))
    return Causal(
        with_item(knows, dst, merged),
        tuple(tuple(map(without_first, queue)) for queue in rest),
    )


CAUSAL = Ordering(_no_past, _causal_sent, _causally_ready, _causally_received)

ORDERINGS: Mapping[str, Ordering] = {"mailbox": MAILBOX, "causal": CAUSAL, "instant": INSTANT}
"""The networks that relate the packets of several channels."""
