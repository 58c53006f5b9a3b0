"""Random rules whose handlers keep a cache or a set in a variable of a module or a class.

A cache of all arguments changes no result, so the check must find what it finds without the cache.
A cache of fewer arguments, or a set of earlier calls, may change results. Then the check must
refuse the handler, or find what it finds without the variable.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

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

cache: dict[Any, Any] = {}
calls: set[Any] = set()


class Memory:
    """The same variables in a class."""

    cache: ClassVar[dict[Any, Any]] = {}
    calls: ClassVar[set[Any]] = set()


def in_module(kind: str, receive: Callable[..., Step]) -> Callable[..., Step]:
    """Return a handler that uses variables of this module."""
    return lambda *given: remembering(kind, receive, given, cache, calls)


def in_class(kind: str, receive: Callable[..., Step]) -> Callable[..., Step]:
    """Return a handler that uses variables of a class."""
    return lambda *given: remembering(kind, receive, given, Memory.cache, Memory.calls)


PLACES = {"module": in_module, "class": in_class}


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


def found(case: Case, protocol: Protocol, selfcheck: str) -> tuple[Any, ...] | None:
    """Return the verdict, the length of the counterexample and the error; None if too large."""
    result = check(
        case.spec("knowledge"),
        Options(engine="plain"),
        Bounds(max_states=MOST_STATES),
        protocol=protocol,
        selfcheck=selfcheck,
    ).result
    if result.stopped_by is not None:
        return None
    run = result.counterexample
    return result.verdict, None if run is None else run.length, result.error


def difference(case: Case, kind: str, place: str) -> str | None:
    """Return how a verdict with a memory is wrong; None if it is right, or is not decided."""
    pure = case.protocol
    for variable in (cache, calls, Memory.cache, Memory.calls):
        variable.clear()
    expected = found(case, pure, "on")
    if expected is None:
        return None
    actual = found(case, evolve(pure, receive=PLACES[place](kind, pure.receive)), "on")
    if actual is None or expected[:2] == actual[:2]:
        return None
    if actual[0] is Verdict.ERROR and kind != "all arguments":
        return None
    return f"expected {expected}\nactual   {actual}"


def drawn_with_memory(seed: str) -> tuple[Case, str, str]:
    """Return a machine, what its handler remembers, and where."""
    machines = (drawn(f"{seed}/{number}") for number in count())
    case = next(one for one in machines if one.kind == "machine" and one.actors * one.messages < 5)
    # A Twin is refused because it equals an Ack, which a cache cannot tell apart.
    rules = json.loads(json.dumps(case.rules).replace("answer-twin", "answer"))
    properties = tuple(n for n in case.properties if n not in USER) or ("integrity",)
    chance = random.Random(f"memory {seed}")
    case = evolve(case, rules=rules, properties=properties)
    return case, chance.choice(MEMORIES), chance.choice(list(PLACES))


def compare_memories(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare a random protocol that remembers with the same one that does not."""
    case, kind, place = drawn_with_memory(seed)
    tally["handlers with memory and without"] += 1
    wrong = difference(case, kind, place)
    if wrong is None:
        return []
    file = folder / f"memories-{seed.replace('/', '-')}.py"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(
        '"""Run it in the folder of the project."""\n\n'
        "from tests.campaigns.draw import Case\n"
        "from tests.campaigns.memories import difference\n\n"
        f"print(difference(Case(**{attrs.asdict(case)!r}), {kind!r}, {place!r}))\n",
        encoding="utf-8",
    )
    return [f"{file}: {kind}, {place}\n{wrong}"]
