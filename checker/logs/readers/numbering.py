"""Events that Python has read become rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import accumulate, chain, islice
from typing import Generic, TypeVar

import numpy as np
from attrs import define, field

from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.batches import Batch, Logs, two_homes
from antecede.checker.logs.events.event import EVENTS, SEND, Event

Thing = TypeVar("Thing", bound=Hashable)


class _Numbers(dict[Thing, int], Generic[Thing]):
    """Numbers of things, in the order of their first use."""

    def __init__(self) -> None:
        super().__init__()
        self._things: list[Thing] = []

    def __missing__(self, thing: Thing) -> int:
        self[thing] = number = len(self)
        return number

    def thing(self, number: int) -> Thing:
        self._things += islice(self, len(self._things), None)
        return self._things[number]


@define(eq=False)
class Numbering:
    """Gives actors, messages and sets of destinations their numbers.

    Attributes:
        hand_over: takes a batch that is full, and returns one that can be filled.
        logs: the logs that were read; `parts` has the number of each.
        actors, messages, sets: their numbers. The first `in_batches` sets are in a batch.
        home: actor -> the log that has its events.
        events: the number of events read.
        rows: the events that are not in a batch yet.
    """

    hand_over: Callable[[Batch], Batch]
    logs: Logs = field(factory=Logs)
    parts: dict[str, int] = field(factory=dict)
    actors: _Numbers[str] = field(factory=_Numbers)
    messages: _Numbers[str] = field(factory=_Numbers)
    sets: _Numbers[frozenset[int]] = field(factory=_Numbers)
    in_batches: int = 0
    home: dict[str, str] = field(factory=dict)
    events: int = 0
    rows: list[tuple[int, int, int, int, int]] = field(factory=list)
    batch: Batch = field(factory=Batch)

    def begin(self, name: str, whole: str) -> None:
        """Begin to read a log, or a part of the log `whole`."""
        self.parts[name] = len(self.logs.names)
        self.logs.begin(name, whole)

    def take(self, event: Event) -> int:
        """Add the next event of a log, and return its place.

        Raises:
            InputError: its actor also has events in another log.
        """
        part = self.parts[event.log]
        whole = self.logs.wholes[part]
        if self.home.setdefault(event.actor, whole) != whole:
            raise two_homes(event.actor, self.home[event.actor], event.log, event.line)
        actor, message, to = self.actors[event.actor], self.messages[event.message], -1
        if event.to is not None and event.kind == SEND:
            to = self.sets[frozenset([self.actors[name] for name in event.to])]
        where = part << c.PLACE_BITS | event.line
        self.rows.append((EVENTS.index(event.kind), actor, message, to, where))
        self.events += 1
        if len(self.rows) >= len(self.batch.rows):
            self.flush()
        return where

    def flush(self) -> None:
        """Hand the batch over if it has events."""
        batch, rows = self.batch, self.rows
        if not rows:
            return
        self.rows = []
        batch.rows[: len(rows)], batch.events = rows, len(rows)
        batch.actors, batch.messages = len(self.actors), len(self.messages)
        new = [sorted(members) for members in islice(self.sets, self.in_batches, None)]
        self.in_batches = len(self.sets)
        batch.set_ends = np.fromiter(accumulate(map(len, new)), np.int64)
        batch.members = np.fromiter(chain.from_iterable(new), np.int32)
        self.batch = self.hand_over(batch)

    def actor(self, number: int) -> str:
        """Return an actor's name."""
        return self.actors.thing(number)

    def message(self, number: int) -> str:
        """Return a message's name."""
        return self.messages.thing(number)

    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""
        return self.logs.place(where)

    def close(self) -> None:
        """Nothing is on the disk."""
