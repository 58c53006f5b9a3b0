"""Distributes calls over processes of this machine; a killed process fails only its own call.

Every worker has its own pool, so that its death is attributed to the call that it was running. This
process supervises them: a worker whose call does not end in time is killed, see `supervisor.Watch`.
Workers end together with their parent process, so a killed sweep leaves no process behind.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait as ready
from types import ModuleType
from typing import Any, TypeVar

from attrs import define

from antecede.checker.support import interrupts, streams
from antecede.checker.support.block import NUMBERS, PROCESS, TEXTS, WIDTH, Block, block
from antecede.checker.support.errors import CapacityError
from antecede.checker.support.platforms import WINDOWS
from antecede.checker.support.registry import with_objects
from antecede.checker.support.supervisor import Watch

Item = TypeVar("Item")
Value = TypeVar("Value")

SAFE_PATH = "PYTHONSAFEPATH"
"""The environment variable that keeps the current folder out of Python's search path."""

PAUSE = 0.2
"""Seconds between two calls of `tick`."""

KILLED = "its process was killed, most likely for want of memory"


class Overdue(CapacityError):
    """A call did not end in time, so that its process was killed."""


_starting = threading.RLock()
"""Held by the thread that starts processes."""


@define(eq=False)
class _Worker:
    """A process, as a pool of one.

    Attributes:
        watch: keeps the limits of its calls.
        overdue: why the process was killed, or an empty text.
    """

    pool: ProcessPoolExecutor
    watch: Watch
    overdue: str = ""

    def look(self) -> None:
        """Name a call that hangs, and kill the process if its call does not end in time."""
        if self.watch.look(time.monotonic()):
            self.overdue = self.watch.unfinished()
            _kill([self])
        elif said := self.watch.hanging():
            print(f"{said}.", file=sys.stderr, flush=True)

    def submit(self, call: Callable[[Item], Value], item: Item) -> Future[Value]:
        """Start a call."""
        return self.pool.submit(call, item)

    def result(self, future: Future[Any]) -> Any:
        """Return the result of a call that has ended, or CapacityError if the process was killed.

        An exception of the call is raised.
        """
        try:
            return future.result()
        except BrokenProcessPool:
            if self.overdue:
                return Overdue(self.overdue)
            what = self.watch.what()
            return CapacityError(f"{what} ended its process, or {KILLED}" if what else KILLED)


class Workers:
    """Processes that are used for several distributions of calls, one after the other."""

    def __init__(self, processes: int) -> None:
        """Prepare so many processes; each starts with its first call."""
        self._idle = [_worker() for _ in range(processes)]
        self._all = list(self._idle)

    def __enter__(self) -> Workers:
        """Return the workers."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End all processes, also those that are busy."""
        with interrupts.shielded():
            _kill(self._all)
            for worker in self._all:
                worker.pool.shutdown(cancel_futures=True)

    def spread(
        self,
        call: Callable[[Item], Value],
        items: Sequence[Item],
        tick: Callable[[Sequence[Item]], None] = lambda _running: None,
    ) -> Iterator[tuple[Item, Value | CapacityError]]:
        """Yield each item with the result of `call`, or the error of its process, as they come.

        Args:
            call: a function of an importable module, or a partial of one; its exceptions propagate.
            items: its arguments.
            tick: called now and then with the items under way, the earliest first.
        """
        call = with_objects(call)
        idle, waiting = self._idle, deque(items)
        running = dict[Future[Value], tuple[Item, _Worker]]()
        while waiting or running:
            while idle and waiting:
                worker, item = idle.pop(), waiting.popleft()
                with starting_safely():
                    running[worker.submit(call, item)] = item, worker
            tick([item for item, _ in running.values()])
            for _, worker in running.values():
                worker.look()
            for future in wait(running, PAUSE, FIRST_COMPLETED).done:
                item, worker = running.pop(future)
                result = worker.result(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    worker = _worker()
                    self._all.append(worker)
                idle.append(worker)
                yield item, result


def _worker() -> _Worker:
    context = multiprocessing.get_context("spawn")
    memory = shared_memory()
    with starting_safely() as asked:  # the pool's semaphores start a process, too
        pool = ProcessPoolExecutor(
            1, mp_context=context, initializer=begin_apart, initargs=(asked, *memory)
        )
    return _Worker(pool, Watch(Block(*memory)))


def shared_memory() -> tuple[Any, Any]:
    """Return memory for a `Block` that a new process can share."""
    context = multiprocessing.get_context("spawn")
    return context.RawArray("d", NUMBERS), context.RawArray("c", TEXTS * WIDTH)


@contextmanager
def starting_safely() -> Iterator[bool]:
    """Let the processes that start meanwhile import no module from the current folder.

    Their interpreters would look there first, for example for a file signal.py.

    The processes also start with SIGHUP blocked. A closed terminal sends SIGHUP to all of them, and
    Python's own process that tracks semaphores would die of it and print tracebacks.

    The processes do not run the user's program again to import it, which a new process usually
    does. A program that starts a sweep would start it once more.

    One thread at a time starts processes, because what this changes belongs to all threads.

    Yields:
        Whether SAFE_PATH was set before.
    """
    with _starting:
        program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        before = os.environ.get(SAFE_PATH)
        os.environ[SAFE_PATH] = "1"
        if not WINDOWS:
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
        try:
            yield before is not None
        finally:
            sys.modules["__main__"] = program
            if not WINDOWS:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            if before is None:
                del os.environ[SAFE_PATH]
            else:
                os.environ[SAFE_PATH] = before


def _kill(workers: list[_Worker]) -> None:
    processes: list[Any] = [p for each in workers for p in (each.pool._processes or {}).values()]
    for process in processes:
        with suppress(Exception):
            process.kill()


def begin_apart(keep_safe_path: bool, numbers: Any, texts: Any) -> None:
    """Leave Ctrl-C and SIGHUP to the parent process, and end together with it.

    Args:
        keep_safe_path: False: the programs that a check starts import as they would anywhere.
        numbers, texts: the memory that the parent process looks at, of `shared_memory`.
    """
    block.share(numbers, texts)
    block.numbers[PROCESS] = os.getpid()
    interrupts.heed_supervisor()
    if not keep_safe_path:
        os.environ.pop(SAFE_PATH, None)
    streams.replace(sys.argv[1:], os.environ)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not WINDOWS:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])  # programs inherit the mask
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        ready([parent.sentinel])
        os._exit(1)
