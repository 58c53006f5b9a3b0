"""Lines that a crash or a full disk has torn, and the records that were glued behind them.

A process that is killed while it writes, or whose disk is full, leaves the start of a JSON object.
The next process appends its own record to the same line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

MOST_STARTS = 1_000
"""The most places of a line that are tried as the start of a record."""

MOST_LOST = 16
"""The most torn records that may stand behind each other before a whole one."""

_DECODER = json.JSONDecoder()
_START = re.compile(r"\{\s*\"")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]')
_HALF_ESCAPE = re.compile(r"((?<!\\)(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$")
_WORDS = ("e", "ue", "rue", "se", "lse", "alse", "l", "ll", "ull")
_ENDS = ("", '"', "0", ':""', '":""', '"":""', *_WORDS)
"""Possible ends of a value or a field that is cut off."""


def records(
    text: str, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[list[dict[str, Any]], bool] | None:
    """Return the JSON objects of a line that is not one object, and whether a part was lost.

    Args:
        text: the line.
        is_record: whether an object behind a torn one is a record, and not a part of the torn one.

    Returns:
        None if the line is neither torn nor several objects.
    """
    found, torn, at = [], False, 0
    text = text.strip()
    while at < len(text):
        value, end = _object_at(text, at)
        if value is None:
            torn = True
            value, end = _record_behind(text, at, is_record)
            if value is None and not _is_lost(text[at:]):
                return None
        if value is not None:
            found.append(value)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found, torn


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that begins at a place, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def _record_behind(
    text: str, at: int, is_record: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any] | None, int]:
    """Return the first record behind a part that is lost, and where it ends."""
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
    """Return whether a text is the start of an object, or several starts behind each other."""
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
    """Return whether a text is the start of a JSON object that lacks its end."""
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
