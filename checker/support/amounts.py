"""Amounts in sentences: 1 transition, 2,000 transitions, 150 MB."""

from __future__ import annotations

import re


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with its noun: 1 state, 2,000 states. `things` is an irregular plural."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def memory(size: int) -> str:
    """Return a number of bytes in MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


_LIKE_M1 = re.compile(r"m\d+( \(.*\))?")


def quoted(name: str) -> str:
    """Return a message's name as a word of a sentence: in quotes, unless it is like m1."""
    return name if _LIKE_M1.fullmatch(name) else f'"{name}"'
