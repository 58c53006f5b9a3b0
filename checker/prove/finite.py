"""Small models: states of a few actors and messages that satisfy formulas, found by the solver.

Quantifiers are expanded over the elements, so every question is propositional and decidable. A
solution is read back as a `Structure`, and plain Python evaluates the formulas again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import z3
from attrs import define, frozen

from antecede.checker.prove.formula import Sizes, Structure, compiled, compiled_update, grounded
from antecede.checker.prove.solver import check, solver_for
from antecede.checker.prove.vocabulary import (
    SORTS,
    Action,
    D,
    Formula,
    Model,
    R,
    Relation,
    dst,
    src,
)

LARGEST = 8
"""The most elements of a small model, over all sorts."""


@define(eq=False)
class Universe:
    """A fixed number of elements of each sort, and a solver for formulas over them."""

    model: Model
    sizes: Sizes
    solver: Any

    @classmethod
    def of(cls, model: Model, sizes: Sizes, timeout: float) -> Universe:
        """Return a universe with the model's axioms asserted; the timeout is in seconds."""
        universe = cls(model, sizes, solver_for(timeout, "QF_UF"))
        for name in sizes:
            universe.solver.add(z3.Distinct(*universe.elements[name]))
        universe.assume(*(universe.in_range(term) for term in universe.terms()))
        universe.assume(*(axiom for _, axiom in model.axioms))
        # Elements are interchangeable, so R and its sender can be fixed without loss of generality.
        universe.assume(
            universe.elements["Message"][0] == R, universe.elements["Actor"][0] == src(R)
        )
        return universe

    @property
    def elements(self) -> Mapping[str, Sequence[Any]]:
        """The elements of each sort, as constants."""
        return {
            name: [z3.Const(f"{name}!{k}", SORTS[name]) for k in range(size)]
            for name, size in self.sizes.items()
        }

    def terms(self) -> list[Any]:
        """Return the terms that denote elements: functions applied to elements, and R, D."""
        of_messages = [f(m) for f in (src, dst) for m in self.elements["Message"]]
        return [*of_messages, R, D]

    def in_range(self, term: Any) -> Formula:
        """Return the formula that the term is one of the elements."""
        return z3.Or([term == e for e in self.elements[term.sort().name()]])

    def assume(self, *formulas: Formula) -> None:
        """Assert formulas, expanded over the elements."""
        self.solver.add(*(grounded(formula, self.elements) for formula in formulas))

    def find(self, *formulas: Formula, free: Sequence[Any] = ()) -> Example | None:
        """Return a structure that satisfies the formulas, with values for the free constants.

        Returns None if there is none, or if the solver ran out of time.
        """
        self.solver.push()
        try:
            self.assume(*formulas, *(self.in_range(v) for v in free))
            if check(self.solver) != z3.sat:
                return None
            return self.read(self.solver.model(), free)
        finally:
            self.solver.pop()

    def read(self, found: Any, free: Sequence[Any] = ()) -> Example:
        """Return the structure of a solution of the solver, with values for the free constants."""
        numbers = {
            name: {str(found.eval(e, True)): k for k, e in enumerate(elements)}
            for name, elements in self.elements.items()
        }

        def number(term: Any) -> int:
            return numbers[term.sort().name()][str(found.eval(term, True))]

        values: dict[str, Any] = {
            f.name(): tuple(number(f(m)) for m in self.elements["Message"]) for f in (src, dst)
        }
        values |= {"R": number(R), "D": number(D)}
        for relation in self.model.relations:
            values[relation.name] = self._mask(found, relation)
        return Example(Structure(self.sizes, values), tuple(map(number, free)))

    def _mask(self, found: Any, relation: Relation) -> int:
        every = product(*(self.elements[sort.name()] for sort in relation.sorts))
        return sum(
            1 << bit
            for bit, args in enumerate(every)
            if z3.is_true(found.eval(relation(*args), True))
        )


@frozen(eq=False)
class Example:
    """A state that satisfies formulas, the numbers of elements, and the state after a step.

    A counterexample to induction satisfies the invariant before the step, and violates it after.
    The state need not be reachable, but the invariant does not exclude it.

    Attributes:
        arguments: the elements that the free constants of the formulas denote.
        after: None if no action is involved.
    """

    before: Structure
    arguments: tuple[int, ...] = ()
    after: Structure | None = None


def sizes_of(model: Model, most: int = LARGEST) -> Iterator[Sizes]:
    """Yield sizes, the smallest first: at least two actors, and one element of other sorts."""
    names = model.sorts
    least = [2 if name == "Actor" else 1 for name in names]
    for total in range(sum(least), most + 1):
        for counts in product(range(1, most + 1), repeat=len(names)):
            fits = all(k >= low for k, low in zip(counts, least, strict=True))
            if fits and sum(counts) == total and counts[0] <= 4 and max(counts) <= 5:
                yield dict(zip(names, counts, strict=True))


def applied(structure: Structure, action: Action, arguments: Sequence[int]) -> Structure:
    """Return the structure after an action, in plain Python."""
    values = dict(structure.values)
    for update in action.updates:
        call = compiled_update(
            update.relation, update.variables, update.formula, structure.sizes, action.params
        )
        values[update.relation.name] = call.value(structure, *arguments)
    return Structure(structure.sizes, values)


def true_in(
    structure: Structure,
    formula: Formula,
    variables: Sequence[Any] = (),
    arguments: Sequence[int] = (),
) -> bool:
    """Return whether a structure satisfies a formula, evaluated in plain Python."""
    return bool(compiled(formula, structure.sizes, variables).value(structure, *arguments))
