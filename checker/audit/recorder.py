"""Writes a log that `antecede audit` reads, from programs with tasks, threads and processes.

    log = Recorder("run.jsonl")
    alice = log.actor("alice")
    alice.causal_send("m1", to=["bob"])  # before the message leaves
    ...
    bob.deliver("m1")  # when the application gets it, before it reacts

It needs nothing but the standard library, and nothing of it needs to be at both ends but the
messages' names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from attrs import define, field, frozen

from antecede.checker.audit.events import DELIVER, SEND
from antecede.checker.errors import InputError


@define(eq=False)
class Recorder:
    """A log, to which any number of threads and processes write.

    Every event is one write at the end of the file, so that lines stay whole, also where processes
    were forked or opened the same file of this machine. What is there already is kept.

    Attributes:
        path: the file.
    """

    path: str | Path
    _file: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Open the file.

        Raises:
            InputError: it cannot be opened; says why.
        """
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            self._file = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise InputError(f"cannot write to {str(self.path)!r}: {error.strerror}") from None

    def actor(self, name: str) -> Actor:
        """Return a participant; all its events come from one thread or task at a time."""
        return Actor(self, name)

    def write(self, **event: object) -> None:
        """Write a line.

        Raises:
            OSError: it cannot be written as a whole (a full disk).
        """
        line = (json.dumps(event) + "\n").encode()
        if os.write(self._file, line) != len(line):
            raise OSError(f"{self.path}: an event was written in part only; is the disk full?")

    def close(self) -> None:
        """Close the file; what was written stays."""
        os.close(self._file)

    def __enter__(self) -> Recorder:
        """Return the log."""
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()


@frozen(eq=False)
class Actor:
    """A participant, and what happens there."""

    log: Recorder
    name: str

    def causal_send(self, message: str | int, to: Iterable[str] | None = None) -> None:
        """Write that the application sends a message; call it before the message leaves.

        Args:
            message: its name, once in the whole log.
            to: the names of its destinations; None: the log does not tell.
        """
        event: dict[str, object] = {"actor": self.name, "event": SEND, "message": message}
        self.log.write(**event, **({} if to is None else {"to": list(to)}))

    def deliver(self, message: str | int) -> None:
        """Write that the application gets a message; call it before it reacts."""
        self.log.write(actor=self.name, event=DELIVER, message=message)
