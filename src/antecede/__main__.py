"""`antecede` and `python -m antecede`: what comes before the imports of the command."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

from antecede.checker.support import streams, supervisor

FEW_COLLECTIONS = (50_000, 20, 100)
"""Thresholds of the garbage collector; with its own ones it takes a twentieth of a short check."""


SUPERVISES = sys.platform == "linux"
"""Whether the command runs in a process that another one supervises."""

UNSUPERVISED = ("--version", "--help", "-h", "--help-all", "mcp")
"""Words of commands that run no code of the user in their process, so that they need no other."""


def main(life: int | None = None) -> int:
    """Run the command of this process and return its exit code.

    Args:
        life: a pipe. When it is closed, the command is killed, with all that it started.
    """
    gc.set_threshold(*FEW_COLLECTIONS)
    # Nothing here multiplies matrices, and NumPy's threads for that spin for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    streams.replace(sys.argv[1:], os.environ)
    if not SUPERVISES or not sys.argv[1:] or set(sys.argv) & set(UNSUPERVISED):
        return _leave(supervisor.unsupervised(_command))
    return _leave(supervisor.supervised(_command, life))


def _command() -> int:
    # The command imports much.
    from antecede import cli

    return cli.main()


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
