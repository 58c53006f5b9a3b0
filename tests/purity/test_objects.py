"""Protocols that a program gives as objects: their handlers are called in new processes, too."""

from __future__ import annotations

import functools
import importlib
import random
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import monotonic as elapsed
from typing import Any, ClassVar

import pytest

from antecede import Message, Protocol, Step
from antecede.checker.check import pipeline
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from tests.conftest import Command

seen: set[Any] = set()
count = 0
cached: dict[Any, Any] = {}


def forget() -> None:
    global count
    seen.clear()
    cached.clear()
    Keeper.seen.clear()
    keeper.calls.clear()
    kept[0].clear()
    recent.clear()
    note.cache_clear()
    count = 0


def causal_send(state: Any, message: Message) -> Step:
    return Step(state, ((message.receiver, message),))


def found(receive: Callable[..., Step], *, mode: str = "on", engine: str = "local") -> Result:
    forget()
    protocol = Protocol("toy", lambda actor, actors: actor, causal_send, receive)
    spec = Spec("x", actors=2, messages=2, properties=("all-delivered",))
    return check(spec, Options(engine=engine), protocol=protocol, selfcheck=mode).result


def latch(state: Any, src: int, message: Message) -> Step:
    seen.add((state, src, message.number))
    late = message.number == 2 and (state, src, 1) not in seen
    return Step(state, deliveries=() if late else (message,))


def counting(state: Any, src: int, message: Message) -> Step:
    global count
    before, count = count, max(count, message.number)
    return Step(state, deliveries=() if before == 0 and message.number == 2 else (message,))


class Keeper:
    seen: ClassVar[set[Any]] = set()

    def __init__(self) -> None:
        self.calls: list[Any] = []


keeper = Keeper()


def in_a_class(state: Any, src: int, message: Message) -> Step:
    Keeper.seen.add((state, message.number))
    return Step(state, deliveries=(message,) if (state, 1) in Keeper.seen else ())


def in_an_object(state: Any, src: int, message: Message) -> Step:
    keeper.calls.append((state, message.number))
    return Step(state, deliveries=(message,) if (state, 1) in keeper.calls else ())


def in_a_default(state: Any, src: int, message: Message, known: Any = cached) -> Step:
    known[state, message.number] = True
    return Step(state, deliveries=(message,) if (state, 1) in known else ())


def in_a_closure() -> Callable[..., Step]:
    numbers: list[int] = []

    def receive(state: Any, src: int, message: Message) -> Step:
        numbers.append(message.number)
        return Step(state, deliveries=(message,) if 1 in numbers else ())

    return receive


kept: tuple[list[Any], int] = ([], 0)


def in_a_tuple(state: Any, src: int, message: Message) -> Step:
    kept[0].append((state, message.number))
    return Step(state, deliveries=(message,) if (state, 1) in kept[0] else ())


recent = deque[Any](maxlen=50)


def in_a_deque(state: Any, src: int, message: Message) -> Step:
    recent.append((state, message.number))
    return Step(state, deliveries=(message,) if (state, 1) in recent else ())


@functools.cache
def note(state: Any, number: int) -> bool:
    seen.add((state, number))
    return True


def behind_a_cache(state: Any, src: int, message: Message) -> Step:
    note(state, message.number)
    return Step(state, deliveries=(message,) if (state, 1) in seen else ())


REMEMBERING = [
    in_a_tuple,
    in_a_deque,
    behind_a_cache,
    latch,
    counting,
    in_a_class,
    in_an_object,
    in_a_default,
]


@pytest.mark.parametrize("receive", [*REMEMBERING, None])
@pytest.mark.parametrize("mode", ["on", "all"])
@pytest.mark.parametrize("engine", ["local", "plain"])
def test_a_handler_that_remembers_calls_is_refused(
    receive: Callable[..., Step] | None, mode: str, engine: str
) -> None:
    result = found(receive or in_a_closure(), mode=mode, engine=engine)
    assert Verdict.ERROR is result.verdict
    assert "receive of protocol 'toy'" in str(result.error)


def test_the_variable_is_named_and_keeps_its_value() -> None:
    result = found(latch)
    assert "depends on the calls before it" in str(result.error)
    assert "it uses the variable seen, which can change" in str(result.error)
    assert 4 == len(seen)


def test_this_would_be_a_wrong_verdict_without_new_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "repeat_afresh", lambda _protocol, _again: None)
    assert Verdict.HOLDS is found(latch, mode="all", engine="plain").verdict


def cache(state: Any, src: int, message: Message) -> Step:
    return cached.setdefault((state, message), Step(state, deliveries=(message,)))  # type: ignore[no-any-return]


@functools.cache
def remembered(message: Message) -> tuple[Message, ...]:
    return (message,)


def library_cache(state: Any, src: int, message: Message) -> Step:
    return Step(state, deliveries=remembered(message))


