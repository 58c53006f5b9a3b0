"""Small models: states of a few actors and messages that satisfy formulas, found by the solver.

Quantifiers are written out over the elements, so that every question is propositional and has an
answer. What is found is read back as a `Structure` and judged by the formulas' other reading.
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
    Conjunct,
    D,
    Formula,
    Model,
    R,
    Relation,
    dst,
    src,
)

LARGEST = 8
"""A small model may have this many elements in all."""


@define(eq=False)
class Universe:
    """A fixed number of elements of each sort, and a solver that knows of nothing else."""

    model: Model
    sizes: Sizes
    solver: Any

    @classmethod
    def of(cls, model: Model, sizes: Sizes, timeout: float) -> Universe:
        """Return the universe with the model's axioms asserted; the timeout is in seconds."""
        made = cls(model, sizes, solver_for(timeout, "QF_UF"))
        for name in sizes:
            made.solver.add(z3.Distinct(*made.elements[name]))
        made.assume(*(made.in_range(term) for term in made.terms()))
        made.assume(*(axiom for _, axiom in model.axioms))
        # Elements are alike, so nothing is lost by saying which ones R and its sender are.
        made.assume(made.elements["Message"][0] == R, made.elements["Actor"][0] == src(R))
        return made

    @property
    def elements(self) -> Mapping[str, Sequence[Any]]:
        """The elements of each sort, as constants."""
        return {
            name: [z3.Const(f"{name}!{k}", SORTS[name]) for k in range(size)]
            for name, size in self.sizes.items()
        }

    def terms(self) -> list[Any]:
        """Return the terms whose value is an element: functions applied to elements, and R, D."""
        of_messages = [f(m) for f in (src, dst) for m in self.elements["Message"]]
        return [*of_messages, R, D]

    def in_range(self, term: Any) -> Formula:
        """Return that the term is one of the elements."""
        return z3.Or([term == e for e in self.elements[term.sort().name()]])

    def assume(self, *formulas: Formula) -> None:
        """Assert formulas, written out over the elements."""
        self.solver.add(*(grounded(formula, self.elements) for formula in formulas))

    def find(self, *formulas: Formula, free: Sequence[Any] = ()) -> Found | None:
        """Return a structure in which the formulas are true, with values for the free constants.

        None if there is none, or none was found in time.
        """
        self.solver.push()
        try:
            self.assume(*formulas, *(self.in_range(v) for v in free))
            if check(self.solver) != z3.sat:
                return None
            return self._read(self.solver.model(), free)
        finally:
            self.solver.pop()

    def _read(self, found: Any, free: Sequence[Any]) -> Found:
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
        return Found(Structure(self.sizes, values), tuple(map(number, free)))

    def _mask(self, found: Any, relation: Relation) -> int:
        every = product(*(self.elements[sort.name()] for sort in relation.sorts))
        return sum(
            1 << at
            for at, args in enumerate(every)
            if z3.is_true(found.eval(relation(*args), True))
        )


@frozen(eq=False)
class Found:
    """A structure, and the numbers of the elements that the free constants are."""

    structure: Structure
    free: tuple[int, ...]


def sizes_of(model: Model, most: int = LARGEST) -> Iterator[Sizes]:
    """Yield numbers of elements, the fewest first; at least two actors, one of all else."""
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
    """Return whether a formula is true in a structure, in plain Python."""
    return bool(compiled(formula, structure.sizes, variables).value(structure, *arguments))


def broken_by(structure: Structure, conjuncts: Sequence[Conjunct]) -> list[Conjunct]:
    """Return the conjuncts that are not true in a structure."""
    return [conjunct for conjunct in conjuncts if not true_in(structure, conjunct.formula)]
