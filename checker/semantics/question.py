"""The question that a check answers: a protocol, the size of the system, the properties.

Specs, the command line, results, traces and the identity of checkpoints are derived from this
record. To add a field, add it here and where a system is built from the record.

Question: Which options make the question of a check, such as `--network`? `Question`.
"""

from __future__ import annotations

from typing import Any

import attrs
from attrs import frozen

from antecede.checker.semantics.crashes import TO_CRASHED
from antecede.checker.semantics.history import CLOCK_AT, HISTORIES
from antecede.checker.semantics.workload import SENDS
from antecede.checker.support.settings import setting, settings_of


@frozen
class Question:
    """A question, with the names and values of the command line."""

    protocol: str = attrs.field(
        metadata={"kind": str, "says": "A name, or FILE.py:OBJECT.", "public": False}
    )
    actors: int = setting(3, int, "Number of actors; at least 2.", least=2)
    messages: int = setting(2, int, "Number of messages that each actor sends.", least=1)
    network: str | None = setting(
        None,
        str,
        "How the network treats packets: unordered, fifo, duplicating, lossy, …; see antecede "
        "list.",
        otherwise="the one that the protocol needs",
    )
    workload: str = setting(
        "any", str, "Which actor sends to which: any, broadcast, script:JSON, …; see antecede list."
    )
    labels: str = setting(
        "",
        str,
        "Labels, one of which the application chooses for each message, such as add,remove.",
        metavar="LABEL,…",
        otherwise="messages have the labels that a script, reaction or program gives them",
    )
    sends: str = setting(
        "joint",
        str,
        "Whether an actor decides to send and chooses the destinations in one transition (joint) "
        "or in two (split).",
        choices=SENDS,
        key_only=True,
    )
    clock_at: str = setting(
        "causal-send",
        str,
        "The event at which a message counts as sent: the application hands it over "
        "(causal-send), or it first leaves its sender (network-send).",
        choices=CLOCK_AT,
        key_only=True,
    )
    history: str = setting(
        "knowledge",
        str,
        "How much of the past a state records, from knowledge (least) to full (most). The verdict "
        "is the same, but the number of states is not.",
        choices=HISTORIES,
    )
    crashes: str = setting(
        "0",
        str,
        "Greatest number of crashes in a run, and perhaps the actors that may crash: 1, or "
        "1:of=0,2. With :whole, no actor crashes in the middle of a step.",
        metavar="K[:of=ACTOR,…][:whole]",
    )
    to_crashed: str = setting(
        "kept",
        str,
        "With --crashes: whether packets to a crashed actor stay in flight (kept) or leave the "
        "network (lost).",
        choices=TO_CRASHED,
    )
    properties: tuple[str, ...] = setting(
        (),
        tuple,
        "Property to check. To give several, use commas or repeat this option.",
        otherwise="the properties that antecede list marks as default",
    )


FIELDS = tuple(a.name for a in attrs.fields(Question))

MODEL = tuple(name for name in FIELDS if name not in ("history", "properties"))
"""The fields that determine the set of runs. The others select the history and the properties."""


def as_asked(question: Question) -> Question:
    """Return a plain `Question` with the fields of a subclass's record."""
    return Question(**{name: getattr(question, name) for name in FIELDS})


def model_of(question: Question, protocol: str | None = None) -> dict[str, Any]:
    """Return the fields that determine the set of runs, by name.

    Args:
        question: the question.
        protocol: a name for the protocol; by default its own.
    """
    fields = {name: getattr(question, name) for name in MODEL}
    return fields if protocol is None else {**fields, "protocol": protocol}


def has_options(question: Question) -> bool:
    """Return whether options of the command line can ask this question."""
    return all(getattr(question, s.name) == s.default for s in settings_of(Question) if s.key_only)


def options_of(question: Question) -> list[tuple[str, str]]:
    """Return (option, value) pairs for the command line that ask this question of a protocol.

    Options with default values are left out, except for the size of the system. Where `has_options`
    is False, they ask another question.
    """
    options: list[tuple[str, str]] = []
    scripted = question.workload.startswith(("script:", "reaction:", "program:"))
    for entry in settings_of(Question):
        value = getattr(question, entry.name)
        if entry.name == "properties":
            options += [("--property", name) for name in value]
        elif entry.name == "messages" and scripted:
            continue  # the workload determines the number
        elif not entry.public or entry.key_only:
            continue
        elif entry.name in ("actors", "messages") or value != entry.default:
            options.append((entry.option, str(value)))
    return options
