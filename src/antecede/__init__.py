"""An explicit-state model checker for causal message delivery protocols.

What protocols are written with, and the assertion that checks them in a test suite:

    from antecede import Message, Protocol, Step, check

The folders of the project are linked here, so that one import name holds all of them.
`antecede.checker` is the model checker and says in which order to read it; `antecede.protocols`,
`antecede.properties` and `antecede.specs` are what it comes with, `antecede.cli` is the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from antecede.checker.model import (
    Delivery,
    Envelope,
    LocalState,
    Message,
    Packet,
    Predicate,
    Property,
    Protocol,
    Renaming,
    Request,
    Step,
    What,
    Where,
)

if TYPE_CHECKING:
    from antecede.checker.testing import check

__all__ = [
    "Delivery",
    "Envelope",
    "LocalState",
    "Message",
    "Packet",
    "Predicate",
    "Property",
    "Protocol",
    "Renaming",
    "Request",
    "Step",
    "What",
    "Where",
    "check",
]


def __getattr__(name: str) -> Any:
    """Import `check` when it is asked for: protocols need only the vocabulary."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from antecede.checker.testing import check

    return check
