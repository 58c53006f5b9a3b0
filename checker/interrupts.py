"""Ctrl-C, SIGTERM, and bounds that a search does not notice by itself: one way to end.

Whoever works for long looks again and again whether the end is `wanted`, and then ends in good
order: a last checkpoint, a report, no folder and no process left behind. A search that says so
(`looking`) is not interrupted at first; if it does not look within GRACE seconds, for a handler
does not return or the start alone is too large, it is interrupted wherever it is. Everything else
is interrupted at once. What must not be broken off, such as the end of a cluster, is `shielded`.

Before the command handles signals, one ends the process at once (`at_start`). When the verdict is
known (`conclude`), a first signal changes nothing any more: the report is printed, and the exit
code is that of the report.

A second signal, more than DOUBLE seconds after the first, ends the process at once; what would
outlive it is ended by what was given to `at_abort`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

GRACE = 3.0
"""Seconds that a search may take to notice that its end is wanted."""

DOUBLE = 1.0
"""Seconds within which a second signal means the same as the first: a key pressed twice, a signal
to a process and to its group."""

PERIOD = 0.25
"""Seconds from one look at the time and the memory to the next."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE = signal.SIGURG
"""Sent to the main thread by another one, to interrupt it; nobody is harmed by it."""

ABORTED = 3
"""Exit code after a second signal: that of INCOMPLETE."""

BY_USER = "interrupted by the user"


class Ended(KeyboardInterrupt):
    """The end is wanted; the text says why."""


class _State:
    """What is known of the process's end; a plain class, because attrs takes a while to import.

    Attributes:
        wanted: why the end is wanted, or None.
        since: when that was said first.
        signalled: by a signal, and not by a bound.
        looking: how many searches look for themselves.
        shields: how many pieces of work must not be broken off.
        noticed: somebody looked, and so will end.
        overdue: nobody looked in time.
        caught: what to raise when the last shield is gone.
        concluded: the verdict is known.
        aborts: what to do before the process ends at once.
    """

    wanted: str | None = None
    since: float = 0.0
    signalled: bool = False
    looking: int = 0
    shields: int = 0
    noticed: bool = False
    overdue: bool = False
    caught: bool = False
    concluded: bool = False

    def __init__(self) -> None:
        self.aborts: list[Callable[[], None]] = []


_state = _State()


def wanted() -> str | None:
    """Return why the end is wanted, or None; who is told so is left to end in its own time."""
    _state.noticed |= _state.wanted is not None
    return _state.wanted


def is_interruption(reason: str | None) -> bool:
    """Return whether a search was ended by a signal, not by one of its bounds."""
    return reason is not None and reason.startswith((BY_USER, "ended by SIG"))


def reason_of(interruption: KeyboardInterrupt) -> str:
    """Return why the work under way was ended, and what is known of it from notes."""
    notes = getattr(interruption, "__notes__", ())
    return "; ".join([_state.wanted or str(interruption) or BY_USER, *notes])


def at_start() -> None:
    """End at once at a signal, until the command handles signals: nothing has begun yet."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_at_start)


def _end_at_start(_number: int, _frame: Any) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"Interrupted; there is no result.\n")
    os._exit(ABORTED)


def conclude() -> None:
    """Let a first signal change nothing any more, because the verdict is known."""
    _state.concluded = True


@contextmanager
def handled() -> Iterator[None]:
    """End in good order at Ctrl-C, SIGTERM and SIGHUP; only the main thread can see to that.

    After `at_start` the process ends next, so signals are ignored afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _forget()
    before = {number: signal.getsignal(number) for number in ENDING}
    # Who is started with a signal ignored, as by nohup, is not to mind it.
    for number in (n for n in ENDING if before[n] != signal.SIG_IGN):
        signal.signal(number, _on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            after = signal.SIG_IGN if handler is _end_at_start else handler
            signal.signal(number, after if after is not None else signal.SIG_DFL)
        _forget()


def _forget() -> None:
    _state.wanted = None
    _state.signalled = _state.noticed = _state.overdue = _state.caught = False
    _state.concluded = False


def _on_signal(number: int, _frame: Any) -> None:
    name = signal.Signals(number).name
    now = time.monotonic()
    if _state.signalled:
        if now - _state.since > DOUBLE:
            _abort()
        return
    _state.signalled, _state.since = True, now
    _state.wanted = BY_USER if number == signal.SIGINT else f"ended by {name}"
    if _state.concluded:
        return
    if _state.looking:
        threading.Thread(target=_insist, daemon=True).start()
    else:
        _interrupt()


def _interrupt() -> None:
    """Raise what ends the work under way, now or when the last shield is gone."""
    if _state.shields:
        _state.caught = True
    else:
        raise Ended(_state.wanted)


def _insist() -> None:
    """Interrupt the main thread unless it ends what it does in time."""
    time.sleep(GRACE)
    if _state.looking and _state.wanted is not None:
        _wake()


def _wake() -> None:
    if _state.noticed:
        return
    _state.overdue = True
    ident = threading.main_thread().ident
    if ident is not None:
        signal.pthread_kill(ident, WAKE)


def _on_wake(_number: int, _frame: Any) -> None:
    if _state.overdue and not _state.noticed and _state.looking:
        _state.overdue = False
        _interrupt()


def _abort() -> None:
    """End the process at once."""
    for end in _state.aborts[::-1]:
        with contextlib.suppress(Exception):
            end()
    with contextlib.suppress(OSError):
        os.write(2, b"\nEnded at once; there is no result.\n")
    os._exit(ABORTED)


def at_abort(end: Callable[[], None]) -> Callable[[], None]:
    """Have something done if a second signal ends the process; return what takes that back."""
    _state.aborts.append(end)

    def take_back() -> None:
        with contextlib.suppress(ValueError):
            _state.aborts.remove(end)

    return take_back


@contextmanager
def looking() -> Iterator[None]:
    """Say that what is done here looks whether its end is wanted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(WAKE, _on_wake)
    _state.looking += 1
    try:
        yield
    finally:
        _state.looking -= 1


@contextmanager
def shielded() -> Iterator[None]:
    """Let no first signal break off what is done here; it comes into effect afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _state.shields += 1
    try:
        yield
    finally:
        _state.shields -= 1
        if _state.caught and not _state.shields:
            _state.caught = False
            raise Ended(_state.wanted)


@contextmanager
def watched(
    watch: Callable[[], str | None], pressing: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Ask now and then, in another thread, whether the end is wanted.

    Args:
        watch: returns why, or None; it is called every PERIOD seconds.
        pressing: returns whether the end, which is wanted, cannot wait until somebody looks.

    Raises:
        Ended: it was, and nobody looked within GRACE seconds, or until it was pressing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    done = threading.Event()

    def work() -> None:
        while not done.wait(PERIOD):
            reason = None if _state.wanted else watch()
            if reason is not None:
                _state.wanted, until = reason, time.monotonic() + GRACE
                while not done.wait(PERIOD) and time.monotonic() < until and not pressing():
                    pass
                if not (done.is_set() or _state.signalled):
                    _wake()
                return

    thread = threading.Thread(target=work, daemon=True)
    with looking():
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            if not _state.signalled:
                _forget()
