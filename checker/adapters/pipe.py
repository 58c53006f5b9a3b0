"""Programs in other languages under the checker: they are asked in JSON lines over a pipe.

The checker starts the program once, writes a question a line to its standard input, and reads an
answer a line from its standard output; `docs/testing.md` has the questions and answers. A program
that says its state in every answer is handed it with the next question; for one that does not, all
calls of an actor are made once more from the start.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import shlex
import weakref
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from attrs import define

from antecede.checker.adapters.calls import Out
from antecede.checker.adapters.link import Link
from antecede.checker.adapters.objects import protocol
from antecede.checker.adapters.packets import Fields, Parcel
from antecede.checker.errors import InputError, unknown
from antecede.checker.model import Message, Packet, Protocol

ANSWER = ("sends", "deliveries", "state", "key", "timeout", "error")
"""What an answer may have."""

TOLD = ("state", "key")
"""What tells an actor's states apart. A program that has it in its first answer, always has it."""

_links: weakref.WeakValueDictionary[int, Link] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


@define(eq=False)
class Actor:
    """An actor inside a program, as an object for `checker.adapters.objects`.

    Attributes:
        link: the number of the program's link.
        actor: which it is.
        tells: which of TOLD the program's answers have.
        told: the latest one, as JSON.
    """

    link: int
    actor: int
    tells: str | None
    told: str | None

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
        known = {"state": json.loads(self.told)} if self.tells == "state" and self.told else {}
        question = {"do": what, "actor": self.actor, **known, **more}
        answer = _answer(link, question)
        self.told = _told(link, question, answer, self.tells)
        for send in answer.get("sends", ()):
            if not isinstance(send, dict) or send.keys() != {"to", "packet"}:
                raise link.error(f"sends {send!r}; give {{to, packet}}", question)
            out.send(send["to"], _parcel(send["packet"]))
        for given in answer.get("deliveries", ()):
            found = _message(given)
            if found is None:
                raise link.error(
                    f"delivers {given!r}; give the message as it was handed over: sender, number, "
                    "to",
                    question,
                )
            out.deliver(found)


def _answer(link: Link, question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question, if it has what an answer may have."""
    answer = link.ask(question)
    for name in answer:
        if name not in ANSWER:
            raise link.error(f"answered with an {unknown('key', name, ANSWER)}", question)
    for name in ("sends", "deliveries"):
        if not isinstance(answer.get(name, []), list):
            raise link.error(f"answered {name} {answer[name]!r}; give a list", question)
    if not isinstance(answer.get("timeout", False), bool):
        raise link.error(f"answered timeout {answer['timeout']!r}; give true or false", question)
    return answer


def _told(
    link: Link, question: dict[str, Any], answer: dict[str, Any], tells: str | None
) -> str | None:
    """Return the state or key in an answer; the first answer decides which of them it must have."""
    now = _tells(answer)
    if now != tells:
        raise link.error(
            f"answered {_words_for(now)}, and first {_words_for(tells)}; let all answers have it, "
            "or none",
            question,
        )
    return None if now is None else _text(answer[now])


def _words_for(told: str | None) -> str:
    return "without a state or key" if told is None else f"with a {told}"


def _tells(answer: Iterable[str]) -> str | None:
    """Return which of TOLD an answer has."""
    return next((name for name in TOLD if name in answer), None)


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
        AdapterError: it does not answer.
    """
    link, number = Link(_words(command)), next(_numbers)
    _links[number] = link
    first = _start(link, 0, 2)
    tells = _tells(first)

    def make(actor: int, actors: int) -> Actor:
        asked = _question(actor, actors)
        return Actor(number, actor, tells, _told(link, asked, _start(link, actor, actors), tells))

    def told_of(actor: Actor) -> Hashable:
        return actor.told

    # A program has one object per actor, so that what a replay leaves there is soon another's.
    found: dict[str, Any] = {"copies": "replay", "reused": False}
    if tells == "state":
        found = {"copies": "pickle"}
    if tells is not None:
        found["key"] = told_of
    if first.get("timeout"):
        make.timeout = True  # type: ignore[attr-defined]
    make.files = tuple(filter(os.path.isfile, link.command))  # type: ignore[attr-defined]
    named = {"name": link.command[-1].rpartition("/")[2], **more}
    return protocol(make, **found, **named)


def _words(command: Sequence[str] | str) -> tuple[str, ...]:
    """Return a command's words.

    Raises:
        InputError: there are none, or a quotation has no end.
    """
    try:
        words = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise InputError(
            f"the command {command!r} after pipe: cannot be read: {error}; quote it as for a shell"
        ) from None
    if not words:
        raise InputError("there is no program to start; give its command after pipe:")
    return words


def _question(actor: int, actors: int) -> dict[str, Any]:
    return {"do": "start", "actor": actor, "actors": actors}


def _start(link: Link, actor: int, actors: int) -> dict[str, Any]:
    question = _question(actor, actors)
    answer = _answer(link, question)
    for name in ("sends", "deliveries"):
        if answer.get(name):
            raise link.error(
                f"answered with {name}; an actor that was just started has none", question
            )
    return answer
