"""An asyncio node as an object that the checker can call.

Nothing happens between two calls. A call runs the node's loop until it is at rest, and `timeout`
lets time pass to the earliest timer first.
"""

from __future__ import annotations

import asyncio
import contextvars
import os.path
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from antecede.checker.adapters.aio.clocks import Unsupported, in_place, refusing
from antecede.checker.adapters.aio.frames import check_version
from antecede.checker.adapters.aio.keys import Key
from antecede.checker.adapters.aio.loop import Loop, name_of
from antecede.checker.adapters.aio.transports import Address, Frame, Net, body_of, message_in
from antecede.checker.adapters.calls import Out
from antecede.checker.model import Message
from antecede.checker.support.registry import places_in

STEPS = ("rest", "iteration")
"""How far a call runs the loop: to rest, or for one iteration."""


class _Done:
    """The result of `deliver`, which a node may await."""

    def __await__(self) -> Iterator[None]:
        return iter(())


class World:
    """One actor: an adapter, its node and their loop.

    Nothing in the node refers to this object, so it ends when the checker drops it.
    """

    copies = "replay"

    def __init__(self, cls: type[Node], actor: int, actors: int) -> None:
        adapter = object.__new__(cls)
        adapter.actor, adapter.actors, adapter._delivered = actor, actors, []
        if adapter.step not in STEPS:
            raise Unsupported(f"step of {cls.__name__} is {adapter.step!r}; choose {STEPS}")
        net = Net(
            *(actor, actors, adapter.address_of, adapter.frames, adapter.numbered, adapter.greets)
        )
        self.adapter, self.net = adapter, net
        self.loop = Loop(net)  # type: ignore[abstract]
        self._context = contextvars.Context()
        with self._in_place():
            self._context.run(self._spawn, adapter.start())
            self.loop.run()

    def causal_send(self, out: Out, message: Message) -> None:
        """Let the application of the node send a message."""
        self._call(out, lambda: self._spawn(self.adapter.send(message)))

    def receive(self, out: Out, src: int, packet: Frame) -> None:
        """Hand over a frame."""
        self._call(out, lambda: self.net.arrive(self.loop, src, packet))

    def timeout(self, out: Out) -> None:
        """Let time pass to the earliest timer; what `start` sent leaves before that."""
        if not self.net.outbox and not self.loop.ready:
            self._call(out, self.loop.advance, timer=True)
        else:
            self._call(out, lambda: None, timer=True)

    def _call(self, out: Out, work: Callable[[], Any], *, timer: bool = False) -> None:
        with self._in_place():
            self._context.run(work)
            if self.adapter.step == "rest":
                self.loop.run()
            elif timer:
                self.loop.run(once=True)
        for to, frame in self.net.outbox:
            out.send(to, frame)
        for message in self.adapter._delivered:
            out.deliver(message)
        self.net.outbox.clear()
        self.adapter._delivered.clear()

    def _spawn(self, result: Any) -> None:
        if asyncio.iscoroutine(result):
            self.loop.create_task(result, context=self._context.copy())

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """Run a block in the place of the node, and refuse what it must not do."""
        with in_place(self.loop, () if self.adapter.joins else _COUNTING):
            try:
                yield
            finally:
                self._check()

    def _check(self) -> None:
        """Raise the first refusal, or the error of a task that nothing waits for."""
        loop = self.loop
        for refusal in loop.refusals:
            raise refusal
        for task in loop.died:
            if not task._log_traceback:
                continue  # something has asked for the error
            error = task.exception()
            assert error is not None, "it died"
            if not isinstance(error, Exception):
                raise error
            if not self.adapter.tasks_may_fail:
                raise Unsupported(
                    f"the task {name_of(task)} ended with {type(error).__name__}: {error} "
                    f"({_place(error)}); nothing runs in its place"
                ) from error
        loop.died.clear()
        for context in loop.failures:
            cause = context.get("exception")
            place = f": {type(cause).__name__}: {cause} ({_place(cause)})" if cause else ""
            raise Unsupported(f"{context.get('message')}{place}") from cause
        self.net.check_frames()

    def key(self) -> Hashable:
        """Return what decides what the node will do."""
        adapter, loop, net = self.adapter, self.loop, self.net
        unsent = (tuple(net.outbox), tuple(adapter._delivered))
        if (state := adapter.state()) is not None:
            return (state, unsent)
        check_version()
        key = Key(loop, loop.now, adapter.oldest, unfinished=adapter.joins)
        try:
            self._write(key)
        except RecursionError:
            raise Unsupported(
                "the objects of the node refer to each other too deeply; let the adapter have a "
                "method state(self) that returns everything that decides what the node does"
            ) from None
        return (key.digest(), unsent) if any(unsent) else key.digest()

    def _write(self, key: Key) -> None:
        adapter, loop, net = self.adapter, self.loop, self.net
        key.known(net)
        key.write(adapter)
        key.all((self._context, net.servers, net.endpoints, net.opened, net.connections))
        key.all(loop.ready)
        for due, _, handle in sorted(loop.timers, key=lambda timer: timer[:2]):
            if not handle.cancelled():
                key.all((due, handle))
        key.all(loop.tasks.values())
        key.all((loop.chance if loop.chance != loop.untouched else None, loop.handler))
        key.write(loop.now.ticks if adapter.absolute else None)

    def __del__(self) -> None:
        if hasattr(self, "loop"):
            with in_place(self.loop):
                self.loop.end()


