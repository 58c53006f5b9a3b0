"""The exception tree. Every error a person can cause names the thing, the value and the choices."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AntecedeError(Exception):
    """Root of all errors raised on purpose; its text is a sentence for a person."""


class InputError(AntecedeError):
    """Something the user gave cannot be used (exit code 2)."""


class ProtocolError(InputError):
    """A protocol's handler raised, returned something unusable, or is not a pure function."""


class HandlerError(ProtocolError):
    """A protocol's handler raised or returned something unusable: a finding, with a run to it."""


class NumbersError(InputError):
    """A property looks at the numbers of messages where all but one have none.

    Attributes:
        prop: its name.
    """

    def __init__(self, prop: str) -> None:
        """Say so."""
        super().__init__(
            f"{prop} looks at the numbers of messages, and where the application never stops all "
            "messages but one have none; leave it out, or check it with a workload that ends"
        )
        self.prop = prop


class ReplayError(InputError):
    """A saved trace does not fit the protocol any more."""


def unknown(thing: str, value: str, choices: Iterable[str]) -> InputError:
    """Return the error for a name that is not one of `choices`, with the nearest one suggested."""
    names = sorted(choices)
    near = difflib.get_close_matches(value, names, n=1)
    near = near or [name for name in names if len(value) > 2 and name.startswith(value)]
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    return InputError(f"unknown {thing} {value!r}{hint} available: {', '.join(names)}")


class UnsoundError(AntecedeError):
    """A reduction turned out not to be sound; then no verdict can be trusted."""


class CapacityError(AntecedeError):
    """A limit of an engine was reached (too many distinct values, too little memory or disk)."""


class ClusterError(CapacityError):
    """A cluster failed in a way from which it does not recover by itself."""
