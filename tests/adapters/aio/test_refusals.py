"""What the loop of a test cannot simulate is refused by one sentence, caught or not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
import types
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from antecede import Message
from antecede.testing import aio
from antecede.testing.adapter import Out

Bad = Callable[[Any], Awaitable[Any]]


async def thread(node: Any) -> None:
    threading.Thread(target=print, name="worker").start()


async def program(node: Any) -> None:
    await asyncio.create_subprocess_exec("true")


async def popen(node: Any) -> None:
    subprocess.run(["true"], check=True)


async def raw_socket(node: Any) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


async def descriptor(node: Any) -> None:
    asyncio.get_running_loop().add_reader(0, print)


async def tls(node: Any) -> None:
    await asyncio.open_connection("10.0.0.2", 7000, ssl=True)


async def unix(node: Any) -> None:
    await asyncio.get_running_loop().create_unix_connection(asyncio.Protocol, "/socket")


async def blocking(node: Any) -> None:
    time.sleep(1)


async def polling(node: Any) -> None:
    while True:
        await asyncio.sleep(0)


async def until(node: Any) -> None:
    asyncio.get_running_loop().run_forever()


async def uvloop_run(node: Any) -> None:
    sys.modules["uvloop"].run(None)


async def trio_run(node: Any) -> None:
    sys.modules["trio"].run(None)


async def joins(node: Any) -> None:
    await asyncio.Queue[int]().join()


async def half_a_line(node: Any) -> None:
    _, node.writer = await asyncio.open_connection("10.0.0.2", 7000)
    node.writer.write(b"half")


async def no_body(node: Any) -> None:
    node.deliver("nothing")


async def stranger(node: Any) -> None:
    await asyncio.open_connection("example.org", 80)


async def dies(node: Any) -> None:
    async def work() -> None:
        raise KeyError("x")

    node.task = asyncio.create_task(work())


async def callback(node: Any) -> None:
    def fails() -> None:
        raise KeyError("x")

    asyncio.get_running_loop().call_soon(fails)


REFUSED: dict[Bad, str] = {
    thread: "the node starts the thread 'worker'; threads cannot be followed; run the work in",
    program: "the node calls subprocess_exec of its loop: the node starts a subprocess, which",
    popen: "the node starts a subprocess, which would run outside of the test; replace it",
    raw_socket: "the node makes a socket itself; let asyncio open it",
    descriptor: "the node calls add_reader of its loop: there are no real sockets; use",
    tls: "TLS cannot be simulated; test the node without it",
    unix: "create_unix_connection of its loop: unix sockets cannot be simulated; use host and port",
    blocking: r"the node calls time.sleep\(1\), which stops its whole loop; use asyncio.sleep",
    polling: r"the node never comes to rest: .* \(tasks: .*Node.send\); let a loop with asyncio",
    until: "run_forever of its loop: let start.. be a coroutine",
    uvloop_run: "the node calls uvloop.run, which makes a loop of its own; the node must run on",
    trio_run: "the node calls trio.run, which makes a loop of its own; the node must run on",
    joins: "the node calls join or task_done of a queue; set joins = True",
    half_a_line: "wrote b'half' to a stream, which ends in the middle of a line",
    no_body: "deliver was given 'nothing', without the body of a message",
    stranger: r"Node.send ended with ConnectionRefusedError: .* nobody listens at example.org",
    dies: r"the task dies.<locals>.work ended with KeyError: 'x' \(test_refusals.py:\d+\); nothing",
    callback: r"Exception in callback .*KeyError: 'x' \(test_refusals.py:\d+\)",
}


@pytest.fixture(scope="module")
def _other_loops() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("uvloop", "trio"):
            module: Any = types.ModuleType(name)
            module.run = lambda main: None
            patch.setitem(sys.modules, name, module)
        yield


@pytest.mark.usefixtures("_other_loops")
@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: bad.__name__)
def test_what_cannot_be_simulated_is_refused_by_name(bad: Bad) -> None:
    class Node(aio.Node):
        def start(self) -> None:
            pass

        async def send(self, message: Message) -> None:
            await bad(self)

    node: Any = Node(0, 2)
    with pytest.raises(aio.Unsupported, match=REFUSED[bad]):
        node.causal_send(Out(), Message(0, 1, (1,)))
    assert abs(time.time() - 1_700_000_000) > 1e6, "the machine's functions are back"


def test_a_node_that_catches_a_refusal_is_refused_all_the_same() -> None:
    class Node(aio.Node):
        def start(self) -> None:
            with contextlib.suppress(Exception):
                time.sleep(1)

    with pytest.raises(aio.Unsupported, match=r"use asyncio\.sleep"):
        Node(0, 2)


def test_a_task_whose_error_another_task_takes_is_no_error() -> None:
    class Node(aio.Node):
        async def start(self) -> None:
            async def fails() -> None:
                raise KeyError("x")

            self.results = await asyncio.gather(fails(), fails(), return_exceptions=True)

    node: Any = Node(0, 2)
    assert 2 == len(node.adapter.results)


def test_work_for_a_thread_runs_at_once() -> None:
    class Node(aio.Node):
        async def start(self) -> None:
            self.five = await asyncio.to_thread(lambda: 5)

    node: Any = Node(0, 2)
    assert 5 == node.adapter.five
