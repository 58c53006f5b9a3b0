"""Network kinds: what a channel (the packets from one actor to another) may hold and hand over."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from attrs import frozen

from checker.canonical import canonical
from checker.errors import unknown
from checker.model import Packet

Channel: TypeAlias = tuple[Packet, ...]


@frozen(eq=False)
class Network:
    """A network kind, as two pure functions on the content of one channel.

    Attributes:
        name: as on the command line.
        summary: one line for `causalcheck list`.
        put: (channel, packet) -> channel; a packet is network-sent.
        take: channel -> the packets it may hand over, each with the channel that remains; equal
            packets are listed once, for receiving either is the same transition.
    """

    name: str
    summary: str
    put: Callable[[Channel, Packet], Channel]
    take: Callable[[Channel], tuple[tuple[Packet, Channel], ...]]


_key = lru_cache(maxsize=100_000)(canonical)


def _put_sorted(channel: Channel, packet: Packet) -> Channel:
    return tuple(sorted((*channel, packet), key=_key))


def _take_any(channel: Channel) -> tuple[tuple[Packet, Channel], ...]:
    return tuple(
        (packet, channel[:at] + channel[at + 1 :])
        for at, packet in enumerate(channel)
        if at == 0 or packet != channel[at - 1]
    )


def _put_last(channel: Channel, packet: Packet) -> Channel:
    return (*channel, packet)


def _take_first(channel: Channel) -> tuple[tuple[Packet, Channel], ...]:
    return ((channel[0], channel[1:]),) if channel else ()


UNORDERED = Network(
    name="unordered",
    summary="reliable; each envelope is received exactly once, in any order (a multiset)",
    put=_put_sorted,
    take=_take_any,
)
FIFO = Network(
    name="fifo",
    summary="reliable; per ordered pair of actors, in network-send order",
    put=_put_last,
    take=_take_first,
)
NETWORKS = {kind.name: kind for kind in (UNORDERED, FIFO)}


def network_named(name: str) -> Network:
    """Return the network kind called `name`.

    Raises:
        InputError: there is none.
    """
    if name not in NETWORKS:
        raise unknown("network", name, NETWORKS)
    return NETWORKS[name]
