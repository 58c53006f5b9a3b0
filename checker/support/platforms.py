"""What differs between Linux, macOS and Windows, where more than one module must know it."""

from __future__ import annotations

import os
from typing import Any

from antecede.checker.support.errors import InputError

WINDOWS = os.name == "nt"

APART: dict[str, Any] = (
    {"creationflags": 0x200} if WINDOWS else {"start_new_session": True}  # CREATE_NEW_PROCESS_GROUP
)
"""Arguments of `subprocess.Popen` for a process that Ctrl-C in this terminal does not reach."""


def refuse_on_windows(what: str) -> None:
    """Refuse a feature that Windows lacks; `what` is its name.

    Raises:
        InputError: this is Windows.
    """
    if WINDOWS:
        raise InputError(
            f"{what} needs Linux or macOS; on Windows, run antecede in the Windows Subsystem for "
            "Linux (WSL)"
        )
