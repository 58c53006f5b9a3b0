"""The link to a program that answers questions, and may hang, end or answer nonsense.

The program starts with the first question. After a fault or an interruption, the next question
restarts it, because a late answer would be mistaken for the answer to another question. `guard.py`
ends the program, with all processes that it started, however the checker ends.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import select
import shlex
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from attrs import define, field

from antecede.checker.support import interrupts, streams
from antecede.checker.support.errors import AdapterError, InputError
from antecede.checker.support.platforms import refuse_on_windows

PATIENCE = 10.0
"""The most seconds that a program may take for an answer."""

LOOK = 1.0
"""Seconds of silence before the checker looks for a request to end. The replay of a run that
was found continues as long as the program answers sooner."""

LONGEST = 1 << 24
"""The most bytes of an answer."""

CLOSING = 1.0
"""The most seconds that a program may take to end after it closed its standard output."""

ENDING = 10.0
"""The most seconds that a guard may take to end a program."""

GUARD = str(Path(__file__).with_name("guard.py"))


class ProgramFault(Exception):
    """A fault of a program; its text is a phrase that follows the program's name."""


@define(eq=False)
class Link:
    """A program that answers questions."""

    command: tuple[str, ...]
    program: Program | None = None

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question; see `ask_all`."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers to questions, which are written without waiting for answers.

        Raises:
            InputError: the program cannot be started.
            AdapterError: there is no answer, it is not an object, or it says that it failed.
            KeyboardInterrupt: the user asked for the end.
        """
        answers: list[dict[str, Any]] = []
        try:
            self.program = self.program or started(self.command)
            for line in self.program.answers_to(list(map(_line, questions))):
                answer = _object_in(line)
                if "error" in answer:
                    raise ProgramFault(f"failed: {answer['error']}")
                answers.append(answer)
        except BaseException as error:
            self.close()  # otherwise a late answer would be mistaken for another one
            if isinstance(error, ProgramFault):
                raise self.error(str(error), questions[len(answers)]) from None
            raise
        return answers

    def error(self, fault: str, question: dict[str, Any]) -> AdapterError:
        """Return the error for a fault of the program, with the question."""
        text = _line(question).decode().strip()
        return AdapterError(f"{shlex.join(self.command)} {fault}; it was asked {text[:500]}")

    def close(self) -> None:
        """End the program at once; the next question restarts it."""
        program, self.program = self.program, None
        if program is not None:
            program.kill()


def _line(question: dict[str, Any]) -> bytes:
    """Return a question as a line; packets and states in it stay as the program wrote them."""
    keys = dict(sorted(question.items()))
    return json.dumps(keys, separators=(",", ":")).encode() + b"\n"


def _object_in(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line.

    Raises:
        ProgramFault: the line is not a JSON object.
    """
    try:
        answer = json.loads(line, parse_constant=_no_number, parse_float=_number)
    except (ValueError, RecursionError):
        raise ProgramFault(f"answered {line[:200]!r}, which is no JSON") from None
    if not isinstance(answer, dict):
        raise ProgramFault(f"answered {line[:200]!r}, which is no object")
    return answer


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _number(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


@define(eq=False, weakref_slot=True)
class Program:
    """A running program; it ends when its last reference is gone.

    Attributes:
        relay: the relay of the program's standard error.
        read: the program's output after its last answer.
        silent_since: the time when the program closed its standard output, or None.
        ended: a description of its end, or None.
    """

    guard: subprocess.Popen[bytes]
    control: socket.socket
    relay: streams.Relay
    read: bytearray = field(factory=bytearray)
    told: bytes = b""
    asked: bool = False
    silent_since: float | None = None
    ended: str | None = None
    end: weakref.finalize[Any, Any] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make reads and writes non-blocking, and register the end of the program."""
        self.end = weakref.finalize(self, _end, self.guard, self.control, self.relay)
        for file in (self.guard.stdin, self.guard.stdout, self.control):
            assert file is not None
            os.set_blocking(file.fileno(), False)

    def kill(self) -> None:
        """End the program at once, without waiting until it ends by itself."""
        with suppress(OSError):
            self.control.send(b"!")
        self.end()

    def wait_for_guard(self) -> str:
        """Return the guard's first line: `started`, or the reason why the program cannot start.

        Raises:
            ProgramFault: the guard does not answer.
            Ended: the user asked for the end.
        """
        until = time.monotonic() + PATIENCE
        while b"\n" not in self.told:
            self._wait(until)
        return self.told.decode(errors="replace").strip()

    def answers_to(self, questions: list[bytes]) -> Iterator[bytes]:
        """Write lines, and yield the line that the program writes for each of them.

        Raises:
            ProgramFault: the program writes no line, or wrote something before the questions.
            Ended: the user asked for the end.
        """
        if self.asked:
            self._look(0.0)
            if self.read:
                raise ProgramFault(f"wrote {bytes(self.read[:200])!r} without being asked")
        self.asked = True
        unwritten = b"".join(questions)
        for _ in questions:
            until, searched = time.monotonic() + PATIENCE, 0
            while (line_end := self.read.find(b"\n", searched)) < 0:
                if len(self.read) > LONGEST:
                    raise ProgramFault(f"answered more than {LONGEST >> 20} MiB")
                searched = len(self.read)
                unwritten = unwritten[self._written(unwritten) :]
                self._wait(until, writes=bool(unwritten))
            answer = bytes(self.read[:line_end])
            del self.read[: line_end + 1]
            yield answer

    def _written(self, text: bytes) -> int:
        """Write as much as the pipe takes, and return how much; a closed pipe takes everything."""
        assert self.guard.stdin is not None
        try:
            return os.write(self.guard.stdin.fileno(), text) if text else 0
        except BlockingIOError:
            return 0
        except OSError:
            return len(text)

    def _wait(self, until: float, *, writes: bool = False) -> None:
        """Wait a short time for the next event.

        Raises:
            ProgramFault: no further event can come, or none came in time.
            Ended: the user asked for the end.
        """
        if self.ended is not None:
            raise ProgramFault(self.ended)
        now = time.monotonic()
        if self.silent_since is not None and now > self.silent_since + CLOSING:
            raise ProgramFault("closed its standard output")
        if now > until:
            raise ProgramFault(f"did not answer within {PATIENCE:g} seconds")
        if not self._look(LOOK, writes=writes):
            interrupts.deadline.poll()

    def _look(self, seconds: float, *, writes: bool = False) -> bool:
        """Wait until something happens, and read it; return False if nothing did in time."""
        stdin, stdout = self.guard.stdin, self.guard.stdout
        assert stdin is not None
        assert stdout is not None
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if self.silent_since is None:
            poll.register(stdout, select.POLLIN)
        if writes:
            poll.register(stdin, select.POLLOUT)
        ready = {descriptor for descriptor, _ in poll.poll(1000 * seconds)}
        if stdout.fileno() in ready:
            self._read(stdout.fileno())
        if self.control.fileno() in ready:
            self._hear(stdout.fileno())
        return bool(ready)

    def _read(self, stdout: int) -> bool:
        """Read the program's output; return whether it wrote anything."""
        try:
            more = os.read(stdout, 1 << 16)
        except BlockingIOError:
            return False
        self.read += more
        if not more:
            self.silent_since = time.monotonic()
        return bool(more)

    def _hear(self, stdout: int) -> None:
        """Read the guard's output. The guard ends after the program."""
        more = self.control.recv(1 << 12)
        self.told += more
        if not more:
            while len(self.read) <= LONGEST and self._read(stdout):
                pass
            code = self.guard.wait()
            self.ended = "has ended with " + (
                f"exit code {code}" if code < 128 else f"signal {code - 128}"
            )


def started(command: tuple[str, ...]) -> Program:
    """Start a program.

    Raises:
        InputError: it cannot be started.
        Ended: the user asked for the end.
    """
    refuse_on_windows("a protocol that is a program")
    (mine, theirs), relay = socket.socketpair(), streams.Relay()
    mark = secrets.token_hex(8)
    try:
        with theirs:
            guard = subprocess.Popen(
                [sys.executable, "-I", "-S", GUARD, str(theirs.fileno()), mark, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=relay.descriptor,
                bufsize=0,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        mine.close()
        raise _not_started(command, getattr(error, "strerror", None) or str(error)) from None
    finally:
        relay.started()
    program = Program(guard, mine, relay)
    try:
        answer = program.wait_for_guard()
    except BaseException as error:
        program.kill()
        if isinstance(error, ProgramFault):
            raise _not_started(command, f"its guard {error}") from None
        raise
    if answer != "started":
        raise _not_started(command, answer)
    return program


def _not_started(command: tuple[str, ...], reason: str) -> InputError:
    return InputError(f"cannot start {command[0]!r}: {reason}")


def _end(guard: subprocess.Popen[bytes], control: socket.socket, relay: streams.Relay) -> None:
    """Close all connections to a program, and wait until its guard has ended it."""
    for file in (guard.stdin, guard.stdout, control):
        assert file is not None
        with suppress(OSError):
            file.close()
    # After a second Ctrl-C, do not wait: the guard ends the program without the checker.
    with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        guard.wait(ENDING)
        relay.wait()
