"""Settings. Specs, the command line and reports are derived from one description of each.

A record of settings is an attrs class whose fields are created by `setting`. Only this module reads
and checks the values: `read` takes text, and `checked` takes a record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from antecede.checker.support.errors import InputError, check_known

MOST = 10**9
"""The greatest whole number of a setting. Larger values have no meaning for any setting."""


@frozen
class Setting:
    """The description of a setting.

    Attributes:
        kind: str, int, float, bool, Path (a folder) or tuple (of names).
        says: one or two sentences for the help.
        default: the default value; None means that the engine decides.
        otherwise: a description of the default, if the value does not explain itself.
        choices: name -> meaning, if the value is one of some names.
        least, most: the range of a number.
        above: an exclusive lower bound of a number.
        metavar: the placeholder of the value in the help.
        public: whether users can choose it; others are for measurements and tests.
        key_only: whether only specs and Python have it, and the command line has no option.
        present: whether the folder must exist.
        whole: the texts of a tuple may have commas, so an option gives one of them.
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
    key_only: bool = False
    present: bool = False
    whole: bool = False

    @property
    def words(self) -> str:
        """The name in a sentence."""
        return self.name.replace("_", " ")

    @property
    def option(self) -> str:
        """The option on the command line."""
        return f"--{self.name.replace('_', '-')}"


def setting(default: Any, kind: type, says: str = "", **more: Any) -> Any:
    """Return an attrs field that is a setting; `more` has attributes of `Setting`."""
    return attrs.field(default=default, metadata={"kind": kind, "says": says, **more})


def settings_of(record: type) -> tuple[Setting, ...]:
    """Return the settings among the fields of an attrs class, in order."""
    return tuple(
        Setting(name=a.name, default=a.default, **a.metadata)
        for a in attrs.fields(record)
        if "kind" in a.metadata
    )


def checked(record: Any) -> Any:
    """Return `record` after checking the kinds and ranges of all settings.

    Raises:
        InputError: a value is wrong; names the setting, its value and the choices.
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
    """Return the noun for a kind of value."""
    return _KINDS[kind]


def is_kind(value: Any, kind: type) -> bool:
    """Return whether a value is of a kind. A bool is not a number, and an int is also a float."""
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def check_value(known: Setting, value: Any) -> None:
    """Raise InputError if `value` is invalid for a setting."""
    if not is_kind(value, known.kind):
        choices = f": {' or '.join(known.choices)}" if known.choices else ""
        raise InputError(
            f"{known.words} is {shown(value)}; it must be {_KINDS[known.kind]}{choices}",
            code="wrong-kind",
            parameter=known.name,
            value=value,
            choices=known.choices or (),
        )
    if known.choices is not None:
        check_known(known.words, value, known.choices, known.name)
    if known.kind in (int, float):
        _check_number(known, value)
    if known.kind is Path:
        check_folder(known, value)


def check_folder(known: Setting, path: str | Path) -> None:
    """Raise InputError if `path` is a URL, such as s3a://bucket, which would become a local folder.

    A drive of Windows, such as C:, has one letter only, and a `Path` has no double slash any more.
    """
    if scheme := re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", str(path)):
        raise InputError(
            f"{known.words} is {shown(str(path))}, and antecede cannot use {scheme[1]}:// for "
            "folders; give a path, for a search on several machines the path of a folder that all "
            "mount",
            parameter=known.name,
            value=str(path),
        )


def _check_number(known: Setting, value: float) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _out_of_range(known, value, "not-finite", "a finite number")
    if known.least is not None and value < known.least:
        raise _out_of_range(known, value, "too-small", f"at least {known.least}")
    if known.above is not None and value <= known.above:
        raise _out_of_range(known, value, "too-small", f"more than {known.above:g}")
    if value > known.most:
        raise _out_of_range(known, value, "too-large", f"at most {known.most:,}")


def _out_of_range(known: Setting, value: float, code: str, give: str) -> InputError:
    text = f"{known.words} is {shown(value)}; give {give}"
    return InputError(text, code=code, parameter=known.name, value=value)


def check_text(what: str, text: Any) -> None:
    """Raise InputError if a file, terminal or report cannot hold the text."""
    if not isinstance(text, str):
        raise InputError(f"{what} has {shown(text)}; it must be a string")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{what} is {text!a}; it must be text without NUL or broken characters")


def shown(value: Any) -> str:
    """Return a value for a sentence, shortened if necessary."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**30:
        return "a number of more than 30 digits"
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def whole_number(text: str, what: str, *, least: int = 1, most: int = MOST) -> int:
    """Parse a whole number with the digits 0 to 9.

    Raises:
        InputError: the text is not a number, or out of range; `what` begins the sentence.
    """
    found = re.fullmatch(r"([-+]?)0*([0-9]+)", text.strip())
    if found is None:
        raise InputError(f"{what} is {shown(text)}; it must be a whole number, at least {least}")
    sign, digits = found.groups()
    if len(digits) > len(str(most)) + 1:
        end = f"at least {least}" if sign == "-" else f"at most {most:,}"
        raise InputError(f"{what} is a number of {len(digits)} digits; give {end}")
    number = int(sign + digits)
    if number < least:
        raise InputError(f"{what} is {number}; give at least {least}")
    if number > most:
        raise InputError(f"{what} is {number}; give at most {most:,}")
    return number


def read(known: Setting, text: str) -> Any:
    """Parse the value of a setting.

    Raises:
        InputError: the text is not a valid value.
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
    """Return the checked value of a setting from a file; an amount of memory may be text.

    Raises:
        InputError: the value is invalid.
    """
    if known.metavar == "SIZE" and (is_kind(value, int) or isinstance(value, str)):
        return read(known, str(value))
    check_value(known, value)
    return value


LEAST_BYTES = 10**6
"""A smaller number of bytes is taken for an amount of memory without its unit."""

AMOUNT = r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([KMGTkmgt]?)[Bb]?"
"""The regular expression of an amount of memory; JavaScript and Rust read it, too."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _bytes(text: str, what: str) -> int:
    """Return an amount of memory such as 500M or 4G in bytes."""
    match = re.fullmatch(AMOUNT, text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if match and not match[2] and 0 < size < LEAST_BYTES:
        raise InputError(
            f"{what} is {shown(text)}, which would be {match[1]} bytes; say which unit is meant, "
            f"{match[1]}G or {match[1]}M"
        )
    if size <= 0:
        raise InputError(f"{what} is {shown(text)}, and that is no amount of memory; give 500M, 4G")
    return size


def number(text: str, what: str) -> float:
    """Parse a finite number.

    Raises:
        InputError: the text is not one.
    """
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{what} is {shown(text)}; give a number, such as 60")
    return value


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names in a list such as a,b,c; commas within brackets do not separate names.

    Raises:
        InputError: the list is empty, or an item of it is.
    """
    if text is None:
        return ()
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    names = tuple(part.strip() for part in parts)
    if not any(names):
        raise InputError(f"{text!r} names nothing; give a name, or leave it out")
    if not all(names):
        raise InputError(
            f"an item of the list {text!r} is empty; remove a comma, or write the item"
        )
    return names


def taken(values: dict[str, Any], record: type, *, but: Collection[str] = ()) -> dict[str, Any]:
    """Remove the settings of a record from `values`, and return them."""
    names = [a.name for a in attrs.fields(record) if a.name in values and a.name not in but]
    return {name: values.pop(name) for name in names}
