"""The workloads by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antecede.checker.semantics.programs import program, reaction
from antecede.checker.semantics.workload import (
    CHOICES,
    SUMMARIES,
    Workload,
    counted_sends,
    endless,
    json_list,
    script,
)
from antecede.checker.support.errors import InputError, check_known

_LISTED: dict[str, Callable[[int, list[Any]], Workload]] = {
    "script": script,
    "reaction": reaction,
    "program": program,
}


def workload_from(text: str, actors: int, messages: int) -> Workload:
    """Return the workload that `text` describes (as `--workload` takes it).

    Raises:
        InputError: the text names no workload, or its argument is unusable.
    """
    kind, _, argument = text.partition(":")
    check_known("workload", kind, SUMMARIES, "workload")
    if kind == "endless":
        return endless(actors, argument)
    if kind in CHOICES:
        if argument:
            raise InputError(f"the workload {kind!r} takes no argument, got {argument!r}")
        return counted_sends(kind, actors, messages)
    return _LISTED[kind](actors, json_list(kind, argument))
