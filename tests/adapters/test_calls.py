"""Calls of real code: `out`, tasks, timers and threads."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from antecede import Message, check
from antecede.testing import assert_holds, assert_violated
from antecede.testing.adapter import Out, protocol
from tests.conftest import Command

TWO_WAYS: dict[str, Any] = {
    "actors": 3,
    "workload": "script:[[2,1],[2],[]]",
    "properties": ("causal-delivery", "integrity"),
    "engine": "plain",
}
"""Alice's first message to Carol may be overtaken by way of Bob."""

SMALL: dict[str, Any] = {
    "actors": 2,
    "messages": 1,
    "properties": ("integrity", "all-delivered"),
    "engine": "plain",
}
"""Too small for a violation of causal delivery."""


class Node:
    """It delivers on arrival, which violates causal delivery after six transitions."""

    def __init__(self, actor: int, actors: int) -> None:
        self.out: Any = None

    def causal_send(self, out: Out, message: Message) -> None:
        self.keep(out)
        for to in message.destinations:
            out.send(to, {"message": message})

    def receive(self, out: Out, src: int, packet: Any) -> Any:
        self.keep(out)
        self.deliver(out, packet["message"])

    def keep(self, out: Out) -> None:
        """Keep nothing."""

    def deliver(self, out: Out, message: Message) -> None:
        out.deliver(message)

    def key(self) -> Any:
        return self.out is not None


class Keeps(Node):
    """It uses the first `out` that it was given, as one uses a socket."""

    def keep(self, out: Out) -> None:
        self.out = self.out or out

    def deliver(self, out: Out, message: Message) -> None:
        self.out.deliver(message)


class Catches(Keeps):
    def deliver(self, out: Out, message: Message) -> None:
        with contextlib.suppress(Exception):
            self.out.deliver(message)


class Wraps(Keeps):
    def deliver(self, out: Out, message: Message) -> None:
        try:
            self.out.deliver(message)
        except Exception as error:
            raise ValueError("cannot deliver") from error


class KeepsTheMethod(Keeps):
    def keep(self, out: Out) -> None:
        self.out = self.out or out.deliver

    def deliver(self, out: Out, message: Message) -> None:
        self.out(message)


class Copies(Node):
    """A copy belongs to no call, even if the call goes on."""

    def deliver(self, out: Out, message: Message) -> None:
        from copy import copy

        copy(out).deliver(message)


class FromAThread(Keeps):
    def deliver(self, out: Out, message: Message) -> None:
        thread = threading.Thread(target=lambda: Catches.deliver(self, out, message))  # type: ignore[arg-type]
        thread.start()
        thread.join()


class Shares(Node):
    """Its objects use the `out` of the object that was called before."""

    latest: ClassVar[Out | None] = None

    def deliver(self, out: Out, message: Message) -> None:
        used, Shares.latest = Shares.latest or out, out
        with contextlib.suppress(Exception):
            used.deliver(message)


class WhenPickled(Node):
    """It delivers when its call is over."""

    def deliver(self, out: Out, message: Message) -> None:
        self.out, self.message = out, message

    def __getstate__(self) -> Any:
        if self.out is not None:
            self.out.deliver(self.message)
        return {"out": None}


def keyed(kind: type, copies: str) -> Any:
    return protocol(kind, copies=copies, key=kind.key)  # type: ignore[attr-defined]


@pytest.mark.parametrize("copies", ["pickle", "deepcopy", "replay"])
@pytest.mark.parametrize(
    "kind", [Keeps, Catches, Wraps, KeepsTheMethod, Copies, FromAThread, Shares]
)
def test_a_delivery_through_another_calls_out_is_refused(kind: type, copies: str) -> None:
    Shares.latest = None
    with pytest.raises(AssertionError) as raised:
        assert_holds(keyed(kind, copies), **TWO_WAYS)
    said = " ".join(str(raised.value).split())
    assert "deliver of an `out` that it was given in an earlier" in said


