"""Completion of names and files for shells; click calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.workload import SUMMARIES
from antecede.checker.support.registry import property_names, protocol_names

MADE_OF_NETWORKS = (
    *NETWORKS,
    *("duplicating+lossy", "fifo+duplicating", "fifo+lossy"),
)
"""Names of networks to offer. Users type numbers of losses themselves."""


def candidates(kind: str, typed: str) -> list[str]:
    """Return the completions of `typed`, which is a word of one of `KINDS`.

    In a list with commas, the last name is completed. Words with colons, such as FILE.py:OBJECT,
    are not completed, because bash ends a word at a colon.
    """
    names, endings = KINDS[kind]
    matching = _listed(typed, names())
    return matching if endings is None else [*matching, *files(typed, endings)]


def files(typed: str, endings: Sequence[str]) -> list[str]:
    """Return the files with these endings, and the folders, that begin with `typed`.

    A shell puts a space after the only candidate. So if the only one is a folder, its entries
    are candidates, too.
    """
    entries = list(_entries(typed, endings))
    if len(entries) == 1 and entries[0].endswith("/") and entries[0] != typed:
        entries += _entries(entries[0], endings)
    return entries


def _entries(typed: str, endings: Sequence[str]) -> Iterator[str]:
    folder, slash, start = typed.rpartition("/")
    try:
        entries = sorted(Path(f"{folder}{slash}" or ".").iterdir())
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        if entry.is_dir():
            yield f"{folder}{slash}{entry.name}/"
        elif entry.name.endswith(tuple(endings)):
            yield f"{folder}{slash}{entry.name}"


def _listed(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that continue `typed` after its last comma."""
    before, comma, last = typed.rpartition(",")
    used = before.split(",")
    return [f"{before}{comma}{n}" for n in names if n.startswith(last) and n not in used]


def _everything() -> tuple[str, ...]:
    return (*protocol_names(), *property_names(), *NETWORKS, *SUMMARIES)


def _nothing() -> tuple[str, ...]:
    return ()


KINDS: Mapping[str, tuple[Callable[[], Sequence[str]], Sequence[str] | None]] = MappingProxyType(
    {
        "target": (protocol_names, (".toml", ".py")),
        "traced": (protocol_names, (".toml", ".py", ".json")),
        "protocol": (protocol_names, (".py",)),
        "registered": (protocol_names, None),
        "listed": (_everything, (".py",)),
        "adapter": (_nothing, (".py",)),
        "anything": (_nothing, None),
        "trace": (_nothing, (".json",)),
        "network": (lambda: MADE_OF_NETWORKS, None),
        "workload": (lambda: tuple(SUMMARIES), None),
        "property": (property_names, None),
    }
)
"""Kind of word -> (function that returns names, endings of files or None for no files)."""
