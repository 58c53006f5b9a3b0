"""Several threads in the parts of antecede that change what belongs to all threads."""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.purity.effects import Effects, listen
from antecede.checker.semantics.handlers import called, traceback_of
from antecede.checker.semantics.tracing import Tracer, lines_of
from antecede.checker.support.alone import alone
from antecede.checker.support.errors import HandlerError
from antecede.checker.support.sources import syntax_tree
from antecede.checker.support.streams import printing_to_stderr
from tests.models import toy


def fails(*_arguments: object) -> None:
    """Raise an exception that Python underlines in its traceback, for which it parses the line."""
    raise ValueError(str(1 / 1) + str(0 / 1) + "no")


def trace() -> None:
    with Tracer().tracing():
        pass


def observe() -> None:
    with Effects(frozenset()).observed():
        pass


def describe() -> None:
    with pytest.raises(HandlerError) as failure:
        called(toy("failing"), "receive", fails, ())
    assert "ValueError: 1.00.0no" in traceback_of(failure.value)


@pytest.mark.parametrize(
    ("owner", "name", "act"),
    [
        (sys, "settrace", trace),
        (sys, "setprofile", observe),
        (ast, "parse", lambda: syntax_tree("1")),
        (ast, "parse", describe),
        (linecache, "getlines", lambda: lines_of(__file__)),
        (linecache, "checkcache", lambda: lines_of(__file__, now=True)),
        (linecache, "checkcache", describe),
    ],
)
def test_one_thread_at_a_time_asks_this_of_python(
    owner: Any, name: str, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, calls, inside, most = getattr(owner, name), 0, 0, 0

    def slow(*arguments: Any, **keywords: Any) -> Any:
        nonlocal calls, inside, most
        calls, inside = calls + 1, inside + 1
        most = max(most, inside)
        time.sleep(0.02)
        inside -= 1
        return function(*arguments, **keywords)

    monkeypatch.setattr(owner, name, slow)
    threads = [threading.Thread(target=act) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls >= 3
    assert 1 == most


def test_a_file_may_vanish_while_another_thread_asks_for_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python sees the lines in its cache, and another thread removes them there."""

    class Cache(dict[str, Any]):
        def __contains__(self, name: object) -> bool:
            found = super().__contains__(name)
            if found and threading.current_thread() is not other:
                other.start()
                other.join(0.5)
            return found

    file = tmp_path / "mine.py"
    file.write_text("x = 1\n")
    lines_of(str(file))
    file.unlink()
    other = threading.Thread(target=lambda: lines_of(str(file), now=True))
    failures = list[Exception]()
    with monkeypatch.context() as patch:
        patch.setattr(linecache, "cache", Cache(linecache.cache))
        try:
            lines = lines_of(str(file))
        except KeyError as error:
            failures.append(error)
        other.join()
    assert [] == failures
    assert ["x = 1"] == lines
    assert [] == lines_of(str(file), now=True)


def test_an_error_of_a_handler_names_its_line_without_the_lines_of_its_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = ""
    with monkeypatch.context() as patch:
        patch.setattr(linecache, "checkcache", fails)
        try:
            called(toy("failing"), "receive", fails, ())
        except Exception as error:
            text = str(error)
    assert re.search(r"raised ValueError: 1.00.0no \(line \d+ of ", text), text


def test_a_fork_finds_no_thread_of_its_parent_in_there() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    holds, frees = threading.Event(), threading.Event()

    def hold() -> None:
        with alone:
            holds.set()
            frees.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    threading.Timer(0.2, frees.set).start()
    child = os.fork()
    if not child:
        os._exit(0 if alone.acquire(timeout=30) else 1)
    thread.join()
    assert 0 == os.waitpid(child, 0)[1]


def overlapping(block: Callable[[], AbstractContextManager[Any]]) -> Iterator[None]:
    """Enter a block, then another one in another thread; leave the first one first.

    Yields within both blocks, and after them.
    """
    inside, ends = threading.Event(), threading.Event()

    def enter() -> None:
        with block():
            inside.set()
            ends.wait()

    thread = threading.Thread(target=enter)
    with block():
        thread.start()
        inside.wait()
        yield
    ends.set()
    thread.join()
    yield


@contextmanager
def a_call() -> Iterator[None]:
    """Be in a call of a handler."""
    begun, ends = threading.Event(), threading.Event()

    def handler() -> None:
        begun.set()
        ends.wait()

    thread = threading.Thread(target=called, args=(toy("x"), "receive", handler, ()))
    thread.start()
    begun.wait()
    yield
    ends.set()
    thread.join()


@pytest.mark.integration
@pytest.mark.parametrize("block", [printing_to_stderr, a_call])
def test_standard_output_is_itself_again_after_two_redirections(
    block: Callable[[], AbstractContextManager[Any]],
) -> None:
    stdout = sys.stdout
    assert stdout is not sys.stderr
    steps = overlapping(block)
    next(steps)
    assert sys.stderr is sys.stdout
    next(steps)
    assert stdout is sys.stdout


def test_two_threads_may_observe_their_calls_at_one_time(tmp_path: Path) -> None:
    listen()
    mine, file = Effects(frozenset({"tests"})), tmp_path / "written"
    ends, inside = threading.Event(), threading.Event()

    def observe_too() -> None:
        with Effects(frozenset({"tests"})).observed() as faults:
            inside.set()
            ends.wait()
        assert [] == faults

    thread = threading.Thread(target=observe_too)
    with mine.observed() as faults:
        thread.start()
        inside.wait()
        file.write_text("x")
        time.monotonic()
    ends.set()
    thread.join()
    assert [str(file), "time.monotonic"] == [
        name
        for name, fault in zip((str(file), "time.monotonic"), faults, strict=True)
        if name in fault
    ]
