"""Sentences for a caller in Python: they name arguments, where a command names its options."""

from __future__ import annotations

import re
from functools import cache

import attrs

from antecede.checker.check.pipeline import Extras
from antecede.checker.check.spec import Spec
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.support.settings import Setting, settings_of

RECORDS = (Question, Spec, Options, Bounds, Extras, Scenario)
"""The records whose fields are arguments of functions."""

_NAMES = {"property": "properties", "claim": "claim", "format": "log_format"}
"""Option of a command -> the argument, if it is not the name of the option."""


def in_python(text: str) -> str:
    """Return a text with the names of arguments for those of options.

    Examples:
        >>> in_python("--max-states 100 reached; use --engine local")
        "max_states=100 reached; use engine='local'"
        >>> in_python("max states is -1; give at least 1")
        'max_states is -1; give at least 1'
    """
    text = re.sub(r"add (?:--)?(protocol|property) FILE\.py:\w+", _object, text)
    for words, name in _spaced():
        text = re.sub(rf"\b{words}(?= (?:is|has|') ?)|(?<=unknown ){words}\b", name, text)
    return re.sub(r"(?<![\w-])--([a-z][a-z0-9-]+)(?: ([\w.=:\[\],%]*[\w\]%]))?", _argument, text)


def _object(option: re.Match[str]) -> str:
    """Return an option of a trace as an argument, which also takes an object of the program."""
    return f"give {option[1]}={option[1].upper()}, with your antecede.{option[1].capitalize()}"


def _argument(option: re.Match[str]) -> str:
    """Return an option as an argument; the next word is its value if it can be one."""
    name = _NAMES.get(option[1], option[1].replace("-", "_"))
    value, known = option[2], _settings().get(name)
    if value is None:
        return name
    if re.fullmatch(r"[\d.]+", value):
        return f"{name}={value}"
    if value in _VALUES.get(name, ()) or value in ((known and known.choices) or ()):
        return f"{name}={value!r}"
    return f"{name} {value}"


_VALUES = {
    "on": ("spark", "here"),
    "workload": ("any", "broadcast", "multicast", "self"),
    "log_format": ("jsonl", "csv", "otel", "shiviz"),
}
"""Argument -> values that a sentence may name, if its setting lists no choices."""


@cache
def _settings() -> dict[str, Setting]:
    return {each.name: each for record in RECORDS for each in settings_of(record)}


@cache
def _spaced() -> list[tuple[str, str]]:
    """Return the words and the names of arguments whose name has several words."""
    others = ("max_messages", "log_format", "own_handlers")
    fields = [field.name for record in RECORDS for field in attrs.fields(record)]
    return [(name.replace("_", " "), name) for name in (*fields, *others) if "_" in name]
