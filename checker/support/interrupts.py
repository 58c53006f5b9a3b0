"""The end of a command by Ctrl-C, SIGTERM, or a bound that a search does not check itself.

Loops poll the `Deadline` of the process. They then end cleanly: they write a last checkpoint and a
report, and leave no folder and no process behind. Code within `looking` is not interrupted at
first. Other code is interrupted at once, by an exception. Work that must be finished, such as the
shutdown of a cluster, is `shielded`.

Code of the user may catch the exception, not return from C, or end the process. So the command does
not rely on it: a supervisor insists from outside, and kills a process that does not end (see
`supervisor`). Where there is none, as in a notebook, polls alone keep the limits.

When the verdict is known (`conclude`), a first signal has no effect: the report is printed and
determines the exit code. A second signal, more than DOUBLE seconds after the first, ends the
process at once.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from antecede.checker.support import block as fields
from antecede.checker.support.block import block
from antecede.checker.support.exit_codes import INCOMPLETE
from antecede.checker.support.platforms import WINDOWS
from antecede.checker.support.supervisor import BY_USER, DOUBLE, ENDING, GRACE, PERIOD, WAKE, die

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import FrameType

Result = TypeVar("Result")

Work: TypeAlias = tuple[float, str, str, tuple[object, ...]]
"""Work that does not poll: when it began, what it is, and the name and arguments of a call.

The calls of a protocol's functions are such work, the import of a file, and compiling. Other work
than a call has the name "".
"""


class Ended(KeyboardInterrupt):
    """A request to end; the text is the reason."""


class Unread(Ended):
    """A request to end during the wait for another program, which was not ready."""


class Limit(NamedTuple):
    """The bounds of the present work.

    Attributes:
        passed: returns the reason of a bound that was passed, or None; polls ask it.
        until: the end of the time, on the monotonic clock.
        most: the most bytes of memory, for the supervisor only.
        reasons: the reasons of these two, for the supervisor.
    """

    passed: Callable[[], str | None] = lambda: None
    until: float = math.inf
    most: int = 0
    reasons: tuple[str, str] = ("", "")


class Deadline:
    """Whether the work of this process must end, and why; loops poll it.

    A process has one (`deadline`), because a signal is for the process. A test may replace it.

    Attributes:
        reason: why the work must end, or None.
        due: when a call of the user's code is interrupted because nobody polls.
        looking, shields: how many such blocks are active.
        raised: the main thread was interrupted, and `reason_of` was not called yet.
        caught: an interruption waits for the end of the last shield.
        signalled: when the request came by a signal, or None.
        late: the signal came after the verdict was known.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Use this clock."""
        self.now, self.limit, self.looking, self.shields = now, Limit(), 0, 0
        self.forget()

    def forget(self) -> None:
        """Take back a request."""
        self.reason: str | None = None
        self.signalled: float | None = None
        self.raised = self.caught = self.late = False
        self.due, self._next_look = self.limit.until + GRACE, 0.0
        block.numbers[fields.NOTICED] = block.numbers[fields.CONCLUDED] = 0.0

    def apply(self, limit: Limit) -> None:
        """Apply other bounds from now on."""
        self.limit = limit
        if self.reason is None:
            self.due, self._next_look = limit.until + GRACE, 0.0
        block.numbers[fields.UNTIL] = 0.0 if limit.until == math.inf else limit.until
        block.numbers[fields.MOST] = limit.most
        for index, reason in zip((fields.TIME, fields.MEMORY), limit.reasons, strict=True):
            block.write(index, reason)

    def wanted(self) -> str | None:
        """Return why the work must end, or None. After a reason, the caller must end."""
        if self.reason is None:
            now = self.now()
            if now < self._next_look:
                return None
            self._next_look = now + PERIOD
            self.reason = self.limit.passed()
        if self.reason is not None:
            self._notice()
        return self.reason

    def poll(self) -> None:
        """Raise `Ended` if the work must end."""
        if (reason := self.wanted()) is not None:
            raise Ended(reason)

    def _notice(self) -> None:
        self.due = math.inf
        block.numbers[fields.NOTICED] = 1.0

    def signal(self, number: int, frame: FrameType | None) -> None:
        """Take a signal of the user; a supervisor takes the second one."""
        now, concluded = self.now(), bool(block.numbers[fields.CONCLUDED])
        if self.signalled is not None:
            if now - self.signalled > DOUBLE and not block.numbers[fields.ASKED]:
                with contextlib.suppress(OSError):
                    os.write(2, b"\nEnded at once; there is no result.\n")
                os._exit(INCOMPLETE)
            return
        by_user = number == signal.SIGINT
        self.reason = BY_USER if by_user else f"ended by {signal.Signals(number).name}"
        self.signalled, self.late, self.due = now, concluded, now + GRACE
        if not (concluded or self.looking):
            self.interrupt(frame)

    def wake(self, _number: int, frame: FrameType | None) -> None:
        """Take the supervisor's request to end, or its insistence."""
        if self.reason is None:
            self.reason = self.limit.passed()
        numbers, insists = block.numbers, block.numbers[fields.ASKED] == fields.INSISTS
        ends = numbers[fields.CONCLUDED] or (numbers[fields.NOTICED] and not _main_work)
        if self.reason is None or ends:
            return
        if insists and _main_work and _main_work[-1][2]:
            with contextlib.suppress(Exception):
                block.write(fields.DETAIL, _as_called(_main_work[-1]))
        if insists or not self.looking:
            self.interrupt(frame)

    def overdue(self) -> None:
        """Interrupt the main thread, because it is past `due`."""
        if self.reason is None:
            self.reason = self.limit.passed()
        if self.reason is not None and threading.current_thread() is threading.main_thread():
            self.interrupt(sys._getframe())

    def interrupt(self, frame: FrameType | None) -> None:
        """Raise `Ended`, now or at the end of the last shield, unless the code would ignore it."""
        if self.shields:
            self.caught = True
        elif not _ignores(frame):
            self.raised = True
            self._notice()
            raise Ended(self.reason)


