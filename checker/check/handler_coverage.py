"""Coverage of handlers: the lines and conditions of a protocol that a check ran, and never ran.

A check that HOLDS says nothing about a line that never ran. Each engine calls a handler for every
pair of a reachable local state and an event there, so all engines run the same lines. A search
with symmetry would leave out states, so it is switched off (`antecede check --coverage`).

The coverage counts the handlers `causal_send`, `receive` and `timeout`, the actions, and the
functions of the user that these call by name. It leaves out `initial` and `in_flight`, predicates,
the repeated calls of the self-check, and conditions within one line, such as `a if b else c`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from attrs import frozen

from antecede.checker.model import Protocol
from antecede.checker.semantics.tracing import Tracer, Turn, is_users, lines_of
from antecede.checker.support.sources import (
    code_of,
    codes_in,
    function_of,
    last_line,
    names_in,
    syntax_tree,
)

Condition: TypeAlias = ast.If | ast.While | ast.For


@frozen
class OneSided:
    """A condition that was always true, or never; of a `for`, whether the body ran.

    Attributes:
        line: of the `if`, `elif`, `while` or `for`.
        always: the value that it had each time.
    """

    line: int
    always: bool


@frozen
class FunctionCoverage:
    """The lines of a function that a check ran, and never ran.

    Attributes:
        lines: all lines with code.
        never: those that never ran.
        conditions: the number of conditions that were evaluated.
        one_sided: those that always went the same way.
    """

    name: str
    file: str
    first: int
    last: int
    lines: tuple[int, ...]
    never: tuple[int, ...]
    conditions: int
    one_sided: tuple[OneSided, ...]


HandlerCoverage: TypeAlias = tuple[FunctionCoverage, ...]
"""The coverage of all functions, by file and line."""


def coverage_of(protocol: Protocol, tracer: Tracer) -> HandlerCoverage:
    """Return the coverage of a protocol's handlers by the calls that were traced."""
    ran = {line for code, lines in tracer.ran.items() for line in _named(code, lines)}
    turns = {(code.co_filename, *turn) for code, all in tracer.turns.items() for turn in all}
    found = [_of_function(code, ran, turns) for code in _functions(protocol)]
    return tuple(sorted(found, key=lambda each: (each.file, each.first)))


def _named(code: CodeType, lines: Iterable[int]) -> Iterator[tuple[str, int]]:
    return ((code.co_filename, line) for line in lines)


def _functions(protocol: Protocol) -> list[CodeType]:
    """Return the handlers' code, and the code of the user's functions that they name."""
    handlers = [protocol.causal_send, protocol.receive, protocol.timeout]
    todo: list[Any] = [*handlers, *protocol.actions.values()]
    found: dict[tuple[str, int], CodeType] = {}
    while todo:
        thing = todo.pop()
        code = code_of(thing)
        if code is None or not is_users(code.co_filename) or _place(code) in found:
            continue
        found[_place(code)] = code
        todo += _used_by(function_of(thing), code)
    inner = {_place(each) for code in found.values() for each in codes_in(code) if each is not code}
    return [code for place, code in found.items() if place not in inner]


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def _used_by(function: FunctionType | None, code: CodeType) -> Iterator[Any]:
    """Yield the functions, and the methods of classes, that a function names."""
    if function is None:
        return
    names = names_in(code)
    closure = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
    for value in [*(function.__globals__.get(name) for name in names), *closure]:
        if isinstance(value, type):
            yield from (vars(value)[name] for name in names & vars(value).keys())
        elif callable(value):
            yield value


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable that is assigned later
        return False


def _of_function(
    code: CodeType, ran: set[tuple[str, int]], turns: set[tuple[str, int, int]]
) -> FunctionCoverage:
    file, first, last = code.co_filename, code.co_firstlineno, last_line(code)
    lines = sorted(set(_lines(code)))
    here = {(before, after) for name, before, after in turns if name == file}
    sides = {node.lineno: _sides(node, here) for node in _conditions(file, first, last)}
    return FunctionCoverage(
        name=code.co_qualname,
        file=file,
        first=first,
        last=last,
        lines=tuple(lines),
        never=tuple(line for line in lines if (file, line) not in ran),
        conditions=sum(bool(seen) for seen in sides.values()),
        one_sided=tuple(OneSided(line, *seen) for line, seen in sides.items() if len(seen) == 1),
    )


def _lines(code: CodeType) -> Iterator[int]:
    """Yield the lines with code of a function and of the functions in it.

    The line of a `def` is left out, because it runs when the function is made. A function in one
    line, such as a lambda, has no other line.
    """
    for each in codes_in(code):
        own = {line for _, _, line in each.co_lines() if line is not None}
        yield from (own - {each.co_firstlineno}) or own


def _conditions(file: str, first: int, last: int) -> Iterator[Condition]:
    """Yield the conditions in some lines whose body begins on a line of its own."""
    try:
        tree = syntax_tree("\n".join(lines_of(file)))
    except (SyntaxError, ValueError, RecursionError):
        return
    found = [node for node in ast.walk(tree) if isinstance(node, Condition)]
    for node in sorted(found, key=lambda node: node.lineno):
        if first <= node.lineno <= last and node.body[0].lineno not in _head(node):
            yield node


def _head(node: Condition) -> range:
    """Return the lines of a condition."""
    test = node.iter if isinstance(node, ast.For) else node.test
    return range(node.lineno, (test.end_lineno or node.lineno) + 1)


def _sides(node: Condition, turns: set[Turn]) -> set[bool]:
    """Return whether a condition was true, and whether it was false."""
    head, body = _head(node), _first_line(node.body[0])
    after = {line for before, line in turns if before in head and line not in head}
    return {line == body for line in after}


def _first_line(node: ast.stmt) -> int:
    """Return the first line of a statement that runs; a function's decorators come first."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])
