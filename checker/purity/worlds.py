"""Worlds: clones of the user's functions in perturbed circumstances.

In a world, sets iterate in another order, and `hash` and `id` return other values. A pure handler
returns the same result in every world.
"""

from __future__ import annotations

import ast
import builtins
import collections
import copy
import functools
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

from antecede.checker.purity.effects import is_of_user
from antecede.checker.purity.usable import children, copied
from antecede.checker.semantics.tracing import lines_of
from antecede.checker.semantics.values import canonical, field_names
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.sources import codes_in, names_in, syntax_tree

Order: TypeAlias = Callable[[list[Any]], list[Any]]

ORDERS: tuple[Order, ...] = (
    list,
    lambda elements: elements[::-1],
    lambda elements: elements[1:] + elements[:1],
)
"""Orders of iteration, applied to the canonical one.

The first two are opposite, so each pair of elements occurs in both orders. The third also moves the
middle element.
"""

TWISTS = {
    "order": (
        "depends on the order in which a set or mapping is iterated, which is no part of its "
        "value: in another order, {contrast}; sort it first, or keep a tuple"
    ),
    "hash": (
        "depends on hash(), which differs from process to process for strings: with other "
        "hashes, {contrast}; use the value itself"
    ),
    "id": (
        "depends on id(), which is no part of a value: with other ids, {contrast}; use the value "
        "itself"
    ),
}
"""Change of a world -> the error for a handler that depends on it."""


