"""The process that the user starts: it forks the command, waits, and keeps the limits from outside.

A time limit must not depend on the code that it limits. The command may be in a function of the
user that holds the interpreter, ignores signals, forks, or ends the process. So another process
asks for the end, insists on it, and kills the command if that does not help. It also forwards
signals, reports a command that was killed or died, and ends whatever a command leaves behind.

Both processes stay in the process group of the terminal, so that Ctrl-C and Ctrl-Z reach both. The
supervisor runs before all other imports, and imports little itself. It exists on Linux only.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from antecede.checker.support import block as fields
from antecede.checker.support import exit_codes
from antecede.checker.support.block import FIRST_NAME, NUMBERS, TEXTS, WIDTH, Block, block

WINDOWS = os.name == "nt"

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK" if WINDOWS else "SIGHUP")
)
"""The signals that end a command. Windows sends SIGBREAK at Ctrl-Break and if a window closes."""

WAKE = getattr(signal, "SIGURG", None)
"""The signal by which a supervisor asks for the end. No other program sends it."""

TELL = getattr(signal, "SIGUSR2", None)
"""The signal at which Python writes where it is, even if a function in C does not return."""

PERIOD = 0.25
"""The time in seconds between two looks."""

LATE = 0.5
"""The time in seconds after the end of the time; most work notices that end by itself."""

GRACE = 2.0
"""The time in seconds for work that polls to notice a request to end."""

STUCK = 1.0
"""The time in seconds for one call of a function of the user, once the end was asked for."""

OWN = 10.0
"""The time in seconds for our own code to end after it was interrupted."""

DOUBLE = 1.0
"""The time in seconds during which a second signal counts as a repetition of the first one.

