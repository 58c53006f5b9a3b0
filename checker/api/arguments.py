"""The keyword arguments of the Python interface: the options of the commands, with their types.

Records such as `Spec`, `Options` and `Bounds` describe each option. Editors and type checkers read
the classes below instead, because they do not run code. Tests compare the two.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast, get_type_hints

import attrs

from antecede.checker.api.wording import in_python
from antecede.checker.check.pipeline import Extras
from antecede.checker.check.spec import Spec
from antecede.checker.errors import AntecedeError, InputError, unknown
from antecede.checker.search.options import Bounds, Options
from antecede.checker.settings import Setting, given_for, is_kind, settings_of, shown, taken

Described = TypeVar("Described", bound=Callable[..., Any])

RECORDS = (Spec, Options, Bounds, Extras)
"""The records whose fields are arguments of `check`."""


Script = Sequence[Sequence[int | Sequence[int]]]
"""For each actor, the destinations of its messages, in order."""


class QuestionArguments(TypedDict, total=False):
    """The arguments that say what to explore."""

    actors: int
    messages: int
    network: str | None
    workload: str | Script
    sends: str
    clock_at: str
    history: str
    properties: str | Sequence[str]
    names: Mapping[str, Sequence[str]]


class MethodArguments(TypedDict, total=False):
    """The arguments that say how to explore."""

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


class BoundsArguments(TypedDict, total=False):
    """The arguments that say when to stop."""

    max_states: int | None
    max_depth: int | None
    max_seconds: float | None
    max_memory: int | str | None
    bound: str | Sequence[str]


class CheckArguments(QuestionArguments, MethodArguments, BoundsArguments, total=False):
    """The keyword arguments of `check`; `help(antecede.check)` describes them."""

    minimise: bool
    sample: str | None
    measures: bool


class AdapterArguments(QuestionArguments, BoundsArguments, total=False):
    """The keyword arguments of `test`."""


class TableArguments(MethodArguments, BoundsArguments, total=False):
    """The keyword arguments of `table`."""

    sends: str
    clock_at: str


class ExploreArguments(QuestionArguments, total=False):
    """The keyword arguments of `explore`."""

    max_states: int | None
    max_seconds: float | None


class SweepArguments(BoundsArguments, total=False):
    """The keyword arguments of `sweep`; those that take several values make combinations."""

    actors: int | Sequence[int]
    messages: int | Sequence[int]
    network: str | Sequence[str]
    workload: str | Script | Sequence[str | Script]
    sends: str | Sequence[str]
    clock_at: str | Sequence[str]
    history: str | Sequence[str]
    properties: str | Sequence[str]
    symmetry: bool | None
    memory: str


Amounts = int | float | str | Sequence[int | float | str]
"""Values of a parameter of a simulation. Times and bandwidths have units: "5 ms", "50 kB/s"."""


class ScenarioArguments(TypedDict, total=False):
    """The parameters of `simulate`; several values make combinations."""

    actors: Amounts
    messages: Amounts
    bandwidth: Amounts
    delay: Amounts
    limits: Amounts
    control: Amounts
    jitter: Amounts
    order: Amounts
    payload: Amounts
    header: Amounts
    integer: Amounts
    flag: Amounts
    workload: Amounts
    hotspots: Amounts
    hot_share: Amounts
    interval: Amounts
    spacing: Amounts
    start: Amounts
    reacting: Amounts
    job_share: Amounts
    job_length: Amounts
    job_lengths: Amounts
    job_deviation: Amounts
    busy: Amounts
    handling: Amounts
    fan_out: Amounts
    timeout: Amounts


class NoArguments(TypedDict):
    """The further arguments of a function that names all of its arguments itself."""


def record_of(record: type, values: dict[str, Any]) -> Any:
    """Take the fields of a record out of `values`, and return the record.

    Raises:
        InputError: a value cannot be used.
    """
    return record(**converted(record, taken(values, record)))


def converted(record: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as the record stores them: lists as tuples, paths as Paths, 4G as bytes.

    Raises:
        InputError: a value cannot be used.
    """
    known = {each.name: each for each in settings_of(record)}
    if isinstance(bound := values.get("bound"), str):
        values = {**values, "bound": (bound,)}
    return {
        name: _value(known[name], value) if name in known else value
        for name, value in values.items()
    }


