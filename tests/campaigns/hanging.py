"""Handlers that never return, in every command: --max-seconds or a signal ends the command.

A hanging handler loops, catches every interruption, or loops at the recursion limit. It begins to
hang at its first calls, or after some of them.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

from tests.campaigns.hostile import Ended, left_behind, run
from tests.stubborn import FUNCTIONS

MARGIN = 60.0
"""The time in seconds after its limit in which a command must end, on a machine under load."""

HANDLERS = ("initial", "causal_send", "receive")

HANGS = {
    "loops": "never()",
    "catches every interruption": "catches()",
    "catches the first interruption and returns": """
        try:
            never()
        except BaseException:
            pass""",
    "loops at the recursion limit": "dive()",
}

PROTOCOL = (
    FUNCTIONS
    + """
from itertools import count
import attrs
from antecede.protocols import unordered

def hang():
    {hang}

calls = count()

def handler(*arguments):
    if next(calls) >= {since}:
        hang()
    return unordered.UNORDERED.{handler}(*arguments)

PROTOCOL = attrs.evolve(unordered.UNORDERED, name="hanging", {handler}=handler)
"""
)

LIMITED = (
    ("check", "hanging.py", "--actors", "2", "--messages", "2", "--selfcheck", "on"),
    ("check", "hanging.py", "--engine", "plain"),
    ("check", "hanging.py", "--search", "random", "--walks", "1000", "--minimise"),
    ("sweep", "hanging.py", "--actors", "2,3", "--messages", "2", "--workers", "2"),
    ("sweep", "hanging.py", "--smallest", "--actors", "2", "--max-messages", "2"),
)
"""Commands that have --max-seconds."""

UNLIMITED = (
    ("simulate", "hanging.py", "--actors", "3", "--messages", "2", "--seeds", "2"),
    ("simulate", "hanging.py", "--actors", "3", "--seeds", "1", "--workers", "1"),
    ("replay", "trace.json", "--protocol", "hanging.py"),
    ("explore", "hanging.py", "--no-browser", "--port", "0"),
)


def hanging(chance: random.Random, folder: Path) -> list[str]:
    """Run a command whose handler hangs, and end it; return the faults."""
    hang, handler = chance.choice(tuple(HANGS)), chance.choice(HANDLERS)
    since = chance.choice((0, 1, 5, 40))
    text = dedent(HANGS[hang]).strip().replace("\n", "\n    ")
    source = PROTOCOL.format(hang=text, handler=handler, since=since)
    (folder / "hanging.py").write_text(source, encoding="utf-8")
    line = chance.choice(LIMITED + UNLIMITED)
    if line[0] == "replay":
        small = ("--actors", "2", "--messages", "2", "--engine", "plain", "--quiet")
        run(("check", "unordered", *small, "--trace", "trace.json"), folder)
    shown = f"{' '.join(line)}, where {handler} {hang} from call {since} on"
    if line in LIMITED and chance.random() < 0.5:
        seconds = chance.choice((1.0, 2.0, 4.0))
        line, after, sign = (*line, "--max-seconds", f"{seconds:g}"), None, signal.SIGTERM
    else:
        after, sign = 1.0 + 4 * chance.random(), chance.choice((signal.SIGTERM, signal.SIGINT))
        seconds = after
        shown += f", after {sign.name} in {after:.1f} s"
    began = time.monotonic()
    done = run(line, folder, after=after, sign=sign)
    late = time.monotonic() - began - seconds * _limits_of(line)
    time.sleep(0.5)
    faults = [*_faults(done, line, sign, late), *left_behind(folder, "it")]
    return [f"{shown}: {fault}" for fault in faults]


def _limits_of(line: tuple[str, ...]) -> int:
    """Return how often --max-seconds may pass: one worker may run both checks of the sweep."""
    return 2 if line[0] == "sweep" else 1


def _faults(done: Ended, line: tuple[str, ...], sign: int, late: float) -> Iterator[str]:
    early = done.code == -sign or "KeyboardInterrupt" in done.text  # before the command began
    if early:
        return
    yield from done.faults(line)
    if done.code not in (0, 1, 3):  # 2: the command refused the protocol
        yield f"exit {done.code}: {done.text[-300:]}"
    if late > MARGIN:
        yield f"it ended {late:.0f} seconds late"