def test_a_delivery_after_the_method_returned_is_refused() -> None:
    with pytest.raises(AssertionError, match="receive of WhenPickled called deliver of an `out`"):
        assert_holds(protocol(WhenPickled), **TWO_WAYS)


@pytest.mark.integration
def test_the_run_to_a_use_of_an_old_out_is_shown(tmp_path: Path, antecede: Command) -> None:
    (tmp_path / "node.py").write_text(
        "class Node:\n"
        "    def __init__(self, actor, actors): self.out = None\n"
        "    def causal_send(self, out, message):\n"
        "        self.out = self.out or out\n"
        '        for to in message.destinations: out.send(to, {"m": message})\n'
        "    def receive(self, out, src, packet):\n"
        "        self.out = self.out or out\n"
        '        self.out.deliver(packet["m"])\n'
    )
    ran = antecede("test", "node.py", "--workload", TWO_WAYS["workload"], "--quiet", cwd=tmp_path)
    assert ran.code == 2
    assert "receive of Node called deliver of an `out` that it was given in" in ran.out
    assert "\n  where: in step 4\n" in ran.out


NODE = """
import random

class Node:
    def __init__(self, actor, actors): self.seen = [actor]
    def causal_send(self, out, message): out.send(message.receiver, {"m": message})
    def receive(self, out, src, packet): raise ValueError("no")

class Draws(Node):
    def receive(self, out, src, packet): self.seen.append(random.random())

class Keeps(Node):
    def causal_send(self, out, message): self.seen.append(message)
    def key(self): return tuple(self.seen)
"""


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Node", "receive of protocol 'Node' raised ValueError: no"),
        ("Draws", "returned different results for the same arguments: state['seen'][1] was 0."),
        ("Draws", "it was called as receive({'seen': (1,)}, 0, {'m': Message(sender=0,"),
        ("Keeps", "m1 and m2 are stuck in Alice's state"),
        ("Keeps", "Alice ends as (0, m1, m2)"),
    ],
)
def test_texts_show_objects_and_packets_without_their_wrappers(
    name: str, sentence: str, tmp_path: Path, antecede: Command
) -> None:
    (tmp_path / "node.py").write_text(NODE)
    ran = antecede("test", f"node.py:{name}", "--actors", 2, "--engine", "plain", cwd=tmp_path)
    out = " ".join(ran.out.split())
    assert sentence in out
    assert not [
        word for word in ("PickledPacket", "Running", "Kept", "pickled", "'s key") if word in out
    ]


class KeepsForNothing(Keeps):
    def deliver(self, out: Out, message: Message) -> None:
        out.deliver(message)


def test_an_out_that_is_kept_and_not_used_changes_nothing() -> None:
    assert_violated(protocol(KeepsForNothing), **TWO_WAYS, length=6)


# Work that goes on when the method has returned.


async def in_a_task(work: Callable[[], None]) -> None:
    async def later() -> None:
        await asyncio.sleep(3600)
        work()

    TASKS.add(asyncio.create_task(later()))


LOOPS: list[asyncio.AbstractEventLoop] = []
TASKS: set[Any] = set()
RELEASE = threading.Event()


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    RELEASE.set()
    RELEASE.clear()
    TASKS.clear()
    while LOOPS:
        LOOPS.pop().close()


def new_loop() -> asyncio.AbstractEventLoop:
    LOOPS.append(asyncio.new_event_loop())
    return LOOPS[-1]


