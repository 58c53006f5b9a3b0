"""Unusual values, and ways to insert them into files."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

NUMBERS = (
    *("0", "1", "2", "3", "-1", "007", "1_000", "+2", " 2", "2.5", "1e3", "1e999", "nan", "-inf"),
    *("²", "٣", "x", "", "0x10", "1" * 30, "9" * 400, "1000000", "99999999999", "1e-320"),
)
"""Values for numbers on a command line."""

TEXTS = (
    *(
        "",
        " ",
        "x",
        "ü",
        "²",
        "\x00",
        "a\x00b",
        "\udcff",
        "\ud800",
        "\x1b[31m",
        "a\nb",
        "%s",
        "{0}",
    ),
    *("x" * 5_000, "../..", "/", ".", "-", "--", "/dev/null", "no/such/file", "[" * 3_000),
    *("any", "knowledge", "mfss", "lossy:²", "lossy:-1", "lossy:" + "9" * 400, "+", "fifo+fifo"),
)

WORKLOADS = (
    *(
        "any",
        "any:1",
        "broadcast",
        "multicast",
        "self",
        "script",
        "script:",
        "script:[]",
        "script:{}",
    ),
    *("script:[[1],[0],[]]", "script:[[1],[1]]", "script:[[99],[]]", "script:[[1.5],[]]"),
    *("script:[[true],[]]", "script:[[null]]", "script:[[-1],[]]", "script:[[1e999],[]]"),
    *("script:" + "[" * 3_000 + "]" * 3_000, "script:[[" + "1," * 3_000 + "1],[]]", "script:1"),
    'reaction:[{"name":"a","from":0,"to":[1],"after":[]}]',
    'reaction:[{"name":"a","from":0,"to":[1],"after":["a"]}]',
    'reaction:[{"name":["a"],"from":0,"to":[1]}]',
    'reaction:[{"name":"a","from":"0","to":1}]',
    'reaction:[{"name":"a","from":0,"to":[]}]',
    'program:[[{"send":"a","to":[1]}],[{"receive":"a"}]]',
    'program:[[{"send":["a"],"to":[1]}],[{"receive":{}}]]',
    'program:[[{"send":"a","to":[1]},{"send":"a","to":[1]}],[{"receive":["b"]}]]',
    "endless:²",
    "endless:1",
    "endless(buffer=2)",
)

DEEP = "@deep@"
"""A placeholder for lists nested deeper than a parser recurses; see `dumped`."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 17, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), [], {}, [[]], [[[1]]], {"a": 1}, {"": []}),
    *("", "0", "1", "²", "x", "ü", "\x00", "\ud800", "m1", "mfss", "fifo", "lossy:²"),
    *("causal-delivery", "receive", "any", "/", "mine.py:X", DEEP),
    *("x" * 3_000, f"{'x' * 3_000}.py"),
)


def dumped(value: Any) -> str:
    """Return a value as JSON. DEEP is replaced in the text, because JSON writers recurse, too."""
    text = json.dumps(value)
    return text.replace(json.dumps(DEEP), "[" * 5_000 + "]" * 5_000)


WAYS = ("replace", "replace", "delete", "double", "rename", "swap", "wrap", "near")


def changed(value: Any, chance: random.Random) -> Any:
    """Return a copy of a tree of lists and objects with one to three changes."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return chance.choice(VALUES)
        inside, key = chance.choice(places)
        _change(inside, key, places, chance)
    return value


def _places(value: Any) -> Any:
    """Yield each list or object with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _change(inside: Any, key: Any, places: Any, chance: random.Random) -> None:
    way = chance.choice(
        ("replace", "replace", "delete", "double", "rename", "swap", "wrap", "near")
    )
    if way == "near" and isinstance(inside[key], int | str):
        near = inside[key]
        inside[key] = near + chance.choice((-1, 1)) if isinstance(near, int) else near[:-1] + "x"
    elif way == "delete":
        del inside[key]
    elif way == "double" and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(inside[key]))
    elif way == "rename" and isinstance(inside, dict):
        inside[chance.choice(("", "x", "ü", f"{key}s"))] = inside.pop(key)
    elif way == "swap":
        other, at = chance.choice(places)
        inside[key] = copy.deepcopy(other[at]) if at in _keys(other) else None
    elif way == "wrap":
        inside[key] = [inside[key]] * chance.choice((1, 2))
    else:
        inside[key] = copy.deepcopy(chance.choice(VALUES))


def _keys(value: Any) -> Any:
    return value if isinstance(value, dict) else range(len(value))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of them flipped, deleted, doubled, or inserted."""
    data = bytes(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        more = at + chance.choice((1, 1, 4, 64, 4_096))
        piece = data[at:more]
        new = chance.choice(
            (
                b"",
                piece * 2,
                bytes(chance.randrange(256) for _ in piece[:64]),
                b"\x00",
                b"\xff",
                b"[",
            )
        )
        data = data[:at] if chance.random() < 0.1 else data[:at] + new + data[more:]
    return data


def toml(table: dict[str, Any]) -> str:
    """Return a table as TOML; values without a notation in TOML make it invalid."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: Any) -> str:
    return json.dumps(str(key))


def _value(value: Any) -> str:
    if value == DEEP:
        return "[" * 5_000 + "]" * 5_000
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if value is None:
        return '""'
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=isinstance(value, str) and "\x00" in value)
