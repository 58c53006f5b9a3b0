"""An event loop of asyncio without a clock, files or sockets of its own.

Question: How does an asyncio node run without real time and real sockets?
"""

from __future__ import annotations

import asyncio
import collections
import contextvars
import heapq
import random
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from antecede.checker.adapters.aio import transports
from antecede.checker.adapters.aio.clocks import (
    NO_PROCESSES,
    NO_THREADS,
    Instant,
    instant,
    refuse,
    refusing,
)

MOST_CALLBACKS = 100_000
"""A call that makes more callbacks than this never comes to rest."""


class Task(asyncio.Task[Any]):
    """A task whose place in a set depends on no address."""

    def __init__(self, *arguments: Any, number: int, **named: Any) -> None:
        self.number = number
        super().__init__(*arguments, **named)

    def __hash__(self) -> int:
        return self.number


class Future(asyncio.Future[Any]):
    """A future whose place in a set depends on no address."""

    def __init__(self, *, loop: Loop, number: int) -> None:
        self.number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.number


class Loop(asyncio.AbstractEventLoop):
    """The loop of one node.

    Attributes:
        now: the time on the node's clock, which passes in `advance` alone.
        ready: callbacks that are due, in order.
        timers: a heap of (time, number, handle).
        tasks: the tasks that have not ended, by identity.
        died: tasks that ended with an exception.
        failures: contexts that asyncio reported to the loop.
        refusals: what the node asked for and cannot have.
        chance: the state of the random numbers.
        closed: nothing happens any more.
    """

    slow_callback_duration = 0.1

    def __init__(self, net: transports.Net) -> None:
        self.net = net
        self.now: Instant = Instant(0)
        self.ready: collections.deque[asyncio.Handle] = collections.deque()
        self.timers: list[tuple[Instant, int, asyncio.TimerHandle]] = []
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        self.died: list[asyncio.Task[Any]] = []
        self.failures: list[dict[str, Any]] = []
        self.refusals: list[Exception] = []
        self.chance = random.Random(f"antecede {net.actor}").getstate()
        self.untouched = self.chance
        self.closed = False
        self.numbers = 0
        self.factory: Any = None
        self.handler: Any = None

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    # Callbacks, timers and tasks.

    def time(self) -> Instant:
        return self.now

    def call_soon(  # type: ignore[override]
        self, callback: Any, *arguments: Any, context: Any = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, arguments, self, context)
        if not self.closed:
            self.ready.append(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *arguments: Any, context: Any = None
    ) -> Any:
        if asyncio._get_running_loop() is not self:
            raise refuse(f"the node calls call_soon_threadsafe from a thread; {NO_THREADS}")
        return self.call_soon(callback, *arguments, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *arguments: Any, context: Any = None
    ) -> Any:
        return self.call_at(self.now + delay, callback, *arguments, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *arguments: Any, context: Any = None
    ) -> Any:
        due = instant(Instant(when).ticks)
        handle = asyncio.TimerHandle(due, callback, arguments, self, context)
        handle._scheduled = True  # type: ignore[attr-defined]
        heapq.heappush(self.timers, (due, self._number(), handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave it in the heap, where `due` drops it."""

    def create_future(self) -> Future:
        return Future(loop=self, number=self._number())

    def create_task(self, coro: Any, *, name: Any = None, context: Any = None, **more: Any) -> Any:
        if self.factory is None:
            named = {"name": name or "Task", "context": context, "number": self._number()}
            task: asyncio.Task[Any] = Task(coro, loop=self, **named, **more)
        else:
            given = {} if context is None else {"context": context}
            task = self.factory(self, coro, **given, **more)
            if name is not None:
                task.set_name(name)
        self.tasks[id(task)] = task
        task.add_done_callback(self._ended, context=contextvars.Context())
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.pop(id(task), None)
        if not task.cancelled() and task._exception is not None:
            self.died.append(task)

    def set_task_factory(self, factory: Any) -> None:
        self.factory = factory

    def get_task_factory(self) -> Any:
        return self.factory

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        """Ignore it: debugging reads the real clock."""

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return self.closed

    def close(self) -> None:
        """Do nothing: the loop ends with its node."""

    def set_exception_handler(self, handler: Any) -> None:
        self.handler = handler

    def get_exception_handler(self) -> Any:
        return self.handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.failures.append(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self.handler is None:
            self.failures.append(context)
        else:
            self.handler(self, context)

    async def shutdown_asyncgens(self) -> None:
        """Do nothing: see `close`."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing: there are no threads."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Run the function at once: no thread is needed for what it does."""
        future = self.create_future()
        try:
            future.set_result(func(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def add_signal_handler(self, *_: Any) -> None:  # type: ignore[override]
        """Do nothing: a test sends no signals."""

    def remove_signal_handler(self, sig: int) -> bool:
        return False

    async def getaddrinfo(self, host: Any, port: Any, **named: Any) -> Any:
        kind = named.get("type") or socket.SOCK_STREAM
        return [(socket.AF_INET, kind, named.get("proto", 0), "", (host, port))]

    # Running.

    def run(self, *, once: bool = False) -> None:
        """Make callbacks until none is ready; with `once`, only those that are ready now."""
        made = 0
        while self.ready:
            for _ in range(len(self.ready)):
                handle = self.ready.popleft()
                made += 1
                if not handle.cancelled():
                    handle._run()
            if once:
                return
            if made > MOST_CALLBACKS:
                self.ready.clear()
                tasks = ", ".join(sorted({name_of(task) for task in self.tasks.values()}))
                raise refuse(
                    f"the node never comes to rest: its loop made {made:,} callbacks without a "
                    f"timer or a packet (tasks: {tasks}); let a loop with asyncio.sleep(0) wait "
                    "for an event, or for some time"
                )

    def due(self) -> bool:
        """Return whether a timer is set."""
        while self.timers and self.timers[0][2].cancelled():
            heapq.heappop(self.timers)
        return bool(self.timers)

    def advance(self) -> None:
        """Let time pass to the earliest timer, and make all timers ready that are due then."""
        if self.due():
            self.now = max(self.now, self.timers[0][0])
        while self.due() and self.timers[0][0] <= self.now:
            handle = heapq.heappop(self.timers)[2]
            handle._scheduled = False  # type: ignore[attr-defined]
            self.ready.append(handle)

    def end(self) -> None:
        """Close all coroutines now, so that none of them runs during another node's call."""
        self.closed = True
        self.ready.clear()
        for stream in self.net.connections.values():
            stream.closing = True  # a StreamWriter warns of others
        for task in list(self.tasks.values()):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            coroutine: Any = task.get_coro()
            with suppress(BaseException):  # its end is part of no run
                coroutine.close()
        self.tasks.clear()
        self.timers.clear()

    # Connections.

    async def create_server(  # type: ignore[override]
        self, factory: Any, host: Any = None, port: Any = None, **named: Any
    ) -> Any:
        return self.net.listen(self, factory, host, port, named)

    async def create_connection(  # type: ignore[override]
        self, factory: Any, host: Any = None, port: Any = None, **named: Any
    ) -> Any:
        return self.net.connect(self, factory, host, port, named)

    async def create_datagram_endpoint(  # type: ignore[override]
        self, factory: Any, local_addr: Any = None, remote_addr: Any = None, **named: Any
    ) -> Any:
        return self.net.endpoint(self, factory, local_addr, remote_addr, named)


def name_of(task: asyncio.Task[Any]) -> str:
    """Return the name of a task's function."""
    return str(getattr(task.get_coro(), "__qualname__", task))


_NO_SOCKETS = (
    "there are no real sockets; use start_server, open_connection or create_datagram_endpoint"
)
_CANNOT = {
    "let start() be a coroutine, because its loop is running already": (
        *("run_forever", "run_until_complete", "stop"),
    ),
    _NO_SOCKETS: (
        *("sock_recv", "sock_recv_into", "sock_recvfrom", "sock_recvfrom_into", "sock_sendall"),
        *("sock_sendto", "sock_connect", "sock_accept", "sock_sendfile", "connect_accepted_socket"),
        *("add_reader", "add_writer", "remove_reader", "remove_writer"),
    ),
    NO_PROCESSES: ("subprocess_shell", "subprocess_exec"),
    "there are no pipes; replace them": ("connect_read_pipe", "connect_write_pipe"),
    "unix sockets cannot be simulated; use host and port": (
        *("create_unix_connection", "create_unix_server"),
    ),
    transports.NO_TLS: ("start_tls",),
    "send the content with write": ("sendfile",),
}
for _why, _names in _CANNOT.items():
    for _name in _names:
        setattr(Loop, _name, refusing(f"the node calls {_name} of its loop: {_why}"))