def _value(known: Setting, value: Any) -> Any:
    if known.name == "workload" and is_script(value):
        return "script:" + json.dumps(value, separators=(",", ":"), default=list)
    if known.kind in (int, str) and isinstance(value, list | tuple):
        raise InputError(
            f"{known.words} is {shown(value)}; give one value, or give several to antecede.sweep"
        )
    if known.kind is tuple and isinstance(value, str):
        return (value,)
    if known.kind is tuple and isinstance(value, Iterable):
        wrong = next((each for each in value if not isinstance(each, str)), None)
        if wrong is not None:
            raise InputError(f"{known.words} has {shown(wrong)}; give names")
        return tuple(value)
    if known.kind is Path and isinstance(value, str):
        return Path(value)
    return value if value is None else given_for(known, value)


def is_script(value: Any) -> bool:
    """Return whether a workload is a list of each actor's destinations, such as [[1, 2], [0]]."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(row, list | tuple) for row in value)
        and all(is_kind(each, int) or is_group(each) for row in value for each in row)
    )


def is_group(value: Any) -> bool:
    """Return whether a value is a list of the actors to which one message goes."""
    return isinstance(value, list | tuple) and all(is_kind(each, int) for each in value)


def check_place(on: str) -> None:
    """Raise InputError if `on` is no place where something can run."""
    if on not in ("here", "spark"):
        raise InputError(f"on is {on!r}; give 'here' or 'spark'")


def check_amount(name: str, value: Any) -> None:
    """Raise InputError if an argument is neither None nor a whole number of at least 1."""
    if value is not None and not (is_kind(value, int) and value >= 1):
        raise InputError(f"{name} is {shown(value)}; give a whole number, at least 1")


def axis(known: Setting, value: Any) -> tuple[Any, ...]:
    """Return the values of a setting that may have several.

    Raises:
        InputError: one of them cannot be used.
    """
    several = isinstance(value, Iterable) and not isinstance(value, str)
    several = several and not (known.name == "workload" and is_script(value))
    if several and not [*value]:
        raise InputError(f"{known.words} is {shown(value)}; give at least one value")
    return tuple(_value(known, each) for each in (value if several else (value,)))


def described(arguments: type, *records: type) -> Callable[[Described], Described]:
    """Return a decorator for a function that takes `arguments` as further keyword arguments.

    `help()` and the completion of notebooks then show them with their types, defaults and
    descriptions. An argument that the function does not know is an error that suggests a name.

    Args:
        arguments: a TypedDict.
        records: the records that have the defaults and the descriptions.
    """
    fields = {each.name: each for record in records for each in attrs.fields(record)}
    settings = {each.name: each for record in records for each in settings_of(record)}
    hints = get_type_hints(arguments)

    def describe(function: Described) -> Described:
        own = inspect.signature(function)
        fixed = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        named = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(fields.get(name)),
                annotation=hint,
            )
            for name, hint in hints.items()
        ]
        names = [p.name for p in (*fixed, *named) if p.kind is not p.VAR_POSITIONAL]

        @functools.wraps(function)
        def checked(*values: Any, **given: Any) -> Any:
            __tracebackhide__ = True  # pytest then shows the line of the test
            for name in given:
                if name not in names:
                    raise unknown("argument", name, names)
            try:
                return function(*values, **given)
            except AntecedeError as error:
                error.args = tuple(map(_worded, error.args))
                raise

        lines = [f"    {name}: {_says(settings[name])}" for name in hints if name in settings]
        about = "\n".join(["Keyword arguments:", *lines]) if lines else ""
        checked.__doc__ = f"{inspect.getdoc(function)}\n\n{about}".rstrip()
        signature = own.replace(parameters=[*fixed, *named])
        checked.__signature__ = signature  # type: ignore[attr-defined]
        return cast(Described, checked)

    return describe


def _worded(value: Any) -> Any:
    return in_python(value) if isinstance(value, str) else value


def _says(known: Setting) -> str:
    """Return the help of an option without the sentence that only a command line needs."""
    return re.sub(r" [^.]*repeat this option\.", "", known.says)


def _default(field: Any) -> Any:
    """Return the default that `help()` shows; `names` is the only setting with a factory."""
    if field is None:
        return None
    return {} if isinstance(field.default, attrs.Factory) else field.default  # type: ignore[arg-type]
