"""Handlers of protocols that are rewritten for simulations of hundreds of actors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from attrs import frozen

from antecede.checker.model import LocalState, Message, Packet, Step
from antecede.checker.simulate.encoding import Contents


@frozen(eq=False)
class Twin:
    """A protocol's handlers made for long simulated runs.

    They send and deliver what the protocol's own handlers send and deliver, in the same order. They
    change states in place and send packets of their own, which share what they have in common, so a
    state or packet that was given to a handler must not be used again. Checks never see a twin.

    Attributes:
        start: number of actors -> the state of each.
        causal_send, receive: as a protocol's.
        contents: packet -> what is in it, without counting it piece by piece.
    """

    start: Callable[[int], list[LocalState]]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    contents: Callable[[Packet], Contents]


TWINS: Mapping[str, str] = {"cykas": "twin_cykas", "rst": "twin_rst"}
"""Protocol -> the module beside this one that has its twin."""


def twin_of(reference: str) -> Twin | None:
    """Return the twin of a registered protocol, if it has one."""
    if reference not in TWINS:
        return None
    twin: Twin = importlib.import_module(f"{__package__}.{TWINS[reference]}").TWIN
    return twin
