"""The exceptions. Every error that a user can cause names the thing, the value and the choices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

CODES = {
    "wrong-input": "an input cannot be used; the sentence says why",
    "unknown-name": "a name is not one of the choices",
    "wrong-kind": "a value is of another kind, such as text for a number",
    "too-small": "a number is below the least one",
    "too-large": "a number is above the greatest one",
    "not-finite": "a number is infinite or not a number",
    "engine-lacks-option": "the engine or the search would ignore an option",
    "engine-lacks-search": "the engine has no such search",
    "engine-lacks-question": "the engine cannot judge the question; the plain one can",
    "place-lacks-option": "an option is for another place to run at",
    "needs-numbers": "a property needs the numbers of messages, and there are none",
    "protocol-failed": "a protocol raised, returned something unusable, or is not pure",
    "adapter-failed": "the adapter between real code and the checker failed",
    "stale-trace": "a saved trace no longer fits the protocol",
    "limit-reached": "an engine reached a limit, such as the memory; the input may be right",
}
"""Code of an error -> what it says; docs/files.md has this table."""


class AntecedeError(Exception):
    """The base class of all deliberate errors. The text is a sentence for the user."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the sentence, without the lines of our own code."""
        return [f"{type(self).__name__}: {self}"]


class InputError(AntecedeError):
    """An unusable input (exit code 2).

    Attributes:
        code: one of CODES, for a program that acts on the error.
        parameter: the name of the setting, such as max_states; None if it is about no setting.
        value: the wrong value; text for a value that JSON does not have.
        choices: the names that the value may be, if they can be listed.
    """

    code = "wrong-input"

    def __init__(
        self,
        *args: object,
        code: str | None = None,
        parameter: str | None = None,
        value: object = None,
        choices: Iterable[str] = (),
    ) -> None:
        super().__init__(*args)
        self.code = code or type(self).code
        self.parameter, self.choices = parameter, tuple(choices)
        simple = isinstance(value, _SIMPLE) and value not in (math.inf, -math.inf)
        self.value: Any = value if simple and value == value else repr(value)

    def reworded(self, text: str) -> Self:
        """Return the same error with another sentence."""
        made = type(self)(text)
        made.code, made.parameter = self.code, self.parameter
        made.value, made.choices = self.value, self.choices
        return made


_SIMPLE = (str, int, float, bool, type(None))


class ProtocolError(InputError):
    """A protocol's handler raised, returned something unusable, or is not a pure function."""

    code = "protocol-failed"


class HandlerError(ProtocolError):
    """A protocol's handler raised or returned something unusable. A run leads to it.

    Attributes:
        fault: what the handler did.
        advice: what it should do instead, or "".
        call: the call of the handler as Python source, or "".
        place: the line of the code, or "".
    """

    def __init__(self, fault: str, advice: str = "", call: str = "", place: str = "") -> None:
        super().__init__(fault, advice, call, place)
        self.fault, self.advice, self.call, self.place = fault, advice, call, place

    def __str__(self) -> str:
        raised = f"{self.fault} ({self.place})" if self.place and not self.advice else self.fault
        called = f"it was called as {self.call}" if self.call else ""
        return "; ".join(filter(None, (raised, self.advice, called)))


class AdapterError(ProtocolError):
    """The adapter between real code and the checker failed; the code may be correct."""

    code = "adapter-failed"


class NumbersError(InputError):
    """A property depends on message numbers, which an endless workload does not provide."""

    code = "needs-numbers"

    def __init__(self, prop: str) -> None:
        super().__init__(prop)
        self.prop = prop

    def __str__(self) -> str:
        return (
            f"{self.prop} looks at the numbers of messages, and where the application never stops "
            "all messages but one have none; leave it out, or check it with a workload that ends"
        )


class ReplayError(InputError):
    """A saved trace no longer fits the protocol."""

    code = "stale-trace"


MOST_NAMES = 12
"""The greatest number of choices that an error lists. If there are more, it names the nearest."""

