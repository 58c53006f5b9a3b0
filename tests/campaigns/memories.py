"""Random rules whose handlers keep a cache or a set somewhere, or read a clock.

A cache of all arguments changes no result, so the check must find what it finds without the cache.
A cache of fewer arguments, or a set of earlier calls, may change results. Then the check must
refuse the handler, or find what it finds without the memory. A handler that reads a clock must be
refused. The rules are in a file, so that a new process can import them.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextvars import ContextVar
from datetime import datetime
from itertools import count
from pathlib import Path
from time import monotonic as elapsed
from typing import Any, ClassVar
from uuid import uuid4

import attrs
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.model import Protocol, Step
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from tests.campaigns.draw import Case, drawn
from tests.campaigns.machine import Cell
from tests.campaigns.user_properties import USER

MOST_STATES = 400

MEMORIES = ("all arguments", "without the state", "without the sender", "earlier calls")
"""What a cache contains, or a set."""

Stores = tuple[dict[Any, Any], set[Any]]
"""A cache, and a set of calls."""

cache: dict[Any, Any] = {}
calls: set[Any] = set()


class Memory:
    """The same variables in a class."""

    cache: ClassVar[dict[Any, Any]] = {}
    calls: ClassVar[set[Any]] = set()


class Meta(type):
    """A metaclass with the same variables."""

    stores: ClassVar[Stores] = ({}, set())


class Ordinary(metaclass=Meta):
    """A class without variables of its own."""


def keeping() -> Generator[Stores, None, None]:
    """Yield the same cache and set again and again."""
    stores: Stores = ({}, set())
    while True:
        yield stores


hidden: Stores = ({}, set())
keeper = keeping()
context: ContextVar[Stores] = ContextVar("context")
local = threading.local()


def in_context() -> Stores:
    """Return the cache and the set of a context variable."""
    if context.get(None) is None:
        context.set(({}, set()))
    return context.get()


PLACES: dict[str, Callable[[], Stores]] = {
    "module": lambda: (cache, calls),
    "class": lambda: (Memory.cache, Memory.calls),
    "metaclass": lambda: Ordinary.stores,
    "generator": lambda: next(keeper),
    "context variable": in_context,
    "thread": lambda: vars(local).setdefault("stores", ({}, set())),
    "computed name": lambda: globals()["hid" + "den"],
    "other module": lambda: vars(sys.modules["json"]).setdefault("stores", ({}, set())),
}
"""Where the cache and the set are kept -> a function that returns them."""

CLOCKS: dict[str, Callable[[], object]] = {
    "time": lambda: __import__("time").time(),
    "monotonic": elapsed,
    "ctime": lambda: time.ctime(),
    "now": lambda: datetime.now(),
    "today": lambda: datetime.today(),
    "times": lambda: os.times(),
    "pid": lambda: os.getpid(),
    "uuid": lambda: uuid4(),
    "secrets": lambda: secrets.token_hex(),
}
"""What a handler reads in place of a memory."""

readings: list[str] = []
"""The clocks that were read."""


def with_memory(pure: Protocol, kind: str, place: str) -> Protocol:
    """Return a protocol that remembers, or that reads a clock."""

    def receive(*given: Any) -> Step:
        if place in CLOCKS:
            readings.append(place)
            CLOCKS[place]()
            return pure.receive(*given)
        return remembering(kind, pure.receive, given, *PLACES[place]())

    return evolve(pure, receive=receive)


def remembering(
    kind: str,
    receive: Callable[..., Step],
    given: tuple[Cell, int, Any],
    cache: dict[Any, Any],
    calls: set[Any],
) -> Step:
    """Return what a handler does, or what it did in an earlier call."""
    cell, src, packet = given
    if kind == "earlier calls":
        calls.add((cell.me, src))
        step = receive(*given)
        return step if len(calls) < 2 else evolve(step, deliveries=())
    key = {
        "all arguments": given,
        "without the state": (cell.me, src, packet),
        "without the sender": (cell, packet),
    }[kind]
    if key not in cache:
        cache[key] = receive(*given)
    return cache[key]  # type: ignore[no-any-return]


def found(case: Case, protocol: str | None) -> tuple[Any, ...] | None:
    """Return the verdict, the length of the counterexample and the error; None if too large.

    Args:
        protocol: a file with the protocol; None: the protocol of the case.
    """
    spec = case.spec("knowledge")
    result = check(
        spec if protocol is None else evolve(spec, protocol=protocol),
        Options(engine="plain"),
        Bounds(max_states=MOST_STATES),
        protocol=case.protocol if protocol is None else None,
    ).result
    if result.stopped_by is not None:
        return None
    run = result.counterexample
    return result.verdict, None if run is None else run.length, result.error


FILE = """
from tests.campaigns.draw import Case
from tests.campaigns.memories import difference, with_memory

CASE = Case(**{case!r})
P = with_memory(CASE.protocol, {kind!r}, {place!r})

if __name__ == "__main__":  # in the folder of the project
    print(difference(CASE, {kind!r}, {place!r}, __file__))
"""


def difference(case: Case, kind: str, place: str, file: str) -> str | None:
    """Return how a verdict with a memory is wrong; None if it is right, or is not decided."""
    for find in PLACES.values():
        for store in find():
            store.clear()
    readings.clear()
    expected = found(case, None)
    if expected is None:
        return None
    actual = found(case, f"{file}:P")
    if actual is None:
        return None
    if expected[:2] == actual[:2] and not readings:
        return None
    if actual[0] is Verdict.ERROR and (readings or kind != "all arguments"):
        return None
    return f"expected {expected}\nactual   {actual}"


def drawn_with_memory(seed: str) -> tuple[Case, str, str]:
    """Return a machine, what its handler remembers, and where."""
    machines = (drawn(f"{seed}/{number}") for number in count())
    case = next(one for one in machines if one.kind == "machine" and one.actors * one.messages < 5)
    # A Twin is refused because it equals an Ack, which a cache cannot tell apart.
    rules = json.loads(json.dumps(case.rules).replace("answer-twin", "answer"))
    properties = tuple(n for n in case.properties if n not in USER) or ("integrity",)
    case = evolve(case, rules=rules, properties=properties, restarts="")
    chance = random.Random(f"memory {seed}")
    return case, chance.choice(MEMORIES), chance.choice([*PLACES, *CLOCKS])


def compare_memories(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare a random protocol that remembers with the same one that does not."""
    case, kind, place = drawn_with_memory(seed)
    tally["handlers with memory and without"] += 1
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"memories-{seed.replace('/', '-')}.py"
    file.write_text(FILE.format(case=attrs.asdict(case), kind=kind, place=place), encoding="utf-8")
    wrong = difference(case, kind, place, str(file))
    if wrong is None:
        file.unlink()
        return []
    return [f"{file}: {kind}, {place}\n{wrong}"]
