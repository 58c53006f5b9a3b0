"""Two interpretations of a formula: grounded for the solver, and compiled to Python.

Both walk z3's own expressions, so every guard, update and conjunct is written only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, TypeAlias

import z3
from attrs import frozen

from antecede.checker.prove.solver import look
from antecede.checker.prove.vocabulary import MESSAGE, Action, Formula, Relation, sent
from antecede.checker.support.errors import InputError

Sizes: TypeAlias = Mapping[str, int]
"""Sort name -> the number of its elements."""


def index_of(sizes: Sizes, sorts: Sequence[str], elements: Sequence[int]) -> int:
    """Return the bit of a tuple in the mask of a relation; the last element counts fastest."""
    index = 0
    for sort, element in zip(sorts, elements, strict=True):
        index = index * sizes[sort] + element
    return index


def after(formula: Formula, action: Action) -> Formula:
    """Return the weakest precondition of `formula` for an action, without the action's guard.

    It is true in a state if and only if `formula` is true after the action. Cost: the size of the
    formula times the size of the updates.
    """
    changed = {update.relation.symbol.get_id(): update for update in action.updates}

    def rewritten(atom: Any, arguments: Sequence[Any]) -> Any:
        update = changed.get(atom.decl().get_id())
        if update is None:
            return None
        return z3.substitute(update.formula, *zip(update.variables, arguments, strict=True))

    return rewrite(formula, rewritten)


def grounded(formula: Formula, elements: Mapping[str, Sequence[Any]]) -> Formula:
    """Return `formula` with its quantifiers expanded over the given elements of each sort."""
    if z3.is_quantifier(formula):
        variables = [formula.var_sort(k).name() for k in range(formula.num_vars())]
        choices = product(*(elements[sort] for sort in variables))
        parts = []
        for chosen in choices:
            look()  # there may be very many combinations
            parts.append(_instance(formula, chosen))
        if _has_quantifiers(formula.body()):
            parts = [grounded(part, elements) for part in parts]
        return z3.And(parts) if formula.is_forall() else z3.Or(parts)
    if not _has_quantifiers(formula):
        return formula
    return _with_children(formula, [grounded(child, elements) for child in formula.children()])


def about_sent(formula: Any) -> Formula:
    """Return `formula` with its quantifiers over messages restricted to causal-sent messages."""
    if z3.is_quantifier(formula):
        fresh = [z3.FreshConst(formula.var_sort(k), "q") for k in range(formula.num_vars())]
        given = [sent(variable) for variable in fresh if variable.sort() == MESSAGE]
        body = about_sent(_instance(formula, fresh))
        if formula.is_forall():
            return z3.ForAll(fresh, z3.Implies(z3.And(given), body))
        return z3.Exists(fresh, z3.And(*given, body))
    children = [about_sent(child) for child in formula.children()]
    return _with_children(formula, children) if children else formula


def _has_quantifiers(formula: Any) -> bool:
    if z3.is_quantifier(formula):
        return True
    return any(_has_quantifiers(child) for child in formula.children())


def symbols(formula: Formula) -> list[Any]:
    """Return the declarations of the relations, functions and free constants in a formula."""
    declared: dict[int, Any] = {}
    visited: set[int] = set()
    ahead = [formula]
    while ahead:
        part = ahead.pop()
        if part.get_id() in visited:
            continue
        visited.add(part.get_id())
        if z3.is_quantifier(part):
            ahead.append(part.body())
        elif z3.is_app(part):
            if part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                declared[part.decl().get_id()] = part.decl()
            ahead += part.children()
    return list(declared.values())


def rewrite(formula: Any, change: Callable[[Any, Sequence[Any]], Any]) -> Any:
    """Return `formula` with atoms replaced: `change(atom, arguments)` may return None."""
    if z3.is_quantifier(formula):
        sorts = [formula.var_sort(k) for k in range(formula.num_vars())]
        fresh = [z3.FreshConst(sort, "q") for sort in sorts]
        body = rewrite(_instance(formula, fresh), change)
        return (z3.ForAll if formula.is_forall() else z3.Exists)(fresh, body)
    arguments = [rewrite(child, change) for child in formula.children()]
    replacement = change(formula, arguments)
    if replacement is not None:
        return replacement
    return _with_children(formula, arguments) if arguments else formula


def _with_children(formula: Any, children: Sequence[Any]) -> Any:
    """Return the connective or symbol of `formula` applied to other children."""
    if z3.is_and(formula):
        return z3.And(children)
    if z3.is_or(formula):
        return z3.Or(children)
    return formula.decl()(*children)


def _instance(quantified: Any, elements: Sequence[Any]) -> Any:
    """Return the body with its variables replaced; z3 counts variables from the innermost one."""
    return z3.substitute_vars(quantified.body(), *reversed(list(elements)))


@frozen(eq=False)
class Structure:
    """A finite structure; formulas are evaluated on it.

    Attributes:
        sizes: sort name -> the number of its elements.
        values: relation name -> bit mask over the tuples of elements, the last argument counting
            fastest; function name -> tuple of element numbers; constant name -> element number.
    """

    sizes: Sizes
    values: Mapping[str, Any]

    def tuples(self, relation: Relation) -> tuple[tuple[int, ...], ...]:
        """Return the tuples in a relation, in order."""
        every = product(*(range(self.sizes[sort.name()]) for sort in relation.sorts))
        mask = self.values[relation.name]
        return tuple(args for bit, args in enumerate(every) if mask >> bit & 1)

    def holds(self, relation: Relation, *arguments: int) -> bool:
        """Return whether a relation contains the elements with these numbers."""
        sorts = [sort.name() for sort in relation.sorts]
        return bool(self.values[relation.name] >> index_of(self.sizes, sorts, arguments) & 1)


@frozen(eq=False)
class Compiled:
    """A formula as a Python function of the symbols that it reads and of its variables."""

    reads: tuple[str, ...]
    call: Callable[..., Any]

    def value(self, structure: Structure, *elements: int) -> Any:
        """Evaluate the formula on a structure."""
        return self.call(*(structure.values[name] for name in self.reads), *elements)


def compiled(formula: Formula, sizes: Sizes, variables: Sequence[Any] = ()) -> Compiled:
    """Return a formula as a Python function; other free constants are read from the structure."""
    writer = _Writer(sizes, variables)
    body = writer.text(formula)
    reads = tuple(sorted(writer.reads))
    return Compiled(reads, _function(body, [*(f"r_{n}" for n in reads), *writer.params]))


def compiled_update(
    relation: Relation, variables: Sequence[Any], formula: Formula, sizes: Sizes, params: Any
) -> Compiled:
    """Return a Python function that computes a relation's bit mask after an update."""
    writer = _Writer(sizes, params)
    names = [writer.bind(v) for v in variables]
    body = writer.text(formula)
    loops = " ".join(
        f"for {name} in range({sizes[v.sort().name()]})"
        for name, v in zip(names, variables, strict=True)
    )
    index = writer.place(relation.sorts, names)
    reads = tuple(sorted(writer.reads))
    text = f"sum(1 << ({index}) {loops} if {body})"
    return Compiled(reads, _function(text, [*(f"r_{n}" for n in reads), *writer.params]))


