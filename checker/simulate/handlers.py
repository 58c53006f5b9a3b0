"""What a simulation calls: a protocol's own handlers, or those of its twin."""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

from antecede.checker.errors import InputError
from antecede.checker.model import Contents, LocalState, Message, Packet, Protocol, Step, Twin
from antecede.checker.registry import protocol_named
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.simulate.encoding import contents_of

HERE = Path(__file__).resolve().parent

DECIDES = ("encoding", "network", "oracle", "results", "run", "workload")
"""Modules of this room that a run's row depends on, beside what its columns say."""


@frozen(eq=False)
class Handlers:
    """The functions that a run calls; see `Protocol` and `Twin`."""

    name: str
    start: Callable[[int], list[LocalState]]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    timeout: Callable[[LocalState], Step | None] | None
    contents: Callable[[Packet], Contents]
    protocol: Protocol
    twin: Twin | None = None

    def explained(self, actors: int, handler: Any, arguments: tuple[Any, ...]) -> Step | None:
        """Call a handler that went wrong by way of the checker.

        Raises:
            ProtocolError: says what it raised or returned, and how it was called.
        """
        checked = CheckedHandlers(self.protocol, actors)
        if handler == self.causal_send:
            return checked.causal_send(*arguments)
        if handler == self.receive:
            return checked.receive(*arguments)
        return checked.timeout(*arguments)


def handlers_of(reference: str, *, twins: bool = True) -> Handlers:
    """Return what to call for a protocol.

    Args:
        reference: a registered name, or FILE.py:OBJECT.
        twins: call its twin, if there is one, rather than the handlers that are checked.

    Raises:
        InputError: there is no such protocol.
    """
    protocol, twin = protocol_named(reference), twin_of(reference) if twins else None
    if protocol.actions or protocol.in_flight is not None:
        what = "actions of its own" if protocol.actions else "packets in flight at the start"
        raise InputError(
            f"the protocol {protocol.name!r} has {what}, which a simulation does not run; "
            "antecede check explores them"
        )
    if twin is not None:
        return Handlers(
            protocol.name,
            twin.start,
            twin.causal_send,
            twin.receive,
            None,
            twin.contents,
            protocol,
            twin,
        )
    return Handlers(
        protocol.name,
        lambda actors: [*map(CheckedHandlers(protocol, actors).initial, range(actors))],
        protocol.causal_send,
        protocol.receive,
        protocol.timeout,
        contents_of,
        protocol,
    )


def twin_of(reference: str) -> Twin | None:
    """Return the twin of a registered protocol, if it has one."""
    place = importlib.import_module("antecede.protocols").TWINS.get(reference)
    if place is None:
        return None
    module, _, name = place.partition(":")
    twin: Twin = getattr(importlib.import_module(module), name)
    return twin


def digest(reference: str, *, twins: bool = True) -> str:
    """Return 12 hexadecimal digits that change with all code that a protocol's runs depend on.

    That is the modules of its handlers with what they import of their own folder, and the modules
    of this room that run them, all without comments and docstrings.
    """
    handlers = handlers_of(reference, twins=twins)
    used = [handlers.protocol.initial, handlers.protocol.causal_send, handlers.protocol.receive]
    if handlers.twin is not None:
        used += [handlers.twin.causal_send, handlers.twin.receive]
    files = {Path(f"{HERE / name}.py") for name in DECIDES}
    for function in used:
        files |= set(_sources(sys.modules[function.__module__]))
    sha = hashlib.sha256()
    for file in sorted(files, key=lambda path: path.name):
        sha.update(f"{file.name}\0{_code(file)}\0".encode())
    return sha.hexdigest()[:12]


def _code(file: Path) -> str:
    """Return the source of a module without comments and docstrings."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the source {file} cannot be read: {error.strerror}") from None
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _sources(module: ModuleType) -> Iterator[Path]:
    """Yield the file of a module and of those beside it that it has things from, recursively."""
    folder = os.path.dirname(os.path.realpath(str(module.__file__)))
    todo, seen = [module], {module.__name__}
    while todo:
        module = todo.pop()
        yield Path(os.path.realpath(str(module.__file__)))
        values = list(vars(module).values())
        names = {v.__name__ if isinstance(v, ModuleType) else _home(v) for v in values} - seen
        seen |= names
        for name in names:
            file = getattr(sys.modules.get(name), "__file__", None)
            if file is not None and os.path.dirname(os.path.realpath(file)) == folder:
                todo.append(sys.modules[name])


def _home(value: object) -> str:
    """Return the module that a function or class is defined in."""
    name = getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""
