"""Refuses models whose proof would be vacuous.

Axioms that contradict each other imply everything. If the axioms imply the claim, the proof says
nothing about the protocol. An action that can never happen preserves every invariant. So a proof
needs a system that satisfies the axioms, a state that violates the claim, and for each action a
state that satisfies its guards and the invariant. A small state shows that a need is met. Without
one, the solver looks for a contradiction. If it finds one, the model is refused.

Such a state need not be reachable. So a proof also needs a run that delivers a message.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import z3
from attrs import frozen

from antecede.checker.prove.delivery import actions_to_deliver
from antecede.checker.prove.finite import Universe, sizes_of
from antecede.checker.prove.formula import after
from antecede.checker.prove.solver import check, solver_for
from antecede.checker.prove.vocabulary import Action, Formula, Model, Quiescence, Relation
from antecede.checker.support.errors import InputError

LARGEST = 6
"""The most elements of the small states."""

FEW, MANY = 4, 8
"""The most elements of systems whose runs are tried before, and after, a proof that none exists."""

Named: TypeAlias = tuple[tuple[str, Formula], ...]
"""Formulas, each with its name in an error."""


@frozen(eq=False)
class Need:
    """Formulas that must be true together in some state.

    Attributes:
        what: a sentence that is true if there is such a state.
        given: formulas that an error may name.
        wanted: one more formula.
        refusal: the error if the formulas contradict each other; their names replace {}.
        params: the free variables of the formulas.
    """

    what: str
    given: Named
    wanted: Formula
    refusal: str
    params: tuple[Any, ...] = ()


@frozen
class Sense:
    """Whether a proof says something.

    Attributes:
        undecided: the needs that were not decided in time, as sentences.
        run_length: the number of actions of a run that delivers a message, or None if none was
            found.
    """

    undecided: tuple[str, ...] = ()
    run_length: int | None = None


def sense(model: Model, timeout: float) -> Sense:
    """Return whether a proof of the model would say something.

    The timeout limits the search for a small state that meets one need, and then the search for a
    contradiction. It is in seconds.

    Raises:
        InputError: a need cannot be met.
    """
    unmet = _undecided(model, timeout)
    run_length = actions_to_deliver(model, FEW, timeout)
    if run_length is None:
        _refuse_silence(model, timeout)
        run_length = actions_to_deliver(model, MANY, timeout)
    if run_length is None:
        unmet = (*unmet, "a run of the model delivers a message")
    return Sense(unmet, run_length)


def _undecided(model: Model, timeout: float) -> tuple[str, ...]:
    unmet = []
    for need in needs(model):
        if is_possible(model, need, timeout):
            continue
        answer, names = contradiction(need, timeout)
        if answer == z3.unsat:
            raise InputError(need.refusal.replace("{}", ", ".join(names) or "nothing"))
        if answer == z3.unknown:
            unmet.append(need.what)
    return tuple(unmet)


def needs(model: Model) -> Iterator[Need]:
    """Yield the model's needs, the most basic first."""
    axioms = tuple((f"the axiom {name!r}", axiom) for name, axiom in model.axioms)
    states = axioms + tuple((f"the conjunct {c.name!r}", c.formula) for c in model.conjuncts)
    yield Need(
        "the axioms are true of some system",
        axioms,
        z3.BoolVal(True),
        "the axioms contradict each other, so everything would follow from them: {}. Weaken or "
        "remove one of them",
    )
    yield Need(
        "the safety claim can be violated",
        axioms,
        z3.Not(model.safety.formula),
        f"the safety claim {model.safety.name!r} is true for every protocol, so a proof "
        "would say nothing of the protocol; it follows from: {}. Weaken the axioms or the claim",
    )
    for action in model.actions:
        yield _happens(action, states)
    if model.quiescent is not None:
        yield from _quiescence(model.quiescent, model.stopped, axioms, states)


def _happens(action: Action, states: Named) -> Need:
    guards = tuple((f"the guard {guard.name!r}", guard.formula) for guard in action.guards)
    return Need(
        f"the action {action.name!r} happens",
        states + guards,
        z3.BoolVal(True),
        f"the action {action.name!r} can never happen, so a proof would say nothing of it; these "
        "contradict each other: {}. Weaken one of them, or remove the action",
        action.params,
    )


