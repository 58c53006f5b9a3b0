"""Ends an audit with a clear error before the memory is used up."""

from __future__ import annotations

from antecede.checker import memory
from antecede.checker.errors import CapacityError

TOO_LARGE = (
    "an audit of these logs needs more memory than there is; give it more, or use --on spark for "
    "JSON objects and Parquet"
)

OFTEN = 1 << 16
"""Loops that make objects check the memory after this many of them."""


def check_memory() -> None:
    """End the audit if little memory is left.

    Raises:
        CapacityError: there is too little.
    """
    if (shortage := memory.shortage()) is not None:
        raise CapacityError(f"{TOO_LARGE} ({shortage})")


def check_room(wanted: int) -> None:
    """End the audit if it is about to ask for more bytes than are left.

    Raises:
        CapacityError: there is too little memory.
    """
    left = memory.available_memory_bytes()
    if left is not None and left < wanted:
        megabytes = f"{wanted / 1e6:,.0f} MB more, where {max(left, 0) / 1e6:,.0f} MB are left"
        raise CapacityError(f"{TOO_LARGE} (it asks for {megabytes})")
