"""The reference audit: docs/audit.md as sets and loops, from each actor's own events alone."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

Event = namedtuple("Event", "kind message to", defaults=(None,))  # kind: "causal-send", "deliver"
Found = namedtuple("Found", "kind actor index message second", defaults=(None,))  # index: own order


def audit(own: Mapping[str, Sequence[Any]]) -> set[Found]:
    senders = defaultdict[str, set[str]](set)
    for actor, events in own.items():
        for event in events:
            if event.kind == "causal-send":
                senders[event.message].add(actor)
    ambiguous = {message for message, actors in senders.items() if len(actors) > 1}
    at = dict.fromkeys(own, 0)
    sent: dict[str, Any] = {}  # message -> sender, index, to, causes: it and what its sender knew
    delivered: dict[str, list[str]] = {actor: [] for actor in own}
    found = set[Found]()

    def happens(actor: str) -> None:
        kind, message, to = own[actor][at[actor]]
        wrong = None
        if kind == "causal-send":
            if message in ambiguous or message in sent:
                wrong = "impossible"
            else:
                mine = {m for m, (sender, *_) in sent.items() if sender == actor}
                causes = mine.union({message}, *(sent[m][3] for m in delivered[actor]))
                sent[message] = actor, at[actor], to, causes
        elif message not in ambiguous:
            to = sent[message][2]
            if (to is not None and actor not in to) or message in delivered[actor]:
                wrong = "integrity"
            else:
                late = [m for m in delivered[actor] if message in sent[m][3]]
                if late:
                    found.add(Found("causal-delivery", actor, at[actor], message, late[0]))
                delivered[actor].append(message)
        if wrong is not None:
            found.add(Found(wrong, actor, at[actor], message))
        at[actor] += 1

    while waiting := {a: own[a][at[a]] for a in own if at[a] < len(own[a])}:
        ready = [
            actor
            for actor, (kind, message, _) in waiting.items()
            if kind == "causal-send" or message in sent or message in ambiguous
        ]
        if ready:
            happens(ready[0])
            continue
        follow = {a: next(iter(senders.get(e.message, [None]))) for a, e in waiting.items()}
        for actor in waiting:
            first, steps = follow[actor], 0
            while first not in (None, actor) and steps < len(waiting):
                first, steps = follow[first], steps + 1
            if follow[actor] is None or first == actor:  # sent by nobody, or on a circle
                found.add(Found("impossible", actor, at[actor], waiting[actor].message))
                at[actor] += 1

    for message, (sender, index, to, _) in sent.items():
        for actor in to or ():
            if Event("deliver", message) not in own.get(actor, ()):
                found.add(Found("undelivered", sender, index, message))
    return found
