"""The compiled audit's two threads: the result does not depend on which one is faster."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.events import batches
from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.space import Store
from antecede.checker.logs.judge import ahead, code
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.readers.records import fields_from
from antecede.checker.support.errors import NO_THREAD, AntecedeError, CapacityError, InputError
from tests.conftest import Command
from tests.engine.threads.test_little_memory import refuse
from tests.logs.test_compiled import all_of, wild, write

Patch = pytest.MonkeyPatch
Work = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class SlowThread:
    """Starts to work only when somebody waits for a result.

    Several threads could end their work in any order; then the newest work is done first.
    """

    def __init__(self, workers: int, _name: str) -> None:
        self.workers, self.left = workers, deque[Work]()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future = LateResult(self)
        self.left.append((future, function, args))
        return future

    def catch_up(self) -> None:
        while self.left:
            future, function, args = self.left.popleft() if self.workers == 1 else self.left.pop()
            try:
                future.set_result(function(*args))
            except BaseException as error:
                future.set_exception(error)

    def shutdown(self, *, cancel_futures: bool) -> None:
        assert cancel_futures


class LateResult(Future[Any]):
    """A result of a `SlowThread`."""

    def __init__(self, thread: SlowThread) -> None:
        super().__init__()
        self.thread = thread

    def exception(self, timeout: float | None = None) -> BaseException | None:
        self.thread.catch_up()
        return super().exception(timeout)

    def result(self, timeout: float | None = None) -> Any:
        self.thread.catch_up()
        return super().result(timeout)


class FastThread(SlowThread):
    """Has done its work before the caller goes on."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future = super().submit(function, *args)
        self.catch_up()
        return future


@pytest.fixture(autouse=True)
def no_thread_survives() -> Iterator[None]:
    before = {*threading.enumerate()}
    yield
    assert {*threading.enumerate()} <= before


@pytest.fixture(params=[SlowThread, FastThread, ThreadPoolExecutor])
def thread(request: pytest.FixtureRequest, monkeypatch: Patch) -> type:
    """Let the judge work in a thread of each speed, on batches of seven events."""
    monkeypatch.setattr(ahead, "ThreadPoolExecutor", request.param)
    monkeypatch.setattr(batches, "SIZE", 7)
    cls: type = request.param
    return cls


def judged(path: Path, compiled: bool = True) -> list[Any]:
    """Return everything that an audit says, or its error."""
    try:
        found: Audit = audits.audit([str(path)], compiled=compiled)
    except AntecedeError as error:
        return [type(error), str(error)]
    return all_of(found)


BAD = '{"actor": "a", "event": "deliver"}'


def sends(count: int) -> list[tuple[str, str]]:
    row = '{{"actor": "a", "event": "causal-send", "message": {}, "to": ["b"]}}'
    return [("a", row.format(number)) for number in range(count)]


def fail_at(event: int, monkeypatch: Patch) -> list[int]:
    """Let the disk be full when the judge comes to a line; return the lines that it judges."""
    judge, lines = Judge._judge, list[int]()

    def until_full(self: Judge, rows: Any, events: int, *, keep: bool = True) -> None:
        for place in rows[:events, c.PLACE].tolist():
            lines.append(place & ((1 << c.PLACE_BITS) - 1))
            if lines[-1] == event:
                raise CapacityError("the disk is full")
        judge(self, rows, events, keep=keep)

    monkeypatch.setattr(Judge, "_judge", until_full)
    return lines


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.usefixtures("thread")
def test_a_slow_and_a_fast_judge_find_the_same(seed: int, tmp_path: Path) -> None:
    lines = wild(random.Random(seed), 9, 200)
    if seed % 3 == 2:
        lines[150] = (lines[150][0], BAD)
    path = write(tmp_path / "log", lines)
    assert judged(path, compiled=False) == judged(path)


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize("bad", [21, 22, 25, 28, 29, 40])
def test_the_earliest_error_is_reported_whichever_thread_has_it(
    bad: int, monkeypatch: Patch, tmp_path: Path
) -> None:
    """The disk is full at line 25, and line `bad` has an event without a message."""
    lines = sends(60)
    lines[bad - 1] = ("a", BAD)
    path = write(tmp_path / "log", lines)
    seen = fail_at(25, monkeypatch)
    error, text = judged(path)
    assert (InputError if bad <= 25 else CapacityError) == error
    assert f"line {bad}:" in text or "disk is full" in text
    assert [*range(1, min(bad, 26))] == seen


