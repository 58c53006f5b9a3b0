"""Runs a command of antecede in a process of its own, with a limit of time.

A process of its own imports the present code of a protocol, and a protocol that hangs or crashes
ends its process only. The process ends with the server, however the server ends: its standard
input is a pipe from the server (`apart.py`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from attrs import frozen

from antecede.checker.api.wording import in_python
from antecede.checker.support.errors import InputError
from antecede.checker.support.platforms import APART

GRACE = 30.0
"""The time in seconds to start and end a command, which its own limit does not include."""

MOST_READ = 1 << 18
"""The number of bytes at the end of an output that are read."""


@frozen
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The error of a command that failed, in a sentence."""
        _, found, sentence = self.err.rpartition("rror: ")
        if found:
            return in_python(" ".join(sentence.split()))
        return f"antecede ended with exit code {self.code} and said nothing"


async def run(arguments: Sequence[str], seconds: float, folder: Path) -> Ran:
    """Run a command.

    Args:
        arguments: the words of the command line after `antecede`.
        seconds: the time after which the command should have ended by itself.
        folder: holds its temporary files, which a killed command leaves behind.

    Raises:
        InputError: the command could not be started, or it did not end GRACE seconds later; then it
            was killed.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "antecede.checker.agents.apart", *arguments),
                stdin=PIPE,
                stdout=out,
                stderr=err,
                env={**os.environ, "TMPDIR": str(folder)},
                **APART,
            )
        except OSError as error:  # for example, an argument is too long for the system
            raise InputError(f"the call cannot be run: {error.strerror}") from None
        try:
            code = await asyncio.wait_for(process.wait(), seconds + GRACE)
        except TimeoutError:
            raise InputError(
                f"the call did not end within {seconds + GRACE:g} seconds, so it was killed; a "
                "function of the protocol may run forever, or a folder has too many specs"
            ) from None
        finally:
            await _end(process)
        return Ran(code, _end_of(out), _end_of(err))


async def _end(process: Process) -> None:
    """Kill a process that still runs, with the processes that it started."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()


def _end_of(file: IO[bytes]) -> str:
    """Return the last MOST_READ bytes of a file as text."""
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - MOST_READ))
    return file.read().decode("utf-8", "replace")
