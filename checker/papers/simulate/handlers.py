"""The handlers that a simulation calls: a protocol's own, or its twin's."""

from __future__ import annotations

import contextlib
import tokenize
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.model import LocalState, Message, Packet, Protocol, Step
from antecede.checker.papers.simulate.encoding import Contents, contents_of
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import is_object, protocol_named
from antecede.checker.support.sources import bare, digest_of, sources_of

HERE = Path(__file__).resolve().parent

DECIDES = ("encoding", "network", "oracle", "results", "run", "workload")
"""The modules of this room that a run's row depends on, besides the values of its columns."""


TWINS = {
    "cykas": ("twin_cykas",),
    "cykas-fair": ("twin_cykas_fair", "twin_cykas"),
    "rst": ("twin_rst",),
}
"""Protocol with a twin -> the twin's module of this room, and the modules of this room it imports.

A twin has the handlers of a protocol, rewritten for simulations of hundreds of actors. They send
and deliver the same messages in the same order as the protocol's own handlers. They change states
in place, and their packets share common parts. A state or packet that was given to a handler must
not be used again. Checks never use a twin.
"""


@frozen(eq=False)
class Handlers:
    """The functions that a run calls: the functions of a protocol or of its twin.

    Attributes:
        start: number of actors -> the state of each.
        causal_send, receive, timeout: as in a protocol.
        contents: packet -> its contents.
        twin: these are the functions of a twin.
    """

    protocol: Protocol
    start: Callable[[int], list[LocalState]]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    contents: Callable[[Packet], Contents]
    timeout: Callable[[LocalState], Step | None] | None = None
    twin: bool = False

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
    protocol = protocol_named(reference)
    if protocol.actions or protocol.in_flight is not None:
        what = "actions of its own" if protocol.actions else "packets in flight at the start"
        raise InputError(
            f"the protocol {protocol.name!r} has {what}, which a simulation does not run; "
            "antecede check explores them"
        )
    if twins and reference in TWINS and not is_object(reference):
        own = import_module(f"{__package__}.{TWINS[reference][0]}")
        return Handlers(protocol, own.start, own.causal_send, own.receive, own.contents, twin=True)
    return Handlers(
        protocol,
        lambda actors: [*map(CheckedHandlers(protocol, actors).initial, range(actors))],
        protocol.causal_send,
        protocol.receive,
        contents_of,
        protocol.timeout,
    )


def digest(reference: str, *, twins: bool = True) -> str:
    """Return 12 hexadecimal digits that change with the code that a protocol's runs depend on.

    This is the code of the protocol, see `checker.support.sources`, of the modules of its twin, and
    of the modules of this room that run them. Comments and docstrings do not count.
    """
    handlers = handlers_of(reference, twins=twins)
    sources = sources_of(handlers.protocol)
    modules = (*DECIDES, *(TWINS[reference] if handlers.twin else ()))
    room = {f"simulate.{name}": HERE / f"{name}.py" for name in modules}
    files = {name: _code_in(file) for name, file in {**sources.files, **room}.items()}
    return digest_of(repr(sorted({**sources.values, **files}.items())).encode())[:12]


def _code_in(file: Path) -> str:
    """Return the digest of a file: for Python, only of the code."""
    with contextlib.suppress(SyntaxError, UnicodeDecodeError, tokenize.TokenError):
        if file.suffix == ".py":
            return digest_of(bare(file.read_text(encoding="utf-8")).encode())
    return digest_of(file.read_bytes())
