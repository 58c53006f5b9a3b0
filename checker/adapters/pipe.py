"""Programs in other languages under the checker, with questions in JSON lines over a pipe.

The checker starts the program once. It writes one question per line to the program's standard
input, and reads one answer per line from its standard output; `docs/testing.md` lists questions and
answers. If a program includes its state in every answer, it gets the state back with the next
question. Otherwise, all calls of an actor are repeated from the start.
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
from antecede.checker.adapters.objects import Calls, protocol
from antecede.checker.adapters.packets import Fields, PickledPacket
from antecede.checker.model import Message, Packet, Protocol
from antecede.checker.semantics.reads import calls_users
from antecede.checker.support.errors import InputError, unknown

ANSWER = ("sends", "deliveries", "state", "key", "timeout", "error")
"""The keys that an answer may have."""

TOLD = ("state", "key")
"""The keys that identify an actor's state. If the first answer has one, all must have it."""

_links: weakref.WeakValueDictionary[int, Link] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


@define(eq=False)
class Actor:
    """An actor (participant) that lives in a program, as an object that the checker can call.

    Each method sends a question to the program and passes on the packets and messages of the
    answer.

    Attributes:
        link: the number of the connection to the program.
        actor: the number of the actor. Actors are numbered from 0.
        tells: the key of the program's answers that identifies the actor's state: `state` or `key`.
            None if the answers have neither.
        told: the latest value of this key, as JSON.
    """

    link: int
    actor: int
    tells: str | None
    told: str | None

    def causal_send(self, out: Out, message: Message) -> None:
        """Ask the program to send a message of its application."""
        self._ask(out, "causal_send", message)

    def receive(self, out: Out, src: int, packet: Packet) -> None:
        """Ask the program to receive a packet from actor `src`."""
        self._ask(out, "receive", src, packet)

    def timeout(self, out: Out) -> None:
        """Ask the program to do the work of a timer that ran out."""
        self._ask(out, "timeout")

    def _ask(self, out: Out, method: str, *arguments: Any) -> None:
        link = _links[self.link]
        state = {"state": json.loads(self.told)} if self.tells == "state" and self.told else {}
        question = state | _question(self.actor, method, *arguments)
        answer = _checked(link, question, link.ask(question))
        self.told = _told(link, question, answer, self.tells)
        for send in answer.get("sends", ()):
            if not isinstance(send, dict) or send.keys() != {"to", "packet"}:
                raise link.error(f"sends {send!r}; give {{to, packet}}", question)
            out.send(send["to"], _pickled_packet(send["packet"]))
        for delivery in answer.get("deliveries", ()):
            message = _message(delivery)
            if message is None:
                raise link.error(
                    f"delivers {delivery!r}; give the message as it was handed over: sender, "
                    "number, to",
                    question,
                )
            out.deliver(message)


def _question(actor: int, method: str, *arguments: Any) -> dict[str, Any]:
    """Return the question that stands for the call of a method of an actor."""
    more: dict[str, Any] = {"do": method}
    if method == "causal_send":
        more = {"do": "causal-send", "message": _object(*arguments)}
    elif method == "receive":
        src, packet = arguments
        more |= {"src": src, "packet": json.loads(packet)}
    return {"actor": actor, **more}