def _quiescence(
    claim: Quiescence, stopped: tuple[Formula, ...], axioms: Named, states: Named
) -> Iterator[Need]:
    yield Need(
        "something is left undone",
        axioms,
        claim.undone,
        "no protocol can leave anything undone, so a proof that nothing is undone at quiescence "
        "would say nothing of the protocol; that follows from: {}. Weaken the axioms or the claim",
    )
    yield Need(
        "the protocol becomes quiescent",
        states,
        z3.And(stopped),
        "the protocol never becomes quiescent, so a proof about quiescence would say nothing of "
        "it; some action is always possible, because of: {}. Remove quiescent",
    )


def is_possible(model: Model, need: Need, timeout: float) -> bool:
    """Return whether a small state meets a need; False if none was found in time."""
    until = time.monotonic() + timeout
    formulas = [formula for _, formula in need.given]
    for sizes in sizes_of(model, LARGEST):
        seconds_left = until - time.monotonic()
        if seconds_left <= 0:
            return False
        universe = Universe.of(model, sizes, seconds_left)
        if universe.find(*formulas, need.wanted, free=need.params) is not None:
            return True
    return False


def contradiction(need: Need, timeout: float) -> tuple[Any, list[str]]:
    """Return the solver's answer on all formulas together, and the names in a contradiction."""
    solver = solver_for(timeout)
    solver.set("unsat_core", True)
    solver.set("core.minimize", True)
    solver.add(need.wanted)
    labels = [f"given!{k}" for k in range(len(need.given))]
    for label, (_, formula) in zip(labels, need.given, strict=True):
        solver.assert_and_track(formula, label)
    answer = check(solver)
    core = {str(label) for label in solver.unsat_core()} if answer == z3.unsat else set()
    return answer, [
        name for label, (name, _) in zip(labels, need.given, strict=True) if label in core
    ]


def _refuse_silence(model: Model, timeout: float) -> None:
    """Refuse a model if no run of it delivers a message, whatever its length and its system.

    Raises:
        InputError: it is such a model.
    """
    empty = always_empty(model, timeout)
    for relation, verb in (("sent", "causal-sends"), ("delivered", "delivers")):
        if relation in (one.name for one in empty):
            reasons: dict[str, None] = {}
            for action in _changing(model, relation):
                need = _fills(model, action, model.relation(relation), empty)
                reasons |= dict.fromkeys(contradiction(need, timeout)[1])
            raise InputError(
                f"no run of the model {verb} a message, so a proof would say nothing of the "
                f"protocol. These prevent it: {', '.join(reasons)}. Weaken a guard, or let an "
                "action fill the relation"
            )


def always_empty(model: Model, timeout: float) -> list[Relation]:
    """Return relations that are empty in every run, whatever its length and its system.

    The search starts with all relations that change. It removes a relation if the solver does not
    show that no action can fill it while the others are empty. The timeout is in seconds.
    """
    until = time.monotonic() + timeout
    empty = list(model.changing)

    def stays(relation: Relation) -> bool:
        needs = (_fills(model, one, relation, empty) for one in _changing(model, relation.name))
        return all(contradiction(need, until - time.monotonic())[0] == z3.unsat for need in needs)

    while filled := [relation for relation in empty if not stays(relation)]:
        empty = [relation for relation in empty if relation not in filled]
    return empty


def _changing(model: Model, relation: str) -> Iterator[Action]:
    """Yield the actions that change a relation."""
    for action in model.actions:
        if any(update.relation.name == relation for update in action.updates):
            yield action


def _fills(model: Model, action: Action, relation: Relation, empty: Sequence[Relation]) -> Need:
    """Return the need that an action fills a relation while others are empty."""
    given = (
        *((f"the axiom {name!r}", axiom) for name, axiom in model.axioms),
        *((f"the guard {one.name!r} of {action.name!r}", one.formula) for one in action.guards),
        *((f"the relation {one.name!r}, which is empty at the start", one.empty) for one in empty),
    )
    wanted = z3.Not(after(relation.empty, action))
    return Need(f"{action.name!r} fills {relation.name!r}", given, wanted, "", action.params)
