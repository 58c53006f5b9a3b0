"""Distributes calls over processes of this machine; a killed process fails only its own call.

Every worker has its own pool, so that its death is attributed to the call that it was running.
Workers end together with their parent process, so a killed sweep leaves no process behind.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait as ready
from typing import Any, TypeVar

from antecede.checker import interrupts, streams
from antecede.checker.errors import CapacityError

Item = TypeVar("Item")
Value = TypeVar("Value")

SAFE_PATH = "PYTHONSAFEPATH"
"""The environment variable that keeps the current folder out of Python's search path."""

PAUSE = 0.2
"""Seconds between two calls of `tick`."""

KILLED = "its process was killed, most likely for want of memory"


class Workers:
    """Processes that are used for several distributions of calls, one after the other."""

    def __init__(self, processes: int) -> None:
        """Prepare so many processes; each starts with its first call."""
        self._idle = [_worker() for _ in range(processes)]
        self._pools = list(self._idle)
        self._no_abort = interrupts.at_abort(lambda: _kill(self._pools))

    def __enter__(self) -> Workers:
        """Return the workers."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """End all processes, also those that are busy."""
        with interrupts.shielded():
            self._no_abort()
            _kill(self._pools)
            for pool in self._pools:
                pool.shutdown(cancel_futures=True)

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
        idle, waiting = self._idle, deque(items)
        running = dict[Future[Value], tuple[Item, ProcessPoolExecutor]]()
        while waiting or running:
            while idle and waiting:
                pool, item = idle.pop(), waiting.popleft()
                with _starting_safely():
                    running[pool.submit(call, item)] = item, pool
            tick([item for item, _ in running.values()])
            for future in wait(running, PAUSE, FIRST_COMPLETED).done:
                item, pool = running.pop(future)
                result: Value | CapacityError
                try:
                    result = future.result()
                except BrokenProcessPool:
                    result = CapacityError(KILLED)
                    pool = _worker()
                    self._pools.append(pool)
                idle.append(pool)
                yield item, result


def _worker() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    asked = SAFE_PATH in os.environ
    with _starting_safely():  # the pool's semaphores start a process, too
        return ProcessPoolExecutor(1, mp_context=context, initializer=_begin, initargs=(asked,))


@contextmanager
def _starting_safely() -> Iterator[None]:
    """Let the processes that start meanwhile import no module from the current folder.

    Their interpreters would look there first, for example for a file signal.py.

    The processes also start with SIGHUP blocked. A closed terminal sends SIGHUP to all of them, and
    Python's own process that tracks semaphores would die of it and print tracebacks.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _kill(pools: list[ProcessPoolExecutor]) -> None:
    processes: list[Any] = [p for pool in pools for p in (pool._processes or {}).values()]
    for process in processes:
        with suppress(Exception):
            process.kill()


def _begin(keep_safe_path: bool) -> None:
    """Leave Ctrl-C and SIGHUP to the parent process, and end together with it.

    Args:
        keep_safe_path: False: the programs that a check starts import as they would anywhere.
    """
    if not keep_safe_path:
        os.environ.pop(SAFE_PATH, None)
    streams.replace(sys.argv[1:], os.environ)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])  # programs inherit the mask
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        ready([parent.sentinel])
        os._exit(1)
