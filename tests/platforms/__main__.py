"""Runs the portable part of the suite on a simulated system: `python -m tests.platforms windows`.

The part has the tests of what protocols, searches, audits and reports compute. The tests that look
for signals, processes, limits of the system or files of /proc are not in it.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

PORTABLE = (
    *("semantics", "paths", "search", "liveness", "audit", "render", "simulate"),
    "computations",
)


def main(system: str) -> int:
    """Run the tests, and return the exit code of pytest; `real` is the system of this machine."""
    folders = [str(ROOT / "tests" / name) for name in PORTABLE]
    env = dict(os.environ) if system == "real" else environment(system)
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--maxprocesses", "4", *folders]
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def environment(system: str) -> dict[str, str]:
    """Return the environment of a process on a simulated system."""
    paths = (str(ROOT / "tests" / "platforms"), str(ROOT / "src"))
    return {
        **os.environ,
        "SIMULATED": system,
        "PYTHONPATH": os.pathsep.join(paths),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "HOME": "/",  # so that all folders are in it
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
