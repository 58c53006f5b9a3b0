"""Logs as each actor's own events, how to interleave them, and their findings without lines."""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from antecede.checker.logs.judge import layout_kernels as k
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.judge.judge import Judge
from tests.naive_audit import Event, Found

Own: TypeAlias = dict[str, list[Any]]
"""Actor -> its events, in its own order."""

Order: TypeAlias = list[tuple[str, int]]
"""Actors, and which of their events comes next."""

Places: TypeAlias = dict[tuple[int, str], int]
"""A line and an actor -> which of the actor's events stands there."""


def wild(draw: random.Random, actors: int, events: int) -> Own:
    """Return the events of a system with many faults, where messages may stay undelivered."""
    names = [f"a{number}" for number in range(actors)]
    own, flying = Own({name: [] for name in names}), list[tuple[str, str]]()
    disorder, sent = draw.random(), 0
    for _ in range(events):
        actor = draw.choice(names)
        if not flying or draw.random() < 0.45:
            message = f"m{draw.randrange(sent + 1)}" if draw.random() < 0.1 else f"m{sent}"
            to = tuple(draw.sample(names, draw.randint(1, actors)))
            sent += 1
            flying += [(name, message) for name in to]
            own[actor].append(Event("causal-send", message, None if draw.random() < 0.1 else to))
        else:
            at = draw.randrange(len(flying)) if draw.random() < disorder else 0
            actor, message = flying.pop(at) if draw.random() < 0.95 else flying[at]
            if draw.random() < 0.1:
                message = draw.choice([f"m{draw.randrange(2 * sent)}", "ghost"])
            own[actor].append(Event("deliver", message))
    for _ in range(draw.choice([0, 0, 1, 3])):  # an actor wrote down an event too early
        row = own[draw.choice(names)]
        if len(row) > 1:
            row.insert(0, row.pop(draw.randrange(len(row))))
    return {actor: row for actor, row in own.items() if row}


def interleaved(draw: random.Random, own: Own) -> Order:
    """Return one of the interleavings of the actors' events."""
    left = [actor for actor, row in own.items() for _ in row]
    draw.shuffle(left)
    if draw.random() < 0.3:
        names = draw.sample(sorted(own), len(own))
        left.sort(key=names.index)
    taken, order = defaultdict[str, int](int), Order()
    for actor in left:
        order.append((actor, taken[actor]))
        taken[actor] += 1
    return order


def lines(own: Own, order: Order) -> list[str]:
    """Return the events as JSON objects."""
    written = []
    for actor, index in order:
        kind, message, to = own[actor][index]
        event = {"actor": actor, "event": kind, "message": message}
        written.append(json.dumps(event if to is None else {**event, "to": to}))
    return written


def write(path: Path, own: Own, order: Order) -> Places:
    """Write a log of JSON objects, and return where the events are."""
    path.write_text("".join(f"{line}\n" for line in lines(own, order)))
    return places(order)


def places(order: Order, first: int = 1) -> Places:
    """Return where events are that stand each in a line of its own."""
    return {(line, actor): index for line, (actor, index) in enumerate(order, first)}


def write_torn(draw: random.Random, path: Path, own: Own, order: Order) -> tuple[Places, list[int]]:
    """Write a log as above, whose lines are torn; also return which of them lack a part."""
    text, line, there, torn = "", 1, Places(), []
    rows = lines(own, order)
    for row, (actor, index) in zip(rows, order, strict=True):
        while draw.random() < 0.1:
            lost = draw.choice(rows)
            text += lost[: draw.randrange(1, len(lost))]
            torn += [line] if line not in torn else []
            if draw.random() < 0.5:
                text, line = text + "\n", line + 1
        text += row
        there[line, actor] = index
        follower = order[len(there) % len(order)][0]
        if draw.random() < 0.9 or (line, follower) in there:  # an actor once in a line
            text, line = text + "\n", line + 1
    path.write_text(text)
    return there, torn


def found_in(audit: Audit, there: Places) -> list[Found]:
    """Return the findings with each actor's own numbers in place of lines, in their order."""
    return [
        Found(f.kind, f.actor, there[f.line, f.actor], f.first, f.second)
        for f in (*audit.findings, *audit.undelivered)
    ]


def whole(audit: Audit, there: Places) -> list[Any]:
    """Return all that an audit says, with each actor's own numbers in place of lines."""
    chains = [
        (
            re.sub(r"line \d+", "line", f.text),
            f.chain,
            [(e.actor, there[e.line, e.actor]) for e in f.events],
        )
        for f in audit.findings
    ]
    counts = (audit.actors, audit.causal_sends, audit.deliveries, audit.events)
    return [found_in(audit, there), chains, counts, audit.open, audit.unaddressed]


def is_chain(own: Own, chain: Sequence[str]) -> bool:
    """Return whether the sender of each message of a chain knew the one before."""
    sends: dict[str, tuple[str, int]] = {}
    for actor, row in own.items():
        for index, event in enumerate(row):
            if event.kind == "causal-send":
                sends.setdefault(event.message, (actor, index))
    places = [sends[message] for message in chain]
    return len(chain) > 1 and all(
        any(event.message == before for event in own[actor][:index])
        for before, (actor, index) in zip(chain, places[1:], strict=False)
    )


# A seeded bug


def give_up_by_lines(self: Judge) -> None:
    """Give up in the order of the lines: item 8 of the defects that were found."""
    while True:
        t = self.tables
        blocked = np.flatnonzero(t.waits_for[: t.counter[k.ACTORS]] >= 0)
        if not blocked.size:
            return self._empty(keep=True)
        self.code.give_up(t, int(blocked[np.argmin(t.nodes[t.first_node[blocked], k.PLACE])]))
        self._judge(np.zeros((1, k.COLUMNS), np.int64), 0)