deadline = Deadline()
"""The deadline of this process."""


def wanted() -> str | None:
    """Return the reason for the request to end, or None. After a reason, the caller must end."""
    return deadline.wanted()


def is_interruption(reason: str | None) -> bool:
    """Return whether a signal, not a bound, ended a search."""
    return reason is not None and reason.startswith((BY_USER, "ended by SIG"))


def reason_of(interruption: KeyboardInterrupt) -> str:
    """Return the reason of an interruption that was caught, with its notes."""
    deadline.raised = False
    notes = getattr(interruption, "__notes__", ())
    return "; ".join([deadline.reason or str(interruption) or BY_USER, *notes])


def conclude() -> None:
    """Ignore a first signal from now on, because the verdict is known."""
    block.numbers[fields.CONCLUDED] = 1.0


@contextmanager
def handled() -> Iterator[None]:
    """End cleanly at the signals of ENDING. Only the main thread can install the handlers.

    A process of a command (see `supervisor.die`) ends after this block, so signals stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deadline.forget()
    before = {number: signal.getsignal(number) for number in ENDING}
    # If the process was started with a signal ignored, as by nohup, it stays ignored.
    for number in (n for n in ENDING if before[n] != signal.SIG_IGN):
        signal.signal(number, deadline.signal)
    heed_supervisor()
    try:
        yield
    finally:
        for number, handler in before.items():
            after = signal.SIG_IGN if handler is die else handler
            signal.signal(number, after if after is not None else signal.SIG_DFL)
        deadline.forget()
        block.numbers[fields.CONCLUDED] = 1.0


def heed_supervisor() -> None:
    """Heed the requests of a supervisor from now on."""
    if WAKE is not None:
        signal.signal(WAKE, deadline.wake)


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
    return deadline.raised and threading.current_thread() is threading.main_thread()


def again() -> Ended:
    """Return the interruption once more."""
    return Ended(deadline.reason)


def is_cause_of(error: BaseException) -> bool:
    """Return whether an exception of a user's code comes from a request to end.

    The code may have caught the interruption and raised another exception. At the recursion limit,
    Python raises RecursionError in place of the interruption.
    """
    if isinstance(error, RecursionError) and block.numbers[fields.ASKED]:
        return deadline.wanted() is not None
    return was_interrupted()


# Work that does not poll


class _OfThread(threading.local):
    """The work under way on the thread that asks, the innermost last."""

    def __init__(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        self.works = _main_work if is_main else list[Work]()


_main_work: list[Work] = []
_of_thread = _OfThread()


def works() -> list[Work]:
    """Return the list of the work under way on this thread; another thread may look at it."""
    return _of_thread.works


def begin(work: Work, index: float) -> list[Work]:
    """Begin some work, and let a supervisor know it by the `index` of its name in the block."""
    of_thread = _of_thread.works
    of_thread.append(work)
    if of_thread is _main_work:
        numbers = block.numbers
        numbers[fields.BEGAN], numbers[fields.CALL] = work[0], index
    return of_thread


def end(of_thread: list[Work], index: float) -> None:
    """End the innermost work; `index` is the name of the work around it."""
    of_thread.pop()
    if of_thread is _main_work:
        numbers = block.numbers
        numbers[fields.CALL], numbers[fields.BEGAN] = index, of_thread[-1][0] if of_thread else 0.0


def unfinished(work: Work) -> str:
    """Return a clause that names the work, and says how long it has taken."""
    began, what, name, args = work
    seconds = time.monotonic() - began
    if not name:
        return f"{what} had not ended after {seconds:.0f} seconds"
    said = f"{what} had not returned after {seconds:.0f} seconds"
    return f"{said}; it was called as {written(name, args)}"


def _as_called(work: Work) -> str:
    return f"{work[1]}; it was called as {written(work[2], work[3])}"


def written(name: str, args: tuple[object, ...]) -> str:
    """Return a call as Python source; the user's code may fail to make the text."""
    return f"{name}({', '.join(map(repr_of, args))})"