def _function(body: str, params: Sequence[str]) -> Callable[..., Any]:
    """Compile an expression; its text never contains words of a user."""
    function: Callable[..., Any] = eval(
        f"lambda {', '.join(params)}: {body}", {"__builtins__": _SAFE}
    )
    return function


_SAFE = {"all": all, "any": any, "range": range, "sum": sum}


class _Writer:
    """Writes a formula as a Python expression."""

    def __init__(self, sizes: Sizes, params: Sequence[Any]) -> None:
        self.sizes = sizes
        self.params = [f"p{k}" for k in range(len(params))]
        self.reads: set[str] = set()
        # By the declaration's number, because variables of two sorts may have the same name.
        self.names = {v.decl().get_id(): p for v, p in zip(params, self.params, strict=True)}
        self.bound: list[Any] = []

    def bind(self, variable: Any) -> str:
        name = f"v{len(self.bound)}"
        self.bound.append(variable)  # keeps it alive, because z3 reuses the numbers of dead objects
        self.names[variable.decl().get_id()] = name
        return name

    def place(self, sorts: Sequence[Any], terms: Sequence[str]) -> str:
        text = "0"
        for sort, term in zip(sorts, terms, strict=True):
            text = term if text == "0" else f"({text}) * {self.sizes[sort.name()]} + {term}"
        return text

    def text(self, e: Any) -> str:
        if z3.is_quantifier(e):
            return self._quantifier(e)
        inner = [self.text(child) for child in e.children()]
        kind = e.decl().kind()
        if kind in _CONNECTIVES:
            return f"({_CONNECTIVES[kind](inner)})"
        if kind != z3.Z3_OP_UNINTERPRETED:
            raise InputError(
                f"the formula {e} uses {e.decl().name()!r}, which has no reading on finite "
                "structures; use relations, equality, connectives and quantifiers"
            )
        return self._symbol(e, inner)

    def _symbol(self, e: Any, inner: list[str]) -> str:
        name = e.decl().name()
        if not inner:
            variable = self.names.get(e.decl().get_id())
            if variable is None:
                self.reads.add(name)
            return variable or f"r_{name}"
        self.reads.add(name)
        if z3.is_bool(e):
            sorts = [e.decl().domain(k) for k in range(e.decl().arity())]
            return f"(r_{name} >> ({self.place(sorts, inner)}) & 1)"
        return f"r_{name}[{inner[0]}]"

    def _quantifier(self, e: Any) -> str:
        fresh = [z3.FreshConst(e.var_sort(k), "q") for k in range(e.num_vars())]
        strange = [v.sort().name() for v in fresh if v.sort().name() not in self.sizes]
        if strange:
            raise InputError(
                f"the formula {e} is about all of sort {strange[0]}, which has no elements on "
                f"finite structures; the sorts are {', '.join(self.sizes)}"
            )
        names = [self.bind(v) for v in fresh]
        body = self.text(_instance(e, fresh))
        loops = " ".join(
            f"for {name} in range({self.sizes[v.sort().name()]})"
            for name, v in zip(names, fresh, strict=True)
        )
        return f"{'all' if e.is_forall() else 'any'}({body} {loops})"


_CONNECTIVES: dict[int, Callable[[list[str]], str]] = {
    z3.Z3_OP_TRUE: lambda _: "True",
    z3.Z3_OP_FALSE: lambda _: "False",
    z3.Z3_OP_NOT: lambda parts: f"not {parts[0]}",
    z3.Z3_OP_AND: lambda parts: " and ".join(parts) or "True",
    z3.Z3_OP_OR: lambda parts: " or ".join(parts) or "False",
    z3.Z3_OP_IMPLIES: lambda parts: f"not {parts[0]} or {parts[1]}",
    z3.Z3_OP_EQ: lambda parts: f"{parts[0]} == {parts[1]}",
    z3.Z3_OP_DISTINCT: lambda parts: " and ".join(f"{a} != {b}" for a, b in combinations(parts, 2)),
    z3.Z3_OP_ITE: lambda parts: f"{parts[1]} if {parts[0]} else {parts[2]}",
}
"""Connectives and equality in Python; `==` between truth values compares 0 and 1 with booleans."""
