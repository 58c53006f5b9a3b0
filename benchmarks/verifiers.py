"""The common part of Spin's and rumur's verifiers: they are generated in C, compiled and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from attrs import frozen

ENVIRONMENT = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Verifiers run in this environment. glibc asks for huge pages, as the local engine does."""


@frozen
class Found:
    """The result of one exploration.

    Attributes:
        unique: the number of states stored, including the start.
        total: the number of states generated, including the start.
        seconds: the duration of the exploration.
        peak: the peak memory in bytes.
        violated: the peer's text for the assertion that failed; empty if none did.
        processor: the processor time of the whole process in seconds.
    """

    unique: int
    total: int
    seconds: float
    peak: float
    violated: str = ""
    processor: float = 0.0


def compiler() -> str | None:
    """Return the C compiler."""
    return next(filter(shutil.which, ("cc", "gcc", "clang")), None)


def model_of(check: str) -> tuple[str, list[str]]:
    """Return the model of a check, and the macros that the preprocessor needs.

    A fourth word of the check is the number of crashes.
    """
    protocol, bounds, history, *crashes = check.split()
    actors, messages = bounds.split("x")
    macros = [f"-DACTORS={actors}", f"-DMESSAGES={messages}"]
    macros += ["-DKNOWLEDGE"] if history == "knowledge" else []
    macros += [f"-DCRASHES={number}" for number in crashes]
    macros += ["-DSECRET_MODE"] if protocol == "cykas-secret-mode" else []
    return protocol.removesuffix("-secret-mode"), macros


def done(asked: list[str], folder: Path) -> str:
    """Run a command in a folder and return its output.

    Raises:
        SystemExit: the command failed.
    """
    ran = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode != 0 or "error:" in ran.stdout:
        raise SystemExit(f"{' '.join(asked)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def field(pattern: str, said: str) -> str:
    """Return the first group of the first match in the output of a verifier."""
    found = re.search(pattern, said, re.MULTILINE)
    if found is None:
        raise SystemExit(f"the output of the verifier has nothing like {pattern!r}:\n{said}")
    return found[1]


def number(pattern: str, said: str) -> int:
    """Return a count in the output of a verifier."""
    text = field(pattern, said)
    if not text.isdecimal():
        raise SystemExit(f"{text!r} is no exact count (Spin rounds from 10^8 on):\n{said}")
    return int(text)