def repr_of(value: object) -> str:
    """Return the repr of a value, which the user's code may fail to make."""
    try:
        return repr(value)
    except BaseException as failure:
        if is_cause_of(failure):
            raise
        return f"<{type(value).__name__}, whose repr raised {type(failure).__name__}>"


@contextmanager
def at_work(what: str) -> Iterator[None]:
    """Declare that this block is work that does not poll, such as an import."""
    name, before = block.text(fields.FIRST_NAME), block.numbers[fields.CALL]
    is_main = works() is _main_work
    if is_main:
        block.write(fields.FIRST_NAME, what)
    of_thread = begin((time.monotonic(), what, "", ()), float(fields.FIRST_NAME))
    try:
        yield
    finally:
        end(of_thread, before)
        if is_main:
            block.write(fields.FIRST_NAME, name)


@contextmanager
def looking() -> Iterator[None]:
    """Declare that the code in this block polls `wanted`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deadline.looking += 1
    try:
        yield
    finally:
        deadline.looking -= 1


@contextmanager
def shielded(work: str = "") -> Iterator[None]:
    """Delay the effect of a first signal to the end of this block.

    Args:
        work: describes the block, if the process may leave it undone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    deadline.shields += 1
    block.numbers[fields.VITAL] += not work
    try:
        with at_work(work) if work else contextlib.nullcontext():
            yield
    finally:
        deadline.shields -= 1
        block.numbers[fields.VITAL] -= not work
        if deadline.caught and not deadline.shields:
            deadline.caught = False
            deadline.interrupt(sys._getframe())


@contextmanager
def limited(limit: Limit, *, looks: bool = True) -> Iterator[None]:
    """End this block when a bound is passed. Blocks may be nested; `looks`: the block polls.

    Raises:
        Ended: a bound was passed, and no code polled in time.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outer, of_outer = deadline.limit, deadline.reason is not None
    deadline.apply(limit)
    try:
        with looking() if looks else contextlib.nullcontext():
            yield
    finally:
        deadline.apply(outer)
        if deadline.reason is not None and deadline.signalled is None and not of_outer:
            deadline.forget()


@contextmanager
def within(seconds: float | None, reason: str) -> Iterator[None]:
    """Interrupt the block anywhere after some seconds; None: never.

    Raises:
        Ended: the time is over. Its text is the reason.
    """
    if seconds is None:
        yield
        return
    until = time.monotonic() + seconds
    passed = Limit(lambda: reason if time.monotonic() > until else None, until, 0, (reason, ""))
    # The process may be ended in the midst of it.
    with at_work("the audit"), limited(passed, looks=False):
        yield


# Waits


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
    heeded = heeds_earlier or wanted() is None or deadline.late
    asked: float | None = None
    with looking():
        while not happens(PERIOD):
            if not heeded or wanted() is None:
                continue
            asked = asked or time.monotonic()
            if time.monotonic() > asked + GRACE:
                unread = Unread(deadline.reason)
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
