"""Turns of the threads that answer requests: one thread at a time calls the user's functions.

Handlers are pure, but they may keep a cache in a variable, and their authors need not protect it
from other threads. The self-check even gives variables other values for a while. Threads of Python
take turns at the processor in any case, so the turns of this module cost little time.

A call that does not return would keep all other tabs waiting. The server passes its turn on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_free = threading.Condition()

_holder: threading.Thread | None = None
"""The thread whose turn it is, of all servers in this process; None if nobody asks for anything."""


@contextmanager
def turn() -> Iterator[None]:
    """Wait for the turn of this thread, and hold it for the block, unless it is passed on."""
    global _holder
    thread = threading.current_thread()
    with _free:
        _free.wait_for(lambda: _holder is None)
        _holder = thread
    try:
        yield
    finally:
        pass_on(thread)


def pass_on(thread: threading.Thread) -> None:
    """End the turn of a thread, if it has one, although it may go on."""
    global _holder
    with _free:
        if _holder is thread:
            _holder = None
            _free.notify()
