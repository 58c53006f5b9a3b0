"""The reference audit: docs/audit.md as sets and loops.

It reads each actor's own events in their order, and nothing about the order between actors. An
event happens as soon as its actor is there and its cause has happened: a delivery needs the
causal-send of its message. Deliveries whose message is never sent, or that wait for each other in a
circle, are impossible, and the audit skips them.
"""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

Event = namedtuple("Event", "kind message to", defaults=(None,))  # kind: "causal-send", "deliver"
# index: of the event among the actor's own; second: a message whose delivery came too early
Found = namedtuple("Found", "kind actor index message second", defaults=(None,))


def audit(own: Mapping[str, Sequence[Any]]) -> set[Found]:
    """Return the violations in a log, given as the events of each actor in order."""
    senders = defaultdict[str, set[str]](set)
    for actor, events in own.items():
        for event in events:
            if event.kind == "causal-send":
                senders[event.message].add(actor)
    ambiguous = {message for message, actors in senders.items() if len(actors) > 1}
    position = dict.fromkeys(own, 0)  # actor -> the index of its next event
    sent: dict[str, Any] = {}  # message -> sender, index, to, causes (its past and itself)
    delivered: dict[str, list[str]] = {actor: [] for actor in own}
    violations = set[Found]()

    def happens(actor: str) -> None:
        """Let the next event of the actor happen, and judge it."""
        index = position[actor]
        kind, message, to = own[actor][index]
        wrong = None
        if kind == "causal-send":
            if message in ambiguous or message in sent:
                wrong = "impossible"
            else:
                own_sent = {m for m, (sender, *_) in sent.items() if sender == actor}
                causes = own_sent.union({message}, *(sent[m][3] for m in delivered[actor]))
                sent[message] = actor, index, to, causes
        elif message not in ambiguous:
            to = sent[message][2]
            if (to is not None and actor not in to) or message in delivered[actor]:
                wrong = "integrity"
            else:
                early = [m for m in delivered[actor] if message in sent[m][3]]
                if early:
                    violations.add(Found("causal-delivery", actor, index, message, early[0]))
                delivered[actor].append(message)
        if wrong is not None:
            violations.add(Found(wrong, actor, index, message))
        position[actor] += 1

    while waiting := {a: own[a][position[a]] for a in own if position[a] < len(own[a])}:
        ready = [
            actor
            for actor, (kind, message, _) in waiting.items()
            if kind == "causal-send" or message in sent or message in ambiguous
        ]
        if ready:
            happens(ready[0])
            continue
        # Every actor waits for a causal-send. Follow each to the actor that should send.
        follow = {a: next(iter(senders.get(e.message, [None]))) for a, e in waiting.items()}
        for actor in waiting:
            first, steps = follow[actor], 0
            while first not in (None, actor) and steps < len(waiting):
                first, steps = follow[first], steps + 1
            if follow[actor] is None or first == actor:  # never sent, or on a circle
                violations.add(Found("impossible", actor, position[actor], waiting[actor].message))
                position[actor] += 1

    for message, (sender, index, to, _) in sent.items():
        for actor in to or ():
            if Event("deliver", message) not in own.get(actor, ()):
                violations.add(Found("undelivered", sender, index, message))
    return violations
