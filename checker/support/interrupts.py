"""The end of a command by Ctrl-C, SIGTERM, or a bound that a search does not check itself.

Long-running code polls `wanted`. It then ends cleanly: it writes a last checkpoint and a report,
and leaves no folder and no process behind. Code within `looking` is not interrupted at first. If it
does not poll within GRACE seconds, because a handler does not return or the start is too large, it
is interrupted anywhere. Other code is interrupted at once. Work that must be finished, such as the
shutdown of a cluster, is `shielded`.

An interruption is an exception. Code of the user may catch it, and at the recursion limit Python
cannot even raise it. So the command does not rely on it: a thread of its own notices signals, too,
because Python writes their numbers to a pipe. If a piece of `Work` goes on for STUCK seconds after
its interruption, this thread *abandons* the main thread. It reports in place of the main thread
(`instead`) and ends the process.

Before the command handles signals, a signal ends the process at once (`at_start`). When the verdict
is known (`conclude`), a first signal has no effect: the report is printed and determines the exit
code.

A second signal, more than DOUBLE seconds after the first, ends the process at once. Functions given
to `at_abort` then end other processes that would survive.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from antecede.checker.support.browser import IN_BROWSER
from antecede.checker.support.platforms import WINDOWS

if TYPE_CHECKING:
    import socket
    from concurrent.futures import Future
    from types import FrameType

Result = TypeVar("Result")

GRACE = 2.0
"""The time in seconds for a search to notice a request to end."""

STUCK = 1.0
"""The time in seconds for a piece of `Work` to end, and again after it was interrupted."""

REPORTING = 60.0
"""The time in seconds for the report about an abandoned main thread."""

PAUSE = 0.05
"""The time in seconds in which another thread reads the number of a signal."""

DOUBLE = 1.0
"""The time in seconds during which a second signal counts as a repetition of the first one.

A key may be pressed twice, or a signal may be sent to a process and to its group.
"""

HANGING = 5.0
"""The time in seconds after which a call of a handler that has not returned is named."""

PERIOD = 0.25
"""The time in seconds between two checks of the time and the memory."""

_CLOSED = "SIGBREAK" if WINDOWS else "SIGHUP"
ENDING = (signal.SIGINT, signal.SIGTERM, getattr(signal, _CLOSED))
"""The signals that end a command. Windows sends SIGBREAK at Ctrl-Break and if a window closes."""

WAKE = signal.SIGABRT if WINDOWS else signal.SIGURG
"""The signal by which another thread interrupts the main thread. No other program sends it."""

ABORTED = 3
"""The exit code of a process that ends without a result, as for INCOMPLETE."""

BY_USER = "interrupted by the user"


class Ended(KeyboardInterrupt):
    """A request to end; the text is the reason."""


class Unread(Ended):
    """A request to end during the wait for another program, which was not ready."""


class Work:
    """Work that does not poll, and that the process may leave undone.

    The calls of a protocol's functions are such work, the import of a file, and compiling.

    Attributes:
        started: the time at which it started, of the monotonic clock.
        named: whether `name_hanging` has named it.
    """

    named = False

    def __init__(self, what: str) -> None:
        self._text, self.started = what, time.monotonic()

    def unfinished(self) -> str:
        """Return a clause that says how long the work has taken."""
        return f"{self._text} had not ended after {time.monotonic() - self.started:.0f} seconds"

    def hanging(self) -> str | None:
        """Return a sentence that names the work if it takes long; None if it is known to."""
        return None


under_way: list[Work] = []
"""The work under way on the main thread, the innermost last."""


class _OfThread(threading.local):
    """The work under way on the thread that asks, the innermost last."""

    def __init__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        self.works = under_way if is_main else list[Work]()


_of_thread = _OfThread()


def works() -> list[Work]:
    """Return the list of the work under way on this thread; another thread may look at it."""
    return _of_thread.works


def name_hanging(among: list[Work] = under_way) -> None:
    """Say once on standard error which call of a handler has not returned for HANGING seconds."""
    for work in among[-1:]:
        if work.named or time.monotonic() - work.started < HANGING:
            continue
        work.named = True
        with contextlib.suppress(Exception):  # the texts of arguments are made by the user's code
            if (sentence := work.hanging()) is not None:
                start = "\r\x1b[K" if sys.stderr.isatty() else ""  # in place of the live line
                print(f"{start}{sentence}.", file=sys.stderr, flush=True)


_reporting = threading.RLock()
"""Held by the thread that reports, so that only one of them does. It is never released then."""


class _State:
    """The state of the process's end. A plain class, because attrs takes a while to import.

    Attributes:
        wanted: the reason for the request to end, or None.
        signalled: whether the request came from a signal, not from a bound.
        looking: the number of active `looking` blocks.
        shields: the number of active `shielded` blocks.
        vital: the number of those that must be finished.
        noticed: whether some code polled `wanted` since the request, or was interrupted.
        late: whether the signal came after the verdict was known.
        interrupted: whether the main thread was interrupted, and `reason_of` was not called yet.
        overdue: whether the main thread is still to be interrupted.
        caught: the exception to raise at the end of the last shield.
        aborts: the functions to call before the process ends at once.
        stdout: standard output as the command got it.
        owns_process: whether the process is the command's own, which may end it.
        reports: what `instead` registered.
    """

    wanted: str | None = None
    since: float = 0.0
    signalled: bool = False
    late: bool = False
    looking: int = 0
    shields: int = 0
    vital: int = 0
    noticed: bool = False
    interrupted: bool = False
    overdue: bool = False
    caught: bool = False
    concluded: bool = False
    owns_process: bool = False

    def __init__(self) -> None:
        self.aborts: list[Callable[[], None]] = []
        self.stdout: Any = None
        self.reports: list[Callable[[Any], Any]] = []


_state = _State()


def wanted() -> str | None:
    """Return the reason for the request to end, or None. After a reason, the caller must end."""
    _state.noticed |= _state.wanted is not None
    return _state.wanted


def is_interruption(reason: str | None) -> bool:
    """Return whether a signal, not a bound, ended a search."""
    return reason is not None and reason.startswith((BY_USER, "ended by SIG"))


def reason_of(interruption: KeyboardInterrupt) -> str:
    """Return the reason of an interruption that was caught, with its notes."""
    _state.interrupted = False
    notes = getattr(interruption, "__notes__", ())
    return "; ".join([_state.wanted or str(interruption) or BY_USER, *notes])


def at_start() -> None:
    """Make a signal end the process at once, until the command handles signals."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end_at_start)
    own_process()


