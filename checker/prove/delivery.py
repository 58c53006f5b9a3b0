"""Runs of a model that deliver a message, from its initial state.

A guard may be possible in some state that satisfies the invariant, and yet no run reaches such a
state. If no run delivers a message, every claim about deliveries is true, and a proof says nothing.
The solver unrolls the actions of a small model step by step, and chooses the system, too. The run
that it finds is replayed in plain Python.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import z3
from attrs import define, frozen

from antecede.checker.prove.finite import Universe, applied, sizes_of, true_in
from antecede.checker.prove.formula import Sizes, Structure, rewrite
from antecede.checker.prove.solver import check
from antecede.checker.prove.vocabulary import Action, Formula, Model, sent

LONGEST = 12
"""The most actions of a run."""


def actions_to_deliver(model: Model, most: int, timeout: float) -> int | None:
    """Return the number of actions of a run that delivers a message; None if none was found.

    Args:
        model: the model.
        most: the most elements of the system, over all sorts.
        timeout: seconds, for all sizes together.
    """
    until = time.monotonic() + timeout
    for sizes in sizes_of(model, most):
        seconds_left = until - time.monotonic()
        if seconds_left <= 0:
            return None
        run = Unrolled.of(model, sizes, seconds_left).run(until)
        if run is not None:
            return len(run)
    return None


@frozen(eq=False)
class Step:
    """One action of a run, and its elements."""

    action: Action
    arguments: tuple[int, ...]


@define(eq=False)
class Unrolled:
    """A universe with one copy, per state of a run, of every relation that changes.

    Ghosts are left out, because neither guards nor other relations read them.
    """

    model: Model
    universe: Universe
    length: int = 0

    @classmethod
    def of(cls, model: Model, sizes: Sizes, timeout: float) -> Unrolled:
        """Return the run without actions; the timeout limits each question, in seconds."""
        unrolled = cls(model, Universe.of(model, sizes, timeout))
        unrolled.universe.assume(*(unrolled.at(0, one.empty) for one in model.changing))
        return unrolled

    def run(self, until: float) -> tuple[Step, ...] | None:
        """Return a shortest run that delivers a message, or None if none was found in time."""
        while self.length < LONGEST and time.monotonic() < until:
            self.universe.assume(self.step())
            self.length += 1
            found = self.solution(self.at(self.length, delivers(self.model)))
            if found is not None:
                steps = tuple(self.chosen(found, number) for number in range(self.length))
                self.replay(self.universe.read(found).before, steps)
                return steps
            if self.solution() is None:  # no run has this length
                return None
        return None

    def solution(self, *formulas: Formula) -> Any:
        """Return a solution of the solver for the run, or None if none was found."""
        solver = self.universe.solver
        solver.push()
        try:
            self.universe.assume(*formulas)
            return solver.model() if check(solver) == z3.sat else None
        finally:
            solver.pop()

    def at(self, state: int, formula: Formula) -> Formula:
        """Return a formula about one state of the run; the states are numbered from 0."""
        names = {relation.symbol.get_id(): relation for relation in self.model.changing}

        def copied(atom: Any, arguments: Sequence[Any]) -> Any:
            relation = names.get(atom.decl().get_id())
            if relation is None:
                return None
            copy = z3.Function(f"{relation.name}@{state}", *relation.sorts, z3.BoolSort())
            return copy(*arguments)

        return rewrite(formula, copied)

    def step(self) -> Formula:
        """Return that some action, or several, would lead from the last state to the next one."""
        chosen = [self.is_chosen(action, self.length) for action in self.model.actions]
        happens = map(self.happens, self.model.actions)
        return z3.And(z3.Or(chosen), *map(z3.Implies, chosen, happens))

    def happens(self, action: Action) -> Formula:
        """Return that an action leads from the last state to the next one."""
        elements = self.arguments(action, self.length)
        renamed = list(zip(action.params, elements, strict=True))
        updates = {update.relation.symbol.get_id(): update for update in action.updates}
        parts = [self.at(self.length, z3.substitute(action.guard, *renamed))]
        for relation in self.model.changing:
            update = updates.get(relation.symbol.get_id())
            variables = relation.formals if update is None else update.variables
            value = relation(*variables) if update is None else update.formula
            value = self.at(self.length, z3.substitute(value, *renamed))
            following = self.at(self.length + 1, relation(*variables))
            parts.append(z3.ForAll(list(variables), following == value))
        return z3.And(*map(self.universe.in_range, elements), *parts)

    def is_chosen(self, action: Action, number: int) -> Any:
        """Return the truth value of "this step is the action"."""
        return z3.Bool(f"{action.name}@{number}")

    def arguments(self, action: Action, number: int) -> list[Any]:
        """Return constants for the elements of an action in one step."""
        return [
            z3.Const(f"{action.name}@{number}@{place}", param.sort())
            for place, param in enumerate(action.params)
        ]

    def chosen(self, found: Any, number: int) -> Step:
        """Return one step of a solution."""
        for action in self.model.actions:
            if z3.is_true(found.eval(self.is_chosen(action, number), True)):
                elements = self.arguments(action, number)
                return Step(action, self.universe.read(found, elements).arguments)
        raise AssertionError("a solution has no step")

    def replay(self, system: Structure, steps: Sequence[Step]) -> None:
        """Take the steps in plain Python, from empty relations.

        Raises:
            AssertionError: the two readings of the formulas differ, which is a bug of antecede.
        """
        nothing = {relation.name: 0 for relation in self.model.relations if not relation.rigid}
        state = Structure(system.sizes, {**system.values, **nothing})
        for step in steps:
            action, elements = step.action, step.arguments
            assert true_in(state, action.guard, action.params, elements), "two readings differ"
            state = applied(state, action, elements)
        assert true_in(state, delivers(self.model)), "two readings differ"


def delivers(model: Model) -> Formula:
    """Return that some message was causal-sent and delivered."""
    delivered = model.relation("delivered")
    variables = list(delivered.formals)
    return z3.Exists(variables, z3.And(sent(variables[0]), delivered(*variables)))
