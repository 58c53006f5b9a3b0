"""Random workloads: can any protocol violate an order, by the rules and by the reference checkers?

`tests/naive.py` explores the adversary of `checker/search/emptiness.py`, the protocol `unordered`,
with every order of sends and deliveries. It violates a property of order if and only if the rules
say that some protocol can. On a network whose channels keep their order, it violates causal order
if and only if the rules find a chain of messages.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import evolve

from antecede.checker.check.spec import Spec
from antecede.checker.model import Property
from antecede.checker.search import emptiness
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.reading import as_toml
from antecede.properties.same_order import SAME_ORDER
from antecede.properties.total_order import TOTAL_ORDER
from antecede.protocols.unordered import UNORDERED
from tests import naive_endless
from tests.campaigns.draw import _program, _reaction
from tests.models import naive_counts

ORDERS: dict[str, Any] = {
    "causal-delivery": "causal-delivery",
    "fifo-delivery": "fifo-delivery",
    "same-order": SAME_ORDER,
    "total-order": TOTAL_ORDER,
}
"""Name of a property -> the property, as `tests/naive.py` takes it."""

SIZES = {"any": ((2, 2), (3, 1)), "self": ((2, 2), (3, 1)), "multicast": ((2, 2), (3, 1))}
"""Workload -> actors and messages per actor that the reference checker explores in time."""


def drawn(seed: str) -> Spec:
    """Draw a workload, and ask about its orders."""
    chance = random.Random(seed)
    kind = chance.choice(("script",) * 8 + ("reaction", "program", "endless", "sized"))
    if kind == "sized":
        kind, sizes = chance.choice([*SIZES.items(), ("broadcast", ((2, 2), (3, 1)))])
        actors, messages = chance.choice(sizes)
        return Spec("unordered", actors, messages, workload=kind)
    actors = chance.choice((2, 3, 3, 3, 4))
    others = [[j for j in range(actors) if j != i] for i in range(actors)]
    if kind == "reaction":
        return Spec(
            "unordered", actors, workload=f"reaction:{json.dumps(_reaction(chance, others))}"
        )
    if kind == "program":
        return Spec("unordered", actors, workload=f"program:{json.dumps(_program(chance, others))}")
    rows: list[list[Any]] = [[] for _ in range(actors)]
    left = chance.choice((2, 3, 4, 5, 6))  # deliveries
    while left > 0:
        sender = chance.randrange(actors)
        to = chance.sample(others[sender], chance.choice((1, 1, 1, 2)) if actors > 2 else 1)
        rows[sender].append(to[0] if len(to) == 1 else sorted(to))
        left -= len(to)
    if kind == "endless":
        listed = [[to for at, to in enumerate(row[:2]) if to not in row[:at]] for row in rows]
        return Spec("unordered", actors, workload=f"endless:1:{json.dumps(listed)}")
    return Spec("unordered", actors, workload=f"script:{json.dumps(rows)}")


def comparisons(spec: Spec) -> Iterator[tuple[str, bool, bool | None]]:
    """Yield (question, the answer of a reference checker, the answer of the rules)."""
    if spec.workload.startswith("endless:"):
        yield from _endless(spec)
        return
    size = spec.actors, spec.messages
    for name, prop in ORDERS.items():
        counts = naive_counts(UNORDERED, *size, workload=spec.workload, properties=(prop,))
        yield name, bool(counts.violation), _answer(spec, name)
    if not spec.workload.startswith(("reaction:", "program:")):
        counts = naive_counts(
            UNORDERED,
            *size,
            workload=spec.workload,
            network="fifo",
            properties=("causal-delivery",),
        )
        messages = emptiness.messages_of(workload_from(spec.workload, *size), spec.actors)
        chains = emptiness.can_break_chains(messages)
        yield "causal-delivery on ordered channels", bool(counts.violation), chains


def _endless(spec: Spec) -> Iterator[tuple[str, bool, bool | None]]:
    _, _, listed = spec.workload.split(":")
    rows = [[tuple(to) if isinstance(to, list) else (to,) for to in r] for r in json.loads(listed)]
    counts, _ = naive_endless.explore(UNORDERED, rows, 1)
    name = "causal-delivery"
    yield f"{name}, endless", name in counts.violation, _answer(spec, name)


def _answer(spec: Spec, name: str) -> bool | None:
    system = evolve(spec, properties=(name,)).system
    return can_be_violated(system, system.properties[0])


def can_be_violated(system: System, prop: Property) -> bool | None:
    """Return what the rules say, or else the search; None if both leave it open."""
    by_rule = emptiness.by_rule(system, prop)
    return emptiness.by_search(system, prop) if by_rule is None else by_rule


def compare_emptiness(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare one random workload; write a spec for each disagreement."""
    spec, wrong = drawn(seed), []
    for question, expected, actual in comparisons(spec):
        tally[f"emptiness with the reference checkers: {question}"] += 1
        if expected != actual:
            wrong.append(f"{question} can be violated: {expected}, by the rules {actual}")
    if not wrong:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"emptiness-{seed.replace('/', '-')}.antecede.toml"
    names = ("protocol", "actors", "messages", "workload")
    lines = [f"# {each}" for each in wrong]
    lines += [f"{name} = {as_toml(getattr(spec, name))}" for name in names]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"{file}: {each}" for each in wrong]
