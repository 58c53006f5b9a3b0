"""Coverage of the handlers of random protocols, compared with handlers that note it themselves.

The handlers are drawn as source with nested conditions on actors, counts and packets. In a second
form of the same source, each branch adds its number to a set. A check of this form says which
branches ran, without a tracer.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antecede.checker.check.handler_coverage import HandlerCoverage
from antecede.checker.check.pipeline import Extras, check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Protocol
from antecede.checker.search.options import Options

HEAD = """
from attrs import frozen
from antecede import Protocol, Step

SEEN = set()


@frozen
class State:
    me: int
    count: int = 0


@frozen
class Data:
    message: object


def causal_send(state, message):
{send}
    return Step(State(state.me, min(state.count + 1, 3)), ((message.receiver, Data(message)),))


def receive(state, src, packet):
{receive}
    return Step(State(state.me, min(state.count + 1, 3)), (), (packet.message,))


PROTOCOL = Protocol(
    name="drawn", summary="drawn", source="a test", initial=lambda actor, actors: State(actor),
    causal_send=causal_send, receive=receive,
)
"""

CONDITIONS = ("state.me == {n}", "state.count == {n}", "state.count > {n}", "other == {n}")


def branches(chance: random.Random, numbers: Iterator[int], depth: int = 0) -> Iterator[str]:
    """Yield nested conditions; each body is a comment `# ran N` that the two forms replace."""
    indent = "    " * (depth + 1)
    for _ in range(chance.randint(1, 3)):
        condition = chance.choice(CONDITIONS).format(n=chance.randrange(4))
        yield f"{indent}{chance.choice(('if', 'if not'))} {condition}:"
        yield f"{indent}    # ran {next(numbers)}"
        if depth < 2 and chance.random() < 0.5:
            yield from branches(chance, numbers, depth + 1)
        if chance.random() < 0.4:
            yield f"{indent}else:"
            yield f"{indent}    # ran {next(numbers)}"


def drawn(seed: str) -> str:
    """Return the source of a protocol with a mark in each branch."""
    chance, numbers = random.Random(f"coverages {seed}"), iter(range(1_000))
    send = ["    other = message.receiver", *branches(chance, numbers)]
    receive = ["    other = src", *branches(chance, numbers)]
    return HEAD.format(send="\n".join(send), receive="\n".join(receive))


def compare_coverages(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare the lines that each engine reports with the branches that noted themselves."""
    source, chance = drawn(seed), random.Random(f"ways {seed}")
    actors, messages = chance.choice(((2, 1), (2, 2), (3, 1)))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"coverage-{seed.replace('/', '-')}.py"
    file.write_text(source.replace("# ran", "ran ="), encoding="utf-8")
    expected = _noted(_with_notes(source), actors, messages)
    wrong = []
    for engine in ("plain", "local"):
        selfcheck = chance.choice(("on", "off", "all"))
        spec = Spec(protocol=f"{file}:PROTOCOL", actors=actors, messages=messages)
        report = check(
            spec, Options(engine=engine), selfcheck=selfcheck, extras=Extras(coverage=True)
        )
        tally[f"coverage of {engine} with noted branches"] += 1
        found = _never(report.coverage or (), file.read_text(encoding="utf-8"))
        if found != expected:
            wrong.append(
                f"{file}: {actors} actors, {messages} messages, {engine}, selfcheck {selfcheck}: "
                f"never ran {sorted(found)}, not {sorted(expected)}"
            )
    if not wrong:
        file.unlink()
    return wrong


def _with_notes(source: str) -> str:
    lines = (
        f"{line.replace('# ran ', 'SEEN.add(')})" if "# ran " in line else line
        for line in source.splitlines()
    )
    return "\n".join(lines)


def _noted(source: str, actors: int, messages: int) -> set[int]:
    """Return the numbers of the branches that a check with notes does not run."""
    scope: dict[str, Any] = {"__name__": "drawn"}
    exec(compile(source, "drawn", "exec"), scope)
    protocol: Protocol = scope["PROTOCOL"]
    spec = Spec(protocol="drawn", actors=actors, messages=messages)
    check(spec, Options(engine="plain"), protocol=protocol, selfcheck="off")
    seen: set[int] = scope["SEEN"]
    return set(range(source.count("SEEN.add("))) - seen


def _never(found: HandlerCoverage, source: str) -> set[int]:
    lines = source.splitlines()
    texts = [lines[line - 1] for each in found for line in each.never]
    return {int(text.split("=")[1]) for text in texts if "ran =" in text}
