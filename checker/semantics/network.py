"""Network kinds: the contents of a channel, and the packets that it may hand over or lose.

A channel holds the packets from one actor to another. A kind is written
BASE[+duplicating][+lossy[:BUDGET]], with the words in any order, where BASE is `unordered` or
`fifo`. The base `unordered` may be left out before the others. Three kinds relate the packets of
several channels; see `checker.semantics.ordering`. They are reliable, and stand alone.

Question: What does a network allow, and where is a new one added? `NETWORKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from attrs import frozen

from antecede.checker.model import Packet
from antecede.checker.semantics.ordering import ORDERINGS, Ordering
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
        ordering: what relates the packets of several channels, or None if nothing does.
        urgent: nothing but receipts happens while a packet is in flight.
    """

    name: str
    put: Callable[[Channel, Packet], Channel]
    take: Callable[[Channel], Taken]
    lose: Callable[[Channel], Taken] | None = None
    duplicates: bool = False
    merges: bool = False
    budget: int | None = None
    ordering: Ordering | None = None
    urgent: bool = False


NETWORKS = {
    "unordered": "reliable; each packet is received exactly once, in any order",
    "fifo": "reliable; packets from one actor to another arrive in the order of their sends",
    "duplicating": "a sent packet can be received again at any time (also fifo+duplicating)",
    "lossy": "packets may be lost, at most N with lossy:N (also fifo+lossy, duplicating+lossy:1)",
    "mailbox": "reliable; one queue per receiver, which all senders share",
    "causal": "reliable; the network itself hands over packets in causal order",
    "instant": "reliable; a packet is received before anything else happens",
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
            would accumulate forever. `duplicating` still offers every behaviour of equal copies.

    Raises:
        InputError: there is no such kind.
    """
    words = _sorted_words(text)
    if text in ORDERINGS:
        return Network(
            name=text,
            put=_once(_put_last) if retransmits else _put_last,
            take=_take_first,
            merges=retransmits,
            ordering=ORDERINGS[text],
            urgent=text == "instant",
        )
    base = words[0] if words[0] in BASES else "unordered"
    duplicates = "duplicating" in words
    lossy = next((word for word in words if _kind(word) == "lossy"), None)
    budget = None
    if lossy is not None and ":" in lossy:
        budget = _budget(text, lossy.partition(":")[2])
    put = _put_last if base == "fifo" else _sorted()
    take = _take_first if base == "fifo" else _take_any
    if duplicates:
        take = _repeat_first if base == "fifo" else _repeat_any
    once = retransmits or (duplicates and base == "unordered")
    return Network(
        name="+".join(words),
        put=_once(put) if once else put,
        take=take,
        lose=_lose_one if lossy is not None else None,
        duplicates=duplicates,
        merges=once and (lossy is not None or base == "fifo" or not duplicates),
        budget=budget,
    )


BASES = ("unordered", "fifo")


def _sorted_words(text: str) -> list[str]:
    """Return the words of a network in the usual order.

    Raises:
        InputError: they are no network.
    """
    words = text.split("+")
    alone = [word for word in words if word in ORDERINGS]
    if alone and len(words) > 1:
        raise InputError(
            f"the network {text!r} joins {alone[0]} with something else; {', '.join(ORDERINGS)} "
            "stand alone. With + you can join unordered or fifo, duplicating, and lossy"
        )
    kinds = (BASES, ("duplicating",), ("lossy",))
    found = [[w for w in words if _kind(w) in names] for names in kinds]
    if not alone and (sum(map(len, found)) < len(words) or max(map(len, found)) > 1):
        hint = "join several with +, as in fifo+lossy:1"
        error = unknown("network", text, NETWORKS, "network")
        raise error.reworded(f"{error}; {hint}")
    return [word for some in found for word in some]


def _kind(word: str) -> str:
    """Return the kind that a word names; only `lossy` takes a number."""
    kind = word.partition(":")[0]
    return kind if kind == "lossy" else word


def _budget(text: str, count: str) -> int:
    return whole_number(count, f"the number of losses of the network {text!r} (as in lossy:2)")


UNORDERED = network_named("unordered")
FIFO = network_named("fifo")
