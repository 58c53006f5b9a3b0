"""The source of the handler that took a step, with the lines that ran.

The handler is called once more with the same arguments, under `sys.settrace`. Handlers are pure, so
this call takes the same branches.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from types import CodeType
from typing import Any

from attrs import frozen

from antecede.checker.model import (
    CausalSend,
    Internal,
    LocalState,
    Protocol,
    Receive,
    State,
    Timeout,
)
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.render.source import from_here
from antecede.checker.semantics.crashes import CRASH
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.tracing import Tracer, is_users, lines_of
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.sources import code_of, codes_in, last_line, syntax_tree

NO_SOURCE = "The source is not available. Define the protocol in a file or in a notebook to see it."
CHANGED = "The file has changed since it was read, so the page does not show its lines."


@frozen
class Line:
    """A line of a file, and whether the step ran it."""

    number: int
    text: str
    ran: bool


@frozen
class Code:
    """The functions that a step called, in the file of its handler.

    Attributes:
        title: the handler, its file and its line.
        functions: the lines of the functions, the handler first; empty without a source.
        missing: why there is no source, as a sentence, or "".
    """

    title: str
    functions: tuple[tuple[Line, ...], ...] = ()
    missing: str = ""


@frozen
class Call:
    """A call of a handler.

    Attributes:
        name: the name of the handler, or of an action.
    """

    name: str
    handler: Callable[..., Any]
    args: tuple[Any, ...]

    @property
    def title(self) -> str:
        """The name of the handler, with its place if it has a source."""
        code = code_of(self.handler)
        if code is None or not is_users(code.co_filename):
            return self.name
        return f"{self.name}: {from_here(code.co_filename)}, line {code.co_firstlineno}"


def call_of(path: Path, step: PathStep) -> Call | None:
    """Return the call of a handler that takes a step; None if no handler takes it."""
    protocol, transition = path.system.protocol, step.transition
    before: State = path.steps[step.number - 2].state if step.number > 1 else path.initial
    state = before.actors[step.actor]
    if isinstance(transition, CausalSend):
        return Call("causal_send", protocol.causal_send, (state, step.message))
    if isinstance(transition, Receive):
        return Call("receive", protocol.receive, (state, transition.src, transition.packet))
    if isinstance(transition, Timeout) and protocol.timeout is not None:
        return Call("timeout", protocol.timeout, (state,))
    if isinstance(transition, Internal) and transition.name not in protocol.actions:
        return _call_of_restart(protocol, state, transition, path.system.actors)
    if isinstance(transition, Internal):
        return Call(transition.name, protocol.actions[transition.name], (state,))
    return None


def _call_of_restart(
    protocol: Protocol, state: LocalState, transition: Internal, actors: int
) -> Call | None:
    """Return the call of a crash or a recovery; None if the protocol has no handler for it."""
    if transition.name == CRASH:
        return protocol.durable and Call("durable", protocol.durable, (state,))
    args = (transition.actor, actors, state.durable)
    return protocol.recover and Call("recover", protocol.recover, args)


def code_of_step(path: Path, step: PathStep) -> Code | None:
    """Return the code of a step; None if no handler takes it."""
    call = call_of(path, step)
    if call is None:
        return None
    tracer = Tracer()
    with tracer.tracing(), suppress(ProtocolError):
        called(path.system.protocol, call.name, call.handler, call.args)
    if not tracer.ran:
        return Code(call.title, missing=NO_SOURCE)
    file = next(iter(tracer.ran)).co_filename
    codes = {code: ran for code, ran in tracer.ran.items() if code.co_filename == file}
    lines = lines_of(file, now=True)
    if not _known(codes) <= _known(_written_in(lines, file)):
        return Code(call.title, missing=CHANGED)
    return Code(call.title, tuple(_functions(codes, lines)))


def _written_in(lines: list[str], file: str) -> Iterator[CodeType]:
    with suppress(SyntaxError, ValueError, RecursionError):
        yield from codes_in(compile("\n".join(lines), file, "exec", dont_inherit=True))


def _known(codes: Iterable[CodeType]) -> set[tuple[object, ...]]:
    """Return what tells functions apart, also from the same function before a change."""
    return {
        (
            code.co_qualname,
            code.co_firstlineno,
            code.co_code,
            repr([value for value in code.co_consts if not isinstance(value, CodeType)]),
        )
        for code in codes
    }


def _functions(codes: Mapping[CodeType, set[int]], lines: list[str]) -> Iterator[tuple[Line, ...]]:
    """Yield the lines of each function, in the order of their first calls."""
    ran = set(_whole_statements(lines, set[int]().union(*codes.values())))
    spans = [range(code.co_firstlineno, min(last_line(code), len(lines)) + 1) for code in codes]
    for span in dict.fromkeys(spans):
        if not any(_is_inside(span, other) for other in spans):
            yield tuple(Line(number, lines[number - 1], number in ran) for number in span)


def _is_inside(span: range, other: range) -> bool:
    """Return whether a function is written inside another one, as a lambda may be."""
    return span != other and other.start <= span.start and span.stop <= other.stop


def _whole_statements(lines: list[str], ran: set[int]) -> Iterator[int]:
    """Yield the lines of the statements that ran; of a compound statement, the lines of its head.

    Python notes only the first line of each expression.
    """
    yield from ran
    try:
        nodes = [n for n in ast.walk(syntax_tree("\n".join(lines))) if isinstance(n, ast.stmt)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in nodes:
        body: list[ast.AST] = getattr(node, "body", None) or getattr(node, "cases", None) or []
        first = body[0] if body else None
        inside = getattr(first, "pattern", first)
        last = node.end_lineno or node.lineno
        head = range(node.lineno, (getattr(inside, "lineno", last + 1) if inside else last + 1))
        if not ran.isdisjoint(head):
            yield from head
