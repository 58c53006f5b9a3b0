"""Ends an audit with a clear error before the memory is used up."""

from __future__ import annotations

from antecede.checker.support import memory
from antecede.checker.support.errors import CapacityError

TOO_LARGE = (
    "an audit of these logs needs more memory than there is; give it more, or use --on spark for "
    "JSON objects and Parquet"
)

OFTEN = 1 << 16
"""Loops that create objects check the memory once per this number of objects."""


def check_memory() -> None:
    """End the audit if little memory is left.

    Raises:
        CapacityError: there is too little memory.
    """
    if (shortage := memory.shortage()) is not None:
        raise CapacityError(f"{TOO_LARGE} ({shortage})")


def check_room(wanted: int) -> None:
    """End the audit if `wanted` more bytes do not fit the memory.

    Raises:
        CapacityError: there is too little memory.
    """
    available = memory.available_memory_bytes()
    if available is not None and available < wanted:
        megabytes = f"{wanted / 1e6:,.0f} MB more, where {max(available, 0) / 1e6:,.0f} MB are left"
        raise CapacityError(f"{TOO_LARGE} (it asks for {megabytes})")
