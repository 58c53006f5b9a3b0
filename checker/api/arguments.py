"""The keyword arguments of `antecede.check`: the options of `antecede check`, with their types.

The records `Spec`, `Options` and `Bounds` describe each option. Editors and type checkers read the
class below instead, because they do not run code. A test compares the two.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, get_type_hints

import attrs

from antecede.checker.check.spec import Spec
from antecede.checker.errors import InputError, unknown
from antecede.checker.search.options import Bounds, Options
from antecede.checker.settings import Setting, given_for, settings_of, shown, taken

Described = TypeVar("Described", bound=Callable[..., Any])

RECORDS = (Spec, Options, Bounds)
"""The records whose fields are arguments of `check`."""


class CheckArguments(TypedDict, total=False):
    """The keyword arguments of `check`; `help(antecede.check)` shows their defaults."""

    actors: int
    messages: int
    network: str | None
    workload: str
    sends: str
    clock_at: str
    history: str
    properties: Sequence[str]
    names: Mapping[str, Sequence[str]]
    search: str
    engine: str
    threads: int | None
    symmetry: bool | None
    memory: str
    check_progress: bool
    traces: bool
    spill: str | Path | None
    spill_visited: bool
    checkpoint: str | Path | None
    checkpoint_seconds: float
    resume: str | Path | None
    master: str | None
    partitions: int | None
    spark_threshold: int
    spark_log: bool
    walks: int
    seed: int
    max_states: int | None
    max_depth: int | None
    max_seconds: float | None
    max_memory: int | str | None
    bound: Sequence[str]


def parts_of(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments for the records of `RECORDS`, in their order.

    Raises:
        InputError: an argument is unknown, or its value cannot be used.
    """
    left = dict(values)
    parts = [_converted(taken(left, record), record) for record in RECORDS]
    if left:
        raise unknown("argument", min(left), (*get_type_hints(CheckArguments), "selfcheck"))
    return parts


def _converted(values: dict[str, Any], record: type) -> dict[str, Any]:
    known = {each.name: each for each in settings_of(record)}
    return {
        name: _value(known[name], value) if name in known else value
        for name, value in values.items()
    }


def _value(known: Setting, value: Any) -> Any:
    """Return a value as its record stores it: a list as a tuple, a path as a Path, 4G as bytes."""
    if known.kind is tuple and isinstance(value, Iterable) and not isinstance(value, str):
        wrong = next((each for each in value if not isinstance(each, str)), None)
        if wrong is not None:
            raise InputError(f"{known.words} has {shown(wrong)}; give names")
        return tuple(value)
    if known.kind is Path and isinstance(value, str):
        return Path(value)
    return value if value is None else given_for(known, value)


def described(function: Described) -> Described:
    """Give a function that takes `CheckArguments` a signature with all of them and their defaults.

    `help()` and the completion of notebooks then show them.
    """
    defaults = {a.name: a.default for record in RECORDS for a in attrs.fields(record)}
    defaults["names"] = {}
    own = inspect.signature(function)
    fixed = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name])
        for name in get_type_hints(CheckArguments)
    ]
    signature = own.replace(parameters=[*fixed, *named])
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
