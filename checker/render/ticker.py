"""The one line that shows how far a command is."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO, TypeAlias

from antecede.checker.render.terminal import WIDTH, for_stream

Line: TypeAlias = Callable[[int], str]
"""Returns a line of at most so many columns; it is asked only when the line is shown."""


def fitting(parts: Sequence[tuple[int, str]], width: int, between: str = "  ") -> str:
    """Return the parts of a line that fit into `width` columns, each of them whole.

    Args:
        parts: pairs of a rank and a text, in the order of the line; the greatest rank is left out
            first.
    """
    kept = [(rank, text) for rank, text in parts if text]
    while len(line := between.join(text for _, text in kept)) > width and kept:
        kept.remove(max(reversed(kept), key=lambda part: part[0]))
    return line


class Ticker:
    """Shows progress: one live line on a terminal, elsewhere a plain line now and then."""

    LIVE, PLAIN = 0.15, 5.0

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Write to `stream` (standard error); if `quiet`, write nothing."""
        self._stream = stream or sys.stderr
        self._quiet, self._now = quiet, now
        self._live = self._stream.isatty()
        self._pause = self.LIVE if self._live else self.PLAIN
        self._next = now() + self._pause
        self._shown = False

    def show(self, line: Line) -> None:
        """Show a line if it is time to."""
        if self._quiet or self._now() < self._next:
            return
        self._next = self._now() + self._pause
        width = shutil.get_terminal_size().columns - 1 if self._live else WIDTH
        text = for_stream(line(width), self._stream)
        self._write(f"\r\x1b[K{text}" if self._live else f"{text}\n")
        self._shown = self._live

    def clear(self) -> None:
        """Remove the live line, before a report is printed."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
