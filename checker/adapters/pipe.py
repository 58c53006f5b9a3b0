"""Programs in other languages under the checker: they are asked in JSON lines over a pipe.

The checker starts the program once, writes a question a line to its standard input, and reads an
answer a line from its standard output; `docs/testing.md` has the questions and answers. A program
that says its state in every answer is handed it with the next question; for one that does not, all
calls of an actor are made once more from the start.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pickle
import select
import shlex
import subprocess
import time
from collections.abc import Hashable, Sequence
from typing import Any

from attrs import define, field

from antecede.checker.adapters.objects import Fields, Out, Parcel, protocol
from antecede.checker.errors import InputError, ProtocolError
from antecede.checker.model import Message, Packet, Protocol

PATIENCE = 10.0
"""Seconds that a program may take for an answer."""

LONGEST = 1 << 24
"""Bytes of an answer."""

_links: dict[int, Link] = {}
_numbers = itertools.count(1)


@define(eq=False)
class Link:
    """A program that runs, and answers."""

    command: tuple[str, ...]
    process: subprocess.Popen[bytes]
    number: int = field(factory=lambda: next(_numbers))
    read: bytes = b""

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question.

        Raises:
            ProtocolError: there is none, or it is no object.
        """
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(_line(question))
            stdin.flush()
        except OSError:
            raise self._error("has ended", question) from None
        line = self._line(question)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._error(f"answered {line[:200]!r}, which is no JSON", question) from None
        if not isinstance(answer, dict):
            raise self._error(f"answered {line[:200]!r}, which is no object", question)
        if "error" in answer:
            raise self._error(f"failed: {answer['error']}", question)
        return answer

    def _line(self, question: dict[str, Any]) -> bytes:
        stdout, until = self.process.stdout, time.monotonic() + PATIENCE
        assert stdout is not None
        while b"\n" not in self.read:
            ready, _, _ = select.select([stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise self._error(f"did not answer within {PATIENCE:g} seconds", question)
            more = os.read(stdout.fileno(), 1 << 16)
            if not more:
                raise self._error("has ended", question)
            self.read += more
            if len(self.read) > LONGEST:
                raise self._error(f"answered more than {LONGEST >> 20} MiB", question)
        line, _, self.read = self.read.partition(b"\n")
        return line

    def _error(self, fault: str, question: dict[str, Any]) -> ProtocolError:
        asked = _line(question).decode().strip()
        return ProtocolError(f"{shlex.join(self.command)} {fault}; it was asked {asked[:500]}")

    def close(self) -> None:
        """Let the program end, for its standard input does."""
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode() + b"\n"


@define(eq=False)
class Actor:
    """An actor inside a program, as an object for `checker.adapters.objects`.

    Attributes:
        link: the number of the program's link.
        actor: which it is.
        state: what the program said its state is, as JSON; None: it does not say.
        told: what tells states apart, where the program says no state.
    """

    link: int
    actor: int
    state: str | None
    told: str | None = None

    def causal_send(self, out: Out, message: Message) -> None:
        """Hand a message over."""
        self._ask(out, "causal-send", message=_object(message))

    def receive(self, out: Out, src: int, packet: Packet) -> None:
        """Let a packet reach the actor."""
        self._ask(out, "receive", src=src, packet=json.loads(packet))

    def timeout(self, out: Out) -> None:
        """Let the periodic part run."""
        self._ask(out, "timeout")

    def _ask(self, out: Out, what: str, **more: Any) -> None:
        link = _links[self.link]
        known = {} if self.state is None else {"state": json.loads(self.state)}
        question = {"do": what, "actor": self.actor, **known, **more}
        answer = link.ask(question)
        self._take(link, question, answer)
        for send in _list(link, question, answer, "sends"):
            if not isinstance(send, dict) or not {"to", "packet"} <= send.keys():
                raise link._error(f"sends {send!r}; give {{to, packet}}", question)
            out.sends.append((send["to"], _parcel(send["packet"])))
        for given in _list(link, question, answer, "deliveries"):
            found = _message(given)
            if found is None:
                raise link._error(
                    f"delivers {given!r}; give the message as it was handed over: sender, number, "
                    "to",
                    question,
                )
            out.deliver(found)

    def _take(self, link: Link, question: dict[str, Any], answer: dict[str, Any]) -> None:
        """Keep what an answer says of the actor's state."""
        if self.state is not None:
            if "state" not in answer:
                raise link._error("answered without its state", question)
            self.state = _text(answer["state"])
        self.told = _text(answer["key"]) if "key" in answer else None


def _list(link: Link, question: dict[str, Any], answer: dict[str, Any], name: str) -> list[Any]:
    found = answer.get(name, [])
    if not isinstance(found, list):
        raise link._error(f"answered {name} {found!r}; give a list", question)
    return found


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _object(message: Message) -> dict[str, Any]:
    return {
        "sender": message.sender,
        "number": message.number,
        "to": list(message.destinations),
    }


def _message(value: Any) -> Message | None:
    """Return the message that an object says, or None."""
    if not isinstance(value, dict) or not {"sender", "number", "to"} <= value.keys():
        return None
    sender, number, to = value["sender"], value["number"], value["to"]
    whole = [sender, number, *(to if isinstance(to, list) else [None])]
    return Message(sender, number, tuple(to)) if all(type(n) is int for n in whole) else None


def _view(packet: Any) -> Any:
    """Return what a packet holds, with messages as such."""
    if (found := _message(packet)) is not None:
        return found
    if isinstance(packet, dict):
        return Fields({name: _view(value) for name, value in packet.items()})
    return tuple(map(_view, packet)) if isinstance(packet, list) else packet


def _parcel(packet: Any) -> Parcel:
    return Parcel(_view(packet), pickle.dumps(_text(packet)))


def program(command: Sequence[str] | str, **more: Any) -> Protocol:
    """Return a protocol whose actors are in a program that is asked over a pipe.

    Args:
        command: the program and its arguments.
        more: what `checker.adapters.objects.protocol` takes.

    Raises:
        InputError: it cannot be started.
        ProtocolError: it does not answer.
    """
    words = tuple(shlex.split(command) if isinstance(command, str) else command)
    if not words:
        raise InputError("there is no program to start; give its command after pipe:")
    link = started(words)
    first = _start(link, 0, 2)

    def make(actor: int, actors: int) -> Actor:
        answer = _start(link, actor, actors)
        state = _text(answer["state"]) if "state" in answer else None
        return Actor(link.number, actor, state, _text(answer["key"]) if "key" in answer else None)

    def state_of(actor: Actor) -> Hashable:
        return actor.state

    def told_of(actor: Actor) -> Hashable:
        return actor.told

    # A program has one object per actor, so that what a replay leaves there is soon another's.
    found: dict[str, Any] = {"copies": "replay", "reused": False}
    if "state" in first:
        found = {"copies": "pickle", "key": state_of}
    elif "key" in first:
        found["key"] = told_of
    if first.get("timeout") is True:
        make.timeout = True  # type: ignore[attr-defined]
    named = {"name": words[-1].rpartition("/")[2], **more}
    return protocol(make, **found, **named)


def started(command: tuple[str, ...]) -> Link:
    """Start a program; it ends with the checker.

    Raises:
        InputError: it cannot be started.
    """
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise InputError(f"cannot start {command[0]!r}: {error.strerror}") from None
    link = Link(command, process)
    _links[link.number] = link
    return link


def _start(link: Link, actor: int, actors: int) -> dict[str, Any]:
    return link.ask({"do": "start", "actor": actor, "actors": actors})
