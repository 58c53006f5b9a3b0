"""Protocols' handlers, rewritten for simulations of hundreds of actors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from attrs import frozen

from antecede.checker.model import LocalState, Message, Packet, Step
from antecede.checker.simulate.encoding import Contents


@frozen(eq=False)
class Twin:
    """A protocol's handlers, rewritten for long simulated runs.

    They send and deliver the same messages in the same order as the protocol's own handlers. They
    change states in place, and their packets share common parts. A state or packet that was given
    to a handler must not be used again. Checks never use a twin.

    Attributes:
        start: number of actors -> the state of each.
        causal_send, receive: as in a protocol.
        contents: packet -> its contents, without visiting its parts one by one.
    """

    start: Callable[[int], list[LocalState]]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    contents: Callable[[Packet], Contents]


TWINS: Mapping[str, str] = {"cykas": "twin_cykas", "rst": "twin_rst"}
"""Protocol -> the module in this room with its twin."""


def twin_of(reference: str) -> Twin | None:
    """Return the twin of a registered protocol, if it has one."""
    if reference not in TWINS:
        return None
    twin: Twin = importlib.import_module(f"{__package__}.{TWINS[reference]}").TWIN
    return twin
