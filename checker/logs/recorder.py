"""Writes the sends and deliveries of a program as a log that `antecede audit` can check.

    log = Recorder("run.jsonl")
    alice = log.actor("alice")
    alice.causal_send("m1", to=["bob"])  # before the message leaves
    ...
    bob.deliver("m1")  # when the application gets it, before it reacts

The program may have tasks, threads and processes. The sender and the receiver of a message need to
share only the name of the message. The module uses only the standard library and attrs.
"""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from attrs import define, field, frozen

from antecede.checker.logs.events.event import DELIVER, EVENTS, SEND
from antecede.checker.support.errors import InputError, check_known

CLOSED = -1

_writing = threading.RLock()
"""The lock that is held while an event is written or a file is closed. A fork waits for it,
because a child cannot release the lock of another thread."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_writing.acquire, after_in_parent=_writing.release, after_in_child=_writing.release
    )

_BINARY = getattr(os, "O_BINARY", 0)
"""On Windows: line ends are written and read as they are."""


@define(eq=False)
class Recorder:
    """A log of sends and deliveries, to which any number of threads and processes may write.

    Every event is one write at the end of the file. Lines therefore stay whole, even if several
    processes of this machine write to the same file. Existing content is kept.

    Attributes:
        path: the name of the file. It is created if it does not exist.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from antecede.testing.recorder import Recorder
        >>> file = Path(tempfile.mkdtemp()) / "run.jsonl"
        >>> with Recorder(file) as log:
        ...     log.actor("alice").causal_send("m1", to=["bob"])
        ...     log.actor("bob").deliver("m1")
        >>> print(file.read_text(), end="")
        {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob"]}
        {"actor": "bob", "event": "deliver", "message": "m1"}
    """

    path: str | Path
    _file: int = field(init=False)
    _within_a_line: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Open the file of the log.

        Raises:
            InputError: the file cannot be opened.
        """
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _BINARY
        try:
            self._within_a_line = _ends_within_a_line(self.path)
            self._file = os.open(os.fspath(self.path), flags, 0o644)
        except (OSError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot write to {str(self.path)!r}: {reason}") from None

    def actor(self, name: str | int) -> Actor:
        """Return an object that writes the events of one participant.

        The events of a participant must come from one thread or task at a time, because the log
        states their order.

        Args:
            name: the name of the participant, a text or a whole number.

        Raises:
            InputError: the name is neither a text nor a whole number.
        """
        return Actor(self, _name("actor", name))

    def write(
        self,
        actor: str | int,
        event: str,
        message: str | int,
        to: Iterable[str | int] | None = None,
    ) -> None:
        """Write one event to the log. `Actor` has a method for each event.

        Args:
            actor: the name of the participant.
            event: `causal-send` if its application sends a message, or `deliver` if it gets one.
            message: the name of the message, which is unique in the whole log.
            to: for `causal-send`, the names of the receivers. None if they are not known.

        Raises:
            InputError: a name is neither a text nor a whole number, or the log is closed.
            OSError: the event cannot be written completely, for example because the disk is full.
        """
        line = f"{_record(actor, event, message, to)}\n".encode()
        with _writing:
            if self._file == CLOSED:
                raise InputError(f"{self.path} is closed; record events before it is closed")
            line = b"\n" + line if self._within_a_line else line
            written = os.write(self._file, line)
            self._within_a_line = written != len(line)
        if self._within_a_line:
            raise OSError(f"{self.path}: an event was written in part only; is the disk full?")

    def close(self) -> None:
        """Close the file of the log. An event that is written later raises an InputError."""
        with _writing:
            file, self._file = self._file, CLOSED
            if file != CLOSED:
                os.close(file)

    def __enter__(self) -> Recorder:
        """Return the log itself, for a `with` block."""
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        """Close the file of the log at the end of a `with` block."""
        self.close()


@frozen(eq=False)
class Actor:
    """A participant of the system, whose events are written to a log. `Recorder.actor` makes it.

    Attributes:
        log: the log.
        name: the name of the participant.
    """

    log: Recorder
    name: str | int

    def causal_send(self, message: str | int, to: Iterable[str | int] | None = None) -> None:
        """Write that the application of this participant sends a message.

        Call the method before the message leaves, so that no delivery can be logged first.

        Args:
            message: the name of the message, which is unique in the whole log.
            to: the names of the receivers. None if they are not known.

        Raises:
            InputError: a name is neither a text nor a whole number, or the log is closed.
        """
        self.log.write(self.name, SEND, message, to)

    def deliver(self, message: str | int) -> None:
        """Write that the application of this participant gets a message.

        Call the method before the application reacts, so that its next message counts as sent
        later.

        Args:
            message: the name of the message, as its sender logged it.

        Raises:
            InputError: the name is neither a text nor a whole number, or the log is closed.
        """
        self.log.write(self.name, DELIVER, message)


def _record(actor: object, event: str, message: object, to: object) -> str:
    """Return an event as a JSON text."""
    check_known("event", event, EVENTS)
    record: dict[str, Any] = {"actor": _name("actor", actor), "event": event}
    record["message"] = _name("message", message)
    if to is not None:
        record["to"] = _destinations(to)
    try:
        return json.dumps(record)
    except ValueError as error:
        raise InputError(f"an event cannot be recorded: {error}; give shorter numbers") from None


def _name(what: str, value: object) -> str | int:
    """Return a name after checking that an audit can read it."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return value
    raise InputError(f"{what} {value!r} is no name; give a text or a whole number")


def _destinations(to: object) -> list[str | int]:
    if isinstance(to, str | bytes) or not isinstance(to, Iterable):
        raise InputError(f"the destinations are {to!r}; give a list of actors, such as ['bob']")
    return [_name("destination", destination) for destination in to]


def _ends_within_a_line(path: str | Path) -> bool:
    """Return whether the file exists and does not end with a line end."""
    try:
        flags = os.O_RDONLY | _BINARY | getattr(os, "O_NONBLOCK", 0)
        file = os.open(os.fspath(path), flags)
    except OSError:  # the file does not exist, or may only be written
        return False
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_size == 0:
            return False
        os.lseek(file, -1, os.SEEK_END)
        return os.read(file, 1) != b"\n"
    finally:
        os.close(file)
