"""Torn lines: lines cut off by a crash or a full disk, and the records glued behind them.

A process that is killed while it writes, or whose disk is full, leaves the start of a JSON object.
The next process appends its own record to this line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

MOST_STARTS = 1_000
"""The most positions in a line that are tried as the start of a record."""

MOST_LOST = 16
"""The most torn records in a row before a complete one."""

_DECODER = json.JSONDecoder()
_START = re.compile(r"\{\s*\"")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]')
_HALF_ESCAPE = re.compile(r"((?<!\\)(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$")
_WORDS = ("e", "ue", "rue", "se", "lse", "alse", "l", "ll", "ull")
_ENDS = ("", '"', "0", ':""', '":""', '"":""', *_WORDS)
"""Possible ends of a value or a field that was cut off."""


def records(
    text: str, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[list[dict[str, Any]], bool] | None:
    """Return the JSON objects of a line that is not one object, and whether a part was lost.

    `is_record` tells a record behind a torn object from a part of the torn object. The result is
    None if the line is neither torn nor several objects.
    """
    objects, torn, position = [], False, 0
    text = text.strip()
    while position < len(text):
        value, end = _object_at(text, position)
        if value is None:
            torn = True
            value, end = _record_behind(text, position, is_record)
            if value is None and not _is_lost(text[position:]):
                return None
        if value is not None:
            objects.append(value)
        position = end + len(text[end:]) - len(text[end:].lstrip())
    return objects, torn


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that begins at `at`, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def _record_behind(
    text: str, at: int, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any] | None, int]:
    """Return the first record behind a lost part, and its end."""
    for begin in _starts(text, at + 1):
        value, end = _object_at(text, begin)
        if value is not None and is_record(value) and _is_lost(text[at:begin]):
            return value, end
    return None, len(text)


def _starts(text: str, at: int) -> Iterator[int]:
    for _ in range(MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        yield start.start()
        at = start.start() + 1


def _is_lost(text: str) -> bool:
    """Return whether a text is the start of an object, or several such starts in a row."""
    if _is_cut(text):
        return True
    begins = [at for at, character in enumerate(text) if character == "{"]
    if len(begins) > MOST_LOST:
        return False
    lost = {len(text)}
    for at in reversed(begins):
        if any(_is_cut(text[at:end]) for end in lost):
            lost.add(at)
    return 0 in lost


def _is_cut(text: str) -> bool:
    """Return whether a text is a JSON object that lacks its end."""
    open_ones = []
    for token in _TOKEN.findall(text):
        if token in ("{", "["):
            open_ones.append("}" if token == "{" else "]")
        elif token in ("}", "]") and (not open_ones or open_ones.pop() != token):
            return False
    if not text.startswith("{") or not open_ones:
        return False
    closing = "".join(reversed(open_ones))
    stems = (text, _HALF_ESCAPE.sub(r"\1", text))
    return any(_is_json(stem + end + closing) for stem in stems for end in _ENDS)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
