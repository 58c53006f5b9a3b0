"""Settings: one description of each, from which specs, the command line and reports are derived.

A record of settings is an attrs class whose fields are made by `setting`. What a person gives for
one is read and checked here and nowhere else: `read` takes text, `checked` any record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from antecede.checker.errors import InputError, unknown

MOST = 10**9
"""The greatest whole number that a setting takes; beyond it nothing here has a meaning."""


@frozen
class Setting:
    """What may be set, and how it is said.

    Attributes:
        name: the field of the record.
        kind: str, int, float, bool, Path (a folder) or tuple (of names).
        says: one or two sentences for people.
        default: what it is if nobody sets it; None: the engine decides.
        otherwise: what that comes to, where the default does not say it.
        choices: the names that it may have, if they are listed, with what they mean.
        least, most: of a number.
        above: a number must be greater than this.
        metavar: what stands for the value in the help.
        public: it is set on the command line; others are for measurements and tests.
        present: the folder must exist.
    """

    name: str
    kind: type
    says: str
    default: Any
    otherwise: str | None = None
    choices: Mapping[str, str] | None = None
    least: int | None = None
    most: int = MOST
    above: float | None = None
    metavar: str | None = None
    public: bool = True
    present: bool = False

    @property
    def words(self) -> str:
        """What it is called in a sentence."""
        return self.name.replace("_", " ")

    @property
    def option(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"


def setting(default: Any, kind: type, says: str = "", **more: Any) -> Any:
    """Return an attrs field that is a setting; see `Setting` for what can be said of it."""
    return attrs.field(default=default, metadata={"kind": kind, "says": says, **more})


def settings_of(record: type) -> tuple[Setting, ...]:
    """Return the settings among the fields of an attrs class, in order."""
    return tuple(
        Setting(name=a.name, default=a.default, **a.metadata)
        for a in attrs.fields(record)
        if "kind" in a.metadata
    )


def checked(record: Any) -> Any:
    """Return a record whose settings are all of their kinds and within their bounds.

    Raises:
        InputError: one is not; names it, its value and the choices.
    """
    for known in settings_of(type(record)):
        value = getattr(record, known.name)
        if value is not None or (known.public and known.default is not None):
            check_value(known, value)
    return record


_KINDS: Mapping[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "the path of a folder",
    tuple: "a list of names",
    list: "a list",
    dict: "a table",
}


def kind_named(kind: type) -> str:
    """Return what a kind of value is called in a sentence."""
    return _KINDS[kind]


def is_kind(value: Any, kind: type) -> bool:
    """Return whether a value is of a kind; True is no number, and a whole number is a number."""
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def check_value(known: Setting, value: Any) -> None:
    """Raise InputError if `value` is not what a setting may be."""
    if not is_kind(value, known.kind):
        raise InputError(f"{known.words} is {shown(value)}; it must be {_KINDS[known.kind]}")
    if known.choices is not None and value not in known.choices:
        raise unknown(known.words, value, known.choices)
    if known.kind in (int, float):
        _check_number(known, value)


def _check_number(known: Setting, value: float) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{known.words} is {value}; give a finite number")
    if known.least is not None and value < known.least:
        raise InputError(f"{known.words} is {shown(value)}; give at least {known.least}")
    if known.above is not None and value <= known.above:
        raise InputError(f"{known.words} is {value}; give more than {known.above:g}")
    if value > known.most:
        raise InputError(f"{known.words} is {shown(value)}; give at most {known.most:,}")


def check_text(what: str, text: Any) -> None:
    """Refuse text that no file, terminal or report can hold."""
    if not isinstance(text, str):
        raise InputError(f"{what} has {shown(text)}; it must be a string")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} is {text!a}; it must be text without NUL or broken characters")


def shown(value: Any) -> str:
    """Return a value for a sentence, shortened if need be."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return "a number of more than 30 digits"
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def whole_number(text: str, what: str, *, least: int = 1, most: int = MOST) -> int:
    """Return the whole number that a text is; only the digits 0 to 9 are digits.

    Raises:
        InputError: it is none, or too small or large; `what` begins the sentence.
    """
    stripped = text.strip()
    sign, digits = ("-", stripped[1:]) if stripped[:1] in ("-", "+") else ("", stripped)
    negative = stripped[:1] == "-"
    if not (digits.isascii() and digits.isdigit()):
        raise InputError(f"{what} is {shown(text)}; it must be a whole number, at least {least}")
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(most)) + 1:
        end = f"at least {least}" if negative else f"at most {most:,}"
        raise InputError(f"{what} is a number of {len(digits)} digits; give {end}")
    number = int(digits) * (-1 if negative and sign else 1)
    if number < least:
        raise InputError(f"{what} is {number}; give at least {least}")
    if number > most:
        raise InputError(f"{what} is {number}; give at most {most:,}")
    return number


def read(known: Setting, text: str) -> Any:
    """Return what a text says of a setting.

    Raises:
        InputError: it says nothing that the setting may be.
    """
    what = known.words
    if known.kind is int and known.metavar == "SIZE":
        value: Any = _bytes(text, what)
    elif known.kind is int:
        least = -known.most if known.least is None else known.least
        value = whole_number(text, what, least=least, most=known.most)
    else:
        check_text(what, text)
        value = number(text, what) if known.kind is float else text
    check_value(known, value)
    return value


def given_for(known: Setting, value: Any) -> Any:
    """Return what a record from a file says of a setting; an amount of memory may be text.

    Raises:
        InputError: it says nothing that the setting may be.
    """
    if known.metavar == "SIZE" and (is_kind(value, int) or isinstance(value, str)):
        return read(known, str(value))
    check_value(known, value)
    return value


LEAST_BYTES = 10**6
"""A bare number below this is an amount of memory whose unit was forgotten."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _bytes(text: str, what: str) -> int:
    """Return an amount of memory such as 500M or 4G in bytes."""
    match = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([KMGT]?)B?", text.strip().upper())
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if match and not match[2] and 0 < size < LEAST_BYTES:
        raise InputError(
            f"{what} is {shown(text)}, which would be {match[1]} bytes; say which unit is meant, "
            f"{match[1]}G or {match[1]}M"
        )
    if size <= 0:
        raise InputError(f"{what} is {shown(text)}, and that is no amount of memory; give 500M, 4G")
    return size


def number(text: str, what: str) -> float:
    """Return the finite number that a text is.

    Raises:
        InputError: it is none.
    """
    try:
        found = float(text) if text.isascii() else math.nan
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{what} is {shown(text)}; give a number, such as 60")
    return found


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names of a list such as a,b,c; commas within brackets part nothing.

    Raises:
        InputError: there is a list, and it has no name.
    """
    parts, depth = [""], 0
    for character in text or "":
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    names = tuple(part.strip() for part in parts if part.strip())
    if text is not None and not names:
        raise InputError(f"{text!r} names nothing; give a name, or leave it out")
    return names


def taken(values: dict[str, Any], record: type, *, but: Collection[str] = ()) -> dict[str, Any]:
    """Take out of `values` what belongs to a record, and return it."""
    names = [a.name for a in attrs.fields(record) if a.name in values and a.name not in but]
    return {name: values.pop(name) for name in names}
