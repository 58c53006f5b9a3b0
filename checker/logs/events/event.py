"""The events in the log of a real system: causal-sends, deliveries and vector clocks."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

SEND, DELIVER = EVENTS = ("causal-send", "deliver")

SYNONYMS = {SEND: "sent", DELIVER: "processed"}
"""The words that logs may use as well."""

MISSING = "missing"
"""The kind of an event that is in no log: a destination's delivery that never happens."""


@frozen
class Event:
    """A causal-send or a delivery.

    Attributes:
        kind: one of EVENTS, or MISSING.
        message: the message's name, which is unique among all actors.
        to: the destinations of a causal-send, if the log names them.
    """

    line: int
    actor: str
    kind: str
    message: str
    to: tuple[str, ...] | None = None
    clock: Mapping[str, int] | None = field(default=None, eq=False)
    log: str = ""


@frozen
class Begin:
    """The start of an execution in a log with several ones: its name, and the line before it."""

    name: str
    line: int


@frozen
class Stamp:
    """An event of any kind in a ShiViz log: its host, its vector clock, and the clock's line."""

    line: int
    host: str
    clock: Mapping[str, int]
    log: str = ""
