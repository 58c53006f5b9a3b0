"""Mutants of a proof: the proof without one conjunct or one guard.

A mutant must fail if the model marks its part as needed. Parts that are not needed are listed,
because they are either claims of their own or superfluous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import z3
from attrs import evolve, frozen

from antecede.checker.prove.obligations import (
    TIMEOUT,
    Answer,
    Obligation,
    ask,
    obligations,
    with_example,
)
from antecede.checker.prove.solver import check, solver_for
from antecede.checker.prove.vocabulary import Model, replaced, without_guard
from antecede.checker.support.interrupts import Ended, reason_of


@frozen(eq=False)
class Mutant:
    """The proof without one part.

    Attributes:
        part: `conjunct NAME` or `guard NAME of ACTION`.
        marked: the model says that the part is needed.
        fails: the first obligation that fails without the part; None: the proof does not need it.
        answer: the answer on this obligation: FAILED with a counterexample, or UNKNOWN.
    """

    part: str
    marked: bool
    fails: str | None
    answer: Answer = Answer.PROVED


@frozen(eq=False)
class Strength:
    """The results of all mutants of a proof.

    Attributes:
        stopped_by: the reason why some mutants were not tried, or None.
    """

    model: Model
    mutants: tuple[Mutant, ...]
    stopped_by: str | None = None

    @property
    def as_marked(self) -> bool:
        """Every part that is marked as needed is needed, as far as it was tried."""
        return all(mutant.fails is not None for mutant in self.mutants if mutant.marked)


def strength(
    model: Model,
    timeout: float = TIMEOUT,
    watch: Callable[[str], None] = lambda _part: None,
) -> Strength:
    """Try all mutants of a proof; that costs about ten times as much as the proof."""
    tried: list[Mutant] = []
    try:
        for mutant in chain(_without_conjuncts(model, timeout), _without_guards(model, timeout)):
            watch(mutant.part)
            tried.append(mutant)
    except Ended as end:
        return Strength(model, tuple(tried), reason_of(end))
    return Strength(model, tuple(tried))


def _without_conjuncts(model: Model, timeout: float) -> Iterator[Mutant]:
    users = _users(model, timeout)
    for conjunct in model.conjuncts:
        rest = evolve(model, conjuncts=tuple(c for c in model.conjuncts if c is not conjunct))
        affected = (
            one
            for one in obligations(model, without=conjunct)
            if (one.where, one.conjunct.name) in users[conjunct.name]
        )
        yield _tried(rest, affected, f"conjunct {conjunct.name}", conjunct.needed, timeout)


def _users(model: Model, timeout: float) -> dict[str, set[tuple[str, str]]]:
    """Return for each conjunct the obligations that the solver used it for.

    Only these obligations must be checked again without the conjunct: an obligation that was
    proved without using the conjunct stays proved.
    """
    users: dict[str, set[tuple[str, str]]] = {conjunct.name: set() for conjunct in model.conjuncts}
    for obligation in obligations(model):
        for name in used(obligation, model, timeout):
            users[name].add((obligation.where, obligation.conjunct.name))
    return users


def used(obligation: Obligation, model: Model, timeout: float = TIMEOUT) -> set[str]:
    """Return the names of the conjuncts that the solver used to prove an obligation."""
    solver = solver_for(timeout)
    solver.set("unsat_core", True)
    tracked = {f"conjunct:{one.name}": one for one in model.conjuncts}
    invariant = [one.formula.get_id() for one in model.conjuncts]
    for formula in obligation.given:
        if formula.get_id() not in invariant:
            solver.add(formula)
    for name, one in tracked.items():
        if one.formula.get_id() in [formula.get_id() for formula in obligation.given]:
            solver.assert_and_track(one.formula, name)
    solver.add(z3.Not(obligation.goal))
    if check(solver) != z3.unsat:
        return {one.name for one in model.conjuncts}
    return {tracked[str(name)].name for name in solver.unsat_core() if str(name) in tracked}


def _without_guards(model: Model, timeout: float) -> Iterator[Mutant]:
    for action in model.actions:
        for guard in action.guards:
            weaker = evolve(
                model,
                actions=replaced(
                    model.actions, action.name, partial(without_guard, name=guard.name)
                ),
            )
            affected = (one for one in obligations(weaker) if one.where == action.name)
            part = f"guard {guard.name!r} of {action.name}"
            yield _tried(weaker, affected, part, guard.needed, timeout)


def _tried(
    model: Model, asked: Iterator[Obligation], part: str, marked: bool, timeout: float
) -> Mutant:
    """Return the mutant with the first of these obligations that is not proved."""
    for obligation in asked:
        result = ask(obligation, timeout)
        if result.answer is not Answer.PROVED:
            result = with_example(model, result, timeout)
            return Mutant(part, marked, obligation.name, result.answer)
    return Mutant(part, marked, None)


def text(found: Strength) -> str:
    """Return the results of the mutants as text."""
    lines = [f"{found.model.protocol}: the parts that the proof needs"]
    for mutant in found.mutants:
        lines.append(f"  {_said(mutant)}")
    if found.stopped_by is not None:
        lines.append(f"  {found.stopped_by}; the other parts were not tried")
    return "\n".join(lines)


def short(found: Strength) -> str:
    """Return the results of the mutants in one line."""
    needed = sum(mutant.fails is not None for mutant in found.mutants)
    marks = "as marked" if found.as_marked else "NOT AS MARKED"
    marks += "" if found.stopped_by is None else f" ({found.stopped_by})"
    return f"{found.model.protocol}: {needed} of {len(found.mutants)} parts are needed, {marks}"


def as_object(found: Strength) -> dict[str, Any]:
    """Return the results of the mutants as JSON values."""
    return {
        "as_marked": found.as_marked,
        "stopped_by": found.stopped_by,
        "without": [
            {
                "part": one.part,
                "marked_as_needed": one.marked,
                "answer": str(one.answer),
                "fails": one.fails,
            }
            for one in found.mutants
        ],
    }


def _said(mutant: Mutant) -> str:
    if mutant.fails is not None:
        word = "fails" if mutant.answer is Answer.FAILED else "is not decided"
        return f"without {mutant.part}: {word} ({mutant.fails})"
    marked = ", although it is marked as needed" if mutant.marked else ""
    return f"without {mutant.part}: still PROVED; it is not needed{marked}"
