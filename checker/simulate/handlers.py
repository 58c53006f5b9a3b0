"""What a simulation calls: a protocol's own handlers, or those of its twin."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.errors import InputError
from antecede.checker.model import Contents, LocalState, Message, Packet, Protocol, Step, Twin
from antecede.checker.registry import protocol_named
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.simulate.encoding import contents_of

HERE = Path(__file__).resolve().parent

DECIDES = ("encoding", "handlers", "network", "oracle", "run", "scenario", "workload")
"""Modules of this room that a run's figures depend on."""


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
    """Return 12 hexadecimal digits that change with all sources that a protocol's runs depend on.

    These are the modules of its handlers with what they import of their own folder, and the
    modules of this room that run them.
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
        try:
            sha.update(file.name.encode() + b"\0" + file.read_bytes())
        except OSError as error:
            raise InputError(f"the source {file} cannot be read: {error.strerror}") from None
    return sha.hexdigest()[:12]


def _sources(module: Any) -> Iterator[Path]:
    """Yield the file of a module and of those beside it that it has things from, recursively."""
    todo, seen = [module], set[Path]()
    while todo:
        file = Path(todo.pop().__file__).resolve()
        if file in seen:
            continue
        seen.add(file)
        yield file
        for value in list(vars(sys.modules[_name_of(file, module)]).values()):
            other = sys.modules.get(getattr(value, "__module__", None) or "")
            path = getattr(other, "__file__", None)
            if path is not None and Path(path).resolve().parent == file.parent:
                todo.append(other)


def _name_of(file: Path, module: Any) -> str:
    """Return the module that a file beside `module` was imported as."""
    return next(
        name
        for name, known in sys.modules.items()
        if getattr(known, "__file__", None) and Path(str(known.__file__)).resolve() == file
    )
