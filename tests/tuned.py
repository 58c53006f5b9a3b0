"""The command `antecede` with options for the settings that only tests and measurements choose.

python tests/tuned.py check mfss --checkpoint saved --checkpoint-seconds 0.05 --partitions 4
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import evolve

from antecede.__main__ import main
from antecede.checker.commands import shared
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support.settings import read, settings_of

TUNED = {known.option: known for known in settings_of(Options) if not known.public}


@contextmanager
def chosen(**settings: Any) -> Iterator[None]:
    """Let commands search with these settings in this block."""
    before = shared.search_from

    def search_from(values: dict[str, Any]) -> tuple[Bounds, Options]:
        bounds, method = before(values)
        return bounds, evolve(method, **settings)

    shared.search_from = search_from
    try:
        yield
    finally:
        shared.search_from = before


def taken(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return a command line without the settings, and the settings in it."""
    left, settings, rest = [], dict[str, Any](), iter(words)
    for word in rest:
        if word == "--no-traces":
            settings["traces"] = False
        elif word in TUNED:
            settings[TUNED[word].name] = read(TUNED[word], next(rest))
        else:
            left.append(word)
    return left, settings


def run() -> int:
    """Run the command of this process, and return its exit code."""
    sys.argv[1:], settings = taken(sys.argv[1:])
    with chosen(**settings):
        return main()


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as for `python -m antecede`
    sys.exit(run())
