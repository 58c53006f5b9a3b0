"""The proof obligations of a model, and the solver's answers.

There is one obligation per conjunct and action: if the invariant holds and the action happens, the
conjunct holds after it. Further obligations: the conjuncts hold initially, and they imply safety,
integrity (only causal-sent messages are delivered) and, if it is claimed, that nothing is
undone at quiescence. The verdict of a proof is PROVED, FAILED or UNKNOWN. It is never HOLDS, which
is the verdict of an exploration.

Question: What does `prove` ask the solver?
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import chain, product

import z3
from attrs import evolve, frozen

from antecede.checker.prove import vacuity
from antecede.checker.prove.finite import Example, Universe, applied, sizes_of, true_in
from antecede.checker.prove.formula import after
from antecede.checker.prove.solver import check, solver_for
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import NO_SELF_SENDS, Action, Conjunct, Formula, Model
from antecede.checker.support.interrupts import Ended, reason_of

TIMEOUT = 20.0
"""Default timeout of the solver for one obligation, in seconds."""

INITIALLY = "initially"
SAFETY = "safety"
AT_QUIESCENCE = "at quiescence"


class Answer(StrEnum):
    """The answer on one obligation, and on a whole proof."""

    PROVED = "PROVED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"


@frozen(eq=False)
class Obligation:
    """One proof obligation: `goal` follows from `given`.

    Attributes:
        where: the action's name, `initially`, `safety` or `at quiescence`.
        conjunct: the conjunct that must hold there.
        given: formulas; their free variables are the parameters of the action.
        goal: a formula with the same free variables.
        action: the action if the obligation is about a step; otherwise None.
    """

    where: str
    conjunct: Conjunct
    given: tuple[Formula, ...]
    goal: Formula
    action: Action | None = None

    @property
    def name(self) -> str:
        """The name of the conjunct, and the place where it must hold."""
        place = f"after {self.where}" if self.action is not None else self.where
        return f"{self.conjunct.name} {place}"

    def refutation(self) -> tuple[Formula, ...]:
        """Return the formulas that must be unsatisfiable together."""
        return (*self.given, z3.Not(self.goal))


@frozen(eq=False)
class Shown:
    """The answer on one obligation.

    Attributes:
        reason: the reason why the solver does not know, or "".
        example: a counterexample to induction, replayed in plain Python; None unless FAILED.
    """

    obligation: Obligation
    answer: Answer
    seconds: float
    reason: str = ""
    example: Example | None = None


@frozen(eq=False)
class Proof:
    """All answers for one model, in the order of its obligations.

    Attributes:
        undecided: the needs of `vacuity` that were not decided. If one of them cannot be met, the
            proof is vacuous.
        run_length: the number of actions of a run that delivers a message, or None if none was
            found.
        stopped_by: the reason why the proof ended early, or None.
    """

    model: Model
    shown: tuple[Shown, ...]
    seconds: float
    undecided: tuple[str, ...] = ()
    run_length: int | None = None
    stopped_by: str | None = None

    @property
    def answer(self) -> Answer:
        """FAILED if an obligation failed, else UNKNOWN if anything is unknown, else PROVED."""
        answers = {one.answer for one in self.shown}
        if Answer.FAILED in answers:
            return Answer.FAILED
        return Answer.UNKNOWN if Answer.UNKNOWN in answers or self.undecided else Answer.PROVED

    @property
    def failed(self) -> tuple[Shown, ...]:
        """The answers that are not PROVED."""
        return tuple(one for one in self.shown if one.answer is not Answer.PROVED)


Watch = Callable[[int, int, Obligation], None]


def obligations(model: Model, without: Conjunct | None = None) -> Iterator[Obligation]:
    """Yield the obligations of a model; `without` is a conjunct to leave out of the invariant."""
    conjuncts = tuple(conjunct for conjunct in model.conjuncts if conjunct is not without)
    axioms = tuple(axiom for _, axiom in model.axioms)
    given = axioms + tuple(conjunct.formula for conjunct in conjuncts)
    nothing = axioms + initial(model)
    for conjunct in conjuncts:
        yield Obligation(INITIALLY, conjunct, nothing, conjunct.formula)
    for action in model.actions:
        for conjunct in conjuncts:
            goal = after(conjunct.formula, action)
            yield Obligation(action.name, conjunct, (*given, action.guard), goal, action)
    for claim in model.claims:
        yield Obligation(SAFETY, claim, given, claim.formula)
    if model.quiescent is not None:
        yield at_quiescence(model, given)


def initial(model: Model) -> tuple[Formula, ...]:
    """Return formulas for the initial state: every relation that can change is empty."""
    return tuple(relation.empty for relation in model.relations if not relation.rigid)


def at_quiescence(model: Model, given: tuple[Formula, ...]) -> Obligation:
    """Return the obligation that nothing is undone when only the application can act."""
    assert model.quiescent is not None
    claim = Conjunct("nothing-undone", model.quiescent.says, z3.Not(model.quiescent.undone))
    given = (*given, *model.stopped, *model.quiescent.principles())
    return Obligation(AT_QUIESCENCE, claim, given, claim.formula)


def ask(obligation: Obligation, timeout: float = TIMEOUT) -> Shown:
    """Ask the solver about one obligation, without looking for a counterexample."""
    started = time.monotonic()
    solver = solver_for(timeout)
    solver.add(*obligation.refutation())
    satisfiability = str(check(solver))
    answer = {"unsat": Answer.PROVED, "sat": Answer.FAILED}.get(satisfiability, Answer.UNKNOWN)
    reason = solver.reason_unknown() if answer is Answer.UNKNOWN else ""
    return Shown(obligation, answer, time.monotonic() - started, reason)


def prove(
    model: Model,
    timeout: float = TIMEOUT,
    watch: Watch = lambda _done, _all, _obligation: None,
) -> Proof:
    """Check every obligation; find a counterexample to induction for those that fail.

    A signal leaves the remaining obligations UNKNOWN.

    Args:
        model: the model to prove.
        timeout: seconds that the solver may take for one obligation, and again for a
            counterexample to it.
        watch: called before each obligation, with the numbers of checked and of all obligations.

    Raises:
        InputError: the proof would be meaningless; see `validate` and `vacuity`.
    """
    started = time.monotonic()
    every = tuple(obligations(validate(model)))
    answers: list[Shown] = []
    sense = vacuity.Sense()
    stopped = None
    try:
        sense = vacuity.sense(model, timeout)
        for done, obligation in enumerate(every):
            watch(done, len(every), obligation)
            answers.append(_decided(model, obligation, timeout))
    except Ended as end:
        stopped = reason_of(end)
        rest = every[len(answers) :]
        answers += [Shown(obligation, Answer.UNKNOWN, 0.0, stopped) for obligation in rest]
    seconds = time.monotonic() - started
    return Proof(model, tuple(answers), seconds, sense.undecided, sense.run_length, stopped)


def follows(model: Model, formula: Formula, timeout: float = TIMEOUT) -> bool:
    """Return whether the solver shows that a formula follows from the model's axioms."""
    solver = solver_for(timeout)
    solver.add(*(axiom for _, axiom in model.axioms), z3.Not(formula))
    return bool(check(solver) == z3.unsat)


