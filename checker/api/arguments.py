"""The names and types of the keyword arguments of the Python interface.

The arguments are the options of the commands. Records such as `Spec`, `Options` and `Bounds`
contain their defaults and descriptions. Editors and type checkers do not run code, so they read the
typed dictionaries below instead. Tests compare the two.
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
from antecede.checker.check.spec import OwnProperties, Spec
from antecede.checker.model import Property
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.failing import FAILURES
from antecede.checker.semantics.workload import labels_text
from antecede.checker.support.errors import AntecedeError, InputError, check_known
from antecede.checker.support.registry import property_names
from antecede.checker.support.settings import Setting, given_for, is_kind, settings_of, shown, taken

Described = TypeVar("Described", bound=Callable[..., Any])

RECORDS = (Spec, Options, Bounds, Extras)
"""The records whose fields are keyword arguments of `antecede.check`: they have the defaults and
the descriptions of the arguments."""


Script = Sequence[Sequence[int | Sequence[int] | Mapping[str, Any]]]
"""For each actor, the destinations of its messages, in order: a number, several, or a dictionary
with the keys `to` and `label`."""


class QuestionArguments(TypedDict, total=False):
    """The keyword arguments that say which system to explore.

    They give the number of actors (participants) and messages, the network, the workload (which
    actor sends to which), and the properties to check. `help(antecede.check)` describes each
    argument.
    """

    actors: int
    messages: int
    network: str | None
    workload: str | Script
    labels: str | Sequence[str]
    sends: str
    clock_at: str
    history: str
    crashes: int | str
    to_crashed: str
    properties: str | Property | Sequence[str | Property]
    names: Mapping[str, Sequence[str]]


class MethodArguments(TypedDict, total=False):
    """The keyword arguments that say how to search: the order, the engine, threads and memory.

    They do not change the verdict, except that random walks cannot show that a property holds.
    `help(antecede.check)` describes each argument.
    """

    search: str
    engine: str
    threads: int | None
    symmetry: bool | None
    forget: str
    spill: str | Path | None
    checkpoint: str | Path | None
    resume: str | Path | None
    master: str | None
    spark_threshold: int
    spark_conf: Mapping[str, Any] | Sequence[str]
    walks: int
    seed: int


class BoundsArguments(TypedDict, total=False):
    """The keyword arguments that end a search early, such as `max_seconds`.

    `max_memory` is a number of bytes or a text such as "4G". `help(antecede.check)` describes each
    argument. Without a bound, a search ends when it has explored all states.
    """

    max_states: int | None
    max_depth: int | None
    max_seconds: float | None
    max_memory: int | str | None
    bound: str | Sequence[str]


class CheckArguments(QuestionArguments, MethodArguments, BoundsArguments, total=False):
    """The keyword arguments of `antecede.check`, which `help(antecede.check)` describes."""

    minimise: bool
    coverage: bool


class AdapterArguments(QuestionArguments, BoundsArguments, total=False):
    """The keyword arguments of `antecede.test`, which `help(antecede.test)` describes."""


class TableArguments(MethodArguments, BoundsArguments, total=False):
    """The keyword arguments of `antecede.table`, which `help(antecede.table)` describes."""

    sends: str
    clock_at: str
    crashes: int | str
    to_crashed: str


class ExploreArguments(QuestionArguments, total=False):
    """The keyword arguments of `antecede.explore`, which `help(antecede.explore)` describes."""

    max_states: int | None
    max_seconds: float | None


class SweepArguments(BoundsArguments, total=False):
    """The keyword arguments of `antecede.sweep`, which `help(antecede.sweep)` describes.

    An argument whose type includes a sequence of its values takes a list: `actors=[2, 3]` checks
    both numbers. `properties` is different: each check checks all of its properties.
    """

    actors: int | Sequence[int]
    messages: int | Sequence[int]
    network: str | Sequence[str]
    workload: str | Script | Sequence[str | Script]
    labels: str | Sequence[str]
    sends: str | Sequence[str]
    clock_at: str | Sequence[str]
    history: str | Sequence[str]
    crashes: int | str | Sequence[int | str]
    to_crashed: str | Sequence[str]
    properties: str | Property | Sequence[str | Property]
    symmetry: bool | None
    forget: str


Amounts = int | float | str | Sequence[int | float | str]
"""One value of a parameter of `antecede.simulate`, or a list of values. Times and bandwidths have
units: "5 ms", "50 kB/s"."""


class ScenarioArguments(TypedDict, total=False):
    """The parameters of `antecede.simulate`, such as the delay of the network.

    A list of values makes a run for each value. `antecede simulate --help` describes each
    parameter.
    """

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
    """No keyword arguments: the function names all of its arguments itself."""


def record_of(record: type, values: dict[str, Any]) -> Any:
    """Return a record that is made of the values for its fields.

    Args:
        record: a class, such as `Bounds`.
        values: names and values. The names that are fields of the record are removed from the
            dictionary; the others stay.

    Raises:
        InputError: a value cannot be used; the error names the argument.

    Examples:
        >>> from antecede.checker.api.arguments import record_of
        >>> from antecede.checker.search.options import Bounds
        >>> values = {"max_memory": "4G", "actors": 3}
        >>> record_of(Bounds, values).max_memory, values
        (4000000000, {'actors': 3})
    """
    return record(**converted(record, taken(values, record)))


def converted(record: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a record stores them.

    A list becomes a tuple, the name of a file becomes a path, and "4G" becomes a number of bytes. A
    value whose name is not a field of the record stays unchanged.

    Args:
        record: a class, such as `Bounds`.
        values: names and values.

    Raises:
        InputError: a value cannot be used; the error names the argument.
    """
    known = {each.name: each for each in settings_of(record)}
    if "bound" in values:
        values = {**values, "bound": texts("bound", values["bound"], "mode=3")}
    return {
        name: _value(known[name], value) if name in known else value
        for name, value in values.items()
    }