async def in_a_timer(work: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(3600, work)


def in_a_thread(_work: Callable[[], None]) -> None:
    threading.Thread(target=RELEASE.wait).start()


def without_a_loop(work: Callable[[], None]) -> None:
    TASKS.add(new_loop().create_task(asyncio.sleep(3600)))


LEFT: dict[str, Callable[[Callable[[], None]], Any]] = {
    "the task in_a_task.<locals>.later, which was cancelled": lambda w: asyncio.run(in_a_task(w)),
    "the task in_a_task.<locals>.later.": (lambda w: new_loop().run_until_complete(in_a_task(w))),
    "the task sleep.": without_a_loop,
    "the timer of Background.deliver.<locals>.work": lambda w: asyncio.run(in_a_timer(w)),
    "the thread 'Thread-": in_a_thread,
}


class Background(Node):
    """It leaves its deliveries to code that continues after the method has returned."""

    how: ClassVar[str] = ""

    def deliver(self, out: Out, message: Message) -> None:
        def work() -> None:
            out.deliver(message)

        LEFT[self.how](work)


@pytest.mark.parametrize("how", LEFT)
def test_work_that_is_left_behind_is_refused_with_its_name(
    how: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Background, "how", how)
    with pytest.raises(AssertionError) as refused:
        assert_holds(protocol(Background), **SMALL)
    said = " ".join(str(refused.value).split())
    assert f"receive of Background left work behind that the checker cannot follow: {how}" in said
    assert "destroyed" not in capfd.readouterr().err


def test_a_worker_that_an_object_starts_when_it_is_made_is_refused() -> None:
    class Worker(Node):
        copies = "replay"

        def __init__(self, actor: int, actors: int) -> None:
            super().__init__(actor, actors)
            in_a_thread(lambda: None)

    with pytest.raises(AssertionError, match="__init__ of Worker left work behind"):
        assert_holds(protocol(Worker), **SMALL)


class LeavesEverySecond(Node):
    """Every second delivery is left to a task; two receipts lead back to the same key."""

    copies = "replay"

    def __init__(self, actor: int, actors: int) -> None:
        super().__init__(actor, actors)
        self.odd = False

    def deliver(self, out: Out, message: Message) -> None:
        self.odd = not self.odd
        if self.odd:
            out.deliver(message)
        else:
            asyncio.run(in_a_task(lambda: out.deliver(message)))

    def key(self) -> Any:
        return self.odd


def test_the_run_to_work_that_is_left_behind_ends_with_the_call_that_leaves_it() -> None:
    found = check(
        protocol(LeavesEverySecond),
        actors=2,
        workload="script:[[1,1],[]]",
        properties=("causal-delivery",),
        engine="plain",
    )
    cause = " ".join(str(found).split()).partition(" where: ")[0]
    assert 1 == cause.count("the task in_a_task")
    assert found.counterexample is not None
    assert 4 == len(found.counterexample)


def awaiting(work: Callable[[], None]) -> None:
    async def some() -> None:
        await asyncio.sleep(0)
        work()

    async def main() -> None:
        await asyncio.wait_for(asyncio.create_task(some()), 3600)
        unused = asyncio.create_task(asyncio.sleep(3600))
        asyncio.get_running_loop().call_later(3600, work).cancel()
        unused.cancel()
        await asyncio.to_thread(lambda: None)

    asyncio.run(main())


def joining(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.mark.parametrize("how", [awaiting, joining])
def test_work_that_is_waited_for_is_followed(how: Callable[[Callable[[], None]], None]) -> None:
    class Waits(Node):
        copies = "replay"

        def deliver(self, out: Out, message: Message) -> None:
            how(lambda: out.deliver(message))

    found = assert_holds(protocol(Waits), **SMALL)
    assert assert_holds(protocol(Node, key=Node.key), **SMALL).counts == found.counts


def test_asyncio_and_threading_are_as_before_after_a_call() -> None:
    before = (asyncio.Runner.close, asyncio.BaseEventLoop.create_task, threading.Thread.start)
    assert_holds(protocol(Node), **SMALL)
    with pytest.raises(AssertionError):
        assert_holds(protocol(Catches), **TWO_WAYS)
    assert before == (
        asyncio.Runner.close,
        asyncio.BaseEventLoop.create_task,
        threading.Thread.start,
    )


def test_an_exception_is_told_as_such_whatever_is_left_behind() -> None:
    class Fails(Node):
        copies = "replay"

        def deliver(self, out: Out, message: Message) -> None:
            asyncio.run(in_a_task(lambda: None))
            raise ValueError("no such thing")

    with pytest.raises(AssertionError, match="raised ValueError: no such thing"):
        assert_holds(protocol(Fails), **SMALL)