@pytest.mark.usefixtures("thread")
def test_nothing_is_judged_after_an_error(monkeypatch: Patch, tmp_path: Path) -> None:
    seen = fail_at(1, monkeypatch)
    assert [CapacityError, "the disk is full"] == judged(write(tmp_path / "log", sends(60)))
    assert [1] == seen


@pytest.mark.usefixtures("thread")
def test_an_error_at_the_last_event_is_not_lost(monkeypatch: Patch, tmp_path: Path) -> None:
    """The log has no more lines, so the parser hands nothing over after the error."""
    fail_at(60, monkeypatch)
    assert [CapacityError, "the disk is full"] == judged(write(tmp_path / "log", sends(60)))


@pytest.mark.usefixtures("thread")
def test_the_last_error_of_a_log_comes_before_a_log_without_events(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    fail_at(60, monkeypatch)
    other = '{"actor": "z", "event": "start", "message": 0}'
    paths = [write(tmp_path / "log", sends(60)), write(tmp_path / "none", [("z", other)])]
    names, fields = [str(path) for path in paths], fields_from("deliver=got")
    with pytest.raises(CapacityError, match="the disk is full"):
        audits.audit(names, fields=fields, compiled=True)


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, CapacityError])
def test_an_end_from_the_reading_thread_ends_the_judge(
    kind: type[BaseException], monkeypatch: Patch, tmp_path: Path
) -> None:
    monkeypatch.setattr("antecede.checker.logs.readers.sources.CHUNK", 1_000)

    def end(_bytes: int, events: int) -> None:
        if events > 30:
            raise kind

    with pytest.raises(CapacityError if kind is MemoryError else kind):
        audits.audit([str(write(tmp_path / "log", sends(60)))], compiled=True, tick=end)


def test_an_end_does_not_wait_for_a_batch_that_takes_long(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    """The kernel returns now and then, and the judge's thread looks whether to go on."""
    reached = threading.Event()

    def endless(_tables: Any, _batch: Any, first: int, _end: int) -> int:
        reached.set()
        return first

    def end(_bytes: int, _events: int) -> None:
        assert reached.wait(60)
        raise KeyboardInterrupt

    monkeypatch.setattr(batches, "SIZE", 7)
    monkeypatch.setattr(code.MACHINE, "judge", endless)
    with pytest.raises(KeyboardInterrupt):
        audits.audit([str(write(tmp_path / "log", sends(15)))], compiled=True, tick=end)


def test_a_full_disk_is_said_by_either_thread(monkeypatch: Patch, tmp_path: Path) -> None:
    """The parser keeps the names of messages on the disk, and the judge keeps the events."""
    path = write(tmp_path / "log", sends(60))
    for full in (8, 1):
        with monkeypatch.context() as patch:
            add = Store.add

            def kept(self: Store, values: Any, size: int = full, add: Any = add) -> None:
                if self.kind().itemsize == size:
                    raise CapacityError(f"no room for numbers of {size} bytes")
                add(self, values)

            patch.setattr(Store, "add", kept)
            assert [CapacityError, f"no room for numbers of {full} bytes"] == judged(path)


def test_without_a_second_thread_there_is_no_result(
    monkeypatch: Patch, antecede: Command, tmp_path: Path
) -> None:
    monkeypatch.setattr(audits, "LARGE", 1)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    ran = antecede("audit", write(tmp_path / "log", sends(60)))
    assert (3, f"Error: {NO_THREAD}\n") == (ran.code, ran.err)