class World:
    """Clones of functions, and of all user functions that they call, with other built-ins.

    Variables are copied, so effects in a world are invisible outside.

    Attributes:
        order: the order of iteration of sets.
    """

    def __init__(self, order: Order, twists: frozenset[str], homes: frozenset[str]) -> None:
        self.order = order
        self._homes = homes
        self._twists = twists
        self._clones: dict[int, tuple[Any, Any]] = {}
        self._scopes: dict[int, tuple[dict[str, Any], dict[str, Any], set[str]]] = {}
        self._builtins = dict(vars(builtins))
        self._set: Any = set
        self._frozenset: Any = frozenset
        if "order" in twists:
            self._set, self._frozenset = (
                scrambled_class(set, order),
                scrambled_class(frozenset, order),
            )
        self._builtins |= {"set": self._set, "frozenset": self._frozenset, _SET: self._set}
        if "hash" in twists:
            self._builtins["hash"] = _other_hash
        if "id" in twists:
            self._builtins["id"] = lambda value: ~id(value)

    def copied(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return equal arguments whose sets iterate in this world's order."""
        if "order" not in self._twists:
            return args
        copies: tuple[Any, ...] = copied(args, self._frozenset)
        return copies

    def variables(self) -> dict[str, Any]:
        """Return the original module variables that cloned functions use."""
        found = {
            name: original[name]
            for original, _, names in self._scopes.values()
            for name in names & original.keys()
            if not callable(original[name]) and not isinstance(original[name], ModuleType)
        }
        return dict(sorted(found.items()))

    def value(self, value: Any) -> Any:
        """Return this world's version of a value found in a variable."""
        if id(value) in self._clones:
            return self._clones[id(value)][1]
        make = _CLONERS.get(type(value))
        return value if make is None else make(self, value)

    def lookup(self, scope: dict[str, Any], name: str) -> Any:
        """Return this world's version of a module variable; make it on first use."""
        original, clone, names = self._scope(scope)
        if name not in names:
            names.add(name)
            clone[name] = self.value(original[name])
        return clone[name]

    def assign(self, scope: dict[str, Any], name: str, value: Any) -> None:
        """Set a module variable in this world only."""
        _, clone, names = self._scope(scope)
        names.add(name)
        clone[name] = value

    def _scope(self, scope: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
        if id(scope) not in self._scopes:
            clone = {**scope, "__builtins__": self._builtins}
            self._scopes[id(scope)] = (scope, clone, set())
        return self._scopes[id(scope)]

    def _kept(self, value: Any, clone: Any) -> Any:
        """Cache the clone. The reference to the original keeps its id unique."""
        self._clones[id(value)] = (value, clone)
        return clone

    def _function(self, function: FunctionType) -> Any:
        if not is_of_user(function.__globals__, self._homes):
            return self._kept(function, function)
        code = _with_set_calls(function) if "order" in self._twists else function.__code__
        clone = FunctionType(
            code,
            self._scope(function.__globals__)[1],
            function.__name__,
            None,
            tuple(map(self.value, function.__closure__ or ())),
        )
        self._kept(function, clone)
        clone.__defaults__ = self.value(function.__defaults__)
        clone.__kwdefaults__ = self.value(function.__kwdefaults__)
        vars(clone).update(self.value(vars(function)))
        for name in names_in(function.__code__) & function.__globals__.keys():
            self.lookup(function.__globals__, name)
        return clone

    def _cell(self, cell: CellType) -> CellType:
        clone: CellType = self._kept(cell, CellType())
        try:
            content = cell.cell_contents
        except ValueError:
            return clone  # not assigned yet
        clone.cell_contents = self.value(content)
        return clone

    def _cached(self, function: Any) -> Any:
        clone = self.value(function.__wrapped__)
        return self._kept(function, functools.lru_cache(**function.cache_parameters())(clone))

    def _partial(self, partial: functools.partial[Any]) -> Any:
        args, keywords = map(self.value, partial.args), self.value(partial.keywords)
        return self._kept(partial, functools.partial(self.value(partial.func), *args, **keywords))

    def _method(self, method: MethodType) -> Any:
        return MethodType(self.value(method.__func__), method.__self__)

    def _module(self, module: ModuleType) -> Any:
        if not is_of_user(vars(module), self._homes):
            return module
        return self._kept(module, _ModuleView(self, module))

    def _tuple(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(self.value, value))

    def _list(self, value: list[Any]) -> list[Any]:
        clone: list[Any] = self._kept(value, [])
        clone.extend(map(self.value, value))
        return clone

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        clone: dict[Any, Any] = self._kept(value, {})
        clone.update((key, self.value(content)) for key, content in value.items())
        return clone

    def _plain_copy(self, value: Any) -> Any:
        return self._kept(value, copy.copy(value))


_CLONERS: dict[type, Callable[[World, Any], Any]] = {
    FunctionType: World._function,
    CellType: World._cell,
    type(functools.lru_cache(len)): World._cached,
    functools.partial: World._partial,
    MethodType: World._method,
    ModuleType: World._module,
    tuple: World._tuple,
    list: World._list,
    dict: World._dict,
    set: lambda world, value: world._kept(value, world._set(value)),
    frozenset: lambda world, value: world._kept(value, world._frozenset(value)),
    collections.OrderedDict: World._plain_copy,
    collections.defaultdict: World._plain_copy,
    collections.deque: World._plain_copy,
}
"""Exact type of a value -> the function that clones it. Other values are not cloned."""


class _ModuleView:
    """A module whose attributes are a world's versions."""

    def __init__(self, world: World, module: ModuleType) -> None:
        vars(self).update(_world=world, _module=module)

    def __getattr__(self, name: str) -> Any:
        scope = vars(self._module)
        return self._world.lookup(scope, name) if name in scope else getattr(self._module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._world.assign(vars(self._module), name, value)


def _other_hash(value: Any) -> int:
    """Return the hash, or another number if the hash can differ between processes."""
    return hash(value) if _is_numbers(value) else ~hash(value)


def _is_numbers(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_numbers, value))
    known = field_names(value) is not None
    return known and all(_is_numbers(part) for _, part in children(value))


class _Scrambled(type):
    """Metaclass of the replacements of `set` and `frozenset`; plain sets are their instances."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.__mro__[1])


_OPERATORS = ("or", "and", "sub", "xor")

_MAKING_SETS = (
    *("copy", "union", "intersection", "difference", "symmetric_difference"),
    *(f"__{operator}__" for operator in _OPERATORS),
    *(f"__r{operator}__" for operator in _OPERATORS),
)


def scrambled_class(base: Any, order: Order) -> Any:
    """Return a subclass of `set` or `frozenset` that iterates in `order`, as do its results."""

    def ordered(self: Any) -> list[Any]:
        elements = list(base.__iter__(self))
        try:
            return order(sorted(elements, key=canonical))
        except ProtocolError:
            return order(elements)

    def closed(name: str) -> Callable[..., Any]:
        plain = getattr(base, name)

        def operation(self: Any, *others: Any) -> Any:
            result = plain(self, *others)
            return result if result is NotImplemented else cls(result)

        return operation

    def pop(self: Any) -> Any:
        if not self:
            raise KeyError("pop from an empty set")
        first = ordered(self)[0]
        self.remove(first)
        return first

    def text(self: Any) -> str:
        inner = ", ".join(map(repr, ordered(self)))
        shown = f"{{{inner}}}" if inner else ""
        return shown if inner and base is set else f"{base.__name__}({shown})"

    body: dict[str, Any] = {name: closed(name) for name in _MAKING_SETS}
    body |= {"__iter__": lambda self: iter(ordered(self)), "__repr__": text, "__slots__": ()}
    if base is set:
        body["pop"] = pop
    cls: Any = _Scrambled(base.__name__, (base,), body)
    return cls


# Set displays and comprehensions do not look up the name `set`; in recompiled source they do.


_SET = "@set"
"""Set displays call the built-in of this name, which cannot be an identifier of the user's."""


class _SetCalls(ast.NodeTransformer):
    """Turns `{a, b}` and `{x for …}` into calls of _SET with a list."""

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return self._call(node, ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return self._call(node, ast.ListComp(node.elt, node.generators))

    def _call(self, node: ast.expr, elements: ast.expr) -> ast.AST:
        call = ast.Call(ast.Name(_SET, ast.Load()), [elements], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _with_set_calls(function: FunctionType) -> CodeType:
    """Return the function's code with set displays as calls; unchanged if it has no source."""
    code = function.__code__
    source = "\n".join(lines_of(code.co_filename, function.__globals__, now=True))
    return _recompiled(source, code.co_filename).get(_identity(code), code)


@functools.lru_cache(maxsize=64)
def _recompiled(source: str, filename: str) -> dict[Any, CodeType]:
    """Return the code of each function of a module with set displays as calls, by `_identity`."""
    try:
        tree = syntax_tree(source, filename)
        plain = compile(tree, filename, "exec", dont_inherit=True)
        changed = compile(_SetCalls().visit(tree), filename, "exec", dont_inherit=True)
        pairs = zip(codes_in(plain), codes_in(changed), strict=True)
        return {_identity(before): after for before, after in pairs}
    except (SyntaxError, ValueError):
        return {}


def _identity(code: CodeType) -> tuple[Any, ...]:
    """Return a key that identifies a function within a source file that may have changed."""
    constants = tuple(_identity(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts)
    place = (code.co_qualname, code.co_firstlineno)
    return (*place, code.co_code, code.co_names, code.co_varnames, constants)
