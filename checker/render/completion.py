"""Completion of names and files for shells; click calls it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from antecede.checker.errors import AntecedeError
from antecede.checker.registry import declared_names, property_names, protocol_named, protocol_names
from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.workload import SUMMARIES

MADE_OF_NETWORKS = (
    *NETWORKS,
    *("duplicating+lossy", "fifo+duplicating", "fifo+lossy"),
    *("lossy:1", "lossy:2", "fifo+lossy:1", "duplicating+lossy:1"),
)
"""Names of networks to offer. Users type greater numbers of losses themselves."""

WORKLOADS = (
    *(name for name in SUMMARIES if name not in ("script", "reaction", "endless", "program")),
    *("endless:1", "endless:2", "script:", "reaction:", "program:"),
)
"""Workloads to offer; some of them are only the beginning."""


def candidates(kind: str, typed: str, given: Sequence[str] = ()) -> list[str]:
    """Return the completions of `typed`. In a list with commas, the last name is completed.

    Args:
        kind: one of `KINDS`.
        typed: the beginning of the word.
        given: earlier protocols on the command line; their witnesses and invariants are offered.
    """
    if kind == "property":
        return _listed(typed, _properties(given))
    names, endings = KINDS[kind]
    matching = _listed(typed, names())
    if endings is None:
        return matching
    within = _objects(typed) if ".py" in endings and ".py:" in typed else []
    return [*matching, *files(typed, endings), *within]


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


def _objects(typed: str) -> list[str]:
    """Return the completions of FILE.py:OBJECT. The file is parsed, not imported."""
    file, _, start = typed.rpartition(":")
    names = (name for name, _ in _defined_in(file) if not name.startswith("_"))
    return [f"{file}:{name}" for name in names if name.startswith(start)]


def _declared_in(file: str) -> list[str]:
    """Return the witnesses and invariants of all protocols in a file."""
    declared = []
    for _, value in _defined_in(file):
        for given in value.keywords if isinstance(value, ast.Call) else ():
            kind = given.arg and _DECLARES.get(given.arg)
            if kind and isinstance(given.value, ast.Dict):
                keys = (getattr(key, "value", None) for key in given.value.keys)
                declared += [f"{kind}:{key}" for key in keys if isinstance(key, str)]
    return list(dict.fromkeys(declared))


def _defined_in(file: str) -> list[tuple[str, ast.AST]]:
    """Return the module-level names in a Python file that may be protocols or real code.

    They are assigned the result of a call, or they are classes.
    """
    try:
        body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError):
        return []
    definitions: list[tuple[str, ast.AST]] = []
    for statement in body:
        if isinstance(statement, ast.ClassDef) and _may_be_real_code(statement):
            definitions.append((statement.name, statement))
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
            names = (target.id for target in targets if isinstance(target, ast.Name))
            if isinstance(statement.value, ast.Call):
                definitions += [(name, statement.value) for name in names]
    return definitions


def _may_be_real_code(definition: ast.ClassDef) -> bool:
    methods = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    return bool(definition.bases or methods & {"causal_send", "receive"})


_DECLARES = {
    "witnesses": "witness",
    "joint_witnesses": "witness",
    "invariants": "invariant",
    "joint_invariants": "invariant",
}
"""Argument of `Protocol` -> the kind of property that it declares."""


def _listed(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that continue `typed` after its last comma."""
    before, comma, last = typed.rpartition(",")
    used = before.split(",")
    return [f"{before}{comma}{n}" for n in names if n.startswith(last) and n not in used]


def _properties(given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of built-in properties, and of properties that the protocols declare."""
    offered = list(property_names())
    for name in given:
        if name.endswith(".py") or ".py:" in name:
            offered += _declared_in(name.partition(":")[0])
            continue
        try:
            protocol = protocol_named(name) if name in protocol_names() else None
        except AntecedeError:
            continue
        if protocol is not None:
            offered += declared_names(protocol, "witness") + declared_names(protocol, "invariant")
    return tuple(offered)


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
        "workload": (lambda: WORKLOADS, None),
    }
)
"""Kind of word -> (function that returns names, endings of files or None for no files)."""
