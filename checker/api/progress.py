"""Progress of functions that Python calls: one live line in a notebook and on a terminal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from antecede.checker.render.terminal import WIDTH
from antecede.checker.render.ticker import Line, Ticker

DELAY = 1.0
"""Seconds before the line appears, so that short searches leave nothing in a notebook."""


class CellTicker(Ticker):
    """Shows progress in the cell of a notebook or on a terminal, by tqdm."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self._next = self._now() + DELAY
        self._bar: Any = None

    def show(self, line: Line) -> None:
        """Show a line if it is time to."""
        if self._now() < self._next:
            return
        self._next = self._now() + self.LIVE
        if self._bar is None:
            self._bar = _bar()
        self._bar.set_description_str(line(WIDTH))

    def clear(self) -> None:
        """Leave the line: results of a cell appear elsewhere."""

    def close(self) -> None:
        """Remove the line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _bar() -> Any:
    """Return an empty bar of tqdm, which has a description and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets, tqdm shows the line as text
        from tqdm.auto import tqdm

    return tqdm(bar_format="{desc}", leave=False)


def in_notebook() -> bool:
    """Return whether a cell of a notebook runs this code."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


@contextmanager
def progress() -> Iterator[Ticker]:
    """Return what shows the progress of the work in this block."""
    if not (in_notebook() or sys.stderr.isatty()):
        yield Ticker(quiet=True)
        return
    with closing(CellTicker()) as ticker:
        yield ticker
