"""A proof that is not vacuous: every action can happen, and without its parts the proof fails.

Each action must have a state that satisfies the invariant before and after it. The proof without
one conjunct, or one guard, must fail if that part is marked as needed; what is not needed is
said, for it is either a claim of its own or superfluous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import z3
from attrs import evolve, frozen

from antecede.checker.prove.finite import Universe, applied, broken_by, sizes_of
from antecede.checker.prove.obligations import (
    TIMEOUT,
    Answer,
    Induction,
    Obligation,
    ask,
    obligations,
    solver_for,
    with_example,
)
from antecede.checker.prove.vocabulary import (
    NO_SELF_SENDS,
    Action,
    Model,
    replaced,
    without_guard,
)


@frozen(eq=False)
class Possible:
    """An action, and a state in which it happens; None if none was found."""

    action: Action
    example: Induction | None


@frozen(eq=False)
class Mutant:
    """The proof without one part.

    Attributes:
        part: `conjunct NAME` or `guard NAME of ACTION`.
        marked: the model says that it is needed.
        fails: the first obligation that fails without it; None: the proof does not need it.
        answer: of that obligation: FAILED with a counterexample, or UNKNOWN.
    """

    part: str
    marked: bool
    fails: str | None
    answer: Answer = Answer.PROVED


@frozen(eq=False)
class Strength:
    """How little can be left out of a proof."""

    model: Model
    possible: tuple[Possible, ...]
    mutants: tuple[Mutant, ...]

    @property
    def as_marked(self) -> bool:
        """Every action is possible, and whatever is marked as needed is."""
        kept = all(mutant.fails is not None for mutant in self.mutants if mutant.marked)
        return kept and all(one.example is not None for one in self.possible)


def strength(
    model: Model,
    timeout: float = TIMEOUT,
    watch: Callable[[str], None] = lambda _part: None,
) -> Strength:
    """Try what can be left out of a proof; that costs about ten times as much as the proof."""
    possible = tuple(
        Possible(action, happening(model, action, timeout)) for action in model.actions
    )
    found = []
    for mutant in (*_without_conjuncts(model, timeout), *_without_guards(model, timeout)):
        watch(mutant.part)
        found.append(mutant)
    return Strength(model, possible, tuple(found))


def happening(model: Model, action: Action, timeout: float = TIMEOUT) -> Induction | None:
    """Return a small state that satisfies the invariant, before and after the action."""
    wanted = [conjunct.formula for conjunct in model.conjuncts]
    for apart in (True, False):
        for sizes in sizes_of(model, 6):
            universe = Universe.of(model, sizes, int(timeout * 1000))
            if apart:
                universe.assume(NO_SELF_SENDS[1])
            found = universe.find(*wanted, action.guard, free=action.params)
            if found is not None:
                last = applied(found.structure, action, found.free)
                assert not broken_by(found.structure, model.conjuncts), "two readings differ"
                if not broken_by(last, model.conjuncts):
                    return Induction(found.structure, found.free, last)
    return None


def _without_conjuncts(model: Model, timeout: float) -> Iterator[Mutant]:
    users = _users(model, timeout)
    for conjunct in model.conjuncts:
        rest = evolve(model, conjuncts=tuple(c for c in model.conjuncts if c is not conjunct))
        asked = (
            one
            for one in obligations(model, without=conjunct)
            if (one.where, one.conjunct.name) in users[conjunct.name]
        )
        yield _tried(rest, asked, f"conjunct {conjunct.name}", conjunct.needed, timeout)


def _users(model: Model, timeout: float) -> dict[str, set[tuple[str, str]]]:
    """Return for each conjunct the obligations that the solver used it for.

    An obligation that was shown without a conjunct is shown without it, so only these are asked
    again.
    """
    users: dict[str, set[tuple[str, str]]] = {conjunct.name: set() for conjunct in model.conjuncts}
    for obligation in obligations(model):
        for name in used(obligation, model, timeout):
            users[name].add((obligation.where, obligation.conjunct.name))
    return users


def used(obligation: Obligation, model: Model, timeout: float = TIMEOUT) -> set[str]:
    """Return the names of the conjuncts that the solver used to show an obligation."""
    solver = solver_for(timeout)
    solver.set("unsat_core", True)
    tracked = {f"conjunct:{one.name}": one for one in model.conjuncts}
    given = [one.formula.get_id() for one in model.conjuncts]
    for formula in obligation.given:
        if formula.get_id() not in given:
            solver.add(formula)
    for name, one in tracked.items():
        if one.formula.get_id() in [formula.get_id() for formula in obligation.given]:
            solver.assert_and_track(one.formula, name)
    solver.add(z3.Not(obligation.goal))
    if solver.check() != z3.unsat:
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
            asked = (one for one in obligations(weaker) if one.where == action.name)
            part = f"guard {guard.name!r} of {action.name}"
            yield _tried(weaker, asked, part, guard.needed, timeout)


def _tried(
    model: Model, asked: Iterator[Obligation], part: str, marked: bool, timeout: float
) -> Mutant:
    """Return the first obligation that is not shown."""
    for obligation in asked:
        shown = ask(obligation, timeout)
        if shown.answer is not Answer.PROVED:
            shown = with_example(model, shown, timeout)
            return Mutant(part, marked, obligation.name, shown.answer)
    return Mutant(part, marked, None)


def text(found: Strength) -> str:
    """Return how little can be left out of a proof, for people."""
    lines = [f"{found.model.protocol}: what the proof needs"]
    for one in found.possible:
        can = "can happen" if one.example is not None else "CANNOT HAPPEN in the invariant"
        lines.append(f"  action {one.action.name}: {can}")
    for mutant in found.mutants:
        lines.append(f"  {_said(mutant)}")
    return "\n".join(lines)


def short(found: Strength) -> str:
    """Return the same in one line."""
    kept = sum(mutant.fails is not None for mutant in found.mutants)
    marks = "as marked" if found.as_marked else "NOT AS MARKED"
    return f"{found.model.protocol}: {kept} of {len(found.mutants)} parts are needed, {marks}"


def as_object(found: Strength) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "as_marked": found.as_marked,
        "possible": {one.action.name: one.example is not None for one in found.possible},
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
