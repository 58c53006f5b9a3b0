"""Progress of long functions: one line, in a notebook or on a terminal, that changes meanwhile."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from antecede.checker.render.terminal import WIDTH
from antecede.checker.render.ticker import Line, Ticker

DELAY = 1.0
"""The seconds before the line of progress appears, so that short searches leave nothing in a
notebook."""


class CellTicker(Ticker):
    """A line in the cell of a notebook, or on a terminal, that shows how far a search is.

    The library tqdm draws the line.
    """

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self._next = self._now() + DELAY
        self._bar: Any = None

    def show(self, line: Line) -> None:
        """Show a line of progress, unless the previous one was shown only a moment ago.

        Args:
            line: a function that takes the greatest width in characters, and returns the text.
        """
        if self._now() < self._next:
            return
        self._next = self._now() + self.LIVE
        if self._bar is None:
            self._bar = _bar()
        self._bar.set_description_str(line(WIDTH))

    def clear(self) -> None:
        """Do nothing, because a notebook shows results outside the line of progress."""

    def close(self) -> None:
        """Remove the line of progress from the cell."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _bar() -> Any:
    """Return a bar of tqdm that shows only its description."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets, tqdm shows the line as text
        from tqdm.auto import tqdm

    return tqdm(bar_format="{desc}", leave=False)


def in_notebook() -> bool:
    """Return True if the code runs in a cell of a notebook, and False in a script or a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


@contextmanager
def progress() -> Iterator[Ticker]:
    """Provide the object that shows the progress of the work in a `with` block.

    In a notebook, it shows a line in the cell, and on a terminal a line of the terminal. Elsewhere,
    it shows nothing.

    Examples:
        >>> from antecede.checker.api.progress import progress
        >>> with progress() as ticker:
        ...     ticker.show(lambda width: "half of the states")
    """
    if not (in_notebook() or sys.stderr.isatty()):
        yield Ticker(quiet=True)
        return
    with closing(CellTicker()) as ticker:
        yield ticker