def _checked(link: Link, question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a question, after checking its keys and types."""
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
    """Return the state or key in an answer; all answers must have what the first one had."""
    now = _tells(answer)
    if now != tells:
        raise link.error(
            f"answered {_words_for(now)}, and first {_words_for(tells)}; let all answers have it, "
            "or none",
            question,
        )
    return None if now is None else _text(answer[now], sort_keys=now == "key")


def _words_for(told: str | None) -> str:
    return "without a state or key" if told is None else f"with a {told}"


def _tells(answer: Iterable[str]) -> str | None:
    """Return the key in TOLD that an answer has, or None."""
    return next((name for name in TOLD if name in answer), None)


def _text(value: Any, *, sort_keys: bool = False) -> str:
    """Return a value as JSON; a program may depend on the order of the keys that it wrote."""
    return json.dumps(value, separators=(",", ":"), sort_keys=sort_keys, ensure_ascii=False)


@calls_users  # the program is told the number
def _object(message: Message) -> dict[str, Any]:
    return {
        "sender": message.sender,
        "number": message.number,
        "to": list(message.destinations),
    }


def _message(value: Any) -> Message | None:
    """Return the message that a JSON object encodes, or None."""
    if not isinstance(value, dict) or not {"sender", "number", "to"} <= value.keys():
        return None
    sender, number, to = value["sender"], value["number"], value["to"]
    whole = [sender, number, *(to if isinstance(to, list) else [None])]
    return Message(sender, number, tuple(to)) if all(type(n) is int for n in whole) else None


def _view(packet: Any) -> Any:
    """Return the content of a packet, with messages as `Message` objects."""
    if (message := _message(packet)) is not None:
        return message
    if isinstance(packet, dict):
        return Fields({name: _view(value) for name, value in packet.items()})
    return tuple(map(_view, packet)) if isinstance(packet, list) else packet


def _pickled_packet(packet: Any) -> PickledPacket:
    return PickledPacket(_view(packet), pickle.dumps(_text(packet)))


def _unpacked(argument: Any) -> Any:
    """Return the argument of a call as `Actor` takes it: a packet as JSON."""
    return argument.opened() if isinstance(argument, PickledPacket) else argument


def program(command: Sequence[str] | str, **more: Any) -> Protocol:
    """Return a protocol whose actors are in a program of any language.

    The checker starts the program once. It writes each question as a line of JSON to the program's
    standard input, and reads the answer from its standard output. `docs/testing.md` lists the
    questions and the answers.

    Args:
        command: the command that starts the program, as a text or as a list of words.
        more: the arguments `name`, `summary`, `invariants` and `witnesses` of `adapter.protocol`.

    Raises:
        InputError: the program cannot be started.
        AdapterError: the program does not answer.
    """
    link, number = Link(_words(command)), next(_numbers)
    _links[number] = link
    first = _started(link, _start(0, 2), link.ask(_start(0, 2)))
    tells = _tells(first)

    def make(actor: int, actors: int) -> Actor:
        return replayed(((actor, actors),))

    def replayed(calls: Calls) -> Actor:
        (actor, actors), *since = calls
        questions = [_start(actor, actors)]
        questions += [_question(actor, name, *map(_unpacked, rest)) for name, *rest in since]
        start, *others = link.ask_all(questions)
        told = _told(link, questions[0], _started(link, questions[0], start), tells)
        for question, answer in zip(questions[1:], others, strict=True):
            told = _told(link, question, _checked(link, question, answer), tells)
        return Actor(number, actor, tells, told)

    def told_of(actor: Actor) -> Hashable:
        return actor.told

    # A program has one object per actor, so another replay soon overwrites the result of a replay.
    options: dict[str, Any] = {"copies": "replay", "reused": False}
    if tells == "state":
        options = {"copies": "pickle"}
    if tells is not None:
        options["key"] = told_of
    if first.get("timeout"):
        make.timeout = True  # type: ignore[attr-defined]
    if tells != "state":  # otherwise each question needs the answer to the question before it
        make.replayed = replayed  # type: ignore[attr-defined]
    make.files = tuple(filter(os.path.isfile, link.command))  # type: ignore[attr-defined]
    named = {"name": link.command[-1].rpartition("/")[2], **more}
    return protocol(make, **options, **named)


def _words(command: Sequence[str] | str) -> tuple[str, ...]:
    """Return the words of a command.

    Raises:
        InputError: there are no words, or a quotation has no end.
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


def _start(actor: int, actors: int) -> dict[str, Any]:
    return {"do": "start", "actor": actor, "actors": actors}


def _started(link: Link, question: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to the question for a new actor, after checking it."""
    _checked(link, question, answer)
    for name in ("sends", "deliveries"):
        if answer.get(name):
            raise link.error(
                f"answered with {name}; an actor that was just started has none", question
            )
    return answer
