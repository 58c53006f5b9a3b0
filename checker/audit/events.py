"""What the log of a real system says: causal-sends, deliveries and vector clocks."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

SEND, DELIVER = EVENTS = ("causal-send", "deliver")


@frozen
class Event:
    """A causal-send or a delivery.

    Attributes:
        line: where it stands in its log.
        actor: where it happened.
        kind: one of EVENTS.
        message: its name, once for all actors.
        to: the destinations of a causal-send, where the log names them.
        clock: what the log says of it, if it does.
        log: the name of its log.
    """

    line: int
    actor: str
    kind: str
    message: str
    to: tuple[str, ...] | None = None
    clock: Mapping[str, int] | None = field(default=None, eq=False)
    log: str = ""


@frozen
class Stamp:
    """An event of any kind as a ShiViz log has it: host, vector clock, and the clock's line."""

    line: int
    host: str
    clock: Mapping[str, int]
    log: str = ""
