"""Numbers of things in sentences: 1 transition, 2,000 transitions."""

from __future__ import annotations


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number with the word for what it counts: 1 state, 2,000 states.

    Args:
        number: how many.
        thing: the word for one.
        things: the word for several, where it is not the same with an s.
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
