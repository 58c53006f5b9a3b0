"""The parameters and assumptions of a simulated run, each with its name and its reason.

Times are whole nanoseconds, sizes are bytes, and bandwidths are bytes per second. A run is
therefore exact: equal arguments give equal rows, on every machine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs
from attrs import evolve, frozen

from antecede.checker.support.errors import InputError, check_known
from antecede.checker.support.reading import own_table

MS = 10**6
"""A millisecond."""

NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
MULTIPLES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
UNLIMITED = 0
"""The bandwidth at which sending a packet takes no time."""

MOST_ACTORS, MOST_MESSAGES = 5_000, 1_000_000


@frozen
class Scenario:
    """All parameters of a run except its protocol and its seed; `scenario.toml` describes them."""

    actors: int = 100
    messages: int = 100
    bandwidth: int = 50_000
    delay: int = 5 * MS
    limits: str = "uplink"
    control: str = "pays"
    jitter: int = 0
    order: str = "any"
    payload: int = 100
    header: int = 28
    integer: int = 4
    flag: int = 1
    workload: str = "random"
    hotspots: float = 0.0
    hot_share: float = 0.8
    interval: int = 10 * MS
    spacing: str = "fixed"
    start: str = "staggered"
    reacting: float = 0.0
    job_share: float = 0.0
    job_length: int = 25 * MS
    job_lengths: str = "fixed"
    job_deviation: int = 5 * MS
    busy: str = "process"
    handling: int = 0
    fan_out: int = 3
    timeout: int = 1_000 * MS


FIELDS = tuple(field.name for field in attrs.fields(Scenario))


@frozen
class Parameter:
    """The description of a parameter.

    Attributes:
        kind: a key of `_NUMBERS`, or `name`.
        reason: the reason for the default; empty if a paper states the value.
        choices: for a name, the possible values and their meanings.
        others: alternative values for the tornado chart.
    """

    default: Any
    kind: str
    says: str
    reason: str = ""
    choices: Mapping[str, str] = attrs.field(factory=dict)
    others: tuple[Any, ...] = ()


@cache
def parameters() -> Mapping[str, Parameter]:
    """Return the descriptions of all parameters, by name."""
    defaults, table = Scenario(), own_table(__package__, "scenario.toml")
    known = {name: Parameter(getattr(defaults, name), **table[name]) for name in FIELDS}
    return {
        name: evolve(about, others=tuple(_read(name, about, text) for text in about.others))
        for name, about in known.items()
    }


def parsed(name: str, text: str) -> Any:
    """Return the value of a field that a user wrote as text.

    Raises:
        InputError: the field cannot have this value.
    """
    return _read(name, parameters()[name], text.strip())


def _read(name: str, about: Parameter, text: str) -> Any:
    words = name.replace("_", " ")
    if about.kind != "name":
        return _NUMBERS[about.kind](words, text)
    check_known(words, text, about.choices, name)
    return text


def parsed_list(name: str, text: str) -> list[Any]:
    """Return the values of a field that a user wrote as a list such as `25,50`.

    Raises:
        InputError: the field cannot have one of these values.
    """
    return [parsed(name, part) for part in text.split(",")]


def _quantity(text: str, units: Mapping[str, int]) -> float | None:
    """Return a number times its unit; None if the text is something else."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([^0-9. ]*)", text)
    if match is None or len(match[1]) > 20 or match[2] not in units:
        return None
    return float(match[1]) * units[match[2]]


def _count(name: str, text: str) -> int:
    least, most = (2, MOST_ACTORS) if name == "actors" else (1, MOST_MESSAGES)
    if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise InputError(f"{name} is {text!r}; give a whole number from {least} to {most:,}")
    return int(text)


def _time(name: str, text: str) -> int:
    value = 0.0 if text == "0" else _quantity(text, NANOSECONDS)
    if value is None or value > 10**18:
        raise InputError(f"{name} is {text!r}; give a time such as 500us, 12.5ms or 1s")
    return round(value)


def _size(name: str, text: str) -> int:
    value = _quantity(text.removesuffix("B"), MULTIPLES)
    if value is None or value > 10**12:
        raise InputError(f"{name} is {text!r}; give bytes, such as 100 or 1k")
    return round(value)


def _rate(name: str, text: str) -> int:
    if text == "unlimited":
        return UNLIMITED
    rate = round(_quantity(re.sub("(B|B/s|Bps)$", "", text), MULTIPLES) or 0)
    if not 1 <= rate <= 10**12:
        raise InputError(
            f"{name} is {text!r}; give bytes per second, such as 20k or 5M, or unlimited"
        )
    return rate


def _share(name: str, text: str) -> float:
    value = _quantity(text.removesuffix("%"), {"": 1})
    value = None if value is None else value / 100 if text.endswith("%") else value
    if value is None or not 0 <= value <= 1:
        raise InputError(f"{name} is {text!r}; give a share such as 10% or 0.1")
    return value


_NUMBERS: Mapping[str, Any] = {
    "count": _count,
    "time": _time,
    "size": _size,
    "rate": _rate,
    "share": _share,
}


def written(name: str, value: Any) -> str:
    """Return a value as a short text, which `parsed` can read."""
    kind = parameters()[name].kind
    if kind == "time":
        unit = next((u for u in ("s", "ms", "us") if value >= NANOSECONDS[u]), "ns")
        return f"{_plain(value / NANOSECONDS[unit])}{unit}" if value else "0"
    if kind in ("rate", "size"):
        if kind == "rate" and value == UNLIMITED:
            return "unlimited"
        unit = next((u for u in ("G", "M", "k") if value >= MULTIPLES[u]), "")
        return f"{_plain(value / MULTIPLES[unit])}{unit}"
    if kind == "share":
        return f"{_plain(value * 100)}%"
    return str(value)


def _plain(value: float) -> str:
    return f"{value:.12g}" if math.isfinite(value) else str(value)
