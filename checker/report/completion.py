"""What a shell offers when the Tab key is pressed: names, and files that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from antecede.checker.errors import AntecedeError
from antecede.checker.registry import declared_names, property_names, protocol_named, protocol_names
from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.workload import SUMMARIES

MADE_OF_NETWORKS = (*NETWORKS, "duplicating+lossy", "fifo+duplicating", "fifo+lossy")
"""Names of networks that the shell offers; lossy:N and the like are typed."""


def candidates(kind: str, typed: str, given: Sequence[str] = ()) -> list[str]:
    """Return what can stand where the user typed `typed`; lists with commas end in a new name.

    Args:
        kind: one of `KINDS`.
        typed: the beginning of the word.
        given: the names before it, whose protocols' witnesses and invariants are offered.
    """
    if kind == "property":
        return _listed(typed, _properties(given))
    names, endings = KINDS[kind]
    found = _listed(typed, names())
    return found if endings is None else [*found, *files(typed, endings)]


def files(typed: str, endings: Sequence[str]) -> list[str]:
    """Return the files with these endings, and the folders, that begin with what was typed.

    The only folder that fits is looked into, for a shell puts a space after the only word.
    """
    found = list(_entries(typed, endings))
    if len(found) == 1 and found[0].endswith("/") and found[0] != typed:
        found += _entries(found[0], endings)
    return found


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
    """Return the names that go on what was typed after the last comma."""
    before, comma, last = typed.rpartition(",")
    used = before.split(",")
    return [f"{before}{comma}{n}" for n in names if n.startswith(last) and n not in used]


def _properties(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of properties, and what the protocols given declare besides."""
    found = list(property_names())
    for name in given:
        try:
            protocol = protocol_named(name) if name in protocol_names() else None
        except AntecedeError:
            continue
        if protocol is not None:
            found += declared_names(protocol, "witness") + declared_names(protocol, "invariant")
    return tuple(found)


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
        "adapter": (lambda: ("pipe:",), (".py",)),
        "anything": (_nothing, None),
        "trace": (_nothing, (".json",)),
        "network": (lambda: MADE_OF_NETWORKS, None),
        "workload": (lambda: tuple(SUMMARIES), None),
    }
)
"""What is typed -> the names that are offered, and the endings of files, None for no files."""
