"""Batches: some events of a log as rows of numbers, with what the judge needs to know of them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from attrs import define, field

from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.space import Array
from antecede.checker.support.errors import InputError

SIZE = 1 << 14
"""The number of events in a batch."""


@define(eq=False)
class Batch:
    """Events in the order of their log.

    Attributes:
        rows: int64; a row per event, see `columns_kernels`.
        events: the number of events; further rows have no meaning.
        actors, messages: the numbers of actors and messages up to the last event.
        set_ends: int64; the destination sets that are new in this batch, as ends in `members`.
        members: int32; the actors in these sets, sorted in each.
    """

    rows: Array = field(factory=lambda: np.zeros((SIZE, c.COLUMNS), np.int64))
    events: int = 0
    actors: int = 0
    messages: int = 0
    set_ends: Array = field(factory=lambda: np.zeros(0, np.int64))
    members: Array = field(factory=lambda: np.zeros(0, np.int32))


class Numbered(Protocol):
    """Knows what the numbers of events stand for."""

    def actor(self, number: int) -> str:
        """Return an actor's name."""

    def message(self, number: int) -> str:
        """Return a message's name."""

    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""


@define(eq=False)
class Logs:
    """The logs that were read, whose numbers are in places.

    Attributes:
        names: the names of logs, or of their parts.
        wholes: the names of the logs, in the same order.
        here: the index in `wholes` of the log that is being read.
    """

    names: list[str] = field(factory=list)
    wholes: list[str] = field(factory=list)
    here: int = 0

    def begin(self, name: str, whole: str) -> None:
        """Begin to read a log, or a part of the log `whole`."""
        self.names.append(name)
        self.wholes.append(whole)
        self.here = self.wholes.index(whole)

    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""
        return self.names[where >> c.PLACE_BITS], where & ((1 << c.PLACE_BITS) - 1)


def two_homes(actor: str, one: str, other: str, line: int) -> InputError:
    """Return the error for an actor with events in two logs."""
    return InputError(
        f"{other}, line {line}: {actor!r} has events in {one}, too; all events of an "
        "actor must be in one log, because two logs have no order. If these are parts of one log, "
        "put them in a folder, and audit the folder"
    )
