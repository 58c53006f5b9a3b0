"""Network kinds: the contents of a channel, and the packets that it may hand over or lose.

A channel holds the packets from one actor to another. A kind is written
BASE[+duplicating][+lossy[:BUDGET]], where BASE is `unordered` or `fifo`. The base `unordered` may
be left out before the others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from attrs import frozen

from antecede.checker.model import Packet
from antecede.checker.semantics.values import canonical
from antecede.checker.support.errors import InputError, unknown
from antecede.checker.support.settings import whole_number

Channel: TypeAlias = tuple[Packet, ...]
Taken: TypeAlias = tuple[tuple[Packet, Channel], ...]
"""Packets that may leave a channel, each with the remaining channel."""


@frozen(eq=False)
class Network:
    """A network kind, as pure functions on the content of one channel.

    Attributes:
        name: the name that the command line uses.
        put: (channel, packet) -> channel; a packet is network-sent.
        take: channel -> the packets it may hand over, each with the remaining channel; equal
            packets are listed once, because receiving either of them is the same transition.
        lose: channel -> the packets that may be lost, each with the remaining channel; None if the
            network loses nothing.
        duplicates: a packet may stay in flight when it is received.
        merges: a packet enters a channel only if no equal one is in it, and it may leave. Then
            two messages must not be equal, because they would share one packet.
        budget: the number of envelopes that may be lost in a run, or None for any number.
    """

    name: str
    put: Callable[[Channel, Packet], Channel]
    take: Callable[[Channel], Taken]
    lose: Callable[[Channel], Taken] | None = None
    duplicates: bool = False
    merges: bool = False
    budget: int | None = None


NETWORKS = {
    "unordered": "reliable; each packet is received exactly once, in any order",
    "fifo": "reliable; packets from one actor to another arrive in the order of their sends",
    "duplicating": "a sent packet can be received again at any time (also fifo+duplicating)",
    "lossy": "packets may be lost, at most N with lossy:N (also fifo+lossy, duplicating+lossy:1)",
}


def _sorted() -> Callable[[Channel, Packet], Channel]:
    """Return the `put` of a multiset.

    It caches the texts of packets. Do not share it between systems: equal packets have one text
    within a system (see `values.Values`), but may have another text in another system.
    """
    key = lru_cache(maxsize=100_000)(canonical)
    return lambda channel, packet: tuple(sorted((*channel, packet), key=key))


def _put_last(channel: Channel, packet: Packet) -> Channel:
    return (*channel, packet)


def _once(put: Callable[[Channel, Packet], Channel]) -> Callable[[Channel, Packet], Channel]:
    """Return `put` for channels that never hold two equal packets."""
    return lambda channel, packet: channel if packet in channel else put(channel, packet)


def _take_any(channel: Channel) -> Taken:
    return tuple(
        (packet, channel[:at] + channel[at + 1 :])
        for at, packet in enumerate(channel)
        if packet not in channel[:at]
    )


def _take_first(channel: Channel) -> Taken:
    return ((channel[0], channel[1:]),) if channel else ()


def _repeat_any(channel: Channel) -> Taken:
    return tuple((packet, channel) for packet in channel)


def _repeat_first(channel: Channel) -> Taken:
    return ((channel[0], channel), (channel[0], channel[1:])) if channel else ()


def _lose_one(channel: Channel) -> Taken:
    """Return the packets that may be lost, and the remaining channel; each remainder once."""
    losses: dict[Channel, Packet] = {}
    for at, packet in enumerate(channel):
        losses.setdefault(channel[:at] + channel[at + 1 :], packet)
    return tuple((packet, rest) for rest, packet in losses.items())


def network_named(text: str, *, retransmits: bool = False) -> Network:
    """Return the network kind that `text` describes.

    Args:
        text: BASE[+duplicating][+lossy[:BUDGET]].
        retransmits: whether the protocol has a timeout. If so, equal packets in flight from one
            actor to another count as one, on any network. Otherwise answers to repeated packets
            would accumulate for ever. `duplicating` still offers every behaviour of equal copies.

    Raises:
        InputError: there is no such kind.
    """
    words = text.split("+")
    base = words.pop(0) if words[0] in ("unordered", "fifo") else "unordered"
    duplicates, lossy, budget = False, False, None
    for word in words:
        kind, colon, count = word.partition(":")
        if kind == "duplicating" and not colon and not duplicates and not lossy:
            duplicates = True
        elif kind == "lossy" and not lossy:
            lossy, budget = True, _budget(text, count) if colon else None
        else:
            raise _unknown(text)
    put = _put_last if base == "fifo" else _sorted()
    take = _take_first if base == "fifo" else _take_any
    if duplicates:
        take = _repeat_first if base == "fifo" else _repeat_any
    once = retransmits or (duplicates and base == "unordered")
    return Network(
        name=text,
        put=_once(put) if once else put,
        take=take,
        lose=_lose_one if lossy else None,
        duplicates=duplicates,
        merges=once and (lossy or base == "fifo" or not duplicates),
        budget=budget,
    )


def _unknown(text: str) -> InputError:
    """Return the error for text that is no network; words in a wrong order are put in order."""
    kinds = (("unordered", "fifo"), ("duplicating",), ("lossy",))
    words = text.split("+")
    ordered = [w for names in kinds for w in words if w.partition(":")[0] in names]
    meant = "+".join(ordered)
    if ordered != words and sorted(ordered) == sorted(words) and _is_network(meant):
        available = ", ".join(NETWORKS)
        return InputError(
            f"unknown network {text!r}; did you mean {meant!r}? available: {available}"
        )
    return unknown("network", text, NETWORKS)


def _is_network(text: str) -> bool:
    try:
        return bool(network_named(text))
    except InputError:
        return False


def _budget(text: str, count: str) -> int:
    return whole_number(count, f"the number of losses of the network {text!r} (as in lossy:2)")


UNORDERED = network_named("unordered")
FIFO = network_named("fifo")