def _decided(model: Model, obligation: Obligation, timeout: float) -> Shown:
    """Return the answer on an obligation, with a counterexample if the solver finds one."""
    result = ask(obligation, timeout)
    return result if result.answer is Answer.PROVED else with_example(model, result, timeout)


def with_example(model: Model, shown: Shown, timeout: float) -> Shown:
    """Look for a small counterexample; without one, the answer is UNKNOWN."""
    until = time.monotonic() + timeout
    # Counterexamples where an actor sends to itself are valid, too, but explain less.
    for sizes, apart in chain(
        product(sizes_of(model, 6), [True]), product(sizes_of(model), [False])
    ):
        seconds_left = until - time.monotonic()
        if seconds_left <= 0:
            break
        universe = Universe.of(model, sizes, seconds_left)
        if apart:
            universe.assume(NO_SELF_SENDS[1])
        example = example_of(shown.obligation, universe)
        if example is not None:
            return evolve(shown, answer=Answer.FAILED, reason="", example=example)
    reason = shown.reason or "the solver's counterexample is larger than those that are tried"
    return evolve(shown, answer=Answer.UNKNOWN, reason=reason)


def example_of(obligation: Obligation, universe: Universe) -> Example | None:
    """Return a counterexample to an obligation in a universe, replayed in plain Python."""
    action = obligation.action
    params = action.params if action is not None else ()
    example = universe.find(*obligation.refutation(), free=params)
    if example is None:
        return None
    if action is not None:
        example = evolve(example, after=applied(example.before, action, example.arguments))
    _confirm(obligation, example)
    return example


def _confirm(obligation: Obligation, example: Example) -> None:
    """Check a counterexample with the formulas' Python interpretation.

    Raises:
        AssertionError: the two interpretations differ, which is a bug of antecede.
    """
    action = obligation.action
    params = action.params if action is not None else ()
    for formula in obligation.given:
        assert true_in(example.before, formula, params, example.arguments), "two readings differ"
    last = example.after if example.after is not None else example.before
    assert not true_in(last, obligation.conjunct.formula), "two readings differ"


def smt2(obligation: Obligation) -> str:
    """Return an obligation as SMT-LIB 2, for any solver; `unsat` means that it is proved."""
    solver = z3.Solver()
    solver.add(*obligation.refutation())
    head = f"; {obligation.name}\n; {obligation.conjunct.says}\n; shown if the answer is unsat\n"
    return f"{head}(set-logic ALL)\n{solver.to_smt2()}"
