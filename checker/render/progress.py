"""The figures of a search under way."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from antecede.checker.check.spec import Spec
from antecede.checker.render.terminal import SHORTEST, elapsed, memory, rounded
from antecede.checker.search.loop import Progress


def progress_text(progress: Progress, width: int | None = None) -> str:
    """Return the figures of a search under way in one line, of at most `width` columns."""
    text = _progress(progress, "{:,}".format)
    if width is None or len(text) <= width:
        return text
    return _progress(progress, rounded)[:width]


def _progress(progress: Progress, number: Callable[[int], str]) -> str:
    counts, seconds = progress.counts, progress.seconds
    speed = number(int(counts.total_states / seconds)) if seconds >= SHORTEST else "-"
    waits = f"{progress.waits_for}: " if progress.waits_for else ""
    return (
        f"{waits}depth {counts.depth:,}  unique {number(counts.unique_states)}  "
        f"total {number(counts.total_states)}  {speed} states/s  "
        f"frontier {number(progress.frontier)}  {memory(progress.memory_bytes)}  {elapsed(seconds)}"
    )


class Ticker:
    """Shows progress: one live line on a terminal, elsewhere a plain line now and then."""

    LIVE, PLAIN = 0.15, 5.0

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        many: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to `stream` (standard error); of `many` specs, say which one it is about."""
        self._stream = stream or sys.stderr
        self._quiet, self._many, self._now = quiet, many, now
        self._live = self._stream.isatty()
        self._pause = self.LIVE if self._live else self.PLAIN
        self._next = now() + self._pause
        self._shown = False

    def __call__(self, spec: Spec, progress: Progress) -> None:
        """Show the progress of the check of `spec` if it is time to."""
        if self._quiet or self._now() < self._next:
            return
        self._next = self._now() + self._pause
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\x1b[K{progress_text(progress, width)}")
            self._shown = True
        else:
            label = f"{spec.label}: " if self._many else ""
            self._write(f"{label}{progress_text(progress)}\n")

    def clear(self) -> None:
        """Take the live line away, so that what follows stands alone."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
