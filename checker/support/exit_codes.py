"""The exit codes of the command."""

from __future__ import annotations

from collections.abc import Iterable

AS_EXPECTED, NOT_AS_EXPECTED, INPUT_ERROR, INCOMPLETE, INTERNAL_ERROR = range(5)

RANKED = (INTERNAL_ERROR, INPUT_ERROR, NOT_AS_EXPECTED, INCOMPLETE)
"""The most urgent code first."""


def most_urgent(codes: Iterable[int]) -> int:
    """Return the exit code of a command that does several things, from the code of each."""
    given = set(codes)
    return next((code for code in RANKED if code in given), AS_EXPECTED)
