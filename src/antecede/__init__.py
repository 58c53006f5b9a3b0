"""An explicit-state model checker for causal message delivery protocols.

A protocol of this kind lets no process see an effect before its cause. antecede explores every
order in which messages can be sent and delivered, within bounds that you choose:

    from antecede import Message, Protocol, Step, assert_holds, check, sweep

`Protocol`, `Message` and `Step` are for writing protocols, `check` explores the runs of a protocol,
and `assert_holds` does so in a test. Each other command of antecede is also a function.

The folders of the project are linked here, so that one import name holds all of them.
`antecede.checker` is the model checker; `antecede.protocols`, `antecede.properties` and
`antecede.specs` are what it comes with, `antecede.cli` is the command.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antecede.checker.api.audit import audit
    from antecede.checker.api.check import assert_holds, assert_violated, check
    from antecede.checker.api.classes import classes
    from antecede.checker.api.explore import explore
    from antecede.checker.api.export import export
    from antecede.checker.api.papers import claims, table
    from antecede.checker.api.prove import prove
    from antecede.checker.api.real_code import test
    from antecede.checker.api.replay import replay
    from antecede.checker.api.simulate import simulate
    from antecede.checker.api.sweep import sweep
    from antecede.checker.model import (
        Delivery,
        Envelope,
        LocalState,
        Message,
        NormalForm,
        Packet,
        Predicate,
        Property,
        Protocol,
        Request,
        Step,
        What,
        When,
    )

__all__ = [
    "Delivery",
    "Envelope",
    "LocalState",
    "Message",
    "NormalForm",
    "Packet",
    "Predicate",
    "Property",
    "Protocol",
    "Request",
    "Step",
    "What",
    "When",
    "assert_holds",
    "assert_violated",
    "audit",
    "check",
    "claims",
    "classes",
    "explore",
    "export",
    "prove",
    "replay",
    "simulate",
    "sweep",
    "table",
    "test",
]


def __dir__() -> list[str]:
    return sorted(__all__)


_MODULES = {
    "assert_holds": "check",
    "assert_violated": "check",
    "claims": "papers",
    "table": "papers",
    "test": "real_code",
}
"""Function -> its module in `antecede.checker.api`, if they have different names."""


if not os.path.isdir(os.path.join(os.path.dirname(__file__), "checker")):
    # Git or an archive tool has copied the links as text files, so look at the top of the project.
    __path__.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: the command handles signals before it imports much."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "model" if name[0].isupper() else f"api.{_MODULES.get(name, name)}"
    value = globals()[name] = getattr(import_module(f"antecede.checker.{module}"), name)
    return value
