"""A workload in words, for captions: who sends what to whom."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antecede.checker.render.prose import Wording, listed, printable
from antecede.checker.semantics.programs import ANY_MESSAGE
from antecede.checker.semantics.transition import System


def workload_text(system: System) -> str:
    """Return the kind of a workload and, in brackets, what it lists.

    `--workload` takes lists as JSON; captions are for people.
    """
    workload = system.workload
    kind, _, argument = workload.text.partition(":")
    if kind == "endless":
        number, _, argument = argument.partition(":")
        kind = f"{kind}:{number}"
    if not argument:
        return kind
    parts = _WORDS[workload.kind](json.loads(argument), Wording.about(system))
    return f"{kind} ({'; '.join(parts) or 'nobody sends'})"


def _rows(rows: Sequence[Sequence[Any]], words: Wording, joined: str) -> list[str]:
    """Return who sends to whom; a list in place of an actor is one message to all of these."""
    return [
        f"{words.actor(actor)} to {joined.join(_actors(target, words) for target in row)}"
        for actor, row in enumerate(rows)
        if row
    ]


def _actors(target: int | Sequence[int], words: Wording) -> str:
    several = [target] if isinstance(target, int) else target
    return listed([words.actor(actor) for actor in several])


def _reaction(sends: Sequence[Mapping[str, Any]], words: Wording) -> list[str]:
    return [
        f"{words.actor(send['from'])} sends {printable(send['name'])} to"
        f" {_actors(send['to'], words)}"
        + (f" after {_messages(send['after'])}" if "after" in send else "")
        for send in sends
    ]


def _program(programs: Sequence[Sequence[Mapping[str, Any]]], words: Wording) -> list[str]:
    return [
        f"{words.actor(actor)} {', '.join(_statement(each, words) for each in row)}"
        for actor, row in enumerate(programs)
        if row
    ]


def _statement(statement: Mapping[str, Any], words: Wording) -> str:
    if "send" in statement:
        return f"sends {printable(statement['send'])} to {_actors(statement['to'], words)}"
    accepted = statement["receive"]
    if accepted == ANY_MESSAGE:
        return "receives any message"
    return f"receives {_messages([accepted] if isinstance(accepted, str) else accepted, 'or')}"


def _messages(names: Sequence[str], joined: str = "and") -> str:
    return f" {joined} ".join(printable(name) for name in names)


_WORDS: Mapping[str, Callable[[Any, Wording], list[str]]] = {
    "script": lambda rows, words: _rows(rows, words, ", "),
    "endless": lambda rows, words: _rows(rows, words, " or "),
    "reaction": _reaction,
    "program": _program,
}
