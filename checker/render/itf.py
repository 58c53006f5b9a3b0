"""Traces in the Informal Trace Format (ITF) of Apalache and Quint.

Apalache, ADR-015: Informal Trace Format in JSON. A state of the trace is the initial state or the
state after a transition. VARIABLES lists its variables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import attrs

from antecede.checker.check.report import CheckReport
from antecede.checker.model import Message, State
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about
from antecede.checker.render.prose import Wording
from antecede.checker.semantics.failing import Raised
from antecede.checker.semantics.values import canonical, field_names, shown

VARIABLES = {
    "transition": "what led to the state, in words",
    "actors": "actor -> its state",
    "network": "(src, dst) -> the packets in flight",
    "clocks": "actor -> its vector clock",
    "sent": "the messages causal-sent so far, in order",
    "delivered": "actor -> the messages delivered so far, in order",
}
DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as an ITF file."""
    said = about(path, report)
    trace: dict[str, Any] = {
        "#meta": {
            "format": "ITF",
            "format-description": DESCRIPTION,
            "source": said.question,
            "status": "violation" if path.violates else "ok",
            "description": f"{said.verdict}. {said.explanation.text}".strip(),
            "varDescriptions": VARIABLES,
        },
        "params": [],
        "vars": list(VARIABLES),
        "states": _states(path),
    }
    if path.loop is not None and path.repeats:
        trace["loop"] = path.loop.after
    return json.dumps(trace) + "\n"


def _states(path: Path) -> list[dict[str, Any]]:
    words = Wording.of(path)
    remarks = about(path).explanation.remarks
    texts = ["initial state", *(words.step(step, remarks) for step in path.steps)]
    states = [path.initial, *(step.state for step in path.steps)]
    sent: list[Message] = []
    delivered: list[list[Message]] = [[] for _ in range(path.system.actors)]
    entries = []
    for index, (state, happened) in enumerate(zip(states, texts, strict=True)):
        if index:
            step = path.steps[index - 1]
            sent += [step.message] if step.message is not None else []
            for delivery in step.deliveries:
                delivered[delivery.actor].append(delivery.message)
        entries.append(
            {
                "#meta": {"index": index},
                "transition": happened,
                **_values(path, words, state),
                "sent": [encoded(m, words) for m in sent],
                "delivered": _by_actor([encoded(m, words) for m in row] for row in delivered),
            }
        )
    return entries


def _values(path: Path, words: Wording, state: State) -> dict[str, Any]:
    channels = {
        pair: channel
        for pair, channel in zip(path.system.pairs, state.channels, strict=True)
        if channel
    }
    return {
        "actors": _by_actor(encoded(local, words) for local in state.actors),
        "network": {
            "#map": [
                [encoded(pair), [encoded(packet, words) for packet in channel]]
                for pair, channel in channels.items()
            ]
        },
        "clocks": _by_actor([encoded(c) for c in ghost.knows] for ghost in state.history),
    }


def _by_actor(values: Iterable[Any]) -> dict[str, Any]:
    return {"#map": [[encoded(actor), value] for actor, value in enumerate(values)]}


def encoded(value: Any, words: Wording | None = None) -> Any:
    """Return a value of a state or packet as an ITF expression.

    A message is a record, with its name if `words` has one. Any other value with fields is a
    variant (tag and value), because packets of several classes can be in one channel.
    """
    value = shown(value)
    if isinstance(value, Raised):
        return {"tag": "Failed", "value": {}}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"#bigint": str(value)}
    if value is None:
        return {"tag": "Nothing", "value": {}}
    if isinstance(value, Message):
        name = {} if words is None else {"name": words.message(value)}
        return name | {field: encoded(part, words) for field, part in _fields(value)}
    if field_names(value) is not None:
        fields = {field: encoded(part, words) for field, part in _fields(value)}
        return {"tag": type(value).__name__, "value": fields}
    if isinstance(value, tuple | list):
        return {"#tup": [encoded(part, words) for part in value]}
    if isinstance(value, frozenset | set):
        return {"#set": [encoded(part, words) for part in sorted(value, key=canonical)]}
    if isinstance(value, Mapping):
        keys = sorted(value, key=canonical)
        return {"#map": [[encoded(k, words), encoded(value[k], words)] for k in keys]}
    return {"#unserializable": repr(value)}


def _fields(value: Any) -> Iterable[tuple[str, Any]]:
    """Return the fields of a value; attrs fields have the names of the constructor's arguments."""
    if attrs.has(type(value)):
        return [(a.alias or a.name, getattr(value, a.name)) for a in attrs.fields(type(value))]
    return [(name, getattr(value, name)) for name in field_names(value) or ()]
