"""Random systems: a protocol of random rules, or a table of `tests.random_systems`."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from antecede.checker.check.spec import Spec
from antecede.checker.model import Property, Protocol, When
from antecede.checker.semantics.ordering import ORDERINGS
from tests.campaigns import machine
from tests.campaigns.user_properties import USER
from tests.random_systems import ACTIONS, table_protocol

SAFETY = ("causal-delivery", "integrity", "all-delivered", "fifo-delivery")
EXTRA = ("can-deliver", "finishes", "can-finish")
DECLARED = (
    *("invariant:holds-at-most-one", "invariant:hold-at-most-two"),
    *("witness:marked", "witness:all-hold"),
)
"""The properties that a machine declares, on one actor's state and on all actors' states."""
NETWORKS = (
    "unordered",
    "fifo",
    "duplicating",
    "fifo+duplicating",
    "lossy",
    "lossy:1",
    "fifo+lossy:1",
    *ORDERINGS,
)


@frozen
class Case:
    """A random system; all of its fields are JSON.

    Attributes:
        kind: `machine` or `table`; it determines the type of `rules`.
        rules: the modes of a machine, or the table.
        credit: the number of credits of an actor.
        resends: whether a machine has a timeout.
        restarts: how actors recover from crashes; see `machine.restarting`.
        labels: the labels from which applications choose; a protocol may look at them.
    """

    kind: str
    rules: Any
    credit: int
    resends: bool
    actors: int
    messages: int
    network: str
    workload: str
    sends: str
    clock_at: str
    properties: tuple[str, ...]
    crashes: str = "0"
    to_crashed: str = "kept"
    restarts: str = ""
    labels: str = ""

    @property
    def protocol(self) -> Protocol:
        """The protocol that was drawn."""
        if self.kind == "table":
            protocol = table_protocol(self.rules, self.credit)
        else:
            protocol = machine.machine(self.rules, self.credit, self.resends)
        return machine.restarting(machine.losing(protocol, self.labels), self.restarts)

    @property
    def user(self) -> list[Property]:
        """The properties that users define."""
        return [USER[name] for name in self.properties if name in USER]

    def spec(self, history: str, search: str = "breadth") -> Spec:
        """Return the question about it."""
        shared = {key: getattr(self, key) for key in SPEC_KEYS}
        return Spec(protocol=self.protocol.name, history=history, search=search, **shared)


SPEC_KEYS = (
    *("actors", "messages", "network", "workload", "sends", "clock_at", "properties"),
    *("crashes", "to_crashed", "labels"),
)


def drawn(seed: str) -> Case:
    """Return the case of a seed."""
    chance = random.Random(seed)
    kind = "machine" if chance.random() < 0.7 else "table"
    resends = kind == "machine" and chance.random() < 0.1
    actors, messages = chance.choice(((2, 1), (2, 2), (3, 1), (3, 1), (3, 2)))
    extra = _extra(random.Random(f"extra {seed}"), kind)
    if actors * messages > 2 and "can-deliver" in extra:
        extra.remove("can-deliver")  # it takes long
    properties = (*SAFETY[: chance.randint(1, 4)], *extra) if extra else SAFETY
    user = _user(random.Random(f"user {seed}"), actors * messages)
    return answerable(
        _crashing(
            Case(
                kind=kind,
                rules=_modes(chance) if kind == "machine" else _table(chance),
                credit=chance.choice((0, 1, 1, 2)),
                resends=resends,
                actors=actors,
                messages=messages,
                network=chance.choice(NETWORKS),
                workload=_workload(chance, actors),
                sends=chance.choice(("joint", "joint", "split")),
                clock_at=chance.choice(("causal-send", "network-send")),
                properties=user or properties,
                labels=_labels(random.Random(f"labels {seed}"), actors * messages),
            ),
            random.Random(f"crashes {seed}"),
        )
    )


def answerable(case: Case) -> Case:
    """Return a case without crashes if its network does not go with crashes."""
    if case.network in ORDERINGS:
        return evolve(case, crashes="0", to_crashed="kept")
    return case


def _crashing(case: Case, chance: random.Random) -> Case:
    """Draw crashes, and how actors recover; in most systems, no actor crashes.

    If three actors may crash, they often broadcast, so that a crash may split a step.
    """
    if chance.random() > 0.25 or (case.actors, case.messages) == (3, 2):
        return case
    crashes = chance.choice(("1", "1", "2", "1:of=0", "2:of=1,0", "1:whole", "2:of=0:whole"))
    broadcasts = case.actors == 3 and chance.random() < 0.5
    return evolve(
        case,
        crashes=crashes,
        to_crashed=chance.choice(("kept", "lost")),
        restarts=chance.choice(("", "", "keeps", "resends", "forgets")),
        workload=chance.choice(("broadcast", "multicast")) if broadcasts else case.workload,
    )


def _labels(chance: random.Random, messages: int) -> str:
    """Draw the labels from which applications choose; in most systems, messages have none."""
    few = messages <= 3 and chance.random() < 0.2
    return chance.choice(("add", "add,edit", "add,lose")) if few else ""


def _extra(chance: random.Random, kind: str) -> list[str]:
    """Draw further properties; most systems have none."""
    choices = (*EXTRA, *DECLARED) if kind == "machine" else EXTRA
    return [name for name in choices if chance.random() < 0.1]


def drawn_for_users(seed: str) -> Case:
    """Return a case with properties of users that the reference checker can judge.

    Most of its protocols treat all actors alike, so that a search may use symmetry.
    """
    case, chance = drawn(seed), random.Random(f"users {seed}")
    return answerable(
        evolve(
            case,
            rules=_alike(case) if chance.random() < 0.8 else case.rules,
            resends=False,
            network=chance.choice(("unordered", "fifo", "fifo", *ORDERINGS)),
            workload=chance.choice(("any", "any", "multicast", "broadcast")),
            sends="joint",
            clock_at="causal-send",
            properties=user_properties(chance, case.actors * case.messages),
        )
    )


BY_NAME = {
    *("is-first", "is-last", "from-below", "to-above", "mark", "send-by-way", "send-to-least"),
    *("bundle", "answer-least", "flush-by-receiver", "deliver-held-by-sender"),
    *("send-held-by-receiver", "send-batch", "first-actor-holds", "relay", "held-by-sender"),
    *("first-actor-drops", "release-by-receiver"),
}
"""The guards, operations and actions that treat actors by their names or by their order."""


def _alike(case: Case) -> Any:
    """Return the rules of a case without anything in `BY_NAME`."""

    def usual(name: str, choices: Sequence[str]) -> str:
        return choices[0] if name in BY_NAME else name

    if case.kind == "table":
        rows = (zip(row, ACTIONS, strict=True) for row in case.rules)
        return tuple(
            tuple((mode, usual(action, choices)) for (mode, action), choices in row) for row in rows
        )
    return [
        [
            [
                [usual(guard, machine.GUARDS), [usual(name, choices) for name in names], after]
                for guard, names, after in rules
            ]
            for rules, choices in zip(mode, machine.OPERATIONS, strict=True)
        ]
        for mode in case.rules
    ]


def _user(chance: random.Random, messages: int) -> tuple[str, ...]:
    """Draw properties as users define them; most systems have none."""
    return user_properties(chance, messages) if chance.random() < 0.3 else ()


def user_properties(chance: random.Random, messages: int) -> tuple[str, ...]:
    """Draw one to three properties of users, and some others.

    Ways back take long to judge, so only systems with few messages have properties of that kind.
    """
    names = chance.sample(sorted(USER), chance.randint(1, 3))
    ways_back = [name for name in names if USER[name].when is When.ALWAYS_POSSIBLE]
    if ways_back and messages <= 2:
        names = ways_back
    others = [name for name in names if name not in ways_back]
    return (*SAFETY[: chance.choice((0, 0, 1, 4))], *(others or ways_back[:1]))


def _modes(chance: random.Random) -> list[list[list[list[Any]]]]:
    """Draw one to three modes; a last rule without a guard is there most of the time."""
    count, guards = chance.choice((1, 2, 2, 3)), machine.GUARDS

    def rule(operations: tuple[str, ...], guard: str) -> list[Any]:
        most = chance.choice((1, 1, 2, 3))
        done = [chance.choice(operations[: chance.choice((3, 6, 10, 14, 20))]) for _ in range(most)]
        return [guard, done, chance.randrange(count)]

    def rules(operations: tuple[str, ...]) -> list[list[Any]]:
        guarded = [rule(operations, chance.choice(guards)) for _ in range(chance.randint(0, 2))]
        return [*guarded, rule(operations, "always")] if chance.random() < 0.9 else guarded

    return [[rules(operations) for operations in machine.OPERATIONS] for _ in range(count)]


def _table(chance: random.Random) -> tuple[tuple[tuple[int, str], ...], ...]:
    size = chance.randint(1, 3)
    return tuple(
        tuple((chance.randrange(size), chance.choice(actions)) for actions in ACTIONS)
        for _ in range(size)
    )


WORKLOADS = (
    *("any",) * 5,
    *("multicast", "broadcast", "self", "script", "reaction", "program"),
)


def _workload(chance: random.Random, actors: int) -> str:
    kind = chance.choice(WORKLOADS)
    some = [[j for j in range(actors) if j != i] for i in range(actors)]
    if kind == "script":
        rows = [[chance.choice(to) for _ in range(chance.randint(0, 2))] for to in some]
        return f"script:{json.dumps(rows)}" if any(rows) else "any"
    if kind == "reaction":
        return f"reaction:{json.dumps(_reaction(chance, some))}"
    if kind == "program":
        return f"program:{json.dumps(_program(chance, some))}"
    return kind


def _sends(chance: random.Random, some: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Draw one to three sends: sender and destinations."""
    senders = [chance.randrange(len(some)) for _ in range(chance.randint(1, 3))]
    return [(i, chance.choice(([chance.choice(some[i])], some[i]))) for i in senders]


