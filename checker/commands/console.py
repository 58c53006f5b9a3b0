"""Reports on standard output, and remarks on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

import click

from antecede.checker.render.terminal import COLOURS, VERDICTS, fitted, for_stream
from antecede.checker.support import interrupts


def say(text: str) -> None:
    """Print a report for people."""
    emit(_shown(text, sys.stdout) + "\n")


def _shown(text: str, stream: TextIO) -> str:
    """Return a text as a stream shows it; verdicts have colours on a terminal that has some."""
    text = for_stream(text, stream)
    if not stream.isatty():
        return text
    text = fitted(text, shutil.get_terminal_size().columns)
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return VERDICTS.sub(lambda found: click.style(found[0], fg=COLOURS[found[0]], bold=True), text)


def emit(text: str) -> None:
    """Write a text to standard output as it is."""
    with interrupts.shielded():  # a signal during a flush would have the text printed twice
        sys.stdout.write(text)
        sys.stdout.flush()


def discard(_text: str) -> None:
    """Print nothing, for standard output belongs to the JSON."""


def complain(text: str) -> None:
    """Print a remark on standard error."""
    print(_shown(text, sys.stderr), file=sys.stderr)
