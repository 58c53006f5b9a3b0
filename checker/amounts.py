"""Numbers of things in sentences: 1 transition, 2,000 transitions."""

from __future__ import annotations


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with its noun: 1 state, 2,000 states. `things` is an irregular plural."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
