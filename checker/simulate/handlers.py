"""The handlers that a simulation calls: a protocol's own, or its twin's."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from antecede.checker.errors import InputError
from antecede.checker.model import LocalState, Message, Packet, Protocol, Step
from antecede.checker.registry import protocol_named
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.simulate.encoding import Contents, contents_of
from antecede.checker.simulate.twins import Twin, twin_of
from antecede.checker.sources import digest_of, sources_of

HERE = Path(__file__).resolve().parent

DECIDES = ("encoding", "network", "oracle", "results", "run", "workload")
"""The modules of this room that a run's row depends on, besides the values of its columns."""


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
        """Repeat a failed call of a handler with the checker's checks, which explain the failure.

        Raises:
            ProtocolError: the handler raised an exception or returned an unusable value.
        """
        checked = CheckedHandlers(self.protocol, actors)
        if handler == self.causal_send:
            return checked.causal_send(*arguments)
        if handler == self.receive:
            return checked.receive(*arguments)
        return checked.timeout(*arguments)


def handlers_of(reference: str, *, twins: bool = True) -> Handlers:
    """Return the handlers of a protocol; with `twins`, the handlers of its twin if it has one.

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


def digest(reference: str, *, twins: bool = True) -> str:
    """Return 12 hexadecimal digits that change with the sources that a protocol's runs depend on.

    These are the sources of the protocol and of its twin, see `checker.sources`, and the modules of
    this room that run them, all without comments and docstrings.
    """
    handlers = handlers_of(reference, twins=twins)
    sources = sources_of(handlers.protocol, handlers.twin)
    room = {f"simulate.{name}": HERE / f"{name}.py" for name in DECIDES}
    parts = evolve(sources, files={**sources.files, **room}).digests(_code)
    return digest_of(repr(sorted(parts.items())).encode())[:12]


def _code(file: Path) -> bytes:
    """Return a module's source without comments and docstrings; a compiled module unchanged."""
    try:
        source = file.read_bytes()
    except OSError as error:
        raise InputError(f"the source {file} cannot be read: {error.strerror}") from None
    if file.suffix != ".py":
        return source
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.unparse(tree).encode()


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