_refuse_to_count = refusing(
    "the node calls join or task_done of a queue; set joins = True in the adapter, so that the "
    "numbers of unfinished tasks are part of its state"
)
_COUNTING = tuple((asyncio.Queue, name, _refuse_to_count) for name in ("join", "task_done"))


def _place(error: BaseException) -> str:
    """Return the file and the line that raised an error."""
    places = places_in(error)
    return f"{os.path.basename(places[-1][0])}:{places[-1][1]}" if places else "no line"


class Node:
    """An asyncio node under test; a subclass defines `start` and `send`.

    Attributes:
        actor, actors: the number of this actor, and of all actors.
        step: `rest` runs the node's loop until it is at rest in each call; `iteration` makes each
            iteration of the loop a timeout of its own.
        numbered: equal frames of a connection that are in flight together are not one packet.
        greets: a new connection is a packet, for servers that speak first.
        joins: the node calls `join` or `task_done` of queues.
        tasks_may_fail: a task that ends with an exception is no error.
        oldest: the age in seconds from which the node treats all times alike.
        absolute: the node's clock is part of its state, for nodes that send the time.
    """

    copies: ClassVar[str] = "replay"
    step = "rest"
    numbered = False
    greets = False
    joins = False
    tasks_may_fail = False
    oldest: float | None = None
    absolute = False

    actor: int
    actors: int
    _delivered: list[Message]

    def __new__(cls, actor: int, actors: int) -> Any:
        """Return what the checker calls."""
        return World(cls, actor, actors)

    causal_send: ClassVar[Any] = World.causal_send
    receive: ClassVar[Any] = World.receive
    timeout: ClassVar[Any] = World.timeout
    key: ClassVar[Any] = World.key

    def start(self) -> Any:
        """Make the node and start it; may be a coroutine."""
        raise NotImplementedError("the adapter has no method start(self), which starts the node")

    def send(self, message: Message) -> Any:
        """Let the node send `self.body(message)` to `message.destinations`; may be a coroutine."""
        raise NotImplementedError("the adapter has no method send(self, message)")

    def state(self) -> Hashable | None:
        """Return everything that decides what the node does; None: antecede finds it out."""
        return None

    def frames(self, data: bytes) -> tuple[list[bytes], bytes]:
        """Return the whole frames in data that was written to a stream, and the rest: lines."""
        lines = data.splitlines(keepends=True)
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        return lines, rest

    def name_of(self, actor: int) -> str:
        """Return the name of an actor."""
        return f"n{actor}"

    def address_of(self, actor: int) -> Address:
        """Return the host and the port of an actor."""
        return (f"10.0.0.{actor + 1}", 7000)

    @property
    def name(self) -> str:
        """The name of this actor."""
        return self.name_of(self.actor)

    @property
    def address(self) -> Address:
        """The host and the port of this actor."""
        return self.address_of(self.actor)

    @property
    def peers(self) -> dict[str, Address]:
        """The names and addresses of the other actors."""
        others = (actor for actor in range(self.actors) if actor != self.actor)
        return {self.name_of(actor): self.address_of(actor) for actor in others}

    def body(self, message: Message) -> str:
        """Return a message as a text, which `deliver` finds in whatever carries it."""
        return body_of(message)

    def deliver(self, *values: Any) -> Any:
        """Deliver the message whose body is in one of the values; the result may be awaited."""
        self._delivered.append(message_in(*values))
        return _Done()