def own_process() -> None:
    """Allow to end this process if its main thread does not end its work."""
    _state.owns_process = True


def _without_result(reason: Any) -> int:
    """Report that the command ends without a result; return its exit code."""
    with contextlib.suppress(OSError):
        os.write(2, f"Error: {reason}; there is no result\n".encode(errors="replace"))
    return ABORTED


def _end_at_start(_number: int, _frame: Any) -> None:
    with contextlib.suppress(OSError):
        os.write(2, b"Interrupted; there is no result.\n")
    os._exit(ABORTED)


def conclude() -> None:
    """Ignore a first signal from now on, because the verdict is known."""
    with _reporting:
        _state.concluded = True


@contextmanager
def handled() -> Iterator[None]:
    """End cleanly at the signals of ENDING. Only the main thread can install the handlers.

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
        with _guarded():
            yield
    finally:
        for number, handler in before.items():
            after = signal.SIG_IGN if handler is _end_at_start else handler
            signal.signal(number, after if after is not None else signal.SIG_DFL)
        _forget()


def _forget() -> None:
    _state.wanted = None
    _state.signalled = _state.noticed = _state.overdue = _state.caught = False
    _state.concluded = _state.interrupted = _state.late = False


@contextmanager
def _guarded() -> Iterator[None]:
    """Let another thread see that a signal ends the main thread."""
    signal.signal(WAKE, _on_wake)
    _state.stdout = sys.stdout
    reading, writing = signal_numbers()
    over = threading.Event()
    thread = threading.Thread(target=_guard, args=(reading, over), daemon=True)
    with reading, writing:
        thread.start()
        before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            with _reporting:
                over.set()
            signal.set_wakeup_fd(before)
            with contextlib.suppress(BlockingIOError):  # full of signals: the thread is awake
                writing.send(b"\0")
            thread.join()


def signal_numbers() -> tuple[socket.socket, socket.socket]:
    """Return where to read the numbers of signals, and where Python shall write them.

    These are sockets, because Windows cannot wait for a pipe.
    """
    import socket

    reading, writing = socket.socketpair()
    writing.setblocking(False)
    return reading, writing


def _guard(numbers: socket.socket, over: threading.Event) -> None:
    """Read the numbers of signals, and see to the end of the work; 0 ends the reading.

    Meanwhile, name calls that hang.

    Python writes these numbers. It calls `_on_signal` only if the main thread lets it.
    """
    asked: float | None = None
    while not over.is_set():
        if not select.select([numbers], [], [], PERIOD)[0]:
            name_hanging()
            continue
        ending = [number for number in numbers.recv(64) if number in ENDING]
        if not ending or signal.getsignal(ending[0]) != _on_signal or over.is_set():
            continue
        if asked is not None and time.monotonic() - asked > DOUBLE:
            over.wait(PERIOD)  # `_on_signal` ends the process, unless it is not called
            if not over.is_set():
                _abort()
        elif asked is None:
            asked = time.monotonic()
            if not _state.concluded:
                _state.wanted = _state.wanted or _reason_of_signal(ending[0])
                threading.Thread(target=_insist, args=(over,), daemon=True).start()


def _reason_of_signal(number: int) -> str:
    return BY_USER if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def _on_signal(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _state.signalled:
        if now - _state.since > DOUBLE:
            _abort()
        return
    _state.signalled, _state.since, _state.late = True, now, _state.concluded
    _state.wanted = _reason_of_signal(number)
    if not (_state.concluded or _state.looking):
        _interrupt(frame)


def _interrupt(frame: FrameType | None) -> None:
    """Raise `Ended`, now or at the end of the last shield, or after code that cannot raise it.

    Args:
        frame: the code that is interrupted.
    """
    if _state.shields:
        _state.caught = True
    elif _ignores(frame):
        _state.overdue = True
    else:
        _state.noticed = _state.interrupted = True
        raise Ended(_state.wanted)


def _ignores(frame: FrameType | None) -> bool:
    """Return whether Python prints an exception of this code, and goes on as if there was none.

    It does so in `__del__`, and in what the garbage collector calls.
    """
    called = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None and frame.f_code.co_name != "__del__" and frame.f_code not in called:
        frame = frame.f_back
    return frame is not None


def was_interrupted() -> bool:
    """Return whether this thread was interrupted, and nobody has heeded that yet."""
    return _state.interrupted and threading.current_thread() is threading.main_thread()


def again() -> Ended:
    """Return the interruption once more."""
    return Ended(_state.wanted)


def is_cause_of(error: BaseException) -> bool:
    """Return whether an exception of a user's code comes from a request to end.

    The code may have caught the interruption and raised another exception. At the recursion limit,
    Python raises RecursionError in place of the interruption.
    """
    if isinstance(error, RecursionError):
        time.sleep(PAUSE)  # for the thread that reads the number of the signal
        _state.noticed |= _state.wanted is not None
        return _state.wanted is not None
    return was_interrupted()


def _insist(over: threading.Event, pressing: Callable[[], bool] = lambda: False) -> None:
    """Interrupt the main thread unless it ends in time, and abandon it if that does not help.

    Args:
        over: set when the work has ended.
        pressing: returns whether the end is urgent.
    """
    asked = time.monotonic()
    while time.monotonic() < asked + (STUCK if _is_stuck(asked) else GRACE) and not pressing():
        if over.wait(PERIOD):
            return
    _wake()
    woken = time.monotonic()
    while not over.wait(PERIOD) and not _state.concluded:
        if _state.overdue:
            _wake()
        if _state.vital or (_state.noticed and not _is_stuck(woken)):
            woken = time.monotonic()
        elif time.monotonic() > woken + STUCK:
            _abandon(over)


def _is_stuck(since: float) -> bool:
    """Return whether the main thread has been at one piece of work since then."""
    return any(work.started < since for work in under_way[-1:])


def _abandon(over: threading.Event) -> None:
    """Report in place of the main thread, and end the process, if it is the command's own."""
    if not _state.owns_process:
        return
    reason = "; ".join([str(_state.wanted), *(work.unfinished() for work in under_way[-1:])])
    thread = threading.Thread(target=_report_instead, args=(reason, over), daemon=True)
    thread.start()
    thread.join(REPORTING)  # it may wait for a lock of the main thread
    if thread.is_alive():
        _end(_without_result(reason))