MOST_SHOWN = 400
"""The greatest length of an unknown name in an error, in characters."""


def unknown(
    thing: str, value: object, choices: Iterable[str], parameter: str | None = None
) -> InputError:
    """Return the error for a name that is not one of `choices`, with the nearest names suggested.

    Args:
        thing: the kind of thing, such as "protocol".
        choices: the known names. The error lists them all if they are few or if none is near.
        parameter: the name of the setting, if the name is the value of one.
    """
    value = value if isinstance(value, str) else repr(value)
    value = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    names = sorted(choices)
    nearest = nearest_to(value, names)
    hint = f"; did you mean {' or '.join(map(repr, nearest))}?" if nearest else ";"
    if not nearest or len(names) <= MOST_NAMES:
        hint += f" available: {', '.join(names)}"
    return InputError(
        f"unknown {thing} {value!r}{hint}",
        code="unknown-name",
        parameter=parameter,
        value=value,
        choices=names,
    )


FAR = 0.4
"""From this share of changed letters on, a name is too far away to be suggested."""


def nearest_to(value: str, names: Iterable[str]) -> list[str]:
    """Return the names that a misspelt or unfinished name may mean; empty if all are far away."""
    names = sorted(names)
    starts = [name for name in names if len(value) > 2 and name.startswith(value)]
    ranked = sorted((unlike(value, name), name) for name in names)
    very_near, near = (
        [name for share, name in ranked[:1] if share <= 0.2],
        [name for share, name in ranked[:1] if share < FAR],
    )
    return very_near or starts[:3] or near


def check_known(
    thing: str, value: object, choices: Iterable[str], parameter: str | None = None
) -> None:
    """Raise InputError if a value is not one of `choices`, which `unknown` explains.

    The value may come from a Python program or a JSON file, so it need not be a text, and it may
    have no hash.

    Args:
        thing: as for `unknown`.
        choices: as for `unknown`.
        parameter: as for `unknown`.
    """
    __tracebackhide__ = True  # pytest then shows the caller
    names = [*choices]
    if value not in names:
        raise unknown(thing, value, names, parameter)


def unlike(value: str, name: str) -> float:
    """Return the share of a name that must be changed to get another one, from 0 to 1.

    A letter that is missing, extra or wrong is a change, and two swapped letters are half a change.
    """
    before, row = list[float](), [float(k) for k in range(len(name) + 1)]
    for i, letter in enumerate(value, 1):
        older, before, row = before, row, [float(i)]
        for k, other in enumerate(name, 1):
            changed = before[k - 1] + (letter != other)
            if i > 1 and k > 1 and value[i - 2 : i] == name[k - 1] + name[k - 2]:
                changed = min(changed, older[k - 2] + 0.5)
            row.append(min(changed, before[k] + 1, row[k - 1] + 1))
    return row[-1] / max(len(value), len(name), 1)


class CapacityError(AntecedeError):
    """A limit of an engine was reached (too many distinct values, too little memory or disk)."""

    code = "limit-reached"


NO_THREAD = "too little memory: no further thread can be started"
"""The sentence for a thread that the operating system refuses."""


def is_refused_thread(error: RuntimeError) -> bool:
    """Return whether Python could not start a thread, because memory or processes are limited."""
    return str(error) == "can't start new thread"


class ClusterError(CapacityError):
    """A cluster failed and cannot recover by itself."""


def check_place(on: object, master: str | None, workers: int | None = None) -> None:
    """Raise InputError unless `on` is here or spark, and the others are for that place."""
    check_known("on", on, ("here", "spark"), "on")
    if on == "spark" and workers is not None:
        raise InputError(
            "--workers is for --on here; on Spark, each core does one",
            code="place-lacks-option",
            parameter="workers",
            value=workers,
        )
    if on == "here" and master is not None:
        raise InputError(
            "--master is for --on spark",
            code="place-lacks-option",
            parameter="master",
            value=master,
        )
