"""Causal broadcast with fewer clock entries than actors: sometimes wrong, by design.

* Probabilistic clocks: A. Mostéfaoui, S. Weiss: Probabilistic causal message ordering. PaCT 2017,
  LNCS 10421. A clock has R entries; each process counts its messages in K of them, which others
  may share.
* Bloom clocks: L. Ramabaja: The Bloom clock. arXiv:1905.13064, 2019. A clock is a counting Bloom
  filter; each event is counted in K entries of its own. Ramabaja compares events; here such clocks
  take the place of the others in the same delivery rule.

A broadcast carries its sender's clock after counting it. A receiver waits until its own clock has,
in the entries of the message, all but this one, and in the others no less; then it delivers, and
counts the message. Messages that count in the same entries stand in for each other, so a message
may seem to be there that is not.

Differences: entries are few, so that three to five actors show it; the K entries are chosen by a
fixed rule in place of hashing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Protocol, Step

Clock: TypeAlias = tuple[int, ...]
Entries: TypeAlias = Callable[[Message], frozenset[int]]


@frozen
class Stamped:
    """A message with its sender's clock."""

    message: Message
    clock: Clock


@frozen
class Receiver:
    """The clock, and what was received and has to wait, by sender and number."""

    clock: Clock
    waiting: tuple[Stamped, ...] = ()


def initial(size: int, _actor: int, _actors: int) -> Receiver:
    """Return a clock of so many entries, at zero."""
    return Receiver((0,) * size)


def causal_send(entries: Entries, state: Receiver, message: Message) -> Step:
    """Count the message, and broadcast it with the clock."""
    clock = counted(state.clock, entries(message))
    packet = Stamped(message, clock)
    return Step(
        evolve(state, clock=clock), sends=tuple((each, packet) for each in message.destinations)
    )


def receive(entries: Entries, state: Receiver, _src: int, packet: Stamped) -> Step:
    """Deliver what seems to be next, and what seems so then."""
    waiting, deliveries = [*state.waiting, packet], list[Message]()
    clock = state.clock
    while ready := [p for p in waiting if seems_next(clock, p.clock, entries(p.message))]:
        waiting.remove(ready[0])
        clock = counted(clock, entries(ready[0].message))
        deliveries.append(ready[0].message)
    order = sorted(waiting, key=lambda p: (p.message.sender, p.message.number))
    return Step(Receiver(clock, tuple(order)), deliveries=tuple(deliveries))


def counted(clock: Clock, entries: frozenset[int]) -> Clock:
    """Count one message in its entries."""
    return tuple(count + (at in entries) for at, count in enumerate(clock))


def seems_next(clock: Clock, stamp: Clock, entries: frozenset[int]) -> bool:
    """Return whether the clock has all that the stamp counts but the message itself."""
    return all(
        now >= wanted - (at in entries)
        for at, (now, wanted) in enumerate(zip(clock, stamp, strict=True))
    )


def entries_of_sender(size: int, count: int, message: Message) -> frozenset[int]:
    """Return the K entries of R of a process: `count` in a row, from its own number on."""
    return frozenset((message.sender + step) % size for step in range(count))


def entries_of_message(size: int, count: int, message: Message) -> frozenset[int]:
    """Return the K entries of an event; a stand-in for K hash functions."""
    event = 7 * message.sender + 3 * message.number
    return frozenset((event + step * (1 + event % 2)) % size for step in range(count))


def variant(name: str, summary: str, source: str, size: int, entries: Entries) -> Protocol:
    """Return the broadcast with clocks of `size` entries."""
    return Protocol(
        name=name,
        summary=summary,
        source=source,
        initial=partial(initial, size),
        causal_send=partial(causal_send, entries),
        receive=partial(receive, entries),
        witnesses={"waited": lambda state: bool(state.waiting)},
    )


PROBABILISTIC = variant(
    "probabilistic",
    "2 entries, 1 per process",
    "Mostéfaoui and Weiss 2017",
    2,
    partial(entries_of_sender, 2, 1),
)
PROBABILISTIC_4_2 = variant(
    "probabilistic-4-2",
    "4 entries, 2 per process",
    "Mostéfaoui and Weiss 2017",
    4,
    partial(entries_of_sender, 4, 2),
)
BLOOM = variant(
    "bloom", "4 entries, 2 per message", "Ramabaja 2019", 4, partial(entries_of_message, 4, 2)
)
ONE_EACH = variant(
    "one-entry-each",
    "as many entries as actors: exact",
    "Birman, Schiper and Stephenson 1991",
    3,
    partial(entries_of_sender, 3, 1),
)