def _reaction(chance: random.Random, some: list[list[int]]) -> list[dict[str, Any]]:
    sends: list[dict[str, Any]] = []
    for at, (sender, to) in enumerate(_sends(chance, some)):
        earlier = [s["name"] for s in sends if sender in s["to"] and chance.random() < 0.7]
        sends.append({"name": f"m{at}", "from": sender, "to": to, "after": earlier})
    return sends


def _program(chance: random.Random, some: list[list[int]]) -> list[list[dict[str, Any]]]:
    rows: list[list[dict[str, Any]]] = [[] for _ in some]
    coming: list[list[str]] = [[] for _ in some]
    for at, (sender, to) in enumerate(_sends(chance, some)):
        rows[sender].append({"send": f"m{at}", "to": to})
        for actor in to:
            coming[actor].append(f"m{at}")
    for row, names in zip(rows, coming, strict=True):
        for _ in range(chance.randint(0, len(names))):
            accepts: Any = chance.choice(("any", chance.choice(names), names))
            row.insert(chance.randint(0, len(row)), {"receive": accepts})
    return rows


def smaller(case: Case) -> Iterator[Case]:
    """Yield cases that are a little simpler: one thing less each."""
    if case.messages > 1:
        yield evolve(case, messages=case.messages - 1)
    plainest: Any
    for key, plainest in (
        ("network", "unordered"),
        ("sends", "joint"),
        ("clock_at", "causal-send"),
    ):
        if getattr(case, key) != plainest:
            yield evolve(case, **{key: plainest})
    if case.credit:
        yield evolve(case, credit=case.credit - 1)
    if case.resends:
        yield evolve(case, resends=False)
    if case.restarts:
        yield evolve(case, restarts="")
    if case.labels:
        yield evolve(case, labels="")
    if case.crashes != "0":
        yield evolve(case, crashes="0", to_crashed="kept", restarts="")
    for at in range(len(case.properties) if len(case.properties) > 1 else 0):
        yield evolve(case, properties=(*case.properties[:at], *case.properties[at + 1 :]))
    if case.kind == "machine":
        for rules in _fewer_rules(case.rules):
            yield evolve(case, rules=rules)


def _fewer_rules(modes: Any) -> Iterator[Any]:
    """Yield the modes without one rule, without one operation, or without a guard."""
    copy = json.dumps(modes)
    for m, mode in enumerate(modes):
        for e, rules in enumerate(mode):
            for r, (guard, operations, after) in enumerate(rules):
                changed = json.loads(copy)
                del changed[m][e][r]
                yield changed
                for o in range(len(operations)):
                    changed = json.loads(copy)
                    del changed[m][e][r][1][o]
                    yield changed
                for simple in ([("always", after)] if guard != "always" else []) + (
                    [(guard, 0)] if after else []
                ):
                    changed = json.loads(copy)
                    changed[m][e][r][0], changed[m][e][r][2] = simple
                    yield changed


def as_json(case: Case) -> str:
    """Return a case in one line."""
    return json.dumps(asdict(case), ensure_ascii=False)
