"""Text for terminals and pages of 80 columns: line breaks, numbers, colours."""

from __future__ import annotations

import re
import textwrap
from typing import TextIO

WIDTH = 80
"""Columns of running text."""

SHORTEST = 1.0
"""The shortest time, in seconds, for which a rate is reported. Shorter ones measure the start."""

COLOURS = {
    **dict.fromkeys(("HOLDS", "ok", "PROVED", "LINKED", "CONFIRMED", "CONSISTENT"), "green"),
    **dict.fromkeys(("VIOLATED", "FAILED", "NOT AS EXPECTED", "REFUTED", "ERROR", "Error"), "red"),
    **dict.fromkeys(("INCOMPLETE", "VACUOUS", "UNKNOWN", "UNDECIDED"), "yellow"),
}
"""Word for a verdict -> its colour on a terminal. The colour adds no information."""

VERDICTS = re.compile(
    r"(?<![\w/:.-])(?:" + "|".join(sorted(COLOURS, key=len, reverse=True)) + r")(?![\w/.(=-])"
)

_DRAWN = re.compile("[│─╭╮╯╰├┤┄▷◁▶◀━┏┓┛┗┣┫]")

_ASCII = str.maketrans(
    dict(zip("│─╭╮╯╰├┤┄▷◁▶◀●✗×┃━┏┓┛┗┣┫–’", "|-..''++.><><*Xx#=######-'", strict=True))
    | {"…": "...", "—": "--"}
)

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def for_stream(text: str, stream: TextIO) -> str:
    """Return `text` in a form that `stream` can show.

    Boxes are drawn in plain ASCII if the encoding of the stream lacks box characters. Control
    characters are escaped.
    """
    text = _STEERING.sub(lambda found: repr(found[0])[1:-1], text)
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_ASCII)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return text


def fitted(text: str, wide: int) -> str:
    """Return `text` for a terminal of `wide` columns: broken at spaces, never within a number.

    Diagrams stay unchanged, because line breaks would destroy them.
    """
    return "\n".join(
        line if len(line) <= wide or _DRAWN.search(line) else _folded(line, wide)
        for line in text.split("\n")
    )


def _folded(line: str, wide: int) -> str:
    """Return a line broken into several lines; all except the first are indented further."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        wide,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def rate(states: int, seconds: float) -> str:
    """Return states per second in words; empty if the time is shorter than SHORTEST."""
    return f"{states / seconds:,.0f}" if seconds >= SHORTEST else ""


def elapsed(seconds: float) -> str:
    """Return a time as 0.12 s, 12.3 s, or 1:02:03."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def wrapped(text: str, indent: str = "", wide: int = WIDTH) -> str:
    """Return a paragraph in lines of at most `wide` columns; `indent` precedes later lines."""
    return textwrap.fill(
        text, wide, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def rounded(number: int) -> str:
    """Return a number to three digits: 987, 12.3K, 4.56M, 789M."""
    size, units = float(number), iter(["", "K", "M", "G", "T"])
    unit = next(units)
    while size >= 999.5:
        size, unit = size / 1000, next(units)
    digits = 0 if not unit or size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{size:.{digits}f}{unit}"