def _value(known: Setting, value: Any) -> Any:
    if known.name == "workload" and is_script(value):
        return "script:" + json.dumps(value, separators=(",", ":"), default=list)
    if known.name == "crashes" and is_kind(value, int):
        return str(value)
    if known.name == "labels" and isinstance(value, list | tuple):
        return labels_text(value)
    if known.kind in (int, str) and isinstance(value, list | tuple):
        raise InputError(
            f"{known.words} is {shown(value)}; give one value, or give several to antecede.sweep"
        )
    if known.name == "spark_conf" and isinstance(value, Mapping):
        return tuple(
            f"{key}={str(each).lower() if isinstance(each, bool) else each}"
            for key, each in value.items()
        )
    if known.kind is tuple and isinstance(value, str):
        return (value,)
    if known.kind is tuple and isinstance(value, Iterable):
        wrong = next((each for each in value if not isinstance(each, str)), None)
        if wrong is not None:
            records = " and antecede.Property records" if known.name == "properties" else ""
            raise InputError(f"{known.words} has {shown(wrong)}; give names{records}")
        return tuple(value)
    if known.kind is Path and isinstance(value, str):
        return Path(value)
    return value if value is None else given_for(known, value)


def with_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with names instead of records of properties, and the records as `own`.

    Args:
        values: names and values of arguments.

    Raises:
        InputError: two properties have the same name.

    Examples:
        >>> from antecede.checker.api.arguments import with_names
        >>> with_names({"properties": ["integrity"]})
        {'properties': ['integrity']}
    """
    asked = values.get("properties")
    asked = [asked] if isinstance(asked, Property) else asked
    if not isinstance(asked, list | tuple | set | frozenset):
        return dict(values)
    own = [each for each in asked if isinstance(each, Property)]
    for prop in own:
        taken_by = [each for each in own if each.name == prop.name and each is not prop]
        if (
            taken_by
            or prop.name in (*property_names(), *FAILURES)
            or ":" in prop.name
            or "," in prop.name
        ):
            raise InputError(
                f"the property {prop.name!r} needs a name of its own, without colons and commas: "
                f'attrs.evolve(PROPERTY, name="another")'
            )
    names = [each.name if isinstance(each, Property) else each for each in asked]
    return {**values, "properties": names, **({"own": OwnProperties(tuple(own))} if own else {})}


def is_script(value: Any) -> bool:
    """Return whether a workload is a list of each actor's destinations, such as [[1, 2], [0]]."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(row, list | tuple) for row in value)
        and all(
            is_kind(each, int) or is_group(each) or isinstance(each, Mapping)
            for row in value
            for each in row
        )
    )


def is_group(value: Any) -> bool:
    """Return whether a value is a list of the actors to which one message goes."""
    return isinstance(value, list | tuple) and all(is_kind(each, int) for each in value)


def check_amount(name: str, value: Any, least: int = 1, *, optional: bool = True) -> None:
    """Raise InputError if an argument is no whole number of at least `least`.

    Args:
        optional: the value may also be None.
    """
    if optional and value is None:
        return
    if not (is_kind(value, int) and value >= least):
        raise InputError(f"{name} is {shown(value)}; give a whole number, at least {least}")


def texts(name: str, value: Any, example: str) -> tuple[str, ...]:
    """Return the texts of an argument that takes one text or a list of texts.

    Args:
        name: the name of the argument, which an error shows.
        value: the value that was given.
        example: a text that the argument could have; an error shows it.

    Raises:
        InputError: the value is neither a text nor a list of texts.
    """
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, list | tuple) or not all(isinstance(e, str) for e in several):
        raise InputError(
            f"{name} is {shown(value)}; give a text such as {example!r}, or a list of texts"
        )
    return tuple(several)


def axis(known: Setting, value: Any) -> tuple[Any, ...]:
    """Return the values of a setting that takes one value or a list of values.

    Args:
        known: the description of the setting.
        value: the value or the list that was given.

    Raises:
        InputError: one of the values cannot be used.
    """
    several = isinstance(value, Iterable) and not isinstance(value, str)
    one = known.name == "labels" or (known.name == "workload" and is_script(value))
    several = several and not one
    if several and not [*value]:
        raise InputError(f"{known.words} is {shown(value)}; give at least one value")
    return tuple(_value(known, each) for each in (value if several else (value,)))


def described(arguments: type, *records: type) -> Callable[[Described], Described]:
    """Return a decorator that makes `help()` show the further keyword arguments of a function.

    `help()` and the completion of notebooks then show the arguments with their types, defaults and
    descriptions. A call with an unknown argument raises an InputError that suggests a name.

    Args:
        arguments: a TypedDict with the names and types of the arguments.
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
                check_known("argument", name, names)
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
    """Return the description of an option for a caller in Python.

    A sentence that only a command line needs is left out.
    """
    return in_python(re.sub(r" [^.]*repeat this option\.", "", known.says))


def _default(field: Any) -> Any:
    """Return the default of an argument that `help()` shows.

    The argument `names` is the only one whose default is made by a factory.
    """
    if field is None:
        return None
    return {} if isinstance(field.default, attrs.Factory) else field.default  # type: ignore[arg-type]