@pytest.mark.parametrize("receive", [cache, library_cache])
def test_a_cache_with_a_right_key_is_no_fault(receive: Callable[..., Step]) -> None:
    assert Verdict.HOLDS is found(receive).verdict


def wrong_cache(state: Any, src: int, message: Message) -> Step:
    kept = cached.setdefault((message.sender, message.number), message)
    return Step(state, deliveries=(kept,))


def test_a_cache_with_a_wrong_key_is_refused_and_no_violation_is_shown() -> None:
    forget()
    protocol = Protocol("toy", lambda actor, actors: actor, causal_send, wrong_cache)
    spec = Spec("x", actors=3, messages=2, properties=("integrity",))
    result = check(spec, protocol=protocol).result
    assert Verdict.ERROR is result.verdict
    assert "it uses the variable cached, which can change" in str(result.error)


clock = time.perf_counter_ns


@pytest.mark.parametrize("read", [lambda: clock(), lambda: elapsed(), lambda: time.time()])
def test_a_handler_that_calls_a_clock_is_refused_even_if_the_time_decides_nothing(
    read: Callable[[], float],
) -> None:
    def receive(state: Any, src: int, message: Message) -> Step:
        read()
        return Step(state, deliveries=(message,))

    result = found(receive)
    assert Verdict.ERROR is result.verdict
    assert "calls time." in str(result.error)


HELPED = """
import helper
from antecede import Protocol, Step

def receive(state, src, message):
    return Step(state, deliveries=(message,) if helper.now() else ())

P = Protocol("helped", lambda actor, actors: 0,
             lambda state, message: Step(state, ((message.receiver, message),)), receive)
"""


def test_a_clock_in_a_helper_module_is_found(tmp_path: Path, antecede: Command) -> None:
    (tmp_path / "helper.py").write_text("from time import time as t\ndef now(): return t() > 0\n")
    (tmp_path / "helped.py").write_text(HELPED)
    ran = antecede("check", "helped.py", "--actors", 2, "--messages", 1, cwd=tmp_path)
    assert 2 == ran.code
    assert "calls time.time()" in ran.out


LUCK = random.Random(0)


def test_a_run_that_cannot_be_replayed_because_of_a_handler_is_no_bug_of_the_checker() -> None:
    """Rarely, chance decides. The checks see it when they look back, or when a replay fails."""

    def receive(state: Any, src: int, message: Message) -> Step:
        return Step(state, deliveries=(message,) if LUCK.random() < 0.9 else ())

    result = found(receive, engine="plain")
    assert Verdict.ERROR is result.verdict


PROGRAM = """
from attrs import evolve, frozen
from antecede import Protocol, Step, check

seen = set()

@frozen
class State:
    me: int

class Keeper:
    kept = {kept}

def causal_send(state, message):
    return Step(state, ((message.receiver, message),))

def receive(state, src, message):
    {note}
    return Step(state, deliveries=(message,) if (state.me, 1) in {read} else ())

toy = Protocol("toy", lambda actor, actors: State(actor), causal_send, receive)
result = check(toy, actors=2, messages=2, properties="all-delivered", network="fifo")
print(result)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("kept", "note", "read"),
    [
        ("None", "seen.add((state.me, message.number))", "seen"),
        ("set()", "Keeper.kept.add((state.me, message.number))", "Keeper.kept"),
    ],
)
def test_a_program_that_defines_a_protocol_itself(
    tmp_path: Path, kept: str, note: str, read: str
) -> None:
    """Its module is `__main__`, which no other process can import."""
    (tmp_path / "program.py").write_text(PROGRAM.format(kept=kept, note=note, read=read))
    ran = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "depends on the calls before it" in " ".join(ran.stdout.split()), ran


IN_A_MODULE = """
from dataclasses import dataclass
from antecede import Protocol, Step

@dataclass(frozen=True)
class Data:
    message: object

TABLE = {}

def causal_send(state, message):
    return Step(state, sends=((message.receiver, Data(message)),))

def receive(state, sender, packet):
    known = isinstance(packet, Data) and TABLE["filled"]
    return Step(state, deliveries=(packet.message,) if known else ())

PROTOCOL = Protocol(name="toy", initial=lambda *_: None, causal_send=causal_send, receive=receive)
"""


def test_the_classes_and_tables_of_the_programs_modules_are_those_of_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import in the new process would make another class, and an empty table."""
    (tmp_path / "toy_in_a_module.py").write_text(IN_A_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("toy_in_a_module")
    module.TABLE["filled"] = True
    spec = Spec("x", actors=2, messages=2, properties=("all-delivered",))
    result = check(spec, Options(engine="plain"), protocol=module.PROTOCOL).result
    assert Verdict.HOLDS is result.verdict
    assert result.statistics["selfcheck_in_new_processes"] == "20 calls"
