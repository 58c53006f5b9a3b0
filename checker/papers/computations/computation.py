"""Complete computations: who causal-sends and delivers which message, and in which order.

A *computation* is a finite set of causal-sends and deliveries, with the order of the events of each
actor. The literature also calls it a message sequence chart (MSC). It is complete: every message
has one sender and one receiver, and is delivered once. Nothing orders the events of two actors but
the messages between them, so a computation stands for all runs that differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple, TypeAlias

Key: TypeAlias = tuple[int, int]
"""A message: its sender and its number, from 1."""

Script: TypeAlias = tuple[tuple[int, ...], ...]
"""Per actor the receivers of its messages, in order; it is the program of the application."""


class Event(NamedTuple):
    """A causal-send of a message at its sender, or its delivery at its receiver."""

    message: Key
    delivers: bool


Computation: TypeAlias = tuple[tuple[Event, ...], ...]
"""Per actor its events, in order."""


class Graph:
    """The events of a computation as numbers, with the direct causes of each.

    Attributes:
        send, delivery: message -> the number of its event.
        actor: number of an event -> its actor. An actor's events have ascending numbers.
        after: number of an event -> the next event of its actor, and the delivery of its message.
    """

    def __init__(self, computation: Computation) -> None:
        """Number the events actor by actor."""
        self.send: dict[Key, int] = {}
        self.delivery: dict[Key, int] = {}
        self.actor: list[int] = []
        self.after: list[list[int]] = []
        for actor, events in enumerate(computation):
            for place, event in enumerate(events):
                number = len(self.actor)
                (self.delivery if event.delivers else self.send)[event.message] = number
                self.actor.append(actor)
                self.after.append([number + 1] if place + 1 < len(events) else [])
        for message, number in self.send.items():
            self.after[number].append(self.delivery[message])

    def order(self, further: Sequence[tuple[int, int]] = ()) -> list[int] | None:
        """Return the events in an order that respects all causes, or None if they form a cycle.

        Args:
            further: pairs of events, of which the first one must come first.
        """
        after = [list(events) for events in self.after]
        for first, second in further:
            after[first].append(second)
        causes = [0] * len(after)
        for events in after:
            for event in events:
                causes[event] += 1
        ready = [event for event, number in enumerate(causes) if not number]
        for event in ready:  # grows meanwhile
            for later in after[event]:
                causes[later] -= 1
                if not causes[later]:
                    ready.append(later)
        return ready if len(ready) == len(after) else None

    def later(self) -> list[int]:
        """Return per event the bit mask of the events that it happens before, and of itself."""
        masks = [1 << event for event in range(len(self.after))]
        for event in reversed(self.order() or ()):
            for following in self.after[event]:
                masks[event] |= masks[following]
        return masks


def linear(computation: Computation) -> list[Event]:
    """Return the events of a computation in an order in which they may happen."""
    events = [event for own in computation for event in own]
    return [events[number] for number in Graph(computation).order() or ()]


def computations(script: Script) -> Iterator[Computation]:
    """Yield every complete computation of a script."""
    incoming: list[list[Key]] = [[] for _ in script]
    for sender, receivers in enumerate(script):
        for place, receiver in enumerate(receivers):
            incoming[receiver].append((sender, place + 1))
    orders = [list(_orders(actor, len(own), incoming[actor])) for actor, own in enumerate(script)]
    for computation in product(*orders):
        if Graph(computation).order() is not None:
            yield computation


def _orders(actor: int, sends: int, incoming: Sequence[Key]) -> Iterator[tuple[Event, ...]]:
    """Yield every order of an actor's events; its causal-sends have a fixed order."""
    length = sends + len(incoming)
    for places in combinations(range(length), sends):
        for delivered in permutations(incoming):
            numbers, messages = iter(range(1, sends + 1)), iter(delivered)
            yield tuple(
                Event((actor, next(numbers)), False)
                if place in places
                else Event(next(messages), True)
                for place in range(length)
            )
