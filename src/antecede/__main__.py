"""`antecede` and `python -m antecede`: what comes before the imports of the command."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

from antecede.checker.support import interrupts, streams

FEW_COLLECTIONS = (50_000, 20, 100)
"""Thresholds of the garbage collector; with its own ones it takes a twentieth of a short check."""


def main() -> int:
    """Run the command of this process and return its exit code."""
    gc.set_threshold(*FEW_COLLECTIONS)
    # Nothing here multiplies matrices, and NumPy's threads for that spin for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    interrupts.at_start()
    streams.replace(sys.argv[1:], os.environ)
    # The command imports much.
    from antecede import cli

    return _leave(cli.main())


def _leave(code: int) -> int:
    """Return the exit code; end the process at once if threads of the user's code still run."""
    others = (thread for thread in threading.enumerate() if not thread.daemon)
    if all(thread is threading.current_thread() for thread in others):
        return code
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
