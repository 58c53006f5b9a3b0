"""Calls of z3 that a signal or the end of their time interrupts.

Python runs a signal handler only between two of its own instructions. A signal that arrives while
z3 works would thus wait until z3 returns. Here the signal interrupts z3, and `Ended` is raised
afterwards. It is never raised inside one of z3's finalizers, where it would be printed and lost.

z3 has a timeout of its own. If z3 misses it, the thread that waits for signals interrupts z3, too.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import z3

from antecede.checker.support import interrupts
from antecede.checker.support.supervisor import ENDING

SEED = 1

AGAIN = 0.05
"""Seconds between two interruptions; z3 ignores one that arrives before it has started."""

LATE = 1.0
"""Seconds after the end of its time when z3 is interrupted, if it has missed that end."""

LONGEST = 1e6
"""The most seconds to wait for a signal; a system may refuse a larger number."""


def solver_for(timeout: float, logic: str | None = None) -> Any:
    """Return a deterministic solver with a timeout in seconds."""
    solver = z3.Solver() if logic is None else z3.SolverFor(logic)
    solver.seconds = timeout  # for `check`
    solver.set("timeout", max(1, int(timeout * 1000)))
    solver.set("random_seed", SEED)
    # Otherwise z3 replaces the handler of SIGINT, and Ctrl-C ends only this one check.
    solver.set("ctrl_c", False)
    return solver


def look() -> None:
    """Raise `Ended` if a signal asked the command to end."""
    interrupts.deadline.poll()


def check(solver: Any) -> Any:
    """Return the answer of a solver of `solver_for`: z3.sat, z3.unsat or z3.unknown.

    Raises:
        Ended: a signal came before the answer.
    """
    with _interrupted(solver.ctx, solver.seconds + LATE):
        look()
        answer = solver.check()
    look()
    return answer


@contextmanager
def _interrupted(context: Any, seconds: float) -> Iterator[None]:
    """Run a thread that interrupts z3 after some time, or if a signal asks the command to end."""
    source, target = socket.socketpair()  # Windows cannot wait for a pipe
    target.setblocking(False)
    source.settimeout(min(seconds, LONGEST))
    done = threading.Event()
    gets_signals = threading.current_thread() is threading.main_thread()

    def wait() -> None:
        try:
            while (number := source.recv(1)) and number[0] not in ENDING:
                pass
        except TimeoutError:
            number = b"late"
        while number and not done.wait(AGAIN):
            context.interrupt()

    thread = threading.Thread(target=wait, daemon=True)
    with source, target:
        thread.start()
        before = signal.set_wakeup_fd(target.fileno()) if gets_signals else -1
        try:
            yield
        finally:
            if gets_signals:
                signal.set_wakeup_fd(before)
            done.set()
            target.close()
            thread.join()