A key may be pressed twice, or a signal may be sent to a process and to its group.
"""

HANGING = 5.0
"""The time in seconds after which a call of a handler that has not returned is named."""

BY_USER = "interrupted by the user"

FAR_BEYOND = 1.1
"""The share of a limit of memory from which on the work is ended without waiting for its poll."""


class Watch:
    """Keeps the limits of one process from outside; whoever uses it calls `look` now and then."""

    def __init__(self, shared: Block) -> None:
        self.block, self.reason = shared, ""
        self._asked = self._woken = self._clock = self._last = self._since = 0.0
        self._call = self._limits = (0.0, 0.0)
        self._of_limit = self._named = False

    def send(self, number: int | None) -> None:
        """Send a signal to the process."""
        if number is not None and (process := int(self.block.numbers[fields.PROCESS])):
            _kill(process, number)

    def ask(self, reason: str, number: int | None = WAKE) -> None:
        """Ask the process to end, by a signal."""
        self.reason, self._asked, self._woken = reason, self._clock, 0.0
        self._of_limit = False
        self.block.numbers[fields.ASKED] = fields.ASKS
        self.send(number)

    def look(self, now: float) -> bool:
        """Ask for the end if a limit is passed, and insist; return whether only a kill helps."""
        numbers = self.block.numbers
        # Waits are measured by the looks, because the user may stop both processes with Ctrl-Z.
        self._clock += min(now - self._last, 2 * PERIOD)
        self._last = now
        call = numbers[fields.CALL], numbers[fields.BEGAN]
        if call != self._call:
            self._call, self._since, self._named = call, self._clock, False
        limits = numbers[fields.UNTIL], numbers[fields.MOST]
        if self._of_limit and limits != self._limits:  # the work with that limit has ended
            self.reason, self._of_limit, numbers[fields.ASKED] = "", False, 0.0
        if numbers[fields.DONE] or numbers[fields.CONCLUDED]:
            return False
        if not self.reason:
            self._ask_at(limits, now)
        return bool(self.reason) and self._insist()

    def _ask_at(self, limits: tuple[float, float], now: float) -> None:
        until, most = limits
        late, large = until and now > until + LATE, most and self._bytes() > FAR_BEYOND * most
        if late or large:
            self.ask(self.block.text(fields.TIME if late else fields.MEMORY))
            self._limits, self._of_limit = limits, True
        if large:  # memory does not wait for a poll
            self.block.numbers[fields.ASKED], self._woken = fields.INSISTS, self._clock

    def _insist(self) -> bool:
        numbers = self.block.numbers
        calls = bool(numbers[fields.CALL])
        stuck = calls and self._clock >= self._since + STUCK
        if numbers[fields.VITAL] or (numbers[fields.NOTICED] and not stuck):
            self._woken = 0.0
        elif self._woken and self._clock >= self._woken + (STUCK if calls else OWN):
            return True
        elif self._woken or self._clock >= self._asked + (STUCK if stuck else GRACE):
            self._woken = self._woken or self._clock
            numbers[fields.ASKED] = fields.INSISTS
            self.send(WAKE)  # again and again, because some code cannot be interrupted
        return False

    def hanging(self) -> str:
        """Return once a sentence on a call that does not return, or an empty text."""
        late = self._clock >= self._since + HANGING
        if self._named or self.reason or self._call[0] <= FIRST_NAME or not late:
            return ""
        self._named = True
        return (
            f"{self.what()} has not returned after {time.monotonic() - self._call[1]:.0f} seconds"
        )

    def what(self) -> str:
        """Return which function of the user is called, or an empty text."""
        index = int(self.block.numbers[fields.CALL])
        return self.block.text(index) if index else ""

    def unfinished(self, line: str = "") -> str:
        """Return why the process was killed: the reason, and the call that did not return."""
        if not (what := self.what()):
            return self.reason
        seconds = time.monotonic() - self.block.numbers[fields.BEGAN]
        if self.block.numbers[fields.CALL] == FIRST_NAME:
            return f"{self.reason}; {what} had not ended after {seconds:.0f} seconds"
        called, detail = "", self.block.text(fields.DETAIL)
        if detail.startswith(what):
            called = detail[len(what) :]
        return f"{self.reason}; {what} had not returned after {seconds:.0f} seconds{line}{called}"

    def died(self, code: int) -> str:
        """Return in a sentence that the process died; `code` is negative for a signal."""
        what = self.what()
        if code == -signal.SIGKILL:
            inside = f" in {what}" if what else ""
            return f"the process was killed{inside}, most likely for want of memory"
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return f"{what} ended the process ({how})" if what else f"the process ended by {how}"

    def _bytes(self) -> int:
        try:
            with open(f"/proc/{self.block.numbers[fields.PROCESS]:.0f}/statm", "rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:  # it has ended, or this is not Linux
            return 0


def supervised(work: Callable[[], int], life: int | None = None) -> int:
    """Do the work in a fork; the process that was started does not return from here.

    Args:
        work: returns the exit code.
        life: a pipe. When it is closed, everything ends.
    """
    import ctypes
    import mmap

    memory = memoryview(mmap.mmap(-1, 8 * NUMBERS + TEXTS * WIDTH))
    block.share(memory[: 8 * NUMBERS].cast("d"), memory[8 * NUMBERS :])
    control = ctypes.CDLL(None).prctl
    control(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans of the command are ours
    traces, writing = os.pipe()
    supervisor = os.getpid()
    child = os.fork()
    if child:
        os.close(writing)
        _Parent(child, traces, life).wait()
    os.close(traces)
    control(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != supervisor:
        os._exit(exit_codes.INCOMPLETE)
    if life is not None:
        os.close(life)
    import faulthandler

    faulthandler.enable(writing, all_threads=False)
    if TELL is not None:
        faulthandler.register(TELL, writing, all_threads=False)
    code = unsupervised(work)
    block.numbers[fields.DONE] = code + 1
    return code


def unsupervised(work: Callable[[], int]) -> int:
    """Do the work in this process, and return its exit code."""
    for number in ENDING:  # until the command handles them
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, die)
    return work()


def die(number: int, _frame: object) -> None:
    """End this process as if it did not handle the signal."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class _Parent:
    """Waits for the command, and ends with its exit code."""

    def __init__(self, child: int, traces: int, life: int | None) -> None:
        self.child, self.traces, self.life = child, traces, life
        block.numbers[fields.PROCESS] = child
        self.watch, self.signalled = Watch(block), 0.0
        self.reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in ENDING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self.forward)

    def forward(self, number: int, _frame: object) -> None:
        """Forward a signal; a second one ends the command at once."""
        now = time.monotonic()
        if not self.signalled:
            self.signalled = now
            by_user = number == signal.SIGINT
            reason = BY_USER if by_user else f"ended by {signal.Signals(number).name}"
            self.watch.ask(reason, number)
        elif now - self.signalled > DOUBLE and not block.numbers[fields.DONE]:
            self.end(exit_codes.INCOMPLETE, "\nEnded at once; there is no result.")

    def wait(self) -> NoReturn:
        """Wait for the end of the command."""
        descriptors = [each for each in (self.reading, self.life) if each is not None]
        looked = done = 0.0
        while True:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.child:
                    self.outcome(os.waitstatus_to_exitcode(ended[1]))
            now = time.monotonic()
            if block.numbers[fields.DONE]:
                done = done or now
                if now > done + OWN:  # something of the user keeps the process from ending
                    self.outcome(0)
            elif now >= looked + PERIOD:
                looked = now
                if self.watch.look(now):
                    self.watch.send(TELL)
                    said = self.watch.unfinished(self.line())
                    self.end(exit_codes.INCOMPLETE, f"Error: {said}; there is no result")
                if said := self.watch.hanging():
                    say(f"{said}.")
            ready = select.select(descriptors, [], [], PERIOD)[0]
            if self.reading in ready:
                os.read(self.reading, 64)
            if self.life in ready:
                self.end(exit_codes.INCOMPLETE, "")

    def outcome(self, code: int) -> NoReturn:
        """End as the command did, or say what happened to it."""
        what = self.watch.what()
        if block.numbers[fields.DONE]:
            self.end(int(block.numbers[fields.DONE]) - 1, "")
        if -code in ENDING and not what:
            self.end(exit_codes.INCOMPLETE, "Interrupted; there is no result.")
        said = f"{self.watch.died(code)}{self.line()}; there is no result"
        if code == -signal.SIGKILL:
            self.end(exit_codes.INCOMPLETE, f"Error: {said}")
        if what or code >= 0:
            self.end(exit_codes.INPUT_ERROR, f"Error: {said}")
        self.end(exit_codes.INTERNAL_ERROR, f"Internal error: {said}")

    def line(self) -> str:
        """Return the innermost line of the user's code that faulthandler wrote, for a sentence."""
        told = b""
        while select.select([self.traces], [], [], PERIOD)[0] and (
            piece := os.read(self.traces, 1 << 16)
        ):
            told += piece
        checker = os.path.dirname(os.path.dirname(__file__))
        ours = (os.path.dirname(checker) + os.sep, os.path.realpath(checker) + os.sep)
        for entry in told.decode(errors="replace").splitlines():
            file, _, rest = entry.strip().removeprefix('File "').partition('", line ')
            if rest and not file.startswith((*ours, sys.prefix, sys.base_prefix, "<")):
                return f" (line {rest.split()[0]} of {os.path.basename(file)})"
        return ""

    def end(self, code: int, said: str) -> NoReturn:
        """Kill whatever of the command is left, say something, and end this process.

        What antecede started in sessions of their own ends by itself, soon after the command.
        """
        _kill(self.child, signal.SIGKILL)
        session, until = os.getsid(0), time.monotonic() + GRACE
        while left := _children(os.getpid()):
            spares = block.numbers[fields.SPARES]
            for process, of in left.items():
                if of == session or (time.monotonic() > until and not spares):
                    _kill(process, signal.SIGKILL)
            if spares and session not in left.values():
                break
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.01)
        if said:
            say(said)
        os._exit(code)


def say(text: str) -> None:
    """Write a line to standard error, unless nobody reads it."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""  # in place of the live line
    if select.select([], [2], [], 1.0)[1]:
        print(f"{start}{text}", file=sys.stderr, flush=True)


def _kill(process: int, number: int) -> None:
    with suppress(OSError):
        os.kill(process, number)


def _children(process: int) -> dict[int, int]:
    """Return the processes whose parent is this one now, with their sessions."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return {}
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                _, parent, _, session = file.read().rpartition(b")")[2].split()[:4]
        except OSError:  # it has ended
            continue
        if int(parent) == process:
            found[int(entry)] = int(session)
    return found
