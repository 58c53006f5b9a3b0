"""The end of a command by Ctrl-C, SIGTERM, or a bound that a search does not check itself.

Long-running code polls `wanted`. It then ends cleanly: it writes a last checkpoint and a report,
and leaves no folder and no process behind. Code within `looking` is not interrupted at first. If it
does not poll within GRACE seconds, because a handler does not return or the start is too large, it
is interrupted anywhere. Other code is interrupted at once. Work that must be finished, such as the
shutdown of a cluster, is `shielded`.

Before the command handles signals, a signal ends the process at once (`at_start`). When the verdict
is known (`conclude`), a first signal has no effect: the report is printed and determines the exit
code.

A second signal, more than DOUBLE seconds after the first, ends the process at once. Functions given
to `at_abort` then end other processes that would survive.
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
"""The time in seconds for a search to notice a request to end."""

DOUBLE = 1.0
"""The time in seconds during which a second signal counts as a repetition of the first one.

A key may be pressed twice, or a signal may be sent to a process and to its group.
"""

PERIOD = 0.25
"""The time in seconds between two checks of the time and the memory."""

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAKE = signal.SIGURG
"""The signal by which another thread interrupts the main thread. Its default action is harmless."""

ABORTED = 3
"""The exit code after a second signal, as for INCOMPLETE."""

BY_USER = "interrupted by the user"


class Ended(KeyboardInterrupt):
    """A request to end; the text is the reason."""


class _State:
    """The state of the process's end. A plain class, because attrs takes a while to import.

    Attributes:
        wanted: the reason for the request to end, or None.
        signalled: whether the request came from a signal, not from a bound.
        looking: the number of active `looking` blocks.
        shields: the number of active `shielded` blocks.
        noticed: whether some code polled `wanted` since the request, and so will end.
        overdue: whether no code polled in time.
        caught: the exception to raise at the end of the last shield.
        aborts: the functions to call before the process ends at once.
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
    """Return the reason for the request to end, or None. After a reason, the caller must end."""
    _state.noticed |= _state.wanted is not None
    return _state.wanted


def is_interruption(reason: str | None) -> bool:
    """Return whether a signal, not a bound, ended a search."""
    return reason is not None and reason.startswith((BY_USER, "ended by SIG"))


def reason_of(interruption: KeyboardInterrupt) -> str:
    """Return the reason of an interruption, with its notes."""
    notes = getattr(interruption, "__notes__", ())
    return "; ".join([_state.wanted or str(interruption) or BY_USER, *notes])


def at_start() -> None:
    """Make a signal end the process at once, until the command handles signals."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_at_start)


def _end_at_start(_number: int, _frame: Any) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"Interrupted; there is no result.\n")
    os._exit(ABORTED)


def conclude() -> None:
    """Ignore a first signal from now on, because the verdict is known."""
    _state.concluded = True


@contextmanager
def handled() -> Iterator[None]:
    """End cleanly at Ctrl-C, SIGTERM and SIGHUP. Only the main thread can install the handlers.

    If `at_start` was called, the process ends after this block, so signals stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _forget()
    before = {number: signal.getsignal(number) for number in ENDING}
    # If the process was started with a signal ignored, as by nohup, it stays ignored.
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
    """Raise `Ended`, now or at the end of the last shield."""
    if _state.shields:
        _state.caught = True
    else:
        raise Ended(_state.wanted)


def _insist() -> None:
    """Interrupt the main thread unless it ends in time."""
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


def _abort(text: str = "Ended at once; there is no result.\n") -> None:
    """End the process at once, and say why."""
    for end in _state.aborts[::-1]:
        with contextlib.suppress(Exception):
            end()
    with contextlib.suppress(OSError):
        os.write(2, f"\n{text}".encode())
    os._exit(ABORTED)


def at_abort(end: Callable[[], None]) -> Callable[[], None]:
    """Register a function to call if a second signal ends the process.

    Return a function that removes the registration.
    """
    _state.aborts.append(end)

    def take_back() -> None:
        with contextlib.suppress(ValueError):
            _state.aborts.remove(end)

    return take_back


@contextmanager
def looking() -> Iterator[None]:
    """Declare that the code in this block polls `wanted`."""
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
    """Delay the effect of a first signal to the end of this block."""
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
    """Check in another thread, every PERIOD seconds, whether the block must end.

    Args:
        watch: returns the reason to end, or None.
        pressing: returns whether the end is urgent, so that it cannot wait for a poll.

    Raises:
        Ended: there was a reason, and no code polled within GRACE seconds or before it was urgent.
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


@contextmanager
def within(seconds: float | None, reason: str) -> Iterator[None]:
    """Interrupt the block anywhere after some seconds; None: never.

    If it has not ended GRACE seconds later, and is not shielded, the process ends at once.

    Raises:
        Ended: the time is over. Its text is the reason.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    ended, main = threading.Event(), threading.main_thread().ident

    def on_wake(_number: int, _frame: Any) -> None:
        if not ended.is_set() and not _state.signalled:
            _state.wanted = reason
            _interrupt()

    def work() -> None:
        if ended.wait(seconds) or main is None:
            return
        signal.pthread_kill(main, WAKE)
        if ended.wait(GRACE):
            return
        while _state.shields:
            if ended.wait(PERIOD):
                return
        _abort(f"Error: INCOMPLETE: {reason}; there is no result.\n")

    before = signal.signal(WAKE, on_wake)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        signal.signal(WAKE, before if before is not None else signal.SIG_DFL)
        if not _state.signalled:
            _state.wanted = None