def _report_instead(reason: str, over: threading.Event) -> None:
    with _reporting:
        if over.is_set() or _state.concluded:
            return
        sys.stdout = _state.stdout or sys.stdout  # the main thread may have redirected it
        value: Any = reason
        try:
            for report in _state.reports[::-1]:
                value = report(value)
            if not isinstance(value, int):
                value = _without_result(value)
            sys.stdout.flush()
        except BaseException as error:
            value = _without_result(f"{reason}; {error}")
        _end(value)


def _end(code: int) -> None:
    """End the process at once, and whatever would survive it."""
    for end in _state.aborts[::-1]:
        with contextlib.suppress(Exception):
            end()
    os._exit(code)


@contextmanager
def instead(report: Callable[[Any], Any]) -> Iterator[None]:
    """Declare what reports about this block if the main thread is abandoned in it.

    Args:
        report: takes what the report of the innermost block returned, at first the reason for the
            end. The report of the outermost block returns the exit code.
    """
    _state.reports.append(report)
    try:
        yield
    finally:
        with _reporting:
            _state.reports.pop()


def _wake() -> None:
    if _state.noticed:
        return
    _state.overdue = True
    ident = threading.main_thread().ident
    if WINDOWS:
        interrupt_main(WAKE)
    elif ident is not None:
        signal.pthread_kill(ident, WAKE)


