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

_START = re.compile(r"\{\s*\"")
_HALF = re.compile(r"\\u[0-9a-fA-F]{0,4}$|[:,\[ ]-$|[0-9](?:\.|[eE][+-]?)$")
"""Matches half an escape or half a number at the end of a text."""


def records(
    text: str, is_record: Callable[[dict[str, Any]], bool], decoder: json.JSONDecoder
) -> tuple[list[dict[str, Any]], bool] | None:
    """Return the JSON objects of a line that is not one object, and whether a part was lost.

    `is_record` tells a record behind a torn object from a part of the torn object. The result is
    None if the line is neither torn nor several objects.
    """
    objects, torn, position = [], False, 0
    text = text.strip()
    while position < len(text):
        value, end = _object_at(text, position, decoder)
        if value is None:
            torn = True
            value, end = _record_behind(text, position, is_record, decoder)
            if value is None and not _is_lost(text[position:]):
                return None
        if value is not None:
            objects.append(value)
        position = end + len(text[end:]) - len(text[end:].lstrip())
    return objects, torn


def _object_at(text: str, at: int, decoder: json.JSONDecoder) -> tuple[dict[str, Any] | None, int]:
    """Return the object that begins at `at`, and its end."""
    try:
        value, end = decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def _record_behind(
    text: str, at: int, is_record: Callable[[dict[str, Any]], bool], decoder: json.JSONDecoder
) -> tuple[dict[str, Any] | None, int]:
    """Return the first record behind a lost part, and its end."""
    for begin in _starts(text, at + 1):
        value, end = _object_at(text, begin, decoder)
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
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest, half = text[error.pos :], _HALF.search(text)
        if not rest or error.msg.startswith("Unterminated"):
            return True
        if half is not None and error.pos >= half.start():
            return True
        words = ("true", "false", "null")
        return error.msg == "Expecting value" and any(word.startswith(rest) for word in words)
    except (ValueError, RecursionError):
        pass
    return False
