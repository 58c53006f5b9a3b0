"""Runs a command of antecede for the server of `antecede mcp`, and ends with the server.

Standard input is a pipe from the server, to which nobody writes. The system closes it when the
server ends, also if the server was killed.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from antecede.__main__ import SUPERVISES
from antecede.__main__ import main as command


def main() -> int:
    """Run the command of this process and return its exit code."""
    pipe = os.dup(0)  # processes that the command starts do not inherit a duplicate
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if not SUPERVISES:
        threading.Thread(target=_end_with_server, args=(pipe,), daemon=True).start()
    return command(pipe)


def _end_with_server(pipe: int) -> None:
    """Wait for the end of the server; then end this process."""
    with suppress(OSError):
        os.read(pipe, 1)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