def _on_wake(_number: int, frame: FrameType | None) -> None:
    if _state.overdue and not _state.noticed:
        _state.overdue = False
        _interrupt(frame)


def _abort() -> None:
    """End the process at once, by a second signal."""
    with contextlib.suppress(OSError):
        os.write(2, b"\nEnded at once; there is no result.\n")
    _end(ABORTED)


def at_abort(end: Callable[[], None]) -> Callable[[], None]:
    """Register a function to call if a second signal ends the process.

    Return a function that removes the registration.
    """
    _state.aborts.append(end)

    def take_back() -> None:
        with contextlib.suppress(ValueError):
            _state.aborts.remove(end)

    return take_back


def until(happens: Callable[[float], bool], undone: str, *, heeds_earlier: bool = True) -> None:
    """Wait for another program, but not much longer than until a request to end.

    Args:
        happens: waits for at most some seconds, and returns whether the program was ready.
        undone: a clause that says what remains undone if the program is never ready.
        heeds_earlier: whether a request that came before the wait ends it, too. A signal after the
            verdict always does, for the wait is the last thing that it can end.

    Raises:
        Unread: there was a request, and the program was not ready within GRACE seconds.
    """
    heeded = heeds_earlier or wanted() is None or _state.late
    asked: float | None = None
    with looking():
        while not happens(PERIOD):
            if not heeded or wanted() is None:
                continue
            asked = asked or time.monotonic()
            if time.monotonic() > asked + GRACE:
                unread = Unread(_state.wanted)
                unread.add_note(undone)
                raise unread


def finished(work: Future[Result]) -> Result:
    """Return the result of work on another thread; a signal can end the wait.

    On Windows, a signal interrupts no wait without a time limit.
    """
    while not work.done():
        with contextlib.suppress(TimeoutError):
            work.exception(PERIOD)
    return work.result()


def until_writable(stream: Any, undone: str, *, heeds_earlier: bool = True) -> None:
    """Wait until a pipe or device takes more; arguments and errors are as for `until`.

    Windows can wait for sockets only, so there the next write waits.
    """
    if WINDOWS:
        return

    def takes_more(seconds: float) -> bool:
        return bool(select.select([], [stream], [], seconds)[1])

    until(takes_more, undone, heeds_earlier=heeds_earlier)


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
def shielded(work: str = "") -> Iterator[None]:
    """Delay the effect of a first signal to the end of this block.

    Args:
        work: describes the block, if the process may leave it undone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _state.shields += 1
    _state.vital += not work
    try:
        with at_work(work) if work else contextlib.nullcontext():
            yield
    finally:
        _state.shields -= 1
        _state.vital -= not work
        if _state.caught and not _state.shields:
            _state.caught = False
            _interrupt(sys._getframe())


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """Declare that this block is `Work`."""
    work, of_thread = Work(what), works()
    of_thread.append(work)
    try:
        yield
    finally:
        of_thread.remove(work)


@contextmanager
def watched(
    watch: Callable[[], str | None], pressing: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """Check in another thread, every PERIOD seconds, whether the block must end.

    A page of a browser has no other thread, so there only polls end a block.
    Blocks may be nested. A request to end that an outer block made outlasts the inner one.

    Args:
        watch: returns the reason to end, or None.
        pressing: returns whether the end is urgent, so that it cannot wait for a poll.

    Raises:
        Ended: there was a reason, and no code polled within GRACE seconds or before it was urgent.
    """
    if IN_BROWSER or threading.current_thread() is not threading.main_thread():
        yield
        return
    done, asked = threading.Event(), threading.Event()

    def work() -> None:
        while not done.wait(PERIOD):
            name_hanging()
            reason = None if _state.wanted else watch()
            if reason is not None:
                asked.set()
                _state.wanted = reason
                _insist(done, pressing)
                return

    thread = threading.Thread(target=work, daemon=True)
    with looking():
        thread.start()
        try:
            yield
        finally:
            with _reporting:
                done.set()
            thread.join()
            if asked.is_set() and not (_state.signalled or is_interruption(_state.wanted)):
                _forget()


@contextmanager
def within(seconds: float | None, reason: str) -> Iterator[None]:
    """Interrupt the block anywhere after some seconds; None: never.

    If it does not end then, the process ends without a result.

    Raises:
        Ended: the time is over. Its text is the reason.
    """
    if seconds is None:
        yield
        return
    until = time.monotonic() + seconds
    with (
        at_work("the audit"),  # so that the process may be ended in the midst of it
        watched(lambda: reason if time.monotonic() > until else None, lambda: True),
    ):
        yield
