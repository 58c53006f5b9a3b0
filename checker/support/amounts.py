"""Amounts in sentences: 1 transition, 2,000 transitions, 150 MB."""

from __future__ import annotations


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with its noun: 1 state, 2,000 states. `things` is an irregular plural."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def memory(size: int) -> str:
    """Return a number of bytes in MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
