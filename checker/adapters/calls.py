"""One call of real code: its `out`, and the work that it must not leave behind.

The checker takes an object's state, sends and deliveries when its method returns. A later delivery
(through an old `out`, by a background task, a timer or a thread) is in no state, so a verdict
without it would be about other code. `watched` refuses such calls, even if the code catches the
error.

asyncio and threading do not record which call started a task or thread. Their functions are
therefore replaced during a call.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from asyncio import BaseEventLoop
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from attrs import define, field

from antecede.checker.adapters.packets import as_value
from antecede.checker.model import Message, Packet
from antecede.checker.support.errors import HandlerError, ProtocolError

ENDING = 0.1
"""Seconds that a thread may take to end after its call returns."""

WORK_LEFT = (
    "left work behind that the checker cannot follow: {what}. Wait for it before the method "
    "returns (await, join), or do it in timeout(out)"
)


@define(eq=False)
class Out:
    """The object with which a method of real code sends packets and delivers messages.

    Each method of an object that the checker runs is given one as its first argument, `out`. When
    the method returns, `out` is closed: a later use is an error.
    """

    _sends: list[tuple[int, Packet]] = field(factory=list)
    _deliveries: list[Message] = field(factory=list)
    _closed: bool = False

    def send(self, to: int, packet: Packet) -> None:
        """Put a packet on the network.

        Args:
            to: the number of the actor that will receive the packet. Actors are numbered from 0.
            packet: any value that can be hashed or pickled. Later changes do not change the packet.

        Raises:
            ProtocolError: the packet cannot be pickled, or the method has already returned.
        """
        self._refuse_if_closed("send")
        self._sends.append((to, as_value(packet)))

    def deliver(self, message: Message) -> None:
        """Give a message to the application of the actor whose method is running.

        Args:
            message: the message, as `causal_send` of its sender was given it.

        Raises:
            ProtocolError: the method has already returned.
        """
        self._refuse_if_closed("deliver")
        self._deliveries.append(message)

    @property
    def sends(self) -> tuple[tuple[int, Packet], ...]:
        """The packets that were sent so far, in order: pairs (receiver's number, packet)."""
        return tuple(self._sends)

    @property
    def deliveries(self) -> tuple[Message, ...]:
        """The messages that were delivered so far, in order."""
        return tuple(self._deliveries)

    def close(self) -> None:
        """Make every later use of this object an error.

        The checker calls this method when the method of the real code returns.
        """
        self._closed = True

    def _refuse_if_closed(self, method: str) -> None:
        if not self._closed:
            return
        fault = (
            f"called {method} of an `out` that it was given in an earlier call, or of a copy; the "
            "network and the application do not see it. Use the `out` that each method is given, "
            "and do not keep it"
        )
        if _under_way and _under_way[-1].is_its_own():
            _under_way[-1].misuses.append(fault)
        raise ProtocolError(fault)

    def __reduce__(self) -> tuple[Callable[[], Out], tuple[()]]:
        """Copy and pickle it as closed and empty, because it belongs to no call then."""
        return _closed, ()


def _closed() -> Out:
    return Out(closed=True)


@define(eq=False)
class _Timer:
    """A callback that a loop is to call later."""

    callback: Callable[..., Any]
    handle: asyncio.Handle | None = None
    over: bool = False

    def __call__(self, *arguments: Any) -> Any:
        self.over = True
        return self.callback(*arguments)

    @property
    def waits(self) -> bool:
        """It was neither called nor cancelled."""
        return not self.over and self.handle is not None and not self.handle.cancelled()


@define(eq=False)
class _Watch:
    """Records the misuses and the work of one call.

    Attributes:
        thread: the thread that makes the call.
        misuses: uses of a closed `out`, in words.
        tasks, timers, threads: the work started during the call.
        cancelled: tasks that were not done when asyncio.run ended.
    """

    thread: threading.Thread = field(factory=threading.current_thread)
    misuses: list[str] = field(factory=list)
    tasks: list[asyncio.Task[Any]] = field(factory=list)
    timers: list[_Timer] = field(factory=list)
    threads: list[threading.Thread] = field(factory=list)
    cancelled: list[asyncio.Task[Any]] = field(factory=list)

    def is_its_own(self) -> bool:
        """Return whether this code runs in the call itself, or in a thread of the call."""
        return threading.current_thread() in (self.thread, *self.threads)

    def records(self) -> bool:
        """Return whether work that starts now belongs to this call, and to no call inside it."""
        return next((each for each in reversed(_under_way) if each.is_its_own()), None) is self

    def replacements(self) -> tuple[tuple[Any, str, Callable[..., Any]], ...]:
        """Return the functions that start work: owner, name, and a function that records."""
        create_task, call_at = BaseEventLoop.create_task, BaseEventLoop.call_at
        start, close = threading.Thread.start, asyncio.Runner.close

        def creates_task(loop: BaseEventLoop, *arguments: Any, **options: Any) -> Any:
            task = create_task(loop, *arguments, **options)
            if self.records():
                self.tasks.append(task)
            return task

        def calls_at(
            loop: BaseEventLoop, when: float, callback: Any, *arguments: Any, **options: Any
        ) -> Any:
            timer = _Timer(callback)
            timer.handle = call_at(loop, when, timer, *arguments, **options)
            if self.records():
                self.timers.append(timer)
            return timer.handle

        def starts(thread: threading.Thread) -> None:
            ours = str(sys._getframe(1).f_globals.get("__name__")).startswith("antecede.checker.")
            if self.records() and not ours:  # a signal handler of the checker starts a thread
                thread.daemon = True  # if it never ends, the command does not wait for it
                self.threads.append(thread)
            start(thread)

        def closes(runner: asyncio.Runner) -> None:
            if self.records():
                with suppress(RuntimeError):  # it is closed already
                    self.cancelled += asyncio.all_tasks(runner.get_loop())
            close(runner)

        return (
            (BaseEventLoop, "create_task", creates_task),
            (BaseEventLoop, "call_at", calls_at),
            (threading.Thread, "start", starts),
            (asyncio.Runner, "close", closes),
        )

    def left(self) -> list[str]:
        """Return the tasks, timers and threads that have not ended, in words."""
        tasks = [
            *(f"the task {_name(task.get_coro())}" for task in self.tasks if not task.done()),
            *(f"the task {_name(task.get_coro())}, which was cancelled" for task in self.cancelled),
        ]
        # A task that sleeps has a timer of its own.
        timers = [f"the timer of {_name(t.callback)}" for t in self.timers if t.waits and not tasks]
        for thread in self.threads:
            thread.join(ENDING)
        threads = [f"the thread {thread.name!r}" for thread in self.threads if thread.is_alive()]
        return list(dict.fromkeys([*tasks, *timers, *threads]))

    def silence(self) -> None:
        """Close the remaining tasks' coroutines, and prevent asyncio's warnings about them."""
        for task in self.tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                with suppress(Exception):
                    task.get_coro().close()


def _name(thing: Any) -> str:
    return str(getattr(thing, "__qualname__", None) or repr(thing))


_under_way: list[_Watch] = []
"""The current calls, the innermost last."""


@contextmanager
def watched(call: str) -> Iterator[None]:
    """Refuse a call, named `call` in errors, that uses a closed `out` or leaves work behind.

    Raises:
        HandlerError: the call did so.
    """
    watch = _Watch()
    replacements = watch.replacements()
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in replacements]
    _under_way.append(watch)
    try:
        for owner, name, recording in replacements:
            setattr(owner, name, recording)
        yield
        unfinished = watch.left()
    except Exception:
        unfinished = []
        if not watch.misuses:
            raise
    finally:
        _under_way.remove(watch)
        for owner, name, function in before:
            setattr(owner, name, function)
        watch.silence()
    if watch.misuses:
        raise HandlerError(f"{call} {watch.misuses[0]}")
    if unfinished:
        raise HandlerError(f"{call} {WORK_LEFT.format(what=', '.join(unfinished))}")
