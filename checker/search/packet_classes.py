"""The classes of packets that a protocol's receive handler tells apart, read from its source.

A protocol declares no packets; but its handler names their classes where it asks for them
(`isinstance`), and in the annotation of the packet, there and wherever it passes the packet on.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, get_args

from attrs import define, field

from antecede.checker.support.sources import syntax_tree

NOT_PACKETS = ("builtins", "typing", "collections.abc", "antecede.checker.model")
"""Where classes come from that say nothing of what a packet is."""


def handled(receive: Callable[..., Any]) -> tuple[type, ...]:
    """Return the classes of packets that a receive handler names, in order, without duplicates.

    A handler whose source cannot be read names none.
    """
    reader = _Reader()
    reader.read(receive, 2)
    return tuple(reader.found)


@define(eq=False)
class _Reader:
    """Reads handlers, each parameter of a function once."""

    found: dict[type, None] = field(factory=dict)
    met: set[tuple[FunctionType, int]] = field(factory=set)

    def read(self, function: Any, place: int) -> None:
        """Read what `function` says of the parameter at `place`."""
        function = inspect.unwrap(function)
        if not isinstance(function, FunctionType) or (function, place) in self.met:
            return
        self.met.add((function, place))
        tree = _definition(function)
        parameters = [] if tree is None else [*tree.args.posonlyargs, *tree.args.args]
        if tree is None or place >= len(parameters):
            return
        known, packet = _namespace(function), parameters[place]
        self._note(packet.annotation, known)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._call(node, packet.arg, known)
            elif isinstance(node, ast.Match) and _is_name(node.subject, packet.arg):
                for pattern in ast.walk(node):
                    if isinstance(pattern, ast.MatchClass):
                        self._note(pattern.cls, known)

    def _call(self, call: ast.Call, packet: str, known: dict[str, Any]) -> None:
        places = [k for k, given in enumerate(call.args) if _is_name(given, packet)]
        if _is_name(call.func, "isinstance") and places == [0]:
            self._note(call.args[1], known)
            return
        called = _value(call.func, known)
        for place in places:
            self.read(called, place)

    def _note(self, node: ast.expr | None, known: dict[str, Any]) -> None:
        for found in _classes(node, known):
            if found.__module__ not in NOT_PACKETS and not inspect.isabstract(found):
                self.found[found] = None


def _definition(function: FunctionType) -> ast.FunctionDef | None:
    try:
        tree = syntax_tree(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None
    first = tree.body[0] if tree.body else None
    return first if isinstance(first, ast.FunctionDef) else None


def _namespace(function: FunctionType) -> dict[str, Any]:
    """Return what the names in a function stand for."""
    known = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            known[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return known


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    """Return what a name, perhaps with dots, stands for; None if that is not known."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, known), node.attr, None)
    return None


def _classes(node: ast.expr | None, known: dict[str, Any]) -> Iterator[type]:
    """Yield the classes that an annotation, or the second argument of isinstance, names."""
    if isinstance(node, ast.Tuple):
        for each in node.elts:
            yield from _classes(each, known)
    elif isinstance(node, ast.BinOp):
        yield from _classes(node.left, known)
        yield from _classes(node.right, known)
    elif isinstance(node, ast.Subscript):
        yield from _classes(node.value, known)
    elif node is not None:
        value = _value(node, known)
        yield from (each for each in (value, *get_args(value)) if isinstance(each, type))
