"""Standard streams that are closed, on a full disk, or read by a job of GitHub Actions.

The command replaces its streams before it does anything else (`replace`). A failure to write to
standard output is an error for the user. A failure to write to standard error is ignored, because
it cannot be reported.

In a job of GitHub Actions the runner obeys printed lines such as `::warning …` and `##[…]`; see
"Workflow commands for GitHub Actions" in GitHub's documentation. Any text from outside could be
one: a name, a message, an exception. So one character of each is written as its escape, except
within `commands`. The escape is valid in JSON, too.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.platforms import WINDOWS

_COMMAND = re.compile(r"((?:\A|[\r\n])\s*:):|(##)\[")
"""The runner ignores white space before `::`, and finds `##[` anywhere in a line."""

PIPE_BUF = getattr(select, "PIPE_BUF", 512)
"""The number of bytes that a pipe takes without blocking if it takes any."""

ENDING = 1.0
"""The time in seconds to wait for the last output of a program that has ended."""


def in_github_job(environment: Mapping[str, str]) -> bool:
    """Return whether this is a job of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


class Escaping:
    """Escapes workflow commands in a stream of text that comes in pieces."""

    paused = False
    """Whether commands are not escaped now, on any stream."""

    def __init__(self) -> None:
        self._line = ""

    def __call__(self, text: str) -> str:
        """Return the next piece of text with the beginnings of commands escaped."""
        if Escaping.paused:
            return text
        before = self._line
        escaped = _COMMAND.sub(_escape, before + text)
        line = re.split(r"[\r\n]", escaped)[-1].lstrip()
        # A long line needs only its last two characters, and a mark that it has begun.
        self._line = line if len(line) < 3 else f"x{line[-2:]}"
        return escaped[len(before) :]


def _escape(found: re.Match[str]) -> str:
    return f"{found[1]}\\u003a" if found[1] is not None else f"{found[2]}\\u005b"


class _Raw(io.FileIO):
    """The bytes of a standard stream; they are discarded after a failure."""

    undone = "standard error was not read"

    def __init__(self, number: int, escape: Escaping | None) -> None:
        """Write to a file descriptor, which stays open."""
        super().__init__(number, "w", closefd=False)
        self.escape = escape

    def write(self, data: Any) -> int:
        """Write all of the data."""
        rest = whole = bytes(data)
        if self.escape is not None:
            text = self.escape(whole.decode("utf-8", "surrogateescape"))
            rest = text.encode("utf-8", "surrogateescape")
        try:
            while rest:
                interrupts.until_writable(self, self.undone, heeds_earlier=False)
                # If a pipe accepts data at all, it accepts PIPE_BUF bytes without blocking.
                rest = rest[super().write(rest[:PIPE_BUF]) or 0 :]
        except OSError as error:
            self._discard()
            self.fail(error)
        except interrupts.Unread:
            self._discard()
            raise
        return len(whole)

    def _discard(self) -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())

    def fail(self, error: OSError) -> None:
        """Ignore that the stream cannot be written to."""


class _Output(_Raw):
    undone = "standard output was not read to its end"

    def fail(self, error: OSError) -> None:
        """Refuse to go on without standard output."""
        raise InputError(f"cannot write to standard output: {error.strerror}") from None


def replace(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Replace the standard streams of this process, even if it was started without them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Files that are opened later must not get this number. Standard output is opened for
            # reading only, so that a report without a reader is an error.
            mode = os.O_WRONLY if number == 2 else os.O_RDONLY
            os.set_inheritable(os.open(os.devnull, mode), True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if WINDOWS and all(stream and stream.isatty() for stream in (sys.stdout, sys.stderr)):
        return  # a console, to which only Python's own streams can write all characters
    escapes = in_github_job(environment)
    output = _Output(1, Escaping() if escapes else None)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(output), **_settings(sys.stdout))
    # Without a buffer, no output is lost when the process ends.
    errors: Any = _Raw(2, Escaping() if escapes else None)
    sys.stderr = io.TextIOWrapper(errors, **{**_settings(sys.stderr), "write_through": True})


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Redirect standard output to standard error in this block, because it may be for results.

    Threads share the stream. A block that finds it redirected leaves that to the other block. If
    it restored what it found, standard output would stay redirected after two blocks that overlap.
    """
    stdout = sys.stdout
    redirects = stdout is not sys.stderr
    if redirects:
        sys.stdout = sys.stderr
    try:
        yield
    finally:
        if redirects:
            sys.stdout = stdout


def _settings(stream: Any) -> dict[str, Any]:
    """Return the settings of a text stream, or defaults if there is none."""
    kept = ("encoding", "errors", "line_buffering", "write_through")
    settings = {name: getattr(stream, name) for name in kept if stream is not None}
    return {"errors": "backslashreplace", **settings}


@contextmanager
def commands() -> Iterator[None]:
    """Do not escape workflow commands in this block."""
    _flush()
    Escaping.paused = True
    try:
        yield
        _flush()
    finally:
        Escaping.paused = False


class Relay:
    """The standard error of a program: ours, or a pipe if ours escapes commands.

    Attributes:
        descriptor: the program's standard error; None means ours.
    """

    def __init__(self) -> None:
        self.descriptor: int | None = None
        raw = getattr(sys.stderr, "buffer", None)
        if isinstance(raw, _Raw) and raw.escape is not None:
            read, self.descriptor = os.pipe()
            self._thread = threading.Thread(target=_relay, args=(read,), daemon=True)
            self._thread.start()

    def started(self) -> None:
        """Leave the pipe to the program, or close it because there is none."""
        if self.descriptor is not None:
            os.close(self.descriptor)

    def wait(self) -> None:
        """Wait up to ENDING seconds for the last output of a program that has ended."""
        if self.descriptor is not None:
            self._thread.join(ENDING)


def _relay(read: int) -> None:
    with open(read, "rb", buffering=0) as pipe:
        while data := pipe.read(1 << 16):
            sys.stderr.buffer.write(data)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
