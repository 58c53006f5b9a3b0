"""Ends slow searches for a regular expression, because a log may contain its own expression."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from attrs import define

from antecede.checker.errors import InputError

SECONDS = 2.0


@define
class Watchdog:
    """A timer that ends a search that stays at one place; `at` is the place, "" between searches.

    Python's regular expressions check for signals while they search, so a timer can end them.
    Signals reach only the main thread; in other threads nothing is watched.
    """

    at: str = ""
    _seen: str = ""
    _before: tuple[object, tuple[float, float]] | None = None

    def __enter__(self) -> Watchdog:
        """Start the timer."""
        if threading.current_thread() is threading.main_thread():
            handler = signal.signal(signal.SIGALRM, self._tick)
            self._before = handler, signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        """Stop the timer, and restore the previous one."""
        if self._before is not None:
            handler, timer = self._before
            signal.setitimer(signal.ITIMER_REAL, *timer)
            signal.signal(signal.SIGALRM, handler)  # type: ignore[arg-type]

    def _tick(self, _signal: int, _frame: FrameType | None) -> None:
        if self.at and self.at == self._seen:
            raise InputError(
                f"{self.at}: the expression has searched for more than {SECONDS:g} seconds; give a "
                "simpler one, without repetitions inside repetitions"
            )
        self._seen = self.at
