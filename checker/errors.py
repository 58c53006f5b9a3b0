"""The exceptions. Every error that a user can cause names the thing, the value and the choices."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AntecedeError(Exception):
    """The base class of all deliberate errors. The text is a sentence for the user."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the sentence, without the lines of our own code."""
        return [f"{type(self).__name__}: {self}"]


class InputError(AntecedeError):
    """An unusable input (exit code 2)."""


class ProtocolError(InputError):
    """A protocol's handler raised, returned something unusable, or is not a pure function."""


class HandlerError(ProtocolError):
    """A protocol's handler raised or returned something unusable. A run leads to it."""


class AdapterError(ProtocolError):
    """The adapter between real code and the checker failed; the code may be correct."""


class NumbersError(InputError):
    """A property depends on message numbers, which an endless workload does not provide."""

    def __init__(self, prop: str) -> None:
        super().__init__(
            f"{prop} looks at the numbers of messages, and where the application never stops all "
            "messages but one have none; leave it out, or check it with a workload that ends"
        )
        self.prop = prop


class ReplayError(InputError):
    """A saved trace no longer fits the protocol."""


MOST_NAMES = 12
"""The greatest number of choices that an error lists. If there are more, it names the nearest."""

MOST_SHOWN = 400
"""The greatest length of an unknown name in an error, in characters."""


def unknown(thing: str, value: str, choices: Iterable[str]) -> InputError:
    """Return the error for a name that is not one of `choices`, with the nearest names suggested.

    Args:
        thing: the kind of thing, such as "protocol".
        choices: the known names. The error lists them all if they are few or if none is near.
    """
    value = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    names = sorted(choices)
    starts = [name for name in names if len(value) > 2 and name.startswith(value)]
    very_near, near = (difflib.get_close_matches(value, names, 1, least) for least in (0.8, 0.6))
    nearest = very_near or starts[:3] or near
    hint = f"; did you mean {' or '.join(map(repr, nearest))}?" if nearest else ";"
    if nearest and len(names) > MOST_NAMES:
        return InputError(f"unknown {thing} {value!r}{hint}")
    return InputError(f"unknown {thing} {value!r}{hint} available: {', '.join(names)}")


class UnsoundError(AntecedeError):
    """A reduction is unsound, so no verdict can be trusted."""


class CapacityError(AntecedeError):
    """A limit of an engine was reached (too many distinct values, too little memory or disk)."""


NO_THREAD = "too little memory: no further thread can be started"
"""The sentence for a thread that the operating system refuses."""


def is_refused_thread(error: RuntimeError) -> bool:
    """Return whether Python could not start a thread, because memory or processes are limited."""
    return str(error) == "can't start new thread"


class ClusterError(CapacityError):
    """A cluster failed and cannot recover by itself."""
